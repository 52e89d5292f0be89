"""Console: plans, releases, models, schemas and ledgers as tables a person can read."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.text import Text

from pointillist.cli.console_table import Table
from pointillist.model import Model
from pointillist.plan import Plan
from pointillist.privacy.budget import Guarantee, short
from pointillist.privacy.ledger import Account, State
from pointillist.release import Release
from pointillist.schema import Image, Schema
from pointillist.schema.levels import BINS
from pointillist.visible import visible

if TYPE_CHECKING:
    from pointillist.evaluate.audit import Audit
    from pointillist.evaluate.tables.evaluation import Evaluation
    from pointillist.features import Extractor
    from pointillist.inference.answer import Answers
    from pointillist.inference.estimate import Estimate


class _Console(Console):
    """A console that obeys no name. All that is printed, by whichever way, is rendered to segments here."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


# Names and paths are the user's own: square brackets in them are not markup.
out = _Console(markup=False)
err = _Console(stderr=True, markup=False)


def say(text: str, style: str | None = None) -> None:
    """A line of text, broken only where the terminal breaks it, so that paths can be copied."""
    out.print(text, style=style, soft_wrap=True)


class Steps:
    """A progress bar for each step, with the time left; where nobody can see bars, a line now and then."""

    def __init__(self, quiet: bool):
        self._quiet = quiet
        self._began: dict[str, float] = {}
        self._told = time.monotonic()
        self._bars: dict[str, Any] = {}
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=err,
            disable=quiet,
        )

    @contextmanager
    def shown(self) -> Iterator["Steps"]:
        with self._progress:
            yield self
            self._finish()

    def __call__(self, step: str, fraction: float) -> None:
        if self._quiet or (step not in _WORDS and not step.startswith(("pass", "noise"))):
            return
        if step not in self._bars:
            self._finish()
            words = _WORDS.get(step) or step.replace("pass", "reading the records, pass").replace(
                "noise", "drawing noise,"
            )
            self._bars[step] = self._progress.add_task(words, total=1.0)
            self._began[step] = time.monotonic()
        self._progress.update(self._bars[step], completed=fraction)
        if fraction < 1 and not err.is_terminal and time.monotonic() - self._told > _SELDOM:
            self._tell(step, fraction)

    def _tell(self, step: str, fraction: float) -> None:
        """Say how far a step is, and how long it will take if it goes on like that."""
        self._told = time.monotonic()
        left = (self._told - self._began[step]) * (1 / max(fraction, 1e-3) - 1)
        words = self._progress.tasks[self._bars[step]].description
        err.print(f"{words}: {fraction:.0%}, about {max(1, round(left / 60))} min left")

    def _finish(self) -> None:
        for bar in self._bars.values():
            self._progress.update(bar, completed=1.0)


_SELDOM = 20
"""Seconds between two lines about progress in a log."""
_WORDS = {
    "fit": "fitting the generator", "write": "writing", "evaluate": "comparing with the real data",
    "audit": "attacking", "train": "training the extractor", "refits": "fitting again with fresh noise",
}  # fmt: skip


def show_plan(plan: Plan) -> None:
    """What will be measured, at which noise, and what error to expect."""
    schema, guarantee = plan.request.schema, plan.guarantee
    table = Table(f"Plan: {plan.method} on {schema.name}")
    image = schema.image is not None
    before, after = ([], []) if image else (["tables"], ["expected\nraw error"])
    what, unit = ("features", "noise per\nfeature (images)") if image else ("cells\nat most", "noise per\ncell (rows)")
    table.add_column("measured")
    for heading in (*before, what, "share of\nbudget", unit, *after):
        table.add_column(heading, justify="right")
    for number, each in enumerate(plan.rounds):
        for block in each.blocks:
            error = plan.expected_error(number, block)
            shown = "–" if error is None else ("≥ 1" if error >= 1 else f"{error:.3f}")
            table.add_row(
                block.name,
                *([] if image else [f"{block.count:,}"]),
                f"{block.cells:,}",
                f"{each.share * block.count * block.weight**2:.0%}",
                f"± {plan.noise_rows(number, block):,.1f}",
                *([] if image else [shown]),
            )
    out.print(table)
    out.print(_promise(guarantee))
    if image:
        out.print(_OF_IMAGES)
    elif schema.rows is None:
        out.print("The schema states no number of rows, so errors are shown in rows only.")
    else:
        out.print(
            f"Raw error: expected total variation distance of one table for {schema.rows:,} rows, from noise alone, "
            "before the fit removes most of it.",
        )
    for expected in plan.expected:
        low, high = expected.error / expected.factor, min(expected.error * expected.factor, 1.0)
        out.print(
            f"Synthetic rows: expect an error of about {expected.error:.2g} in {expected.name}, in {BINS} bins "
            f"({low:.2g} to {high:.2g}, as the data will have it)."
        )
    for note in plan.notes:
        out.print(f"Note: {note}", style="yellow")


