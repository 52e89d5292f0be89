"""Kernel two-sample test: are two tables drawn from one distribution? With any bounded feature map as the kernel.

The statistic is the squared distance of the two mean embeddings (MMD²). Its distribution under "no difference" comes
from shuffling which rows belong to which table, which is one matrix product over all shuffles.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.design_matrix import scales, wide
from pointillist.evaluate.tables.metric import APART, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample, joined, require_same_columns
from pointillist.features import FeatureMap
from pointillist.pages import count, number
from pointillist.pages.blocks import html
from pointillist.pages.report import Section

MOST_ROWS = 5_000
_FEATURES = 1024
_SHUFFLES = 499


@dataclass(frozen=True)
class KernelTest(Result):
    """The outcome of one test."""

    mmd: float
    """Distance of the mean embeddings, with the bias of finite samples removed (0 where that leaves nothing)."""
    p_value: float
    """How often shuffled tables lie as far apart or further; never below 1 / (shuffles + 1)."""
    shuffles: int
    rows: tuple[int, int]
    """Rows used of either table."""
    dimension: int

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "rows": list(self.rows)}

    def table(self) -> pa.Table:
        return pa.Table.from_pylist([{**vars(self), "rows": min(self.rows)}])

    def headlines(self) -> dict[str, float]:
        return {"kernel test p-value": self.p_value}

    def sections(self) -> tuple[Section, ...]:
        least = "≤" if self.p_value <= 1.001 / (self.shuffles + 1) else "="
        outcome = (
            "it finds no difference"
            if self.p_value > 0.05
            else "it finds a difference, as it will in any private table with enough rows"
        )
        said = html(
            "The kernel two-sample test gives <strong>p {} {}</strong> (distance of the mean embeddings {}; {} and {} rows, "
            "{} shuffles): {}.",
            least, number(self.p_value, 3), number(self.mmd), *map(count, self.rows), self.shuffles, outcome,
        )  # fmt: skip
        return (APART.saying(said),)


def mmd(real: Sample, synthetic: Sample, feature_map: FeatureMap) -> float:
    """The distance of two mean embeddings over all rows; biased upwards by chance, of the order of 1/sqrt(rows)."""
    require_same_columns(real, synthetic)
    means = []
    for sample in (real, synthetic):
        total = np.zeros(feature_map.dimension)
        for start in range(0, sample.rows, 4096):
            total += feature_map(sample.take(np.arange(start, min(sample.rows, start + 4096))).records).sum(axis=0)
        means.append(total / sample.rows)
    return float(np.linalg.norm(means[0] - means[1]))


def kernel_test(
    real: Sample,
    synthetic: Sample,
    feature_map: FeatureMap | None = None,
    *,
    shuffles: int = _SHUFFLES,
    most_rows: int = MOST_ROWS,
    seed: int = 0,
) -> KernelTest:
    """Test on at most `most_rows` random rows of each table; without a map, with a Gaussian kernel over all columns."""
    require_same_columns(real, synthetic)
    first, second = real.at_most(most_rows, seed=seed), synthetic.at_most(most_rows, seed=seed + 1)
    if feature_map is None:
        features = _gaussian(first, second, seed)
    else:
        features = np.concatenate([feature_map(first.records), feature_map(second.records)])
    sizes = first.rows, second.rows
    rng = np.random.default_rng(seed)
    # Row s of `signs` says for shuffle s which rows count as real (+1/n) and which as synthetic (-1/m).
    base = np.repeat(np.array([1 / sizes[0], -1 / sizes[1]], dtype=np.float32), sizes)
    signs = np.stack([base, *(rng.permutation(base) for _ in range(shuffles))])
    statistics = np.square((signs @ features.astype(np.float32)).astype(np.float64)).sum(axis=1)
    # Ties count as "as far apart", with a little room for rounding: also of rows that are all alike.
    beyond = int(np.count_nonzero(statistics[1:] >= statistics[0] * (1 - 1e-5) - 1e-12))
    # The shuffles' mean is what chance alone adds to the squared distance.
    excess = float(statistics[0] - statistics[1:].mean()) if shuffles else float(statistics[0])
    p_value = (1 + beyond) / (1 + shuffles)
    return KernelTest(float(np.sqrt(max(0.0, excess))), p_value, shuffles, sizes, features.shape[1])


def _gaussian(first: Sample, second: Sample, seed: int) -> Floats:
    """Random Fourier features of a Gaussian kernel on whole rows, so that it sees how columns hang together.

    Its length scale is a third of the median distance of two rows: at the median itself, the usual choice, rows of
    many columns all look alike and the test finds little (measured on Adult). Scales are those of both tables together:
    a kernel that knew which rows are real would not be fair to the shuffles.
    """
    both = joined(first, second)
    x = wide(both, both.columns) * scales(both, both.columns)
    rng = np.random.default_rng(seed)
    one, two = (x[rng.integers(0, both.rows, 2000)] for _ in range(2))
    distances = np.linalg.norm(one - two, axis=1)
    length = float(np.median(distances[distances > 0])) / 3 if (distances > 0).any() else 1.0
    angles = x @ (rng.standard_normal((x.shape[1], _FEATURES // 2)) / length)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(_FEATURES // 2)


@METRICS.register("kernel_test", place=80)
class KernelTestMetric(TableMetric[KernelTest]):
    """Whether both tables may come from one distribution."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> KernelTest:
        return kernel_test(real, synthetic, seed=context.seed)
