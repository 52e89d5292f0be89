"""Plan: what will be measured, at which noise, with which expected error. Made from public facts alone."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from pointillist.privacy.accounting import calibrate
from pointillist.privacy.budget import Budget, Guarantee, Neighbours, short
from pointillist.privacy.grid import Grid
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.schema import Schema

_UNKNOWN_ROWS = 1000
"""What a plan reckons with where the schema does not state the rows: few enough to promise nothing."""


@dataclass(frozen=True)
class Request:
    """What the user asks for."""

    schema: Schema
    budget: Budget
    neighbours: Neighbours
    targets: tuple[str, ...] = ()
    """Columns that receivers will want to predict, the most important one first."""

    @property
    def target(self) -> str | None:
        """The first target."""
        return self.targets[0] if self.targets else None

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
    """Whether every block is a weighted indicator, so that norms are known before a row is seen."""

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
        mu, epsilon_slack, delta_slack = calibrate(budget, sizes)
        guarantee = Guarantee(
            budget.epsilon,
            budget.delta,
            request.neighbours,
            schema.person,
            mu,
            epsilon_slack,
            delta_slack,
            "row" if schema.image is None else "image",
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
        return replace(made, notes=notes)

    def sigma(self, number: int) -> float:
        """Standard deviation of the noise of round `number`, on its grid."""
        each = self.rounds[number]
        sensitivity = each.sensitivity(self.request.neighbours, self.request.schema)
        # Rounded up by more than the float's own error, so that sensitivity / sigma never exceeds its part of mu.
        return sensitivity / (self.guarantee.mu * math.sqrt(each.share)) * (1 + 1e-12)

    def noise_rows(self, number: int, block: Block) -> float:
        """Standard deviation of the noise on one cell of a block, in rows."""
        return self.sigma(number) / (block.weight * self.rounds[number].grid.scale)

    def expected_error(self, number: int, block: Block) -> float | None:
        """Expected total variation distance of one raw table of the block, from noise alone, before any denoising.

        Half the sum over cells of E|noise| / rows. None where the schema does not state the rows.
        """
        rows = self.request.schema.rows
        if rows is None or not block.counts:
            return None
        cells = block.cells / block.count
        return 0.5 * cells * math.sqrt(2 / math.pi) * self.noise_rows(number, block) / rows

    def to_json(self) -> dict[str, Any]:
        """The plan without its request, which the release states elsewhere."""
        rounds = [
            {
                "share": each.share,
                "bits": each.grid.bits,
                "sigma": self.sigma(number),
                "blocks": [
                    {
                        **asdict(block),
                        "noise_rows": self.noise_rows(number, block),
                        "expected_error": self.expected_error(number, block),
                    }
                    for block in each.blocks
                ],
            }
            for number, each in enumerate(self.rounds)
        ]
        return {
            "method": self.method,
            "options": self.options,
            "targets": list(self.request.targets),
            "rounds": rounds,
            "expected": [asdict(each) for each in self.expected],
            "notes": list(self.notes),
        }
