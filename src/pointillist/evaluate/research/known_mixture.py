"""Known mixture: a distribution that is known to the last digit, so that synthetic rows can be held against the truth.

Round Gaussians of one width, each belonging to a class. DP-MERF's and DP-HP's first experiment is `DPMERF_GRID`.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.errors import DataError, UsageError, without_context
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.schema import Categorical, Real, Schema

NEAR = 3.0
"""A row is near a mode if it lies within this many standard deviations of its mean."""
DROPPED_BELOW = 0.1
"""A mode is dropped if rows of its own class near it are fewer than this part of its due.

Rows drawn from the truth, with 20 or more due, are called dropped with a chance below 1e-6 for each mode.
"""
_CLASS = "class"
_TRUTH_ROWS = 100_000


@dataclass(frozen=True)
class ModeScore:
    """What became of one mode."""

    mean: tuple[float, ...]
    label: str
    due: float
    """Its share of rows in the truth, near it and of its class."""
    share: float
    """The same among the rows scored."""
    spread: float | None
    """Standard deviation of its near rows along one axis, about their own centre; None with fewer than two of them."""
    offset: float | None
    """How far that centre lies from the mode's mean."""

    @property
    def dropped(self) -> bool:
        return self.share < DROPPED_BELOW * self.due


@dataclass(frozen=True)
class MixtureScore:
    """Rows held against the truth. `truth` has the same figures for 100,000 rows drawn from the truth itself."""

    rows: int
    nll: float
    """Mean over rows of -log p(x, class), in nats. Lower than the truth's means too little spread, not a better fit."""
    nll_papers_normaliser: float
    """The same with the papers' one-dimensional normaliser: only for comparing with their figures, once divided by rows."""
    outside: float
    """Share of rows that are near no mode."""
    spread: float | None
    """Mean spread over the modes that have one."""
    right_label: dict[str, float | None]
    """By class: of the rows near its modes, the share that carries its label; None if there are no such rows."""
    modes: tuple[ModeScore, ...]
    truth: "MixtureScore | None"

    @property
    def dropped(self) -> tuple[ModeScore, ...]:
        return tuple(each for each in self.modes if each.dropped)

    @property
    def spread_ratio(self) -> float | None:
        """Spread against the truth's: 1 is right, below 1 too narrow."""
        if self.spread is None or self.truth is None or not self.truth.spread:
            return None
        return self.spread / self.truth.spread

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "nll": self.nll,
            "nll_papers_normaliser": self.nll_papers_normaliser,
            "outside": self.outside,
            "spread": self.spread,
            "spread_ratio": self.spread_ratio,
            "dropped": len(self.dropped),
            "right_label": self.right_label,
            "modes": [{**vars(each), "mean": list(each.mean), "dropped": each.dropped} for each in self.modes],
            "truth": None if self.truth is None else self.truth.to_json(),
        }

    def table(self) -> pa.Table:
        """One row for each mode."""
        axes = {f"mean_{axis + 1}": [each.mean[axis] for each in self.modes] for axis in range(len(self.modes[0].mean))}
        facts = ("label", "due", "share", "spread", "offset", "dropped")
        return pa.table({**axes, **{name: [getattr(each, name) for each in self.modes] for name in facts}})


