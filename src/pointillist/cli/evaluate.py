"""`pointillist evaluate`: a synthetic table or images beside the real ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Decimal, Delimiter, Device, Encoding, Json, Overwrite, Place, Quiet, Target, place
from pointillist.cli.outputs import free, print_json
from pointillist.errors import UsageError

if TYPE_CHECKING:
    from pointillist.reading.base import Source
    from pointillist.schema import Schema

_DELIMITERS = (",", ";", "\t", "|")
"""What separates columns in CSV files, the usual first."""

RealTable = Annotated[
    Place, typer.Argument(parser=place, metavar="REAL", help="The private table.", show_default=False)
]
SyntheticTable = Annotated[
    Place, typer.Argument(parser=place, metavar="SYNTHETIC", help="The synthetic table.", show_default=False)
]
Holdout = Annotated[
    Place | None,
    typer.Option(
        parser=place,
        metavar="DATA",
        help="Real rows that took no part in the release: models are tested on them.",
        show_default=False,
    ),
]
SchemaOfBoth = Annotated[
    Path | None,
    typer.Option("--schema", help="Their schema (TOML); with --release it may be left out.", show_default=False),
]
ReleaseBehind = Annotated[
    Path | None, typer.Option("--release", help="The release that it was made from.", show_default=False)
]
FidNetwork = Annotated[
    Path | None,
    typer.Option(
        "--fid-network",
        metavar="FILE",
        help="Of images: the weights of FID's Inception network (safetensors), for FID and KID that compare with published "
        "ones. Made of pytorch-fid's pt_inception-2015-12-05-6726825d.pth: safetensors.torch.save_file(torch.load(PATH, "
        "weights_only=True), FILE). Without it, Fréchet distances are relative.",
        show_default=False,
    ),
]


@app.command(rich_help_panel=Panel.JUDGE)
def evaluate(
    real: RealTable,
    synthetic: SyntheticTable,
    schema: SchemaOfBoth = None,
    holdout: Holdout = None,
    target: Target = None,
    release: ReleaseBehind = None,
    audit: Annotated[
        Path | None, typer.Option("--audit", help="What `pointillist audit` found, to show it too.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The report to write: .html.", show_default=False)
    ] = None,
    fid_network: FidNetwork = None,
    device: Device = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the models and of random parts.")] = 0,
    delimiter: Delimiter = ",",
    decimal: Decimal = None,
    encoding: Encoding = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Judge a synthetic table beside the real one: columns, pairs, models, one report. For the owner's eyes only.

    Images, too: samples of every class, classifiers, diversity.

    Example: pointillist evaluate people.csv synthetic.csv --release people.release -o report.html
    """
    from pointillist.cli.progress_bars import Steps
    from pointillist.evaluate.audit import Audit
    from pointillist.files import container
    from pointillist.release import Release
    from pointillist.schema import Schema

    if output is not None:
        if output.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"{output}: a report is written as .html; pass --json for the figures.")
        free(output, overwrite, real, synthetic, schema, holdout, release, audit, fid_network)
    public = None if release is None else Release.load(release)
    facts = Schema.load(schema) if schema is not None else None if public is None else public.schema
    # Synthetic rows are written in UTF-8, and with the decimal sign that the schema says: beside semicolons it is found.
    stated = None if facts is None or facts.csv is None or facts.csv.delimiter == ";" else facts.csv.decimal
    files = {
        "real": (real, decimal, encoding),
        "synthetic": (synthetic, stated, None),
        "holdout": (holdout, decimal, encoding),
    }
    tables = {
        role: None if path is None else _opened(path, delimiter, comma, coded, facts)
        for role, (path, comma, coded) in files.items()
    }
    known = {"release": public, "audit": None if audit is None else Audit.load(audit), "seed": seed}
    with Steps(quiet or as_json).shown() as steps:
        result = _judged(tables, facts, target, {**known, "progress": steps}, _fid(fid_network, device))
    if output is not None:
        container.write(output, result.to_html().encode())
        output.chmod(0o600)  # for the owner's eyes
    _say(result, output, quiet, as_json)


def _say(result: Any, output: Path | None, quiet: bool, as_json: bool) -> None:
    from pointillist.cli import console
    from pointillist.cli.show.evaluation import show_evaluation

    if as_json:
        print_json(result.to_json())
    elif not quiet:
        show_evaluation(result)
        if output is not None:
            console.say(f"Report: {output}. It was computed from private data: keep it where the data are kept.")


def _opened(path: Place, delimiter: str, decimal: str | None, encoding: str | None, facts: "Schema | None") -> "Source":
    """A file with the delimiter that was given, or with the one under which its first line names the schema's columns.

    The real and the synthetic table need not have the same.
    """
    from pointillist.errors import PointillistError
    from pointillist.reading.opening import open_source

    given = open_source(path, delimiter=delimiter, decimal=decimal, encoding=encoding)
    if facts is None or facts.image is not None or not given.untyped:
        return given
    for each in dict.fromkeys((delimiter, *_DELIMITERS)):
        source = open_source(path, delimiter=each, decimal=decimal, encoding=encoding)
        try:
            named = set(source.column_names())
        except (PointillistError, OSError, ValueError):
            break  # reading it says what is wrong
        if set(facts.measured) <= named:
            return source
    return given


def _fid(network: Path | None, device: str | None) -> dict[str, Any]:
    """What FID is taken by, and on."""
    if network is None and device is not None:
        raise UsageError("--device is what FID's network runs on: it goes with --fid-network.")
    return {} if network is None else {"fid_network": network, **({} if device is None else {"device": device})}


def _judged(
    tables: dict[str, Any], facts: "Schema | None", target: str | None, known: dict[str, Any], fid: dict[str, Any]
) -> Any:
    """The evaluation of a table or of images, as the schema has it."""
    from pointillist.evaluate.tables.evaluation import evaluate as judge_table

    if facts is None or facts.image is None:
        if fid:
            raise UsageError("--fid-network is for images, and these are tables. Leave it out.")
        return judge_table(**tables, schema=facts, target=target, **known)
    from pointillist.evaluate.images.evaluation import evaluate_images

    if target is not None and target != facts.label:
        raise UsageError(f"--target {target}: images are judged by their label. Leave --target out.")
    return evaluate_images(**tables, schema=facts, **known, **fid)
