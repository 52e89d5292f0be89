"""Release: the only thing that crosses the wall. Noisy sums, with everything needed to understand and check them."""

import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import ArtefactError
from pointillist.features import FeatureMap
from pointillist.features.domain import Domain
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.files import container
from pointillist.files.facts import listed, optional, real, table, text, texts, whole
from pointillist.plan import PublishedPlan
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.guarantee_check import Noisy, require_noise
from pointillist.schema import Schema
from pointillist.schema.history import Flat, History

KIND, FORMAT = "release", 1
_LONGEST_ID, _MOST_ROWS = 100, 1 << 48


@dataclass(frozen=True, eq=False)
class MeasuredBlock:
    """One block of a measurement: a map that is no sum of others, its noisy sum over all records, and the noise in it.

    Values and noise are in grid units, the integers that were published. Divide both by `added`, or by `scale` where
    features are others than -1, 0 and 1, for the sum of the map's own features, without the weight.
    """

    map: FeatureMap
    values: NDArray[np.int64]
    sigma: float
    """Standard deviation of the noise on each of the values."""
    weight: float
    """What the map is multiplied by in the measurement."""
    grid: Grid

    @property
    def scale(self) -> float:
        """What a feature of 1 counts, before it is rounded to the grid."""
        return self.weight * self.grid.scale

    @property
    def added(self) -> int:
        """The very integer that a feature of 1 counts, where every feature is -1, 0 or 1."""
        return self.grid.weight(self.weight)


