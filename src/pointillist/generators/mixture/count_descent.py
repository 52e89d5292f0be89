"""Descent to counts: the logits of a mixture's weights and tables, the probabilities that they stand for, and steps of Adam.

The pull towards the one-way marginals belongs here as well: it speaks of components, not of what was measured. Passes over
the tables are compiled, and go through one component after the other, so that its numbers stay near the processor.
"""

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Single = NDArray[np.float32]
Integers = NDArray[np.int64]

_LEAST = 1e-12
"""What stands for no probability in logarithms."""
_SPREAD = np.float32(0.5)
"""How far apart components begin: far enough to differ, not so far that structure must be unlearnt."""
_FIRST, _SECOND = 0.9, 0.99
"""How much of the mean slope, and of the mean squared slope, Adam keeps at a step."""
_ANY_ORDER = {"reassoc", "contract", "nsz"}
"""Sums may be taken in the order that the processor likes best: it is the same every time."""


class Components:
    """K products of distributions over the tiles of all columns, side by side.

    Arguments:
        marginal: the one-way marginals, to which components are pulled.
        starts: where each column's tiles begin.
        bends: what a bend of the log-ratio costs at every three neighbouring tiles.
        count: how many components.
    """

    def __init__(self, marginal: Floats, starts: Integers, bends: Single, count: int, seed: int):
        generator = np.random.default_rng(seed)
        self.ends = np.append(starts, len(marginal)).astype(np.int64)
        self.bends = bends
        # A tile with no mass in the denoised marginal stays empty: the noise in its pairs must not revive it.
        self.held = (marginal > 0).astype(np.float32)
        self.log_marginal = np.log(np.maximum(marginal, _LEAST)).astype(np.float32)
        spread = generator.standard_normal((count, len(marginal)), dtype=np.float32)
        self.logits = self.log_marginal + _SPREAD * spread * self.held
        self.weight_logits = np.zeros(count, dtype=np.float32)
        self._table = np.empty_like(self.logits)
        self._sums = np.empty((count, len(starts)), dtype=np.float32)
        self._moments = [np.zeros_like(x) for x in (self.logits, self.logits, self.weight_logits, self.weight_logits)]

    def result(self) -> tuple[Single, Single]:
        """Weights, and the probabilities of all tiles. The next call overwrites the latter."""
        powers = np.exp(self.weight_logits - self.weight_logits.max())
        _lower(self.logits, self.ends, self._table)
        np.exp(self._table, out=self._table)
        _divide(self._table, self.ends, self.held, self._sums)
        return powers / powers.sum(), self._table

    def slopes(self, weights: Single, to_weights: Single, to_table: Single, strength: float) -> tuple[Single, Single]:
        """Slopes in weights and probabilities, and those of the pull, as slopes in the logits of tables and of weights.

        `weights` must be of the last result, and `to_table` is overwritten.
        """
        pulled = np.empty_like(weights)
        _through(
            self._table,
            to_table,
            self.logits,
            self.log_marginal,
            self.ends,
            self.bends,
            self.held,
            self._sums,
            np.float32(strength) * weights,
            pulled,
        )
        total: Single = to_weights + np.float32(strength) * pulled
        return to_table, weights * (total - np.float32(weights @ total))

    def step(self, table_slope: Single, weight_slope: Single, rate: float, number: int) -> None:
        """One step of Adam, the `number`th from 0."""
        turned, grown = rate / (1 - _FIRST ** (number + 1)), 1 / (1 - _SECOND ** (number + 1))
        _adam(self.logits.ravel(), table_slope.ravel(), *(each.ravel() for each in self._moments[:2]), turned, grown)
        _adam(self.weight_logits, weight_slope, *self._moments[2:], turned, grown)


@numba.njit(nogil=True, cache=True, fastmath=_ANY_ORDER)  # type: ignore[untyped-decorator]
def _lower(logits: Single, ends: Integers, found: Single) -> None:
    """Every column's logits less their highest."""
    for k in range(len(logits)):
        for column in range(len(ends) - 1):
            own = logits[k, ends[column] : ends[column + 1]]
            highest = own[0]
            for t in range(1, len(own)):
                highest = max(highest, own[t])
            lowered = found[k, ends[column] : ends[column + 1]]
            for t in range(len(own)):
                lowered[t] = own[t] - highest


@numba.njit(nogil=True, cache=True, fastmath=_ANY_ORDER)  # type: ignore[untyped-decorator]
def _divide(table: Single, ends: Integers, held: Single, sums: Single) -> None:
    """Make every column add up to one, and keep what its powers added up to."""
    for k in range(len(table)):
        for column in range(len(ends) - 1):
            own, kept = table[k, ends[column] : ends[column + 1]], held[ends[column] : ends[column + 1]]
            total = np.float32(0)
            for t in range(len(own)):
                total += own[t]
            sums[k, column] = total
            part = np.float32(1) / total
            for t in range(len(own)):
                own[t] *= part * kept[t]


@numba.njit(nogil=True, cache=True, fastmath=_ANY_ORDER)  # type: ignore[untyped-decorator]
def _through(
    table: Single,
    slope: Single,
    logits: Single,
    log_marginal: Single,
    ends: Integers,
    bends: Single,
    held: Single,
    sums: Single,
    strength: Single,
    pulled: Single,
) -> None:
    """From slopes in probabilities to slopes in logits, in place, with the pull; and how far each component is pulled.

    The log-ratio of a component to the marginal is that of the logits less a number for each column, which the softmax
    does not see.
    """
    raised, costs = np.empty(table.shape[1], dtype=np.float32), np.zeros(len(bends) + 4, dtype=np.float32)
    for k in range(len(table)):
        raised[:] = logits[k] - log_marginal
        own, pushed, far = table[k], slope[k], np.float32(0)
        for column in range(len(ends) - 1):
            start, end = ends[column], ends[column + 1]
            highest = logits[k, start]
            for t in range(start + 1, end):
                highest = max(highest, logits[k, t])
            total, ratio, mass = np.float32(0), np.float32(0), np.float32(0)
            for t in range(start, end):
                ratio += own[t] * raised[t]
                mass += own[t]
                pushed[t] = own[t] * (pushed[t] + strength[k] * raised[t])
                total += pushed[t]
            far += ratio - mass * (highest + np.log(sums[k, column]))
            for t in range(start, end):
                pushed[t] -= own[t] * total
        for t in range(len(bends)):
            bent = raised[t + 2] - 2 * raised[t + 1] + raised[t]
            costs[t + 2] = bends[t] * bent  # with two zeros on both sides
            far += np.float32(0.5) * costs[t + 2] * bent
        pulled[k] = far
        for t in range(len(pushed)):
            pushed[t] = held[t] * (pushed[t] + strength[k] * (costs[t + 2] - 2 * costs[t + 1] + costs[t]))


@numba.njit(nogil=True, cache=True, fastmath=_ANY_ORDER)  # type: ignore[untyped-decorator]
def _adam(values: Single, slope: Single, first: Single, second: Single, rate: float, grown: float) -> None:
    """One step along mean slopes, each by the root of its mean square."""
    turned, larger = np.float32(rate), np.float32(grown)
    new, newer = np.float32(1 - _FIRST), np.float32(1 - _SECOND)
    for place in range(len(values)):
        own = slope[place]
        first[place] += new * (own - first[place])
        second[place] += newer * (own * own - second[place])
        values[place] -= turned * first[place] / (np.sqrt(second[place] * larger) + np.float32(1e-12))
