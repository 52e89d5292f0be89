"""A new feature map is one file: this one. It is released, saved, loaded, fitted and sampled; src does not know it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pytest
import torch

import pointillist as pt
from pointillist.errors import ArtefactError
from pointillist.features import FeatureMap, OneHot, Products, Records
from pointillist.features.base import MAPS, Floats
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.features.soft_records import SoftRecords
from pointillist.files.facts import text, whole
from pointillist.generators.base import GeneratorSettings
from pointillist.generators.mixture.settings import MixtureSettings
from pointillist.generators.network.settings import NetworkSettings
from pointillist.generators.points.settings import PointsSettings
from pointillist.methods.parts import Part, counts, joined, round_of
from pointillist.model import Model
from pointillist.plan import Plan, Request
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema.levels import levels_of


@MAPS.register("toy-cosines")
@dataclass(frozen=True)
class Cosines(FeatureMap):
    """cos(pi k x) / sqrt(count) of one number's position x, for k from 1 to `count`."""

    column: str
    count: int

    @property
    def dimension(self) -> int:
        return self.count

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
        return frozenset([self.column])

    @property
    def _turns(self) -> Floats:
        return np.pi * np.arange(1, self.count + 1)

    def __call__(self, records: Records) -> Floats:
        return np.cos(records.units[self.column][:, None] * self._turns) / math.sqrt(self.count)

    def expectation(self, products: Products) -> Floats:
        low, high = products.spans[self.column]
        half = np.outer((high - low) / 2, self._turns)
        means = np.cos(np.outer((low + high) / 2, self._turns)) * np.sinc(half / np.pi)
        return products.probabilities[self.column] @ means / math.sqrt(self.count)

    def soft(self, records: SoftRecords) -> torch.Tensor:
        column, place = records.columns[self.column], records.places.get(self.column)
        found = torch.zeros(records.rows, self.count)
        share = torch.ones(records.rows)
        if column.tiles is not None:
            chances = records.probabilities[self.column]
            found, share = chances @ column.matrix(self), chances @ column.regular()
        if place is None:
            return found
        turns = torch.as_tensor(self._turns, dtype=torch.float32)
        return found + share[:, None] * torch.cos(place[:, None] * turns) / math.sqrt(self.count)

    def describe(self) -> dict[str, Any]:
        return {"column": self.column, "count": self.count}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(text(facts, "column"), whole(facts, "count", 1, 1000))


@dataclass(frozen=True, kw_only=True)
class Toy:
    """A method that measures cosines of every number and all levels of the rest."""

    count: int = 12
    name: str = "toy"

    def _parts(self, schema: pt.Schema) -> list[Part]:
        levels = levels_of(schema)
        maps = [Cosines(each.name, self.count) if each.numeric else OneHot(each.name, each.size) for each in levels]
        return [*(Part(f"column {m.column}", m, 0.9 / len(maps)) for m in maps), *counts(levels, None, 0.1)]

    def plan(self, request: Request) -> Plan:
        return Plan.make(self.name, asdict(self), request, (round_of(self._parts(request.schema), 1.0),), ())

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        return joined(self._parts(plan.request.schema))

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        settings = MixtureSettings(components=10, steps=200)
        return pt.Model.fitted(release, settings, seed=seed, progress=progress)


@pytest.fixture(scope="module")
def schema(shapes_schema: pt.Schema) -> pt.Schema:
    return pt.Schema(
        name="toy", rows=2_000, columns={name: shapes_schema.columns[name] for name in ("kind", "size", "flag")}
    )


@pytest.fixture(scope="module")
def release(schema: pt.Schema, shapes: Callable[..., pa.Table], tmp_path_factory: pytest.TempPathFactory) -> pt.Release:
    """Released, saved and loaded again."""
    folder: Path = tmp_path_factory.mktemp("toy")
    table = shapes(2_000).select(["kind", "size", "flag"])
    made = pt.release(table, schema, epsilon=10.0, method=Toy(), ledger=folder / "ledger")
    made.save(folder / "toy.release")
    back = pt.Release.load(folder / "toy.release")
    assert back.to_bytes() == made.to_bytes()
    return back


def test_it_is_known_by_its_name_in_files() -> None:
    nodes, arrays = to_nodes(Cosines("size", 7))
    assert nodes == [{"map": "toy-cosines", "parts": [], "column": "size", "count": 7}]
    assert from_nodes(nodes, arrays) == Cosines("size", 7)
    with pytest.raises(ArtefactError, match="count must be a whole number"):
        from_nodes([{**nodes[0], "count": 10**9}], arrays)


def test_it_is_loaded_as_what_it_is(release: pt.Release) -> None:
    (measured,) = release.measurements
    assert Cosines("size", 12) in [block for block, _ in measured.feature_map.blocks()]


@pytest.mark.parametrize(
    "settings",
    [
        MixtureSettings(components=10, steps=200),
        NetworkSettings(hidden=(30,), steps=300, batch=300),
        PointsSettings(points=100, steps=60),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_generator_is_fitted_to_it(
    release: pt.Release, settings: GeneratorSettings, shapes: Callable[..., pa.Table], tmp_path: Path
) -> None:
    model = pt.fit(release, generator=settings, seed=0)
    model.save(tmp_path / "toy.model")
    drawn = pt.Model.load(tmp_path / "toy.model").sample(1_000, seed=0, frame="pyarrow")
    size = drawn["size"].to_numpy()
    wanted = shapes(2_000)["size"].to_numpy()
    assert size.mean() == pytest.approx(wanted.mean(), abs=0.05)
    assert size.std() == pytest.approx(wanted.std(), abs=0.06)
    assert drawn["flag"].to_numpy(zero_copy_only=False).mean() == pytest.approx(0.3, abs=0.08)


def test_a_method_of_ones_own_fits_it(release: pt.Release) -> None:
    assert pt.fit(release, method=Toy()).sample(10, frame="pyarrow").num_rows == 10