@dataclass(frozen=True, eq=False)
class Measurement:
    """One noisy sum of features over all records."""

    feature_map: FeatureMap
    values: NDArray[np.int64]
    """Noisy sum in grid units: a feature of 1 counts `grid.scale`."""
    grid: Grid
    sigma: float
    """Standard deviation of the noise on each coordinate, in grid units."""

    @property
    def noisy(self) -> Noisy:
        """What it spends."""
        features = self.feature_map
        return Noisy(self.grid, self.sigma, features.dimension, features.nonnegative, features.positive)

    def blocks(self) -> Iterator[MeasuredBlock]:
        """Every block of the feature map with its part of the values, in their order."""
        start = 0
        for block, weight in self.feature_map.blocks():
            end = start + block.dimension
            yield MeasuredBlock(block, self.values[start:end], self.sigma, weight, self.grid)
            start = end

    def check(self, domain: Domain) -> None:
        """Refuse features that the schema cannot have, or that the curator would not have measured."""
        leaves = {id(leaf): leaf for leaf in self.feature_map.leaves}
        if not all(leaf.fits(domain) for leaf in leaves.values()):
            raise ArtefactError("its feature map does not fit its schema")
        if not self.feature_map.bound <= 1 + 1e-9:
            raise ArtefactError("its features are longer than 1")
        counted = [(block.map.most_ones is not None, block.added) for block in self.blocks()]
        if any(whole and not added for whole, added in counted):
            raise ArtefactError("it counts records with a weight of 0")
        if self.grid.shared and not all(whole for whole, _ in counted):
            raise ArtefactError("records share the weight of their person where they are counted, and nowhere else")
        if not (all(whole for whole, _ in counted) or self.grid.holds(self.feature_map.dimension)):
            raise ArtefactError("its grid is too fine for its features")


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Public. Fit generators to it as often as you like: nothing here can be traced back to one record."""

    id: str
    created: str
    schema: Schema
    guarantee: Guarantee
    target: str | None
    plan: PublishedPlan
    rows: int | None
    """The exact number of rows, only where it is public by the neighbouring relation (replace-one, one row each)."""
    frame: str
    """The kind of table that the data came in, so that synthetic data can leave in the same."""
    measurements: tuple[Measurement, ...]

    def __repr__(self) -> str:
        return f"<Release {self.id[:8]} of {self.schema.name!r}: ε = {self.guarantee.epsilon:g}, {self.method}>"

    def _repr_html_(self) -> str:
        from pointillist.plan_box import plan_box

        return plan_box(self.plan, self.schema, self.guarantee, release=self.id, made=self.created).to_html()

    @property
    def method(self) -> str:
        return self.plan.method

    @cached_property
    def recorded(self) -> Schema:
        """What records have that were measured: the schema's columns, or those of persons' histories."""
        flat = isinstance(self.schema, Flat)  # asked by person, it has them already
        return History.of(self.schema).flat if self.of_histories and not flat else self.schema

    @property
    def of_histories(self) -> bool:
        """Whether all rows of a person share one weight."""
        return any(each.grid.shared for each in self.measurements)

    @cached_property
    def pairs(self) -> frozenset[frozenset[str]]:
        """Columns that were measured together. A product of scores shows two columns in outline: that is not enough."""
        blocks = [block.map for each in self.measurements for block in each.blocks()]
        maps = [each for each in blocks if each.indicator or each.most_ones is None]
        return frozenset(
            frozenset(pair)
            for each in maps
            for pair in itertools.combinations(sorted(each.code_columns | each.unit_columns), 2)
        )

    def measured_together(self, columns: Iterable[str]) -> bool:
        """Whether every two of some columns were measured together."""
        return all(frozenset(pair) in self.pairs for pair in itertools.combinations(sorted(set(columns)), 2))

    def summary(self) -> dict[str, Any]:
        """All but the measurements, as JSON values."""
        return {
            "kind": KIND,
            "id": self.id,
            "created": self.created,
            "target": self.target,
            "rows": self.rows,
            "frame": self.frame,
            "guarantee": self.guarantee.to_json(),
            "plan": self.plan.to_json(),
            "schema": self.schema.to_json(),
        }

    def to_bytes(self) -> bytes:
        """The release as one file's content."""
        nodes, arrays = described(self.measurements)
        return container.pack(KIND, FORMAT, {**self.summary(), "measurements": nodes}, arrays)

    def save(self, path: str | Path) -> None:
        """Write the release to a file, whole or not at all."""
        container.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a release. Runs no code from the file, and takes nothing in it on trust: see docs/reference/files.md."""
        return container.read(path, KIND, FORMAT, cls._from_content)

    @classmethod
    def _from_content(cls, facts: dict[str, Any], arrays: container.Arrays, origin: str) -> Self:
        found = cls(
            id=text(facts, "id", _LONGEST_ID),
            created=text(facts, "created", _LONGEST_ID),
            schema=Schema.from_json(table(facts, "schema"), origin=origin),
            guarantee=Guarantee.from_json(table(facts, "guarantee")),
            target=optional(facts, "target", text),
            plan=PublishedPlan.from_json(table(facts, "plan")),
            rows=optional(facts, "rows", lambda one, name: whole(one, name, 0, _MOST_ROWS)),
            frame=text(facts, "frame", _LONGEST_ID),
            measurements=measurements_of(facts, arrays),
        )
        found._check()
        return found

    def _check(self) -> None:
        """Refuse a release whose parts do not belong together, or whose noise does not give what it promises."""
        self.schema.require_reviewed()
        require_same_unit(self.guarantee, self.schema)
        self.plan.check(self.schema, [(each.grid, each.sigma) for each in self.measurements])
        if self.target != next(iter(self.plan.targets), None):
            raise ValueError("target must be the plan's first")
        if self.rows is not None and (
            self.guarantee.neighbours is not Neighbours.REPLACE_ONE or self.guarantee.person is not None
        ):
            raise ValueError("the exact number of rows is public only where neighbours replace one row")
        if self.of_histories and not (self.schema.person and all(each.grid.shared for each in self.measurements)):
            raise ValueError("records share the weight of their person in all measurements, or in none")
        domain = Domain.of(self.recorded)
        for each in self.measurements:
            each.check(domain)
        require_noise(self.guarantee, [each.noisy for each in self.measurements], self.plan.share)

    @staticmethod
    def now() -> str:
        """The time of making, to the second, in UTC."""
        return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def described(measurements: Iterable[Measurement]) -> tuple[list[dict[str, Any]], container.Arrays]:
    """Measurements as a file's facts, and the arrays that they refer to."""
    facts: list[dict[str, Any]] = []
    arrays: container.Arrays = {}
    for number, measurement in enumerate(measurements):
        nodes, parts = to_nodes(measurement.feature_map)
        facts.append(
            {"feature_map": nodes, "arrays": sorted(parts), **measurement.grid.to_json(), "sigma": measurement.sigma}
        )
        arrays[f"{number}.values"] = measurement.values
        arrays |= {f"{number}.map.{name}": array for name, array in parts.items()}
    return facts, arrays


def measurements_of(facts: Mapping[str, Any], arrays: container.Arrays) -> tuple[Measurement, ...]:
    """The inverse of `described`, of facts that call them "measurements"."""
    return tuple(_measurement(number, each, arrays) for number, each in enumerate(listed(facts, "measurements", table)))


def _measurement(number: int, facts: Mapping[str, Any], arrays: container.Arrays) -> Measurement:
    parts = {name: arrays[f"{number}.map.{name}"] for name in texts(facts, "arrays")}
    feature_map = from_nodes(list(listed(facts, "feature_map", table)), parts)
    values = arrays[f"{number}.values"]
    if values.shape != (feature_map.dimension,) or values.dtype != np.int64:
        raise ArtefactError("its values do not fit its feature map")
    return Measurement(feature_map, values, Grid.from_json(facts), real(facts, "sigma"))


def require_same_unit(guarantee: Guarantee, schema: Schema) -> None:
    """Refuse a guarantee for another privacy unit than the schema's."""
    record = "row" if schema.image is None else "image"
    unit = None if schema.person is None else schema.person.unit
    if guarantee.person != unit or guarantee.record != record:
        raise ValueError("the guarantee is for another unit than the schema states")
