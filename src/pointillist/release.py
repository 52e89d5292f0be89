"""Release: the only thing that crosses the wall. Noisy sums, with everything needed to understand and check them."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist import artefact
from pointillist.errors import ArtefactError, SchemaError
from pointillist.features import FeatureMap
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.budget import Guarantee
from pointillist.privacy.grid import Grid
from pointillist.schema import Schema

KIND, FORMAT = "release", 1


@dataclass(frozen=True, eq=False)
class Measurement:
    """One noisy sum of features over all records."""

    feature_map: FeatureMap
    values: NDArray[np.int64]
    """Noisy sum in grid units: a feature of 1 counts `grid.scale`."""
    grid: Grid
    sigma: float
    """Standard deviation of the noise on each coordinate, in grid units."""


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Public. Fit generators to it as often as you like: nothing here can be traced back to one record."""

    id: str
    created: str
    schema: Schema
    guarantee: Guarantee
    target: str | None
    plan: dict[str, Any]
    rows: int | None
    """The exact number of rows, only where it is public by the neighbouring relation (replace-one, one row each)."""
    frame: str
    """The kind of table that the data came in, so that synthetic data can leave in the same."""
    measurements: tuple[Measurement, ...]

    def __repr__(self) -> str:
        return f"<Release {self.id[:8]} of {self.schema.name!r}: ε = {self.guarantee.epsilon:g}, {self.method}>"

    @property
    def method(self) -> str:
        return str(self.plan["method"])

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
            "plan": self.plan,
            "schema": self.schema.to_json(),
        }

    def to_bytes(self) -> bytes:
        """The release as one file's content."""
        facts: dict[str, Any] = {**self.summary(), "measurements": []}
        arrays: artefact.Arrays = {}
        for number, measurement in enumerate(self.measurements):
            nodes, parts = to_nodes(measurement.feature_map)
            facts["measurements"].append(
                {
                    "feature_map": nodes,
                    "arrays": sorted(parts),
                    "bits": measurement.grid.bits,
                    "sigma": measurement.sigma,
                }
            )
            arrays[f"{number}.values"] = measurement.values
            arrays |= {f"{number}.map.{name}": array for name, array in parts.items()}
        return artefact.pack(KIND, FORMAT, facts, arrays)

    def save(self, path: str | Path) -> None:
        """Write the release to a file, whole or not at all."""
        artefact.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a release. Runs no code from the file."""
        facts, arrays = artefact.unpack(path, KIND, FORMAT)
        try:
            measurements = []
            for number, each in enumerate(facts["measurements"]):
                parts = {name: arrays[f"{number}.map.{name}"] for name in each["arrays"]}
                feature_map = from_nodes(each["feature_map"], parts)
                values = arrays[f"{number}.values"]
                if values.shape != (feature_map.dimension,) or values.dtype != np.int64:
                    raise ArtefactError("its values do not fit its feature map")
                measurements.append(Measurement(feature_map, values, Grid(int(each["bits"])), float(each["sigma"])))
            return cls(
                id=str(facts["id"]),
                created=str(facts["created"]),
                schema=Schema.from_json(facts["schema"], origin=str(path)),
                guarantee=Guarantee.from_json(facts["guarantee"]),
                target=facts["target"],
                plan=facts["plan"],
                rows=facts["rows"],
                frame=str(facts["frame"]),
                measurements=tuple(measurements),
            )
        except ArtefactError as error:
            raise ArtefactError(f"{path}: {error}. Get a fresh copy.") from None
        except (KeyError, TypeError, ValueError, SchemaError) as error:
            raise ArtefactError(f"{path}: a fact is missing or malformed ({error}). Get a fresh copy.") from None

    @staticmethod
    def now() -> str:
        """The time of making, to the second, in UTC."""
        return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
