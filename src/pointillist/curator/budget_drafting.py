"""Budget drafting: a schema whose facts are found with noise, paid for and in the ledger. Nobody has to vouch for them.

Two rounds of noisy counts. The first counts every column's texts by form (numbers, dates, texts, …) and on a public grid of
octaves and years. The second, settled by the noisy outcome of the first, counts the values of a column by themselves, and
numbers in parts of their range. Which values there are is not known beforehand: those alone are named whose noisy count
reaches a threshold. What is public without noise are the names of the columns and the types in which they are stored.
docs/explanation/privacy-drafting.md has the proof.
"""

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.curator.releasing import finish
from pointillist.curator.value_counts import ValueCounts, value_counts
from pointillist.errors import BudgetError, UsageError
from pointillist.privacy.accounting import calibrate
from pointillist.privacy.budget import Budget
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.ledger import Ledger
from pointillist.privacy.noise import add_noise
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.privacy.thresholds import epsilon_slack, threshold
from pointillist.reading.base import Source
from pointillist.reading.connection import connect
from pointillist.schema import Ignore, Person, Schema
from pointillist.schema.kinds.bought_drafting import BINS, FirstLook, Guess, SecondLook, column, guess
from pointillist.schema.kinds.text_forms import FORMS
from pointillist.schema.purchase import Purchase

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_SHARES = (0.35, 0.65)
"""Parts of mu^2 of the two rounds."""
_GRID = Grid.counting()
_NAMING = 0.1
"""The part of delta for values that one person alone has and that the noise lifts over the threshold."""
_PARTS_OF_BINS = 0.5
"""What bins of a column take of the second round, where its values take 1."""
_NOT_LOOKED_AT = 0.25
"""Values of fewer rows than this many standard deviations of the noise are never named, and need no noise."""


@dataclass(frozen=True)
class BudgetPlan:
    """What a draft by budget does, settled before a row is read. Both rounds add whole weights to cells."""

    columns: tuple[str, ...]
    guarantee: Guarantee
    naming: float
    """The chance, part of delta, that a value is named which one person alone has."""

    @classmethod
    def make(
        cls, columns: Sequence[str], budget: Budget, neighbours: Neighbours, person: Person | None
    ) -> "BudgetPlan":
        """Calibrate the noise."""
        naming = _NAMING * budget.delta
        lifted = epsilon_slack(naming)
        rows = 1 if person is None else person.max_rows
        # One unit touches a cell of each block for each of its rows: no other cell tells neighbours apart.
        touched = 2 * len(columns) * rows * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
        reach = math.sqrt(squared_sensitivity(_GRID.squared_norm, neighbours, person, nonnegative=True))
        left = Budget(budget.epsilon - lifted, budget.delta - naming)
        mu, epsilon, delta = calibrate(left, [(touched, reach, share) for share in _SHARES])
        promise = Guarantee(budget.epsilon, budget.delta, neighbours, person, mu, epsilon + lifted, delta + naming)
        return cls(tuple(columns), promise, naming)

    @property
    def rows_of_one(self) -> int:
        """The most rows of one privacy unit."""
        return 1 if self.guarantee.person is None else self.guarantee.person.max_rows

    def sigma(self, number: int) -> float:
        """Standard deviation of the noise of a round, on the grid; rounded up, as in any plan."""
        squared = squared_sensitivity(
            _GRID.squared_norm, self.guarantee.neighbours, self.guarantee.person, nonnegative=True
        )
        return math.sqrt(squared) / (self.guarantee.mu * math.sqrt(_SHARES[number])) * (1 + 1e-12)

    def weights(self, parts: Sequence[float]) -> list[int]:
        """What a row adds to its cell of each block, on the grid: squares in proportion to `parts`, of norm 1 at most."""
        total = math.fsum(parts)
        weights = [_GRID.weight(math.sqrt(part / total)) for part in parts]
        while sum(weight**2 for weight in weights) > _GRID.squared_norm:  # a float's last digit
            weights = [weight - 1 for weight in weights]
        return weights


@dataclass(frozen=True)
class BoughtDraft:
    """A schema that was paid for."""

    id: str
    guarantee: Guarantee
    schema: Schema


def draft_by_budget(
    source: Source, *, name: str, person: Person | None, budget: Budget, neighbours: Neighbours, ledger: Ledger
) -> BoughtDraft:
    """A schema found with noise. Nothing is spent by a call that fails before the noise is drawn."""
    if source.holds_images:
        raise UsageError(f"{source.name}: a draft by budget is for tables. Draft a set of images without --epsilon.")
    names = source.column_names()
    columns = [each for each in names if person is None or each != person.column]
    if person is not None and person.order is not None and person.order not in columns:
        raise UsageError(
            f"{source.name}: person.order {person.order!r} is no column that is measured. Name the column that orders the "
            "rows of a person, or leave order out. Nothing was spent."
        )
    plan = BudgetPlan.make(columns, budget, neighbours, person)
    seen = ledger.check(name, plan.guarantee)
    spend = str(uuid.uuid4())
    with connect() as db:
        counts = value_counts(db, source, columns, person)
        first = first_sums(plan, counts)
        source.require_unchanged()
        ledger.record(name, plan.guarantee, release=spend, purpose="draft", seen=seen)
        looks = first_looks(plan, add_noise(first, plan.sigma(0)))
        guesses = [guess(look) for look in looks]
        seconds = _second_looks(plan, counts, guesses)
    parts = zip(columns, guesses, looks, seconds, strict=True)
    drafted: dict[str, Any] = {each: column(guessed, look, second) for each, guessed, look, second in parts}
    types = source.types()
    drafted = {each: made.stored_as(types[each]) if each in types else made for each, made in drafted.items()}
    rows = max(1.0, float(np.mean([look.rows for look in looks])))
    least = math.ceil(max(each.seen_from for each in seconds))
    described = {each: drafted.get(each) or _NAMES_THE_PERSON for each in names}
    schema = _schema(plan, name, *_ordered(person, described), rows, least, spend)
    schema = schema.model_copy(update={"csv": source.csv_form(None)})  # of the first line, which names the columns
    made = BoughtDraft(spend, plan.guarantee, schema)
    finish(ledger, made, "draft")
    return made


