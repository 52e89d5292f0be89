"""The command line: one command for each step, and one for all of them."""

import gc
import json
import math
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from pointillist.artefact import reserve
from pointillist.errors import ArtefactError, PointillistError, UsageError
from pointillist.options import (
    Data,
    Delimiter,
    Delta,
    Epsilon,
    Json,
    LedgerFile,
    MethodName,
    Neighbour,
    Overwrite,
    Quiet,
    Rows,
    SchemaFile,
    Seed,
    Sql,
    Target,
)

app = typer.Typer(
    name="pointillist",
    help="Synthetic data with a differential-privacy guarantee.\n\n"
    "You see the picture; no single dot matters. Start with: pointillist demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 2 wrong usage, 3 schema, 4 data, 5 budget, 6 release or model file, 70 a fault of ours.",
)
schema_app = typer.Typer(no_args_is_help=True, help="Draft a schema: what is public about a table.")
app.add_typer(schema_app, name="schema")
ledger_app = typer.Typer(invoke_without_command=True)
app.add_typer(ledger_app, name="ledger")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("pointillist"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Synthetic data with a differential-privacy guarantee.

    You see the picture; no single dot matters. Start with: pointillist demo
    """


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
    from pointillist import artefact, console
    from pointillist.curator.drafting import draft
    from pointillist.schema import Person

    _free(output, overwrite, data)
    owner = None if person is None else Person(column=person, max_rows=_at_least_one(max_rows, "--max-rows"))
    made = draft(_source(data, delimiter, sql), name=name or data.name.split(".")[0], person=owner)
    artefact.write(output, made.to_toml().encode())
    if not quiet:
        console.show_schema(made)
        console.show_left_out(made)
        console.say(f"Written to {output}. Review every fact read from the data, then set reviewed = true in it.")


@app.command()
def release(
    data: Data,
    schema: SchemaFile,
    epsilon: Epsilon,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The release file to write.", show_default=False)
    ] = None,
    delta: Delta = 1e-5,
    target: Target = None,
    neighbours: Neighbour = "add-remove",
    method: MethodName = "mosaic",
    plan: Annotated[bool, typer.Option("--plan", help="Only print what would be measured; touch no data.")] = False,
    ledger: LedgerFile = None,
    delimiter: Delimiter = ",",
    sql: Sql = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Measure a private table once, with noise. The only command that spends privacy budget.

    Example: pointillist release people.csv --schema people.toml --target income --epsilon 1 -o people.release
    """
    from pointillist import console
    from pointillist.curator.releasing import plan as make_plan
    from pointillist.curator.releasing import release as make_release
    from pointillist.schema import Schema

    facts = Schema.load(schema)
    settled = make_plan(facts, epsilon=epsilon, delta=delta, target=target, neighbours=neighbours, method=method)
    if plan:
        if as_json:
            _print_json({**settled.to_json(), "guarantee": settled.guarantee.to_json()})
        elif not quiet:
            console.show_plan(settled)
        return
    if output is None:
        raise UsageError("-o / --output is needed: the file to write the release to. (Or pass --plan to see the plan.)")
    _free(output, overwrite, data, schema, ledger)
    facts.require_reviewed(str(schema))
    source = _source(data, delimiter, sql)
    if not (quiet or as_json):
        console.show_plan(settled)
    with console.Steps(quiet or as_json).shown() as steps:
        made = make_release(
            source,
            facts,
            epsilon=epsilon,
            delta=delta,
            target=target,
            neighbours=neighbours,
            method=method,
            ledger=ledger,
            output=output,
            progress=steps,
        )
    if as_json:
        _print_json({"release": str(output), "id": made.id, "guarantee": made.guarantee.to_json()})
    elif not quiet:
        console.say(made.guarantee.sentence())
        console.say(f"Written to {output}. Next: pointillist fit {output} -o MODEL")


@app.command()
def fit(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release file.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file to write.", show_default=False)],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the fit.")] = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Fit a generator to a release. Costs no privacy, however often it is done.

    Example: pointillist fit people.release -o people.model
    """
    from pointillist import artefact, console
    from pointillist.methods.fitting import fit as make_fit
    from pointillist.release import Release

    _free(output, overwrite, release)
    public = Release.load(release)
    with artefact.reserve(output, 0) as pending:
        with console.Steps(quiet).shown() as steps:
            model = make_fit(public, seed=seed, progress=steps)
        pending.commit(model.to_bytes())
    if not quiet:
        console.say(f"Written to {output}. Next: pointillist sample {output} -o synthetic.csv")


@app.command()
def sample(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The table to write: .csv, .parquet or .arrow.", show_default=False)
    ],
    rows: Rows = None,
    seed: Seed = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Sample synthetic rows from a model. Costs no privacy, however often it is done.

    Example: pointillist sample people.model -n 50000 -o synthetic.parquet
    """
    from pointillist import console
    from pointillist.generators.model import Model
    from pointillist.output import check_path, write_table

    _free(output, overwrite, model)
    fitted = Model.load(model)
    check_path(output)
    count = _count(rows, fitted.default_count)
    write_table(fitted.sample_table(count, seed=seed), output)
    if not quiet:
        console.say(f"{count:,} synthetic rows written to {output}.")


