"""Plan: what will be measured, at which noise, with which expected error. Made from public facts alone.

A release keeps the `PublishedPlan`: the same without the request, which it states elsewhere.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from pointillist.files.facts import flag, listed, optional, real, table, text, texts, whole
from pointillist.privacy.accounting import calibrate
from pointillist.privacy.budget import Budget
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Guarantee, Neighbours, short
from pointillist.privacy.owners import Owners
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

_UNKNOWN_ROWS = 1000
"""What a plan reckons with where the schema does not state the rows: few enough to promise nothing."""
_MOST_CELLS = 1 << 32
_CLOSE = 1e-9
"""Two ways to reckon the same number agree to within this part of it."""


@dataclass(frozen=True)
class Request:
    """What the user asks for."""

    schema: Schema
    budget: Budget
    neighbours: Neighbours
    targets: tuple[str, ...] = ()
    """Columns that receivers will want to predict, the most important one first."""
    owners: Owners | None = None
    """Those who make the release together; none: one owner alone."""

    @property
    def target(self) -> str | None:
        """The first target."""
        return self.targets[0] if self.targets else None

    @property
    def spread(self) -> float:
        """By how much the noise of the whole is more than what the promise counts on."""
        return 1.0 if self.owners is None else self.owners.spread

    @property
    def assumed_rows(self) -> int:
        """How many rows to plan for."""
        return self.schema.rows or _UNKNOWN_ROWS


@dataclass(frozen=True)
class Block:
    """Measurements of one kind: `count` tables with at most `cells` cells together."""

    name: str
    count: int
    cells: int
    weight: float
    """Length of each table's one-hot vector, or of all features together, of a record's whole length 1."""
    counts: bool = True
    """Whether these are tables of counts; otherwise `cells` features of another kind."""
    ones: int = 1
    """Of products of scores, each of which has this weight: how many a record has that are not 0, at most."""

    @property
    def part(self) -> float:
        """Its part of the squared length of a record's features, and so of its round's budget."""
        return self.count * self.ones * self.weight**2


_COARSE, _NAMED = 0.1, 6
"""A raw distance above which values count as coarse, and so many columns are named."""


@dataclass(frozen=True)
class Round:
    """One noisy sum. Every record's features have norm at most 1."""

    share: float
    """Part of the plan's mu^2."""
    blocks: tuple[Block, ...]
    grid: Grid
    nonnegative: bool = False
    """Whether no feature is ever negative."""
    positive: bool = False
    """Whether no two records' features have a negative inner product, before rounding."""
    counting: bool = False
    """Whether every feature is a weight, less a weight or 0, so that norms are known before a row is seen."""

    def __post_init__(self) -> None:
        if not (self.counting or self.grid.holds(self.dimension)):
            raise ValueError(f"a grid of {self.grid.bits} bits is too fine for {self.dimension} features")

    @classmethod
    def of_counts(cls, share: float, blocks: tuple[Block, ...]) -> Self:
        """A round of weighted indicators."""
        return cls(share, blocks, Grid.counting(), nonnegative=True, counting=True)

    @property
    def dimension(self) -> int:
        """The most coordinates that the round can have."""
        return sum(block.cells for block in self.blocks)

    def sensitivity(self, neighbours: Neighbours, schema: Schema) -> float:
        """How far one privacy unit moves the sum, on the grid."""
        return math.sqrt(
            squared_sensitivity(
                self.grid.squared_norm,
                neighbours,
                schema.person,
                nonnegative=self.nonnegative,
                positive=self.dimension if self.positive else None,
                shared=self.grid.shared > 0,
            )
        )


@dataclass(frozen=True)
class Expectation:
    """What to expect of the synthetic rows: the mean total variation distance of tables of one kind."""

    name: str
    error: float
    factor: float
    """The error may well be so many times larger or smaller: how far depends on the data, which nobody has looked at."""


