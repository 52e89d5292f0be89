"""Assisted intervals: what rows and the release say together about the mean of any function, with a closed-form error.

Rows alone carry the fit's errors; the release alone says nothing of a function that it did not measure. In surveys the
two are joined by the generalised regression (GREG) estimator: explain the function f by what was measured,

    f(x) = a + c . features(x) + r(x),

take the explained part from the release, where its noise is known, and only the rest r from the rows:

    mean of f  =  weighted mean of (f - c . features) over the rows  +  c . (noisy mean of the features).

Weights. A model's own weights may follow the noise, and then its rows and the release err together. So the rows begin with
equal weights here, and are moved by small steps in proportion to themselves only until noise explains what is left.

Errors. Features are counted in standard deviations of their noise, so the first error is the length of c. The second: the
private table may have more or fewer rows of any kind than the weighted rows, by some part of them. The c with the least
error under that is a ridge regression whose ridge is set by the known noise and that part. It is solved over rows rather
than features, through their kernel. What is left unexplained is judged by how far every row is from what the others say
of it.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, stats

from pointillist.features import Records
from pointillist.inference.noisy_embedding import MeanEmbedding

Floats = NDArray[np.float64]

MOST_ROWS = 1_500
"""The most rows over which a function is explained: their kernel is held in memory."""
POINTS, FITTED = 0.5, 1.0
"""By about this part of itself the weight of any kind of rows may be off, where the release does not say: of points that
were chosen before, and of rows that a fit made, which pulls towards what is simple."""
CAUTION = 1.25
"""Errors with fitted rows are taken to be so many times as large: tiles were chosen by a look at the same noise, which no
formula here accounts for. Measured by benchmarks.receiver.coverage."""
_STEPS = 300
_STRIDE = 4.0
"""Of a step, in parts of what is safe whatever the weights."""
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Readout:
    """The means of some functions, and how uncertain they are."""

    means: Floats
    errors: Floats
    """Standard deviations of the means as those of the private rows."""
    spread: Floats
    """Variances of the functions over rows."""
    freedom: float
    """Degrees of freedom of the errors."""

    def deviations(self, confidence: float) -> float:
        """So many errors on either side hold the private mean with this probability."""
        return float(stats.t.ppf((1 + confidence) / 2, self.freedom))


@dataclass(frozen=True, eq=False)
class Assisted:
    """Rows beside the release that they stand for."""

    embedding: MeanEmbedding
    records: Records
    """At most so many that their kernel fits memory."""
    slack: float = POINTS
    """The part of themselves by which weights may be off."""
    caution: float = 1.0
    """So many times as large as they are computed are errors taken to be."""

    @cached_property
    def _kernel(self) -> tuple[Floats, Floats, float]:
        """Of the rows; of the rows and the noisy mean; of the noisy mean. All inner products in standard deviations."""
        kernel = self.embedding.products(self.records, self.records)
        target = self.embedding.target
        return kernel, self.embedding.along(self.records, target), target.dot(target)

    @cached_property
    def base(self) -> Floats:
        """Weights of the rows, above 0 and adding up to 1: as equal as the noise allows."""
        kernel, towards, length = self._kernel
        weights = np.full(len(kernel), 1 / len(kernel))
        stride = _STRIDE / max(float(np.abs(kernel).max()), _TINY)
        for _ in range(_STEPS):
            image = kernel @ weights
            if weights @ image - 2 * float(towards @ weights) + length <= self.embedding.dimension:
                break
            step = stride * (towards - image)
            weights = weights * np.exp(step - step.max())
            weights /= weights.sum()
        return weights

    @cached_property
    def effective(self) -> float:
        """As many rows of equal weight would be worth as much."""
        return 1 / float(np.square(self.base).sum())

    @cached_property
    def _system(self) -> "_System":
        kernel, towards, length = self._kernel
        gap = towards - kernel @ self.base
        if not self.embedding.exact and length > 0:
            # How many rows there are is known only from the same noisy sums: only what is the same for any number of
            # rows can be used, which is all that stands at right angles to the noisy mean itself.
            gap -= towards * (1 - float(towards @ self.base) / length)
            kernel = kernel - np.outer(towards, towards) / length
        return _System.of(kernel, gap, self.slack * math.sqrt(self.effective) * self.base)

    @cached_property
    def weights(self) -> Floats:
        """For every row the weight that it has in the estimated mean of any function; some may be below 0."""
        return self.base + self._system.pull

    def read(self, values: Floats, *, events: bool = False) -> Readout:
        """The means of functions, (rows, functions); `events` says that they are all 0 or 1."""
        system, base, many = self._system, self.base, self.effective
        means = self.weights @ values
        pulled = system.inverse @ values
        noise = np.maximum(np.einsum("ij,ij->j", pulled, system.kernel @ pulled), 0.0)
        left = np.square(pulled / system.diagonal[:, None])
        spread = np.maximum(base @ np.square(values - base @ values), 0.0)
        pooled = base @ left / many
        misfit = np.square(pulled / system.prior[:, None]).sum(axis=0)
        rest = [pooled, np.square(base) @ left]
        if events:
            # An event that few rows or none show may still occur: as with a few more rows of either kind.
            share = (many * np.clip(means, 0, 1) + 2) / (many + 4)
            unexplained = np.where(spread > _TINY, np.minimum(1, pooled * many / np.maximum(spread, _TINY)), 1.0)
            rest.append(unexplained * share * (1 - share) / many)
        unseen = np.minimum(base @ left, spread) / self.embedding.rows
        errors = self.caution * np.sqrt(noise + misfit + np.maximum.reduce(rest) + unseen)
        return Readout(means, errors, spread, max(1.0, many - 1))

    def enough(self, where: Floats) -> bool:
        """Whether there are surely some private rows that meet a condition, (rows, 1)."""
        if where.all():
            return True
        read = self.read(where, events=True)
        return bool(read.means[0] > 3 * read.errors[0])


@dataclass(frozen=True, eq=False)
class _System:
    """The ridge regression over rows, solved once for all functions."""

    kernel: Floats
    prior: Floats
    """For every row how far its weight may be off."""
    inverse: Floats
    """P, with c . features = K P f over the rows, and P 1 = 0: a constant is explained at no cost."""
    diagonal: Floats
    """Of the inverse: (P f) / diagonal is how far each row is from what the others say of it."""
    pull: Floats
    """What the release adds to the rows' weights."""

    @classmethod
    def of(cls, kernel: Floats, gap: Floats, prior: Floats) -> "_System":
        # (K + V^-2)^-1 = V (V K V + 1)^-1 V: as stable as it gets, also for tiny weights.
        inner = kernel * np.outer(prior, prior)
        inner[np.diag_indices_from(inner)] += 1.0
        half = linalg.solve_triangular(linalg.cholesky(inner, lower=True), np.diag(prior), lower=True)
        solved = half.T @ half
        sums = solved.sum(axis=1)
        inverse = solved - np.outer(sums, sums) / sums.sum()
        diagonal = np.maximum(np.diag(inverse), np.finfo(float).tiny)
        return cls(kernel, prior, inverse, diagonal, gap @ inverse)