@app.command()
def synth(
    data: Data,
    schema: SchemaFile,
    epsilon: Epsilon,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The table to write: .csv, .parquet or .arrow.", show_default=False)
    ],
    delta: Delta = 1e-5,
    target: Target = None,
    neighbours: Neighbour = "add-remove",
    method: MethodName = "mosaic",
    rows: Rows = None,
    seed: Seed = None,
    keep: Annotated[
        Path | None,
        typer.Option("--release", help="Where to keep the release; by default beside the output.", show_default=False),
    ] = None,
    ledger: LedgerFile = None,
    delimiter: Delimiter = ",",
    sql: Sql = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Release, fit and sample in one go. The release is kept, so nothing has to be paid for twice.

    Example: pointillist synth people.csv --schema people.toml --epsilon 1 -o synthetic.csv
    """
    from pointillist import console
    from pointillist.methods.fitting import fit as make_fit
    from pointillist.output import check_path, write_table
    from pointillist.release import Release

    kept = keep or output.with_suffix(".release")
    _free(output, overwrite, data, schema, kept, ledger)
    _free(kept, overwrite, data, schema, ledger)
    check_path(output)
    _count(rows, 1)
    release(
        data, schema, epsilon, kept, delta, target, neighbours, method,
        plan=False, ledger=ledger, delimiter=delimiter, sql=sql, overwrite=overwrite, quiet=quiet,
    )  # fmt: skip
    try:
        with console.Steps(quiet).shown() as steps:
            model = make_fit(Release.load(kept), progress=steps)
        count = _count(rows, model.default_count)
        write_table(model.sample_table(count, seed=seed), output)
    except PointillistError as error:
        raise type(error)(f"{error}\nThe release is safe in {kept}: go on with pointillist fit {kept}.") from None
    if not quiet:
        console.say(f"{count:,} synthetic rows written to {output}.")


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A release, a model or a schema.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Show what is in a release, a model or a schema, and what it promises.

    Example: pointillist inspect people.release
    """
    from pointillist import artefact, console
    from pointillist.generators.model import Model
    from pointillist.release import Release
    from pointillist.schema import Schema

    if file.suffix == ".toml":
        facts = Schema.load(file)
        _print_json(facts.to_json()) if as_json else console.show_schema(facts)
        return
    match artefact.kind_of(file):
        case "release":
            public = Release.load(file)
            _print_json(public.summary()) if as_json else console.show_release(public)
        case "model":
            model = Model.load(file)
            _print_json(model.summary()) if as_json else console.show_model(model)
        case other:
            raise ArtefactError(f"{file}: is a {other} file, which this version cannot show.")


@ledger_app.callback()
def ledger_show(context: typer.Context, ledger: LedgerFile = None, as_json: Json = False) -> None:
    """Show what has been spent, on what, when; set caps.

    Example: pointillist ledger
    """
    from dataclasses import asdict

    from pointillist import console
    from pointillist.privacy.ledger import Ledger

    context.obj = ledger
    if context.invoked_subcommand is not None:
        return
    book = Ledger(ledger)
    accounts = book.accounts()
    if as_json:
        _print_json([{**asdict(each), "person": each.person and each.person.model_dump()} for each in accounts])
    else:
        console.say(f"Ledger: {book.path}")
        console.show_accounts(accounts)


