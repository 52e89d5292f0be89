"""`pointillist release`: measure a private table once, with noise. Spends budget."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import (
    Data,
    Decimal,
    Delimiter,
    Delta,
    Device,
    Encoding,
    EngineName,
    Epsilon,
    ExtractorName,
    Json,
    LedgerFile,
    Master,
    MethodName,
    Neighbour,
    Overlap,
    Overwrite,
    Public,
    Quiet,
    SchemaFile,
    Settings,
    Sql,
    Targets,
    Threads,
    Yes,
    workers,
)
from pointillist.cli.outputs import free, print_json
from pointillist.errors import FactsFromDataWarning, SchemaError, UsageError
from pointillist.files.paths import checked

if TYPE_CHECKING:
    from pointillist.cli.options import Place
    from pointillist.methods import Method
    from pointillist.plan import Plan
    from pointillist.release import Release
    from pointillist.schema import Schema

PlanOnly = Annotated[bool, typer.Option("--plan", help="Only print what would be measured; touch no data.")]
ReleaseOutput = Annotated[
    Path | None, typer.Option("-o", "--output", help="The release file to write.", show_default=False)
]


@app.command(rich_help_panel=Panel.PUBLISH)
def release(
    data: Data,
    schema: SchemaFile,
    epsilon: Epsilon,
    output: ReleaseOutput = None,
    delta: Delta = 1e-5,
    target: Targets = None,
    neighbours: Neighbour = "add-remove",
    method: MethodName = None,
    public: Public = None,
    overlap: Overlap = False,
    extractor: ExtractorName = None,
    device: Device = None,
    settings: Settings = None,
    plan: PlanOnly = False,
    ledger: LedgerFile = None,
    delimiter: Delimiter = ",",
    decimal: Decimal = None,
    encoding: Encoding = None,
    sql: Sql = None,
    engine: EngineName = None,
    master: Master = None,
    threads: Threads = None,
    yes: Yes = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> str | None:
    """Measure a private table once, with noise. Spends privacy budget.

    Facts in the schema that were read from the data are shown once more first, and you are asked whether they are public.

    Example: pointillist release people.csv --schema people.toml --target income --epsilon 1 -o people.release

    Example: pointillist release hdfs://data/people --schema people.toml --epsilon 1 --engine spark -o people.release

    Example: pointillist release faces/ --schema faces.toml --epsilon 1 -o faces.release
    """
    from pointillist.cli.show.release import tell_release
    from pointillist.curator import releasing
    from pointillist.engines import opened
    from pointillist.schema import Schema

    facts = Schema.load(schema)
    asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "target": target, "neighbours": neighbours}
    asked["method"] = recipe_of(facts, method, settings, public, overlap, extractor, data, delimiter, device)
    settled = releasing.plan(facts, **asked)
    if plan:
        tell_plan(settled, quiet, as_json)
        return None
    output = _needed(output)
    free(output, overwrite, data, schema, ledger, public, None if extractor is None else Path(extractor))
    facts.require_reviewed(str(schema))
    source, run = opened(data, engine, workers(threads), master, **_read_by(delimiter, decimal, encoding, sql))
    tell_plan(settled, quiet or as_json)
    last_look(facts, schema, yes)
    made = _made(source, facts, quiet or as_json, **asked, ledger=ledger, output=output, engine=run)
    return tell_release(made, output, quiet, as_json)


def _made(source: Any, schema: "Schema", quiet: bool, **asked: Any) -> "Release":
    """The release, with a bar. Facts that were read from the data have been shown by now."""
    from pointillist.cli.progress_bars import Steps
    from pointillist.curator import releasing

    with warnings.catch_warnings(), Steps(quiet).shown() as steps:
        warnings.simplefilter("ignore", FactsFromDataWarning)
        return releasing.release(source, schema, **asked, progress=steps)


def _read_by(delimiter: str, decimal: str | None, encoding: str | None, sql: str | None) -> dict[str, Any]:
    """How a table is to be read."""
    return {"delimiter": delimiter, "decimal": decimal, "encoding": encoding, "query": sql}


def _needed(output: Path | None) -> Path:
    if output is None:
        raise UsageError("-o / --output is needed: the file to write the release to. (Or pass --plan to see the plan.)")
    return output


def tell_plan(plan: "Plan", quiet: bool, as_json: bool = False) -> None:
    """What is going to be measured, where it is wanted."""
    from pointillist.cli.show.plan import show_plan

    if as_json:
        print_json({**plan.to_json(), "guarantee": plan.guarantee.to_json()})
    elif not quiet:
        show_plan(plan)


def recipe_of(
    schema: "Schema",
    method: str | None,
    settings: list[str] | None,
    public: Path | None,
    overlap: bool,
    extractor: str | None,
    private: "Place",
    delimiter: str,
    device: str | None = None,
) -> "Method":
    """The method by its name, with its settings, and the public rows or the network that it is to use, if any."""
    from pointillist.methods import METHODS, kind_for
    from pointillist.settings import parsed, refusing

    own = _brought(schema, method, public, overlap, extractor, private, delimiter)
    kind = kind_for(schema, method)
    name = METHODS.name_of(kind)
    own |= _placed(kind, name, device)
    given = parsed(kind, name, settings or ())
    twice = [each for each in given if each in own]
    if twice:
        raise UsageError(f"--set {twice[0]}: there is an option for it, which is given, too. Leave one out.")
    with refusing(name):
        return kind(**own, **given)


def _brought(
    schema: "Schema",
    method: str | None,
    public: Path | None,
    overlap: bool,
    extractor: str | None,
    private: "Place",
    delimiter: str,
) -> dict[str, Any]:
    """The settings of a method that have options of their own: they bring files along."""
    from pointillist.reading.opening import open_source
    from pointillist.reading.public_images import public_images
    from pointillist.reading.public_points import public_points

    if overlap and public is None:
        raise UsageError("--public-overlap goes with --public: it speaks of the rows of that file.")
    brought: dict[str, Any] = {}
    if extractor is not None:
        if method not in ("perceptual", "gallery"):
            raise UsageError(
                f"--extractor goes with --method perceptual or gallery, not with {method or 'the default'}: no other method "
                "uses a public network."
            )
        brought["extractor"] = _file_or_name(extractor)
    if public is None:
        return brought
    if method not in ("landmarks", "gallery"):
        raise UsageError(
            f"--public goes with --method landmarks, for rows, or gallery, for images, not with {method or 'the default'}: "
            "no other method chooses from public data."
        )
    if isinstance(private, Path) and public.exists() and private.exists() and public.samefile(private):
        raise UsageError(
            f"--public names the private table itself ({public}). Public rows and images are published as they are: name "
            "what anybody may see."
        )
    if method == "landmarks":
        schema.require_table("--method landmarks")
        return {"points": public_points(open_source(public, delimiter=delimiter), schema), "overlap": overlap}
    return {**brought, "public": public_images(open_source(public, delimiter=delimiter), schema), "overlap": overlap}


def _placed(kind: type, name: str, device: str | None) -> dict[str, str]:
    """What a method's public network is to run on, if it has one; a device that is not here is refused."""
    from pointillist.device import is_cpu, require_device_name
    from pointillist.settings import settings_of

    if device is None:
        return {}
    require_device_name(device)
    if any(each.name == "device" for each in settings_of(kind)):
        return {"device": device}
    if device not in ("auto", "cpu") and not is_cpu(device):
        raise UsageError(f"--device {device}: {name} measures without a network, on the processor. Leave it out.")
    return {}


def _file_or_name(text: str) -> str | Path:
    """A file if there is one of that name, whatever its ending."""
    return Path(text) if checked(text, UsageError).is_file() else text


def last_look(schema: "Schema", origin: Path, yes: bool) -> None:
    """Facts that were read from the data, once more before they are published; somebody has to say that they may be."""
    from pointillist.cli.show.schema import show_last_look

    if yes or not schema.vouched:
        return
    if not sys.stdin.isatty():
        raise SchemaError(
            f"{origin}: a release publishes facts that were read from the data ({schema.vouched_words()}), and there is "
            "nobody to ask whether it may. Look at each of them, then pass --yes; or take out of read_from_data what you "
            "know from elsewhere."
        )
    show_last_look(schema)
    if not typer.confirm("May anyone know all of this?", err=True):
        raise SchemaError(
            f"{origin}: not released, and nothing was spent. Replace what not everyone may know by facts from public "
            "knowledge, and take their names out of read_from_data."
        )
