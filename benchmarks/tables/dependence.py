"""Dependence: how much two columns say about each other, for every pair of a table, and which pairs are the strongest.

The dependence of a pair is the total variation distance between its table and the product of its columns, less what
independent columns of as many rows would show by chance. It is *normalised* by the most that the columns allow, which is
reached where one of them settles the other: 0 is independence, 1 is a function.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.sample import Sample
from pointillist.schema.levels import coarse_size

Pair = tuple[str, str]

_LEAST_ROOM = 0.05
"""Columns that hardly vary leave room for chance alone: the most that they allow counts as no less than this."""


@dataclass(frozen=True, eq=False)
class Dependences:
    """All pairs of a sample's columns."""

    sample: Sample

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return tuple(combinations(self.sample.columns, 2))

    @cached_property
    def distances(self) -> Floats:
        """From the product of the columns, less chance; in the order of the pairs."""
        bins = {each.name: (self.sample.bins(each.name), coarse_size(each)) for each in self.sample.levels}
        shares = {name: np.bincount(codes, minlength=size) / len(codes) for name, (codes, size) in bins.items()}
        found = np.empty(len(self.pairs))
        for place, (one, two) in enumerate(self.pairs):
            cells = bins[one][0] * bins[two][1] + bins[two][0]
            joint = np.bincount(cells, minlength=bins[one][1] * bins[two][1]) / self.sample.rows
            product = np.outer(shares[one], shares[two]).ravel()
            by_chance = np.sqrt(2 / np.pi * product * (1 - product) / self.sample.rows)
            found[place] = max(0.0, np.abs(joint - product).sum() / 2 - by_chance.sum() / 2)
        return found

    @cached_property
    def room(self) -> Floats:
        """The most that each pair's columns allow: the chance that two rows differ in the less varied of them."""
        varied = {}
        for each in self.sample.levels:
            shares = np.bincount(self.sample.bins(each.name)) / self.sample.rows
            varied[each.name] = max(_LEAST_ROOM, 1 - float(shares @ shares))
        return np.array([min(varied[one], varied[two]) for one, two in self.pairs])

    def strongest(self, count: int = 10) -> tuple[Pair, ...]:
        """The pairs that lie furthest from independence."""
        order = np.argsort(-self.distances, kind="stable")
        return tuple(self.pairs[place] for place in order[:count])

    def error(self, other: Sample) -> float:
        """The mean gap between the normalised dependences of two samples; the room is this one's."""
        return float(np.mean(np.abs(Dependences(other).distances - self.distances) / self.room))


def rank_correlation(sample: Sample, pair: Pair) -> float:
    """Spearman's, over the rows in which neither number is missing; zero where one does not vary."""
    values = np.stack([sample.values(name) for name in pair])
    values = values[:, np.isfinite(values).all(axis=0)]
    ranks = np.stack([rankdata(each) for each in values])
    if values.shape[1] < 2 or (ranks.std(axis=1) == 0).any():
        return 0.0
    return float(np.corrcoef(ranks)[0, 1])
