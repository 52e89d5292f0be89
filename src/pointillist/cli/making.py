"""The way from a private table to a synthetic one: draft, release, fit, sample, or all in one go."""

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app, schema_app
from pointillist.cli.options import (
    Balance,
    Data,
    Delimiter,
    Delta,
    Epsilon,
    ExtractorName,
    GeneratorName,
    Given,
    Json,
    LedgerFile,
    MethodName,
    Neighbour,
    Output,
    Overlap,
    Overwrite,
    Public,
    Quiet,
    Rows,
    SafeCsv,
    SchemaFile,
    Seed,
    Sql,
    Targets,
    Yes,
)
from pointillist.cli.shared import (
    at_least_one,
    conditions,
    fitted_by,
    free,
    free_for_rows,
    last_look,
    opened,
    print_json,
    recipe,
    wanted_rows,
    write_rows,
)
from pointillist.errors import FactsFromDataWarning, PointillistError, UsageError


@schema_app.command("draft")
def schema_draft(
    data: Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="The TOML file to write.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="The data set's name in the ledger; by default the file's.")] = None,
    person: Annotated[str | None, typer.Option(help="The column that names the person a row belongs to.")] = None,
    max_rows: Annotated[int, typer.Option(help="With --person: the most rows used of each person.")] = 1,
    delimiter: Delimiter = ",",
    sql: Sql = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draft a schema from a table, for you to review.

    Every fact that was read off the data is marked; a release refuses the file until you set reviewed = true.

    Example: pointillist schema draft people.csv -o people.toml
    """
    from pointillist.cli import console
    from pointillist.curator.drafting import draft
    from pointillist.files import container
    from pointillist.schema import Person

    free(output, overwrite, data)
    owner = None if person is None else Person(column=person, max_rows=at_least_one(max_rows, "--max-rows"))
    made = draft(opened(data, delimiter, sql), name=name or data.name.split(".")[0], person=owner)
    container.write(output, made.to_toml().encode())
    if not quiet:
        console.show_draft(made, output)
        asked = " and answer the question in it" if made.several_rows else ""
        console.say(
            f"Written to {output}. Review every fact read from the data{asked}, then set reviewed = true in it."
        )


@app.command(rich_help_panel=Panel.PUBLISH)
def release(
    data: Data,
    schema: SchemaFile,
    epsilon: Epsilon,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The release file to write.", show_default=False)
    ] = None,
    delta: Delta = 1e-5,
    target: Targets = None,
    neighbours: Neighbour = "add-remove",
    method: MethodName = None,
    public: Public = None,
    overlap: Overlap = False,
    extractor: ExtractorName = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only print what would be measured; touch no data.")] = False,
    ledger: LedgerFile = None,
    delimiter: Delimiter = ",",
    sql: Sql = None,
    yes: Yes = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> str | None:
    """Measure a private table once, with noise. The only command that spends privacy budget.

    Facts in the schema that were read from the data are shown once more first, and you are asked whether they are public.

    Example: pointillist release people.csv --schema people.toml --target income --epsilon 1 -o people.release

    Example: pointillist release faces/ --schema faces.toml --epsilon 1 -o faces.release
    """
    from pointillist.cli import console
    from pointillist.curator.releasing import plan as make_plan
    from pointillist.curator.releasing import release as make_release
    from pointillist.schema import Schema

    facts = Schema.load(schema)
    named = recipe(method, public, overlap, extractor, data, facts, delimiter)
    settled = make_plan(facts, epsilon=epsilon, delta=delta, target=target, neighbours=neighbours, method=named)
    if plan:
        if as_json:
            print_json({**settled.to_json(), "guarantee": settled.guarantee.to_json()})
        elif not quiet:
            console.show_plan(settled)
        return None
    if output is None:
        raise UsageError("-o / --output is needed: the file to write the release to. (Or pass --plan to see the plan.)")
    free(output, overwrite, data, schema, ledger, public, None if extractor is None else Path(extractor))
    facts.require_reviewed(str(schema))
    source = opened(data, delimiter, sql)
    if not (quiet or as_json):
        console.show_plan(settled)
    last_look(facts, schema, yes)
    with warnings.catch_warnings(), console.Steps(quiet or as_json).shown() as steps:
        warnings.simplefilter("ignore", FactsFromDataWarning)
        made = make_release(
            source,
            facts,
            epsilon=epsilon,
            delta=delta,
            target=target,
            neighbours=neighbours,
            method=named,
            ledger=ledger,
            output=output,
            progress=steps,
        )
    if as_json:
        print_json({"release": str(output), "id": made.id, "guarantee": made.guarantee.to_json()})
    elif not quiet:
        console.say(made.guarantee.sentence())
        console.say(f"Written to {output}.")
        return f"pointillist fit {output} -o MODEL"
    return None


@app.command(rich_help_panel=Panel.MAKE)
def fit(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release file.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file to write.", show_default=False)],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the fit.")] = 0,
    generator: GeneratorName = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="With --generator network or image-network: keep the state here, and go on from it if it is there.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Steps of a network's fit, also of the network that image methods fit by themselves: more take longer.",
            show_default=False,
        ),
    ] = None,
    variety: Annotated[
        float | None,
        typer.Option(
            help="Of a spectral release: less than 1 for tidier images that are more alike.", show_default=False
        ),
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> str | None:
    """Fit a generator to a release. Costs no privacy, however often it is done.

    Example: pointillist fit people.release -o people.model

    Example: pointillist fit digits.release --variety 0.6 -o tidy.model
    """
    from pointillist.cli import console
    from pointillist.files import container
    from pointillist.methods.fit import fit as make_fit
    from pointillist.release import Release

    free(output, overwrite, release)
    public = Release.load(release)
    chosen = fitted_by(public, generator, steps, variety)
    with container.reserve(output, 0) as pending:
        with console.Steps(quiet).shown() as shown:
            model = make_fit(public, **chosen, checkpoint=checkpoint, seed=seed, progress=shown)
        pending.commit(model.to_bytes())
    if not quiet:
        table = ".csv" if public.schema.image is None else ""
        console.say(f"Written to {output}.")
        return f"pointillist sample {output} -o synthetic{table}"
    return None


@app.command(rich_help_panel=Panel.MAKE)
def sample(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)],
    output: Output,
    rows: Rows = None,
    given: Given = None,
    balance: Balance = None,
    seed: Seed = None,
    safe_csv: SafeCsv = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Sample synthetic rows or images from a model. Costs no privacy, however often it is done.

    Example: pointillist sample people.model -n 50000 -o synthetic.parquet

    Example: pointillist sample people.model -n 1000 --given sex=F --given age=30..40 --balance income -o some.csv
    """
    from pointillist.cli import console
    from pointillist.model import Model

    fitted = Model.load(model)
    free_for_rows(output, fitted.schema, overwrite, model)
    count = wanted_rows(rows, fitted.default_count)
    columns = {name: column for name, column in fitted.schema.measured.items() if column.kind != "image"}
    condition = conditions(given or [], columns)
    said = write_rows(fitted, count, output, overwrite, given=condition, balance=balance, seed=seed, safe_csv=safe_csv)
    if not quiet:
        console.say(said)


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
    generator: GeneratorName = None,
    rows: Rows = None,
    seed: Seed = None,
    safe_csv: SafeCsv = False,
    keep: Annotated[
        Path | None,
        typer.Option("--release", help="Where to keep the release; by default beside the output.", show_default=False),
    ] = None,
    ledger: LedgerFile = None,
    delimiter: Delimiter = ",",
    sql: Sql = None,
    yes: Yes = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> str | None:
    """Release, fit and sample in one go. The release is kept, so nothing has to be paid for twice.

    Example: pointillist synth people.csv --schema people.toml --epsilon 1 -o synthetic.csv
    """
    from pointillist.cli import console
    from pointillist.generators.settings import generator_for
    from pointillist.methods.fit import fit as make_fit
    from pointillist.release import Release
    from pointillist.schema import Schema

    kept = keep or output.with_suffix(".release")
    facts = Schema.load(schema)
    free_for_rows(output, facts, overwrite, data, schema, kept, ledger, public)
    free(kept, overwrite, data, schema, ledger, public)
    wanted_rows(rows, 1)
    if generator is not None:
        generator_for(facts, generator)  # better known before anything is spent
    release(
        data, schema, epsilon, kept, delta, target, neighbours, method, public, overlap, extractor,
        plan=False, ledger=ledger, delimiter=delimiter, sql=sql, yes=yes, overwrite=overwrite, quiet=quiet,
    )  # fmt: skip
    try:
        with console.Steps(quiet).shown() as steps:
            model = make_fit(Release.load(kept), generator=generator, progress=steps)
        count = wanted_rows(rows, model.default_count)
        said = write_rows(model, count, output, overwrite, seed=seed, safe_csv=safe_csv)
    except PointillistError as error:
        raise type(error)(f"{error}\nThe release is safe in {kept}: go on with pointillist fit {kept}.") from None
    if quiet:
        return None
    console.say(said)
    report = f"pointillist evaluate {data} {output} --release {kept} -o report.html"
    return f"{report} (for your eyes), and pointillist card {kept} -o card.html (to share with the data)"


@app.command(rich_help_panel=Panel.TRY)
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to leave the files.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Run the whole way on a simulated registry of people, and show how close it came.

    Example: pointillist demo
    """
    from pointillist.demo.demo import run

    # As it was called: after `make demo` the command is in .venv/bin, and not on the path.
    called = Path(sys.argv[0])
    run(folder, quiet=quiet, command=os.path.relpath(called) if called.name == "pointillist" else "pointillist")
