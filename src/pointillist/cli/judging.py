"""Judging a synthetic table, and the promise that it came with."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Delimiter, Json, Overwrite, Quiet, Sql, Target
from pointillist.cli.shared import free, opened, print_json
from pointillist.errors import ArtefactError, UsageError

if TYPE_CHECKING:
    from pointillist.evaluate.audit import Audit

ReleaseFile = Annotated[
    Path | None, typer.Option("--release", help="The release that it was made from.", show_default=False)
]


@app.command(rich_help_panel=Panel.JUDGE)
def evaluate(
    real: Annotated[Path, typer.Argument(metavar="REAL", help="The private table.", show_default=False)],
    synthetic: Annotated[Path, typer.Argument(metavar="SYNTHETIC", help="The synthetic table.", show_default=False)],
    schema: Annotated[
        Path | None,
        typer.Option("--schema", help="Their schema (TOML); with --release it may be left out.", show_default=False),
    ] = None,
    holdout: Annotated[
        Path | None,
        typer.Option(help="Real rows that took no part in the release: models are tested on them.", show_default=False),
    ] = None,
    target: Target = None,
    release: ReleaseFile = None,
    audit: Annotated[
        Path | None, typer.Option("--audit", help="What `pointillist audit` found, to show it too.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The report to write: .html.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the models and of random parts.")] = 0,
    delimiter: Delimiter = ",",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Judge a synthetic table beside the real one: columns, pairs, models, one report. For the owner's eyes only.

    Images, too: samples of every class, classifiers, diversity.

    Example: pointillist evaluate people.csv synthetic.csv --release people.release -o report.html
    """
    from pointillist.cli import console
    from pointillist.files import container
    from pointillist.release import Release

    if output is not None:
        if output.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"{output}: a report is written as .html; pass --json for the figures.")
        free(output, overwrite, real, synthetic, schema, holdout, release, audit)
    public = None if release is None else Release.load(release)
    tables = {
        "real": opened(real, delimiter, None),
        "synthetic": opened(synthetic, delimiter, None),
        "holdout": None if holdout is None else opened(holdout, delimiter, None),
    }
    known = {"release": public, "audit": None if audit is None else _load(audit), "seed": seed}
    with console.Steps(quiet or as_json).shown() as steps:
        result = _judged(tables, schema, target, {**known, "progress": steps})
    if output is not None:
        container.write(output, result.to_html().encode())
        output.chmod(0o600)  # for the owner's eyes
    if as_json:
        print_json(result.to_json())
    elif not quiet:
        _show(result)
        if output is not None:
            console.say(f"Report: {output}. It was computed from private data: keep it where the data are kept.")


def _judged(tables: dict[str, Any], schema: Path | None, target: str | None, known: dict[str, Any]) -> Any:
    """The evaluation of a table or of images, as the schema has it."""
    from pointillist.evaluate.tables.evaluation import evaluate as judge_table
    from pointillist.schema import Schema

    public = known["release"]
    facts = Schema.load(schema) if schema is not None else None if public is None else public.schema
    if facts is None or facts.image is None:
        return judge_table(**tables, schema=facts, target=target, **known)
    from pointillist.evaluate.images.evaluation import evaluate_pictures

    if target is not None and target != facts.label:
        raise UsageError(f"--target {target}: images are judged by their label. Leave --target out.")
    return evaluate_pictures(**tables, schema=facts, **known)


def _show(result: Any) -> None:
    """The verdict in the terminal."""
    from pointillist.cli import console
    from pointillist.cli.console_table import Table
    from pointillist.evaluate.images.evaluation import PictureEvaluation

    if not isinstance(result, PictureEvaluation):
        console.show_evaluation(result)
        return
    table = Table(f"Synthetic against real: {result.name}")
    for heading in ("question", "grade", "figure", "what it says"):
        table.add_column(heading)
    for point in result.verdict.points:
        table.add_row(point.question, point.grade, point.figure, point.sentence)
    console.out.print(table)
    for each in result.distances:
        console.out.print(f"Fréchet distance in {each.space}: {each.value:.4f} ({each.note}).")
    for note in result.notes:
        console.out.print(f"Note: {note}", style="yellow")


@app.command(rich_help_panel=Panel.JUDGE)
def card(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release file.", show_default=False)],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The card to write: .html, .md or .json.", show_default=False)
    ],
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the page that may travel with the data: what it is, what it promises, what it is good for.

    Everything on it comes from the release, which is public.

    Example: pointillist card people.release -o card.html
    """
    from pointillist.cli import console
    from pointillist.pages.card import Card
    from pointillist.release import Release

    free(output, overwrite, release)
    Card.of(Release.load(release)).save(output)
    if not quiet:
        console.say(f"Written to {output}. It may be shared together with the data.")


@app.command(rich_help_panel=Panel.ASK)
def errors(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release file.", show_default=False)],
    model: Annotated[
        Path | None,
        typer.Option("--model", help="The model fitted to it; without one, it is fitted anew.", show_default=False),
    ] = None,
    refits: Annotated[
        int, typer.Option(help="Fit so often again, with fresh noise: then correlations of numbers are shown, too.")
    ] = 0,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of fits, samples and fresh noise.")] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say how far figures of the synthetic data may be from the private ones. Costs no privacy.

    Means, medians and shares of every column, each with an interval for the private figure, from the release alone.

    Example: pointillist errors people.release --model people.model --refits 10
    """
    from pointillist.cli import console
    from pointillist.inference.uncertainty import uncertainty
    from pointillist.model import Model
    from pointillist.release import Release

    public = Release.load(release)
    fitted = None if model is None else Model.load(model)
    with console.Steps(quiet or as_json).shown() as steps:
        bars = uncertainty(public, model=fitted, refits=refits, confidence=confidence, seed=seed, progress=steps)
        found = bars.describe() + (bars.correlations() if refits else ())
    if as_json:
        print_json([each.to_json() for each in found])
    elif not quiet:
        console.show_errors(public.schema.name, found)