@dataclass(frozen=True)
class KnownMixture:
    """A mixture of round Gaussians, each with a class. Rows have columns x1, x2, ... and class."""

    means: tuple[tuple[float, ...], ...]
    std: float
    """One standard deviation for all modes and axes."""
    weights: tuple[float, ...]
    labels: tuple[str, ...]
    """The class of each mode."""
    rows: int
    """How many rows the data set has by default."""

    def __post_init__(self) -> None:
        sizes = {len(mean) for mean in self.means}
        if len(sizes) != 1 or 0 in sizes or not len(self.means) == len(self.weights) == len(self.labels):
            raise UsageError("a mixture needs one mean, one weight and one label for each mode, all means of one size.")
        if not self.std > 0 or min(self.weights) <= 0 or not math.isclose(sum(self.weights), 1.0, rel_tol=1e-9):
            raise UsageError("a mixture needs std > 0, and weights above 0 that add up to 1.")
        if self.rows < 1:
            raise UsageError(f"rows must be at least 1, not {self.rows}.")

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(f"x{number + 1}" for number in range(len(self.means[0])))

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.labels)))

    @property
    def schema(self) -> Schema:
        """The public facts for a release: bounds five standard deviations beyond the outermost means."""
        low, high = np.min(self.means, axis=0) - 5 * self.std, np.max(self.means, axis=0) + 5 * self.std
        axes = {
            name: Real(min=float(low[number]), max=float(high[number]), missing=False)
            for number, name in enumerate(self.axes)
        }
        label = Categorical(categories=self.classes, missing=False, out_of_domain="error")
        return Schema(name="known-mixture", rows=self.rows, columns={**axes, _CLASS: label})

    def sample(self, rows: int | None = None, *, seed: int = 0) -> pa.Table:
        """Rows drawn from the truth."""
        rng = np.random.default_rng(seed)
        modes = rng.choice(len(self.means), size=self.rows if rows is None else rows, p=self.weights)
        points = np.array(self.means)[modes] + self.std * rng.standard_normal((len(modes), len(self.axes)))
        axes = {name: points[:, number] for number, name in enumerate(self.axes)}
        return pa.table({**axes, _CLASS: np.array(self.labels)[modes]})

    @without_context
    def score(self, table: Any) -> MixtureScore:
        """Hold rows, real or synthetic, against the truth."""
        return self._score(self._read(table), _truth(self))

    def _read(self, table: Any) -> Sample:
        """Read with bounds so wide that no stray row is moved closer."""
        reach = 1e6 * (1.0 + float(np.abs(self.means).max()) + self.std)
        facts = {name: Real(min=-reach, max=reach, missing=False, out_of_domain="error") for name in self.axes}
        schema = self.schema
        sample = read(table, schema.model_copy(update={"columns": {**facts, _CLASS: schema.columns[_CLASS]}}))
        for name in (*self.axes, _CLASS):
            if sample.missing(name).any():
                raise DataError(f"{sample.name}: column {name!r} has missing values, and this mixture has none.")
        if getattr(sample.level(_CLASS), "categories", None) != self.classes:
            raise UsageError(f"{sample.name}: was read with a schema whose classes are not those of this mixture.")
        return sample

    def _score(self, sample: Sample, truth: MixtureScore | None) -> MixtureScore:
        from scipy.spatial.distance import cdist
        from scipy.special import logsumexp

        points = np.stack([sample.values(name) for name in self.axes], axis=1)
        given = sample.codes(_CLASS)
        if (given >= len(self.classes)).any():
            raise DataError(f"{sample.name}: a row has a class that this mixture does not have.")
        own = np.array([self.classes.index(label) for label in self.labels])
        squares = cdist(points, np.array(self.means), "sqeuclidean") / self.std**2
        # With one width for all, the likeliest mode is the nearest up to the weights.
        parts = np.log(self.weights) - squares / 2
        mode = np.argmax(parts, axis=1)
        distance = np.sqrt(squares[np.arange(len(mode)), mode])
        near = distance <= NEAR
        exponent = logsumexp(np.where(own == given[:, None], parts, -np.inf), axis=1)
        log_width = math.log(math.sqrt(2 * math.pi) * self.std)
        nll = float(np.mean(-exponent)) + len(self.axes) * log_width
        modes = tuple(self._mode(number, points, mode, near, own[mode] == given, truth) for number in range(len(own)))
        spreads = [each.spread for each in modes if each.spread is not None]
        return MixtureScore(
            rows=sample.rows,
            nll=nll,
            nll_papers_normaliser=nll - (len(self.axes) - 1) * log_width,
            outside=float(np.mean(~near)),
            spread=float(np.mean(spreads)) if spreads else None,
            right_label={
                label: _mean(given[near & (own[mode] == number)] == number) for number, label in enumerate(self.classes)
            },
            modes=modes,
            truth=truth,
        )

    def _mode(
        self, number: int, points: Floats, mode: Codes, near: Any, right: Any, truth: MixtureScore | None
    ) -> ModeScore:
        here = near & (mode == number)
        cloud, mean = points[here], np.array(self.means[number])
        share = float(np.mean(here & right))
        centre = cloud.mean(axis=0) if len(cloud) > 1 else None
        return ModeScore(
            mean=self.means[number],
            label=self.labels[number],
            due=share if truth is None else truth.modes[number].share,
            share=share,
            spread=None if centre is None else float(np.sqrt(np.mean((cloud - centre) ** 2))),
            offset=None if centre is None else float(np.linalg.norm(centre - mean)),
        )


@lru_cache(maxsize=16)
def _truth(mixture: KnownMixture) -> MixtureScore:
    return mixture._score(mixture._read(mixture.sample(_TRUTH_ROWS, seed=20260101)), None)


def _mean(values: Any) -> float | None:
    return float(np.mean(values)) if len(values) else None


DPMERF_GRID = KnownMixture(
    means=tuple((float(row), float(column)) for row in range(5) for column in range(5)),
    std=0.2,
    weights=(1 / 25,) * 25,
    labels=tuple(str((2 * row + column) % 5) for row in range(5) for column in range(5)),
    rows=90_000,
)
"""DP-MERF's 25 Gaussians on a 5×5 grid in 5 classes. The true distribution scores 2.84 nats per row."""
