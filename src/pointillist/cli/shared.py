"""What several commands do alike."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pointillist.errors import SchemaError, UsageError
from pointillist.files.jsonable import finite
from pointillist.files.paths import checked
from pointillist.visible import visible

if TYPE_CHECKING:
    from pointillist.methods import Method
    from pointillist.model import Model
    from pointillist.release import Release
    from pointillist.schema import Schema


def opened(data: Path, delimiter: str, sql: str | None) -> Any:
    """The private table, not yet read."""
    from pointillist.reading.tables import open_source

    return open_source(data, delimiter=delimiter, query=sql)


def last_look(schema: "Schema", origin: Path, yes: bool) -> None:
    """Facts that were read from the data, once more before they are published; somebody has to say that they may be."""
    from pointillist.cli import console

    if yes or not schema.vouched:
        return
    if not sys.stdin.isatty():
        raise SchemaError(
            f"{origin}: a release publishes facts that were read from the data ({schema.vouched_words()}), and there is "
            "nobody to ask whether it may. Look at each of them, then pass --yes; or take out of read_from_data what you "
            "know from elsewhere."
        )
    console.show_last_look(schema)
    if not typer.confirm("May anyone know all of this?", err=True):
        raise SchemaError(
            f"{origin}: not released, and nothing was spent. Replace what not everyone may know by facts from public "
            "knowledge, and take their names out of read_from_data."
        )


def recipe(
    method: str | None,
    public: Path | None,
    overlap: bool,
    extractor: str | None,
    private: Path,
    schema: "Schema",
    delimiter: str,
) -> "Method":
    """The method by its name, with the public rows that it is to weight or the network that it is to use, if any."""
    from pointillist.methods import method_for
    from pointillist.reading.public_points import public_points

    if overlap and public is None:
        raise UsageError("--public-overlap goes with --public: it speaks of the rows of that file.")
    if extractor is not None:
        if method != "perceptual":
            raise UsageError(
                f"--extractor goes with --method perceptual, not with {method or 'the default'}: no other method uses a "
                "public network."
            )
        return method_for(schema, method, {"extractor": _file_or_name(extractor)})
    if public is None:
        return method_for(schema, method)
    if method != "landmarks":
        raise UsageError(
            f"--public goes with --method landmarks, not with {method or 'the default'}: no other method weights public "
            "rows."
        )
    schema.require_table("--method landmarks")
    if public.exists() and private.exists() and public.samefile(private):
        raise UsageError(
            f"--public names the private table itself ({public}). Public rows are copied into the release as they are: name "
            "a table that anybody may see."
        )
    points = public_points(opened(public, delimiter, None), schema)
    return method_for(schema, method, {"points": points, "overlap": overlap})


def fitted_by(release: "Release", generator: str | None, steps: int | None, variety: float | None) -> dict[str, Any]:
    """The method or the generator that a release is to be fitted by, with what the user wants changed in it."""
    from pointillist.generators.network.image_settings import ImageNetworkSettings
    from pointillist.generators.settings import NetworkSettings
    from pointillist.methods import Perceptual, Spectral, method_for

    if variety is not None:
        if release.method != "spectral" or generator is not None or steps is not None:
            raise UsageError(
                "--variety is for spectral releases, fitted in spectral's own way: without --generator, --steps."
            )
        return {"method": Spectral(variety=variety)}
    if steps is None:
        return {"generator": generator}
    if generator == "network":
        return {"generator": NetworkSettings(steps=steps)}
    if generator == "image-network":
        return {"generator": ImageNetworkSettings(steps=steps)}
    if generator is None and release.method == "perceptual":
        return {"method": Perceptual(network={**release.plan["options"]["network"], "steps": steps})}
    if generator is None:
        own = getattr(method_for(release.schema, release.method, release.plan["options"]), "network", None)
        if isinstance(own, ImageNetworkSettings):
            return {"generator": replace(own, steps=steps)}
    raise UsageError(
        f"--steps is for networks, and {generator or f'a {release.method} release'} is not fitted by one. Fit with "
        f"--generator {'network' if release.schema.image is None else 'image-network'}."
    )


def _file_or_name(text: str) -> str | Path:
    """A file if there is one of that name, whatever its ending."""
    return Path(text) if checked(text, UsageError).is_file() else text


def wanted_rows(rows: int | None, default: int) -> int:
    """How many rows to sample."""
    from pointillist.model import MOST_ROWS

    if rows is not None and rows > MOST_ROWS:
        raise UsageError(f"-n / --rows must be at most {MOST_ROWS:,}. Sample in parts, each with another seed.")
    return default if rows is None else at_least_one(rows, "-n / --rows")


def conditions(given: list[str], measured: Mapping[str, Any]) -> dict[str, Any]:
    """What --given asks for, by column; several values of one column are alternatives."""
    from pointillist.schema.selection import from_text

    found: dict[str, list[Any]] = {}
    for text in given:
        fits = [name for name in measured if text.startswith(f"{name}=")]  # a name may hold a "=", too
        if not fits:
            raise UsageError(
                f"--given {text!r} is not of the form COLUMN=VALUE with a column of the model. "
                f"Columns: {', '.join(measured)}."
            )
        name = max(fits, key=len)
        try:
            found.setdefault(name, []).append(from_text(name, measured[name], text[len(name) + 1 :]))
        except ValueError as error:
            raise UsageError(f"--given: {error}.") from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def at_least_one(value: int, option: str) -> int:
    """Refuse a number below 1."""
    if value < 1:
        raise UsageError(f"{option} must be at least 1, not {value}.")
    return value


def print_json(facts: Any) -> None:
    """Facts for a program to read."""
    typer.echo(visible(json.dumps(finite(facts), ensure_ascii=False, indent=2, allow_nan=False)))


def free(output: Path, overwrite: bool, *inputs: Path | None) -> None:
    """Refuse to write over what the command reads or keeps, and over any file unless asked to."""
    from pointillist.files.container import reserve

    _own(output, overwrite, *inputs)
    with reserve(output, 0):  # refuses what cannot be written
        pass


def free_for_rows(output: Path, schema: "Schema", overwrite: bool, *inputs: Path | None) -> None:
    """The same for synthetic rows, whose kind of file is known by its ending; images may go to a folder."""
    from pointillist.files import image_files
    from pointillist.files import table_files as tables

    _own(output, overwrite, *inputs)
    if schema.image is None:
        tables.check_path(output)
    else:
        image_files.check(output, overwrite=overwrite)


def write_rows(
    model: "Model", count: int, output: Path, overwrite: bool, *, safe_csv: bool = False, **options: Any
) -> str:
    """Sample rows or images and write them; what to say about it."""
    from pointillist.files import image_files
    from pointillist.files import table_files as tables

    if model.schema.image is None:
        tables.write_table(model.sample_table(count, **options), output, model.schema, safe_csv=safe_csv)
        return f"{count:,} synthetic rows written to {output}."
    image_files.write(model.sample(count, **options), output, overwrite=overwrite)
    return f"{count:,} synthetic images written to {output}."


def _own(output: Path, overwrite: bool, *inputs: Path | None) -> None:
    checked(output, UsageError)
    if any(other is not None and _same(output, other) for other in inputs):
        raise UsageError(f"{output}: is read or kept by this command, and would be written over. Name another output.")
    if output.is_file() and not overwrite:
        raise UsageError(f"{output}: is there already. Name another output, or pass --overwrite.")


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file. What can be no path leads nowhere; whoever reads it says so."""
    try:
        return os.path.realpath(one) == os.path.realpath(
            other
        )  # follows a loop of links no further, where pathlib raises
    except ValueError:
        return False