_OF_IMAGES = (
    "The noise is on sums over all images. Counts: an image adds 1 to one of them. Other features: all that an image adds, "
    "over all features together, has length 1 at most."
)


def _promise(guarantee: Guarantee) -> str:
    return (
        f"Promise: ε = {guarantee.epsilon:g}, δ = {short(guarantee.delta)}, {guarantee.neighbours}, unit {guarantee.unit}; "
        f"one Gaussian release with σ/Δ = {1 / guarantee.mu:.4f} in all."
    )


def show_schema(schema: Schema) -> None:
    """What is public: the columns and their facts, and whom the promise is for."""
    _show_columns(schema, list(schema.columns), read=any(each.read_from_data for each in schema.columns.values()))
    _show_unit(schema)


def show_draft(schema: Schema, file: Path) -> None:
    """A screenful about a new draft: its first columns, and which it leaves out, and why."""
    _show_columns(schema, list(schema.columns)[:_MOST_DRAFTED], read=False)
    if len(schema.columns) > _MOST_DRAFTED:
        say(f"… and {len(schema.columns) - _MOST_DRAFTED:,} more columns: see {file}.")
    reasons: dict[str, list[str]] = {}
    for name, column in schema.columns.items():
        if column.kind == "ignore":
            reasons.setdefault(column.description or "ignored", []).append(name)
    for reason, names in reasons.items():
        more = f", … ({len(names)} columns)" if len(names) > 4 else ""
        out.print(f"Left out: {', '.join(names[:4])}{more}: {reason}.")
    _show_unit(schema)


_MOST_DRAFTED = 20


def _show_columns(schema: Schema, names: Sequence[str], *, read: bool) -> None:
    """A line for each column; what does not fit in is cut, but names."""
    table = Table(f"Schema: {schema.name}")
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("outside")
    for heading in ("values", *(["read from the data"] if read else [])):
        table.add_column(heading, no_wrap=True)
    for name in names:
        column = schema.columns[name]
        facts = [", ".join(column.read_from_data) or "–"] if read else []
        table.add_row(name, column.kind, getattr(column, "out_of_domain", "–"), _values(column), *facts)
    out.print(table)


def _show_unit(schema: Schema) -> None:
    for constraint in schema.constraints:
        out.print(Text(f"Constraint: {constraint}."))
    if schema.several_rows:
        names = ", ".join(schema.several_rows)
        out.print(
            f"Privacy unit: to be settled. Values of {names} repeat: may a person have several rows?", style="yellow"
        )
    elif schema.person is None:
        out.print(f"Privacy unit: one {'row' if schema.image is None else 'image, with its label'}.")
    else:
        out.print(
            f"Privacy unit: one person, named by {schema.person.column}, at most {schema.person.max_rows} rows each."
        )
    if not schema.reviewed:
        out.print("A draft: review it and set reviewed = true before a release.", style="yellow")


def show_last_look(schema: Schema) -> None:
    """Facts that were read from the data, with their values: for the owner, before they are published."""
    err.print("These facts were read from the data, and the release will publish them:", style="yellow")
    for name, facts in schema.vouched.items():
        values = {fact: getattr(schema.columns[name] if name else schema, fact, None) for fact in facts}
        shown = "; ".join(f"{fact} = {_listed(value)}" for fact, value in values.items() if value not in (None, ()))
        err.print(f"  {name or 'the table'}: {shown}", soft_wrap=True)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _values(column: Any) -> str:
    return _domain(column) + (" or missing" if column.kind != "ignore" and column.missing else "")