@app.command(rich_help_panel=Panel.JUDGE)
def audit(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]", help="The private table; without it, made-up rows are used.", show_default=False
        ),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="The table's schema (TOML), reviewed.", show_default=False)
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="The ε that is promised.", show_default=False)] = None,
    delta: Annotated[float | None, typer.Option(help="The δ that is promised; 1e-5 unless stated.")] = None,
    target: Target = None,
    neighbours: Annotated[str | None, typer.Option(help="add-remove (default), or replace-one.")] = None,
    method: Annotated[str | None, typer.Option(help="The recipe; mosaic unless stated.")] = None,
    release: Annotated[
        Path | None,
        typer.Option("--release", help="Audit with the settings of this release instead.", show_default=False),
    ] = None,
    attacks: Annotated[
        str | None,
        typer.Option(help="Some of white-box, canaries, membership, with commas between.", show_default=False),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(help="Releases on each side of the white-box attack; 30 unless stated.", show_default=False),
    ] = None,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="200 releases on each side, and four times the shadow runs: takes minutes."),
    ] = False,
    confidence: Annotated[float, typer.Option(help="Confidence of the lower bounds.")] = 0.95,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A JSON file for the findings.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of rows and coin tosses, never of the noise.")] = 0,
    delimiter: Delimiter = ",",
    sql: Sql = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Attack the pipeline, and show how much privacy loss can be proved beside what is promised.

    Nothing is published and nothing is spent. Exit code 1 if the promise is broken.

    Example: pointillist audit --schema people.toml --epsilon 1 -o audit.json
    """
    from pointillist.cli import console
    from pointillist.evaluate.audit import audit as run
    from pointillist.evaluate.audit.auditing import RUNS, SHADOWS, THOROUGH
    from pointillist.files import container
    from pointillist.privacy.budget import DEFAULT_DELTA
    from pointillist.release import Release
    from pointillist.schema import Schema

    if output is not None:
        free(output, overwrite, data, schema, release)
    if release is not None:
        stated = {"--schema": schema, "--epsilon": epsilon, "--delta": delta, "--target": target}
        stated |= {"--neighbours": neighbours, "--method": method}
        extra = [name for name, value in stated.items() if value is not None]
        if extra:
            raise UsageError(f"--release brings its own settings: leave {', '.join(extra)} out.")
        public = Release.load(release)
        facts, promise = public.schema, public.guarantee
        epsilon, delta, neighbours = promise.epsilon, promise.delta, promise.neighbours.value
        target, method = public.target, public.method
    elif schema is None or epsilon is None:
        raise UsageError("say what to audit: --schema and --epsilon, or --release.")
    else:
        facts = Schema.load(schema)
    usual, shadows = THOROUGH if thorough else (RUNS, SHADOWS)
    with console.Steps(quiet or as_json).shown() as steps:
        result = run(
            None if data is None else opened(data, delimiter, sql),
            facts,
            epsilon=epsilon,
            delta=DEFAULT_DELTA if delta is None else delta,
            target=target,
            neighbours=neighbours or "add-remove",
            method=method or "mosaic",
            attacks=None if attacks is None else [name.strip() for name in attacks.split(",")],
            runs=usual if runs is None else runs,
            shadows=shadows,
            confidence=confidence,
            seed=seed,
            progress=steps,
        )
    if output is not None:
        text = json.dumps(result.to_json(), ensure_ascii=False, indent=2, allow_nan=False)
        container.write(output, text.encode())
        output.chmod(0o600)  # findings on private rows are private
    if as_json:
        print_json(result.to_json())
    elif not quiet:
        console.show_audit(result)
        if output is not None:
            kept = " It holds findings on private rows: keep it where the data are kept." if result.private else ""
            console.say(
                f"Findings: {output}.{kept} Show them in a report with: pointillist evaluate … --audit {output}"
            )
    if not result.passed:
        raise typer.Exit(1)


def _load(path: Path) -> "Audit":
    """What an audit wrote."""
    from pointillist.evaluate.audit import Audit

    try:
        return Audit.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ArtefactError(f"{path}: no such file. Write one with: pointillist audit … -o {path}") from None
    except (OSError, ValueError, KeyError, TypeError, ArtefactError):
        raise ArtefactError(
            f"{path}: not what an audit writes. Make one with: pointillist audit … -o audit.json"
        ) from None