@ledger_app.command("cap")
def ledger_cap(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="The data set's name, as in its schema.", show_default=False)],
    epsilon: Epsilon,
    delta: Delta = 1e-5,
    quiet: Quiet = False,
) -> None:
    """Set the most that may ever be spent on a data set, over all of its releases.

    Example: pointillist ledger cap people --epsilon 3 --delta 1e-5
    """
    from pointillist import console
    from pointillist.privacy.budget import Budget
    from pointillist.privacy.ledger import Ledger

    book = Ledger(context.obj)
    known = {account.dataset for account in book.accounts()}
    book.set_cap(dataset, Budget(epsilon, delta))
    spent = next(account.spent for account in book.accounts() if account.dataset == dataset)
    if not quiet and dataset not in known:
        others = f" This ledger also has {', '.join(sorted(known))}." if known else ""
        console.say(f"A new account: nothing has been spent on a data set of that name.{others}", style="yellow")
    if not quiet and spent > epsilon:
        console.say(f"ε = {spent:.4g} was spent already, so no release fits under this cap.", style="yellow")
    if not quiet:
        console.say(f"The cap of {dataset} is now ε = {epsilon:g} at δ = {delta:g}.")


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to leave the files.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Run the whole way on a simulated registry of people, and show how close it came.

    Example: pointillist demo
    """
    from pointillist.demo import run

    # As it was called: after `make demo` the command is in .venv/bin, and not on the path.
    called = Path(sys.argv[0])
    run(folder, quiet=quiet, command=os.path.relpath(called) if called.name == "pointillist" else "pointillist")


def _source(data: Path, delimiter: str, sql: str | None) -> Any:
    from pointillist.curator.reading import open_source

    return open_source(data, delimiter=delimiter, query=sql)


def _count(rows: int | None, default: int) -> int:
    from pointillist.generators.model import MOST_ROWS

    if rows is not None and rows > MOST_ROWS:
        raise UsageError(f"-n / --rows must be at most {MOST_ROWS:,}. Sample in parts, each with another seed.")
    return default if rows is None else _at_least_one(rows, "-n / --rows")


def _at_least_one(value: int, option: str) -> int:
    if value < 1:
        raise UsageError(f"{option} must be at least 1, not {value}.")
    return value


def _print_json(facts: Any) -> None:
    typer.echo(json.dumps(_finite(facts), ensure_ascii=False, indent=2, allow_nan=False))


def _finite(facts: Any) -> Any:
    """JSON has no infinity: what is beyond all bounds is null."""
    if isinstance(facts, dict):
        return {name: _finite(value) for name, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [_finite(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts


def _free(output: Path, overwrite: bool, *inputs: Path | None) -> None:
    """Refuse to write over what the command reads or keeps, and over any file unless asked to."""
    if any(other is not None and output.resolve() == other.resolve() for other in inputs):
        raise UsageError(f"{output}: is read or kept by this command, and would be written over. Name another output.")
    if output.is_file() and not overwrite:
        raise UsageError(f"{output}: is there already. Name another output, or pass --overwrite.")
    with reserve(output, 0):  # refuses what cannot be written
        pass


def main() -> None:
    """Run the command line. Mistakes end in one clear message, never in a traceback."""
    message, code = "", 0
    try:
        app()
    except PointillistError as error:
        message, code = f"Error: {error}", error.exit_code
    except KeyboardInterrupt:
        message, code = "Stopped.", 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        # The message or a traceback might quote a private value: name only what kind of fault it is, and where.
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = (
            f"Error: a fault in pointillist ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}). "
            "Please report it with the command you ran; leave the data out."
        )
        code = 70
    # Outside the handlers: what the error's traceback held on to (readers, connections) is gone before we leave.
    if message:
        gc.collect()
        typer.secho(message, err=True, fg="red")
    sys.exit(code)


if __name__ == "__main__":
    main()