def _domain(column: Any) -> str:
    if hasattr(column, "categories"):
        names = [str(c) for c in column.categories]
        return (f"{len(names)}: " if len(names) > 4 else "") + ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    if hasattr(column, "min"):
        special = "".join(f", {v:g}" for v in getattr(column, "special", ()))
        low, high = (v.date() if hasattr(v, "date") else v for v in (column.min, column.max))
        return f"{low} … {high}{special}" + (" (log)" if column.scale == "log" else "")
    if column.kind == "boolean":
        return "true, false"
    if isinstance(column, Image):
        return f"{_size(column)}, other sizes: {column.resize}"
    return "–"


def _size(image: Image) -> str:
    return f"{image.height} x {image.width} pixels, {'colour' if image.colour else 'grey'}"


def show_release(release: Release) -> None:
    """What is in a release, and what it promises."""
    out.print(f"Release {release.id} of {release.schema.name}, made {release.created} by {release.method}")
    out.print(release.guarantee.sentence())
    out.print(_promise(release.guarantee))
    if release.target is not None:
        out.print(f"Target: {release.target}")
    if release.rows is not None:
        record = release.guarantee.record
        out.print(f"{record.capitalize()}s: {release.rows:,} (public, because neighbours replace one {record})")
    image = release.schema.image is not None
    what, unit = ("features", "noise per feature (images)") if image else ("cells at most", "noise per cell (rows)")
    table = Table("Measured")
    for heading in ("what", *([] if image else ["tables"]), what, unit):
        table.add_column(heading)
    for each in release.plan["rounds"]:
        for block in each["blocks"]:
            tables = [] if image else [f"{block['count']:,}"]
            table.add_row(block["name"], *tables, f"{block['cells']:,}", f"± {block['noise_rows']:,.1f}")
    out.print(table)
    _show_vouched(release.schema)


def _show_vouched(schema: Schema) -> None:
    if schema.vouched:
        facts = schema.vouched_words()
        out.print(f"Facts first read from the data, which the owner reviewed and declared public: {facts}.")


def show_model(model: Model) -> None:
    """What a model makes, and what stands behind it."""
    out.print(f"Model of {model.schema.name}, fitted to release {model.release}")
    out.print(model.guarantee.sentence())
    image = model.schema.image
    over = f" over {len(model.levels)} columns" if image is None else f", for images of {_size(image[1])}"
    out.print(
        f"It is {model.generator.describe()}{over}; about {model.rows:,.0f} private {model.guarantee.record}s by its "
        "noisy count."
    )
    show_schema(model.schema)


def show_extractor(extractor: "Extractor") -> None:
    """What a public network is, and what it reads."""
    taken = extractor.input
    out.print(f"Extractor {extractor.name}, sha256 {extractor.sha256}")
    out.print(
        f"A public network for images of {taken.height} x {taken.width} pixels, "
        f"{'colour' if taken.channels == 3 else 'grey'}; others are brought to that. It costs no privacy, and travels with "
        "releases."
    )
    say(f"Layers that are read: {', '.join(extractor.layers)}.")


def show_accounts(accounts: Sequence[Account]) -> None:
    """What has been spent, on what, when."""
    if not accounts:
        out.print("Nothing has been spent yet.")
    for account in accounts:
        unit = "one row" if account.person is None else f"one person ({account.person.column})"
        relation = account.neighbours or "no release yet"
        table = Table(f"{account.dataset} ({relation}, unit {unit})")
        for heading in ("when (UTC)", "who", "for", "ε", "δ", "state", "release"):
            table.add_column(heading)
        for spend in account.spends:
            state = "open: counted as spent" if spend.state is State.OPEN else spend.state.value
            at = spend.at[:19].replace("T", " ")
            table.add_row(
                at, spend.who, spend.purpose, f"{spend.epsilon:g}", f"{spend.delta:g}", state, spend.release[:8]
            )  # fmt: skip
        out.print(table)
        left = f"spent together: ε = {account.spent:.4g} of {account.cap.epsilon:g} at δ = {short(account.cap.delta)}"
        out.print(f"{left} (exact composition, less than the sum of the ε)\n")


