"""Mixed Fourier features: random Fourier features of numbers and categories together.

Every level of a category turns each wave by a random angle of its own. Two records then have about the inner product

    exp(-|x - y|^2 / (2 l^2))  times  exp(-v) for every column in which their levels differ,

where v is the variance of the angles: a Gaussian kernel of the numbers times a softened comparison of each category. So one
map sees how all columns hang together, and the number of features does not grow with the number of categories. As cos/sin
pairs they have norm exactly 1 for every record.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.description import floats
from pointillist.features.domain import Domain
from pointillist.features.fourier import RandomFourier
from pointillist.features.indicator import MOST_LEVELS
from pointillist.features.products import Products
from pointillist.files.facts import texts, wholes
from pointillist.records import Records


@MAPS.register("mixed-fourier")
@dataclass(frozen=True, eq=False)
class MixedFourier(RandomFourier):
    """(cos a, sin a) / sqrt(D/2), with a = Wx + the sum over some columns of the angle of the record's level."""

    turned: tuple[str, ...]
    """Columns whose levels turn the waves; numbers may be among them, for their special values and gaps."""
    sizes: tuple[int, ...]
    """How many levels each of these has."""
    angles: Floats
    """One row for each pair of features, one column for each level of each of these columns."""

    def __post_init__(self) -> None:
        if self.frequencies.ndim != 2 or self.frequencies.shape[1] != len(self.columns) or not len(self.frequencies):
            raise ValueError("frequencies must have one column for each column of the map, and at least one row")
        if len(self.turned) != len(self.sizes) or self.angles.shape != (len(self.frequencies), sum(self.sizes)):
            raise ValueError("angles must have one column for each level")
        if not (np.isfinite(self.frequencies).all() and np.isfinite(self.angles).all()):
            raise ValueError("frequencies and angles must be finite")

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset(self.turned)

    def fits(self, domain: Domain) -> bool:
        sizes = tuple(domain.sizes.get(name) for name in self.turned)
        return super().fits(domain) and sizes == self.sizes

    @cached_property
    def _tables(self) -> dict[str, Floats]:
        """For each turned column one row for each level."""
        ends = np.cumsum(self.sizes)
        parts = zip(self.turned, ends, self.sizes, strict=True)
        return {name: np.ascontiguousarray(self.angles[:, end - size : end].T) for name, end, size in parts}

    @property
    def read(self) -> Iterator[str]:
        """All columns, each once."""
        yield from self.columns
        yield from (name for name in self.turned if name not in self.columns)

    def __call__(self, records: Records) -> Floats:
        # Column by column, as in RandomFourier: a record's features must not depend on the batch.
        angles = np.zeros((records.rows, len(self.frequencies)))
        for name, frequency in zip(self.columns, self.frequencies.T, strict=True):
            angles += records.units[name][:, None] * frequency[None, :]
        for name, table in self._tables.items():
            angles += table[records.codes[name]]
        found = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        found /= np.sqrt(len(self.frequencies))
        return found

    def expectation(self, products: Products) -> Floats:
        wave = np.ones((products.count, len(self.frequencies)), dtype=complex)
        for name in self.read:
            wave *= products.probabilities[name] @ self.level_waves(name, products.spans.get(name))
        return np.concatenate([wave.real, wave.imag], axis=1) / np.sqrt(len(self.frequencies))

    def level_waves(self, name: str, spans: tuple[Floats, Floats] | None) -> NDArray[np.complex128]:
        """E exp(i a) of one column alone, one row for each level."""
        if name not in self.turned:
            assert spans is not None
            return self.waves(name, *spans)
        turn = np.exp(1j * self._tables[name])
        if name not in self.columns:
            return np.asarray(turn)
        assert spans is not None
        return np.asarray(turn * self.waves(name, *spans))

    def describe(self) -> dict[str, Any]:
        turned = {"turned": list(self.turned), "sizes": list(self.sizes), "angles": self.angles}
        return {**super().describe(), **turned}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(
            texts(facts, "columns"),
            floats(facts, "frequencies"),
            texts(facts, "turned"),
            wholes(facts, "sizes", 1, MOST_LEVELS),
            floats(facts, "angles"),
        )