@dataclass(frozen=True)
class Plan:
    """Everything about a release that is settled before the data are touched."""

    method: str
    options: dict[str, Any]
    request: Request
    guarantee: Guarantee
    rounds: tuple[Round, ...]
    notes: tuple[str, ...]
    expected: tuple[Expectation, ...] = ()
    """A forecast for synthetic rows, where the method has one and the schema states the rows."""

    @classmethod
    def make(
        cls, method: str, options: dict[str, Any], request: Request, rounds: tuple[Round, ...], notes: tuple[str, ...]
    ) -> Self:
        """Calibrate the noise of `rounds` to the requested budget, as a whole."""
        schema, budget = request.schema, request.budget
        if math.fsum(each.share for each in rounds) > 1 + 1e-12:
            raise ValueError("the shares of the rounds add up to more than the budget")
        sizes = [(r.dimension, r.sensitivity(request.neighbours, schema), r.share) for r in rounds]
        mu, epsilon_slack, delta_slack = calibrate(budget, sizes, request.owners)
        guarantee = Guarantee(
            budget.epsilon,
            budget.delta,
            request.neighbours,
            None if schema.person is None else schema.person.unit,
            mu,
            epsilon_slack,
            delta_slack,
            "row" if schema.image is None else "image",
            request.owners,
        )
        if schema.rows is not None and budget.delta * schema.rows >= 1:
            notes += (
                f"δ = {short(budget.delta)} is not below 1 / {guarantee.record}s = {1 / schema.rows:.1g}: a mechanism with "
                f"such a δ may give whole {guarantee.record}s away. Choose a smaller δ.",
            )
        made = cls(method, options, request, guarantee, rounds, notes)
        error = made.expected_error(0, rounds[0].blocks[0])
        if error is not None and error > 0.5:
            notes += (
                "The noise is larger than most of the counts: expect little more than the coarsest shapes. Ignore some "
                "columns, lower their bins, or choose a larger ε.",
            )
        coarse = made.coarse_columns()
        if coarse and not (error is not None and error > 0.5):
            more = f" and {len(coarse) - _NAMED} more" if len(coarse) > _NAMED else ""
            notes += (
                f"Only the outline of {', '.join(coarse[:_NAMED])}{more} can be kept, not single values. There are too few "
                f"{guarantee.record}s for so many values: choose a larger ε, or fewer bins, if single values matter.",
            )
        return replace(made, notes=notes)

    def coarse_columns(self) -> tuple[str, ...]:
        """Columns whose single values are likely to be further off than one row in ten, by the noise of the first round;
        and those that are derived of them."""
        noises = [self.noise_rows(0, block) for block in self.rounds[0].blocks if block.counts]
        rows, schema = self.request.schema.rows, self.request.schema
        if rows is None or not noises or schema.image is not None:
            return ()
        each = 0.5 * math.sqrt(2 / math.pi) * max(noises) / rows
        coarse = [level.name for level in levels_of(schema) if level.size * each > _COARSE]
        return (*coarse, *(name for name, made in schema.derived.items() if not set(coarse).isdisjoint(made.inputs)))

    def sigma(self, number: int) -> float:
        """Standard deviation of the noise of round `number`, on its grid; of several owners', all of it together."""
        each = self.rounds[number]
        sensitivity = each.sensitivity(self.request.neighbours, self.request.schema)
        # Rounded up by more than the float's own error, so that sensitivity / sigma never exceeds its part of mu.
        return sensitivity / (self.guarantee.mu * math.sqrt(each.share)) * self.request.spread * (1 + 1e-12)

    def noise_rows(self, number: int, block: Block) -> float:
        """Standard deviation of the noise on one cell of a block, in rows."""
        return self.sigma(number) / (block.weight * self.rounds[number].grid.scale)

    def expected_error(self, number: int, block: Block) -> float | None:
        """Expected total variation distance of one raw table of the block, from noise alone, before any denoising.

        Half the sum over cells of E|noise| / rows. None where the schema does not state the rows.
        """
        rows = self.counted(number)
        if rows is None or not block.counts:
            return None
        cells = block.cells / block.count
        return 0.5 * cells * math.sqrt(2 / math.pi) * self.noise_rows(number, block) / rows

    def counted(self, number: int) -> int | None:
        """About how many count in round `number`: rows, or persons where all rows of one share a weight."""
        schema = self.request.schema
        return schema.person.persons if self.rounds[number].grid.shared and schema.person else schema.rows

    def published(self) -> "PublishedPlan":
        """The plan as the release states it."""
        rounds = tuple(
            PublishedRound(
                each.share,
                each.grid,
                self.sigma(number),
                tuple(
                    PublishedBlock(
                        **asdict(block),
                        noise_rows=self.noise_rows(number, block),
                        expected_error=self.expected_error(number, block),
                    )
                    for block in each.blocks
                ),
            )
            for number, each in enumerate(self.rounds)
        )
        return PublishedPlan(self.method, self.options, self.request.targets, rounds, self.expected, self.notes)

    def __repr__(self) -> str:
        return f"<Plan for {self.request.schema.name!r}: ε = {self.guarantee.epsilon:g}, {self.method}>"

    def _repr_html_(self) -> str:
        from pointillist.plan_box import plan_box

        return plan_box(self.published(), self.request.schema, self.guarantee).to_html()

    def to_json(self) -> dict[str, Any]:
        """The plan without its request, as JSON values."""
        return self.published().to_json()


