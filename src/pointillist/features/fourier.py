"""Random Fourier features: cos and sin of random projections, whose inner products approximate a Gaussian kernel.

The cos/sin pair (DP-MERF eq. 4) has norm exactly 1 for every record, which the cheaper sqrt(2) cos(wx + b) has not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.description import floats
from pointillist.features.products import Products
from pointillist.files.facts import texts
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftColumn, SoftRecords


@MAPS.register("random-fourier")
@dataclass(frozen=True, eq=False)
class RandomFourier(FeatureMap):
    """(cos(Wx), sin(Wx)) / sqrt(D/2), with x the columns' positions in [0, 1] and W one row for each pair."""

    columns: tuple[str, ...]
    frequencies: Floats

    def __post_init__(self) -> None:
        if self.frequencies.ndim != 2 or self.frequencies.shape[1] != len(self.columns):
            raise ValueError("frequencies must have one column for each column of the map")
        if not (len(self.frequencies) and np.isfinite(self.frequencies).all()):
            raise ValueError("frequencies must be finite, and at least one row")

    @classmethod
    def draw(cls, columns: tuple[str, ...], features: int, length_scale: float, *, seed: int) -> Self:
        """Frequencies for a Gaussian kernel of `length_scale`, in units of the columns' ranges. The seed is public."""
        if features < 2 or features % 2:
            raise ValueError(f"features must be even and at least 2, not {features}: they come as cos/sin pairs")
        if not length_scale > 0:
            raise ValueError(f"length_scale must be above 0, not {length_scale}")
        normal = np.random.default_rng(seed).standard_normal((features // 2, len(columns)))
        return cls(columns, normal / length_scale)

    @property
    def dimension(self) -> int:
        return 2 * len(self.frequencies)

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def nonnegative(self) -> bool:
        return False

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return ()

    @property
    def unit_columns(self) -> frozenset[str]:
        return frozenset(self.columns)

    def __call__(self, records: Records) -> Floats:
        # Column by column rather than as a matrix product: the last bit of a matrix product depends on the batch's
        # shape, and the embedding must not.
        angles = np.zeros((records.rows, len(self.frequencies)))
        for name, frequency in zip(self.columns, self.frequencies.T, strict=True):
            angles += records.units[name][:, None] * frequency[None, :]
        found = np.empty((records.rows, self.dimension))
        np.cos(angles, out=found[:, : len(self.frequencies)])
        np.sin(angles, out=found[:, len(self.frequencies) :])
        found /= np.sqrt(len(self.frequencies))
        return found

    def expectation(self, products: Products) -> Floats:
        """Columns are independent, so E exp(i w.x) is a product over columns; each bin is a uniform, each atom a point."""
        wave = np.ones((products.count, len(self.frequencies)), dtype=complex)
        for name in self.columns:
            wave *= products.probabilities[name] @ self.waves(name, *products.spans[name])
        return np.concatenate([wave.real, wave.imag], axis=1) / np.sqrt(len(self.frequencies))

    @property
    def read(self) -> Iterator[str]:
        """All columns, each once."""
        yield from self.columns

    def level_waves(self, name: str, spans: tuple[Floats, Floats] | None) -> NDArray[np.complex128]:
        """E exp(i w x) of one column alone, one row for each level."""
        assert spans is not None
        return self.waves(name, *spans)

    def waves(self, name: str, low: Floats, high: Floats) -> NDArray[np.complex128]:
        """E exp(i w x) of one column that is spread evenly from `low` to `high`, one row for each span."""
        frequency = self.frequencies[:, self.columns.index(name)]
        middle, half = (low + high) / 2, (high - low) / 2
        return np.asarray(np.exp(1j * np.outer(middle, frequency)) * np.sinc(np.outer(half, frequency) / np.pi))

    def soft(self, records: "SoftRecords") -> "Tensor":
        """E exp(i w.x) is a product over columns; those with a position alone are one matrix product of angles."""
        import torch

        found = None
        plain = [name for name in self.columns if records.columns[name].tiles is None]
        if plain:
            places = torch.stack([records.places[name] for name in plain], dim=1)
            found = _turn(places @ torch.stack([self._frequency(name) for name in plain]))
        for name in self.read:
            if name in plain:
                continue
            column, probabilities = records.columns[name], records.probabilities[name]
            cosines, sines = column.matrix(self).chunk(2, dim=1)
            both = torch.stack([cosines, sines], dim=2).flatten(1)
            wave = torch.view_as_complex((probabilities @ both).reshape(records.rows, -1, 2))
            if name in records.places:
                share = (probabilities @ column.regular())[:, None]
                wave = wave + share * _turn(records.places[name][:, None] * self._frequency(name))
            found = wave if found is None else found * wave
        assert found is not None
        return torch.cat([found.real, found.imag], dim=1) / len(self.frequencies) ** 0.5

    def soft_levels(self, column: "SoftColumn") -> Floats:
        """The waves of a column, cosines then sines."""
        waves = self.level_waves(column.level.name, column.level.spans if column.level.numeric else None)
        return np.asarray(column.inside @ np.concatenate([waves.real, waves.imag], axis=1))

    def _frequency(self, name: str) -> "Tensor":
        import torch

        return torch.as_tensor(self.frequencies[:, self.columns.index(name)], dtype=torch.float32)

    def describe(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "frequencies": self.frequencies}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(texts(facts, "columns"), floats(facts, "frequencies"))


def _turn(angles: "Tensor") -> "Tensor":
    """exp(i a)."""
    import torch

    return torch.polar(torch.ones_like(angles), angles)
