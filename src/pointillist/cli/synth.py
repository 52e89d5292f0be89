"""`pointillist synth`: release, fit and sample in one go."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    GeneratorName,
    LedgerFile,
    Master,
    MethodName,
    Neighbour,
    Output,
    Overlap,
    Overwrite,
    Place,
    Public,
    Quiet,
    Rows,
    SafeCsv,
    SchemaFile,
    Seed,
    Settings,
    Sql,
    Targets,
    Threads,
    Yes,
)
from pointillist.cli.outputs import free
from pointillist.cli.release import release
from pointillist.cli.sample import free_for_rows, require_rows, wanted_rows, write_rows
from pointillist.errors import PointillistError

if TYPE_CHECKING:
    from pointillist.schema import Schema

KeptRelease = Annotated[
    Path | None,
    typer.Option("--release", help="Where to keep the release; by default beside the output.", show_default=False),
]


@app.command(rich_help_panel=Panel.PUBLISH)
def synth(
    data: Data,
    schema: SchemaFile,
    epsilon: Epsilon,
    output: Output,
    delta: Delta = 1e-5,
    target: Targets = None,
    neighbours: Neighbour = "add-remove",
    method: MethodName = None,
    public: Public = None,
    overlap: Overlap = False,
    extractor: ExtractorName = None,
    settings: Settings = None,
    generator: GeneratorName = None,
    device: Device = None,
    rows: Rows = None,
    seed: Seed = None,
    safe_csv: SafeCsv = False,
    keep: KeptRelease = None,
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
) -> str | None:
    """Release, fit and sample in one go. The release is kept, so nothing has to be paid for twice.

    Example: pointillist synth people.csv --schema people.toml --epsilon 1 -o synthetic.csv
    """
    from pointillist.cli.progress_bars import Steps
    from pointillist.methods.fit import fit as make_fit
    from pointillist.release import Release
    from pointillist.schema import Schema

    kept = keep or _beside(output)
    facts = Schema.load(schema)
    free_for_rows(output, facts, overwrite, data, schema, kept, ledger, public)
    free(kept, overwrite, data, schema, ledger, public)
    require_rows(rows, facts, output)
    measuring = _measured_on(facts, method, generator, device)
    release(
        data, schema, epsilon, kept, delta, target, neighbours, method, public, overlap, extractor,
        measuring, settings, plan=False, ledger=ledger, delimiter=delimiter, decimal=decimal, encoding=encoding, sql=sql,
        engine=engine, master=master, threads=threads, yes=yes, overwrite=overwrite, quiet=quiet,
    )  # fmt: skip
    try:
        with Steps(quiet).shown() as steps:
            model = make_fit(Release.load(kept), generator=generator, device=device, progress=steps)
        said = write_rows(model, wanted_rows(rows, model, output), output, overwrite, seed=seed, safe_csv=safe_csv)
    except PointillistError as error:
        raise type(error)(f"{error}\nThe release is safe in {kept}: go on with pointillist fit {kept}.") from None
    return None if quiet else _said(said, data, output, kept)


def _measured_on(schema: "Schema", method: str | None, generator: str | None, device: str | None) -> str | None:
    """What the release's network runs on, if it has one. Before anything is spent: what the fit cannot do is refused."""
    from pointillist.generators import generator_for
    from pointillist.methods import kind_for
    from pointillist.methods.fit import placed
    from pointillist.settings import settings_of

    chosen = None if generator is None else generator_for(schema, generator)
    if device is None:
        return None
    kind = kind_for(schema, method)
    placed(kind() if chosen is None else chosen, device)
    return device if any(each.name == "device" for each in settings_of(kind)) else None


def _beside(output: Place) -> Path:
    """Where the release is kept: beside the rows, or here where they go elsewhere."""
    return (output if isinstance(output, Path) else Path(output.name.replace("/", "_"))).with_suffix(".release")


def _said(said: str, data: Place, output: Place, kept: Path) -> str:
    """Say what was made; what comes next."""
    from pointillist.cli import console

    console.say(said)
    report = f"pointillist evaluate {data} {output} --release {kept} -o report.html"
    return f"{report} (for your eyes), and pointillist card {kept} -o card.html (to share with the data)"