def show_audit(result: "Audit") -> None:
    """What each attack could prove, beside the promise."""
    table = Table(f"Audit: {result.method} on {result.dataset}")
    for heading, justify in (
        ("attack", "left"), ("ε is at least", "right"), ("promised ε", "right"), ("confidence", "right"), ("for", "left"),
    ):  # fmt: skip
        table.add_column(heading, justify=justify)
    for each in result.findings:
        table.add_row(
            each.attack, f"{each.epsilon:.3g}".replace("inf", "∞"), f"{result.epsilon:g}", f"{each.confidence:.0%}",
            "the owner" if each.private else "anyone",
            style="bold red" if each.violated else None,
        )  # fmt: skip
    out.print(table)
    for each in result.findings:
        out.print(f"{each.attack}: {each.sentence}")
    for note in result.notes:
        out.print(note)
    say(result.sentence(), style="green" if result.passed else "bold red")


def show_evaluation(result: "Evaluation") -> None:
    """The verdict, with the figures behind it."""
    table = Table(f"Synthetic against real: {result.name}")
    for heading, justify in (("question", "left"), ("grade", "left"), ("figure", "right"), ("what it says", "left")):
        table.add_column(heading, justify=justify)
    for point in result.verdict.points:
        table.add_row(point.question, point.grade, point.figure, point.sentence)
    out.print(table)
    figures = "; ".join(
        f"{each.order} {'column' if each.order == 1 else 'columns'} {each.mean:.3f}" for each in result.marginals
    )
    out.print(f"Mean total variation distance: {figures}.")
    for note in result.notes:
        out.print(f"Note: {note}", style="yellow")


def show_errors(name: str, estimates: Sequence["Estimate"]) -> None:
    """Statistics of the synthetic data, and where the private ones lie."""
    table = Table(f"Error bars: {name}")
    heading = f"private ({estimates[0].confidence:.0%})" if estimates else "private"
    for text, justify in (("statistic", "left"), ("synthetic", "right"), (heading, "right"), ("from", "left")):
        table.add_column(text, justify=justify)
    for each in estimates:
        table.add_row(
            each.name, each.shown(each.value), f"{each.shown(each.low)} to {each.shown(each.high)}", each.basis,
            style=None if each.low <= each.value <= each.high else "yellow",
        )  # fmt: skip
    out.print(table)
    out.print(
        "measured: from the known noise alone. refits: from fitting again with fresh noise; what was never measured is not "
        "in it. Each interval holds by itself, not all of them together."
    )


def show_answers(name: str, answers: "Answers") -> None:
    """The figures that a query asked for, group by group, and where the private ones lie."""
    estimates = [each for group in answers.groups for each in group.estimates]
    heading = f"private ({estimates[0].confidence:.0%})" if estimates else "private"
    table = Table(f"Answers: {name}")
    for column in answers.query.groups:
        table.add_column(column)
    for text, justify in (("figure", "left"), ("synthetic", "right"), (heading, "right"), ("from", "left")):
        table.add_column(text, justify=justify)
    for group in answers.groups:
        shown = ["missing" if value is None else value for value in group.values]
        for aggregate, each in zip(answers.query.aggregates, group.estimates, strict=True):
            table.add_row(
                *shown, aggregate, each.shown(each.value), f"{each.shown(each.low)} to {each.shown(each.high)}", each.basis,
                style=None if each.low <= each.value <= each.high else "yellow",
            )  # fmt: skip
    out.print(table)
    for note in answers.notes:
        out.print(f"Note: {note}")
    out.print(
        "measured: from the known noise alone. assisted: from rows of the model and the noisy measurements together. "
        "refits: from fitting again with fresh noise. Each interval holds by itself, not all of them together."
    )
