"""`pointillist audit`: attack the pipeline, and show what can be proved beside what is promised."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Decimal, Delimiter, Encoding, Json, Overwrite, Place, Quiet, Sql, Target, place
from pointillist.cli.outputs import free, print_json
from pointillist.errors import UsageError

if TYPE_CHECKING:
    from pointillist.schema import Schema

PrivateTable = Annotated[
    Place | None,
    typer.Argument(
        parser=place, metavar="[DATA]", help="The private table; without it, made-up rows are used.", show_default=False
    ),
]
AuditedSchema = Annotated[
    Path | None, typer.Option("--schema", help="The table's schema (TOML), reviewed.", show_default=False)
]
AuditedRelease = Annotated[
    Path | None,
    typer.Option("--release", help="Audit with the settings of this release instead.", show_default=False),
]
Attacks = Annotated[
    str | None, typer.Option(help="Some of white-box, canaries, membership, with commas between.", show_default=False)
]
Runs = Annotated[
    int | None,
    typer.Option(help="Releases on each side of the white-box attack; 30 unless stated.", show_default=False),
]
Thorough = Annotated[
    bool, typer.Option("--thorough", help="200 releases on each side, and four times the shadow runs: takes minutes.")
]
Findings = Annotated[
    Path | None, typer.Option("-o", "--output", help="A JSON file for the findings.", show_default=False)
]


@app.command(rich_help_panel=Panel.JUDGE)
def audit(
    data: PrivateTable = None,
    schema: AuditedSchema = None,
    epsilon: Annotated[float | None, typer.Option(help="The ε that is promised.", show_default=False)] = None,
    delta: Annotated[float | None, typer.Option(help="The δ that is promised; 1e-5 unless stated.")] = None,
    target: Target = None,
    neighbours: Annotated[str | None, typer.Option(help="add-remove (default), or replace-one.")] = None,
    method: Annotated[str | None, typer.Option(help="The recipe; mosaic unless stated.")] = None,
    release: AuditedRelease = None,
    attacks: Attacks = None,
    runs: Runs = None,
    thorough: Thorough = False,
    confidence: Annotated[float, typer.Option(help="Confidence of the lower bounds.")] = 0.95,
    output: Findings = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of rows and coin tosses, never of the noise.")] = 0,
    delimiter: Delimiter = ",",
    decimal: Decimal = None,
    encoding: Encoding = None,
    sql: Sql = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Attack the pipeline, and show how much privacy loss can be proved beside what is promised.

    Nothing is published and nothing is spent. Exit code 1 if the promise is broken.

    Example: pointillist audit --schema people.toml --epsilon 1 -o audit.json
    """
    from pointillist.cli.progress_bars import Steps
    from pointillist.evaluate.audit import audit as attack
    from pointillist.evaluate.audit.auditing import RUNS, SHADOWS, THOROUGH
    from pointillist.reading.opening import open_source

    if output is not None:
        free(output, overwrite, data, schema, release)
    stated = {"epsilon": epsilon, "delta": delta, "target": target, "neighbours": neighbours, "method": method}
    facts, settings = _promised(schema, release, stated)
    source = (
        None if data is None else open_source(data, delimiter=delimiter, decimal=decimal, encoding=encoding, query=sql)
    )
    named = None if attacks is None else [name.strip() for name in attacks.split(",")]
    usual, shadows = THOROUGH if thorough else (RUNS, SHADOWS)
    effort: dict[str, Any] = {
        "attacks": named,
        "runs": usual if runs is None else runs,
        "shadows": shadows,
        "confidence": confidence,
    }
    with Steps(quiet or as_json).shown() as steps:
        result = attack(source, facts, **settings, **effort, seed=seed, progress=steps)
    _tell(result, output, quiet, as_json)
    if not result.passed:
        raise typer.Exit(1)


def _promised(schema: Path | None, release: Path | None, stated: dict[str, Any]) -> tuple["Schema", dict[str, Any]]:
    """What is audited: the promise that the options state, or that of a release."""
    from pointillist.privacy.budget import DEFAULT_DELTA
    from pointillist.release import Release
    from pointillist.schema import Schema

    if release is not None:
        extra = [f"--{name}" for name, value in {"schema": schema, **stated}.items() if value is not None]
        if extra:
            raise UsageError(f"--release brings its own settings: leave {', '.join(extra)} out.")
        public = Release.load(release)
        promise = public.guarantee
        settings = {"epsilon": promise.epsilon, "delta": promise.delta, "neighbours": promise.neighbours.value}
        return public.schema, {**settings, "target": public.target, "method": public.method}
    if schema is None or stated["epsilon"] is None:
        raise UsageError("say what to audit: --schema and --epsilon, or --release.")
    usual = {"delta": DEFAULT_DELTA, "neighbours": "add-remove", "method": "mosaic"}
    return Schema.load(schema), {**stated, **{name: each for name, each in usual.items() if stated[name] is None}}


def _tell(result: Any, output: Path | None, quiet: bool, as_json: bool) -> None:
    """The findings, where they are wanted."""
    from pointillist.cli import console
    from pointillist.cli.show.audit import show_audit
    from pointillist.files import container

    if output is not None:
        text = json.dumps(result.to_json(), ensure_ascii=False, indent=2, allow_nan=False)
        container.write(output, text.encode())
        output.chmod(0o600)  # findings on private rows are private
    if as_json:
        print_json(result.to_json())
    elif not quiet:
        show_audit(result)
        if output is not None:
            kept = " It holds findings on private rows: keep it where the data are kept." if result.private else ""
            console.say(
                f"Findings: {output}.{kept} Show them in a report with: pointillist evaluate … --audit {output}"
            )