_NAMES_THE_PERSON = Ignore(description="names the person")


def _ordered(person: Person | None, columns: dict[str, Any]) -> tuple[Person | None, dict[str, Any]]:
    """The person as a schema may have it: without an order by a column that was found to have none. It is paid for."""
    if person is None or person.order is None:
        return person, columns
    found = columns[person.order]
    if found.measured and found.ordered:
        return person, columns
    said = f"{found.description}; " if found.description else ""
    told = found.model_copy(
        update={"description": f"{said}no order was seen in it, so it does not order a person's rows"}
    )
    return person.model_copy(update={"order": None}), {**columns, person.order: told}


def _schema(
    plan: BudgetPlan, name: str, person: Person | None, columns: dict[str, Any], rows: float, least: int, spend: str
) -> Schema:
    """The schema of what was found."""
    promise = plan.guarantee
    if not any(each.measured for each in columns.values()):
        raise BudgetError(
            f"nothing stood out from the noise: at this budget a value must be shared by about {least:,} rows to be seen. "
            "Choose a larger epsilon, or fewer columns. The spend was recorded, and counts."
        )
    digits = 10 ** max(0, math.floor(math.log10(rows)) - 1)
    facts = {
        "name": name,
        "rows": max(1, round(rows / digits) * digits),
        "bought": ("rows",),
        "person": person,
        "one_row_per_person": person is None,  # nothing was promised but to one who knows
        "purchase": Purchase(epsilon=promise.epsilon, delta=promise.delta, id=spend, seen_from=least),
        "columns": columns,
    }
    return Schema.parse(facts, origin="the draft")


# The first round


def first_sums(plan: BudgetPlan, counts: Sequence[ValueCounts]) -> Integers:
    """Rows by form and by cell of the public grid, of every column, in grid units. Secret."""
    weight = plan.weights([1.0] * 2 * len(counts))[0]
    return weight * np.concatenate([part for each in counts for part in (each.forms(), each.cells())])


def first_looks(plan: BudgetPlan, noisy: Integers) -> list[FirstLook]:
    """What the first round says of each column."""
    weight = plan.weights([1.0] * 2 * len(plan.columns))[0]
    rows, noise = noisy / weight, plan.sigma(0) / weight
    return [
        FirstLook(each[: len(FORMS) + 1], each[len(FORMS) + 1 :], noise) for each in np.split(rows, len(plan.columns))
    ]


# The second round


def _parts(guesses: Sequence[Guess]) -> list[float]:
    """What each block of the second round takes of it, values first and then bins."""
    values = [1.0 for each in guesses if each.asks_values]
    return values + [_PARTS_OF_BINS for each in guesses if each.asks_bins]


def _second_looks(plan: BudgetPlan, counts: Sequence[ValueCounts], guesses: Sequence[Guess]) -> list[SecondLook]:
    """What the second round says of each column: values that stand out, and rows in parts of the range."""
    parts = _parts(guesses)
    weights = plan.weights(parts) if parts else []
    asked = sum(each.asks_values for each in guesses)
    value_weight = weights[0] if asked else plan.weights([1.0] * len(counts))[0]  # if no column is asked: had all been
    bin_weight = weights[-1] if len(weights) > asked else 0
    seen_from = _threshold(plan, value_weight)[1] / value_weight
    sigma = plan.sigma(1)
    looks = []
    for each, guessed in zip(counts, guesses, strict=True):
        values: list[Any] = []
        often, bins = np.empty(0), None
        if guessed.asks_values:
            values, often = named(plan, each, value_weight, guessed.kind == "number")
        if guessed.asks_bins:
            bins = add_noise(bin_weight * each.bins(guessed.low, guessed.width, BINS), sigma) / bin_weight
        looks.append(SecondLook(values, often, seen_from, bins, sigma / bin_weight if bin_weight else 0.0))
    return looks


def named(plan: BudgetPlan, counts: ValueCounts, weight: int, numbers: bool) -> tuple[list[Any], Floats]:
    """Values whose noisy count reaches the threshold, and those counts, in rows."""
    least, reached = _threshold(plan, weight)
    values, often = counts.values(numbers=numbers, least=least)
    noisy = add_noise(weight * often, plan.sigma(1))
    kept = np.flatnonzero(noisy >= reached)
    return [values[place] for place in kept], noisy[kept] / weight


def _threshold(plan: BudgetPlan, weight: int) -> tuple[int, int]:
    """How many rows a value must have to be looked at, and the threshold on the grid.

    One unit can bring up to `rows_of_one` values of a column over the first limit that were below it without that unit; each
    then has at most so many rows more than were just below it.
    """
    least = max(1, math.floor(_NOT_LOOKED_AT * plan.sigma(1) / weight))
    most = (least - 1 + plan.rows_of_one) * weight
    keys = plan.rows_of_one * len(plan.columns)
    return least, threshold(plan.sigma(1), most, keys, plan.naming)