@dataclass(frozen=True, kw_only=True)
class PublishedBlock(Block):
    """A block, with its noise worked out."""

    noise_rows: float
    """Standard deviation of the noise on one cell, in rows."""
    expected_error: float | None
    """Expected total variation distance of one raw table; None where nobody can tell."""

    def to_json(self) -> dict[str, Any]:
        # Releases from before there were products of scores say nothing of them.
        return {name: value for name, value in asdict(self).items() if name != "ones" or value != 1}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        return cls(
            name=text(facts, "name"),
            count=whole(facts, "count", 1, _MOST_CELLS),
            cells=whole(facts, "cells", 1, _MOST_CELLS),
            weight=real(facts, "weight", 0.0, 1 + _CLOSE),
            counts=flag(facts, "counts"),
            ones=whole(facts, "ones", 1, _MOST_CELLS) if "ones" in facts else 1,
            noise_rows=real(facts, "noise_rows", 0.0),
            expected_error=optional(facts, "expected_error", lambda one, name: real(one, name, 0.0)),
        )


@dataclass(frozen=True)
class PublishedRound:
    """One noisy sum, as it was planned."""

    share: float
    """Part of the plan's mu^2."""
    grid: Grid
    sigma: float
    """Standard deviation of the noise, on the grid."""
    blocks: tuple[PublishedBlock, ...]

    def to_json(self) -> dict[str, Any]:
        blocks = [block.to_json() for block in self.blocks]
        return {"share": self.share, **self.grid.to_json(), "sigma": self.sigma, "blocks": blocks}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        return cls(
            share=real(facts, "share", 1e-12, 1.0),
            grid=Grid.from_json(facts),
            sigma=real(facts, "sigma"),
            blocks=tuple(PublishedBlock.from_json(each) for each in listed(facts, "blocks", table)),
        )

    def check(self, grid: Grid, sigma: float) -> None:
        """Refuse a round that is not the one of a noisy sum with this grid and noise."""
        if self.grid != grid or self.sigma != sigma:
            raise ValueError("bits and sigma of a round must be those of its measurement")
        for block in self.blocks:
            if block.count > block.cells:
                raise ValueError("a block must have a cell for each table")
            if not abs(block.noise_rows * block.weight * grid.scale - sigma) <= _CLOSE * sigma:
                raise ValueError("noise_rows must be the noise of its round")


@dataclass(frozen=True)
class PublishedPlan:
    """What a release says about its plan."""

    method: str
    options: dict[str, Any]
    """The method's settings, as JSON values."""
    targets: tuple[str, ...]
    rounds: tuple[PublishedRound, ...]
    expected: tuple[Expectation, ...]
    notes: tuple[str, ...]

    @property
    def share(self) -> float:
        """The part of mu^2 that the rounds share out."""
        return float(sum(each.share for each in self.rounds))

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "options": self.options,
            "targets": list(self.targets),
            "rounds": [each.to_json() for each in self.rounds],
            "expected": [asdict(each) for each in self.expected],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere. Whether a release bears them out is for `check`."""
        if not text(facts, "method"):
            raise ValueError("method must be named")
        return cls(
            method=text(facts, "method"),
            options=table(facts, "options"),
            targets=texts(facts, "targets"),
            rounds=tuple(PublishedRound.from_json(each) for each in listed(facts, "rounds", table)),
            # The first releases had no forecast.
            expected=tuple(map(_expectation, listed(facts, "expected", table) if "expected" in facts else ())),
            notes=listed(facts, "notes", text),
        )

    def check(self, schema: Schema, sums: Sequence[tuple[Grid, float]]) -> None:
        """Refuse a plan that is not that of a schema and its noisy sums (grid and noise of each)."""
        unknown = [name for name in self.targets if name not in schema.measured]
        if unknown:
            raise ValueError(f"target {unknown[0][:100]!r} is not a measured column")
        if len(self.rounds) != len(sums):
            raise ValueError("rounds must be as many as measurements")
        for each, (grid, sigma) in zip(self.rounds, sums, strict=True):
            each.check(grid, sigma)
        if not self.share <= 1 + _CLOSE:
            raise ValueError("the shares of the rounds add up to more than the budget")


def _expectation(facts: Mapping[str, Any]) -> Expectation:
    return Expectation(text(facts, "name"), real(facts, "error", 0.0), real(facts, "factor", 0.0))
