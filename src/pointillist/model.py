"""Model: a generator fitted to a release, ready to make rows. Public."""

import contextlib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import numpy as np
import pyarrow as pa
from pydantic import BaseModel

from pointillist.errors import UsageError
from pointillist.files import container
from pointillist.files.facts import real, table, text
from pointillist.generators.base import Generator
from pointillist.generators.gaussians.gaussians import Gaussians
from pointillist.generators.mixture.mixture import Mixture
from pointillist.generators.points.points import Points
from pointillist.privacy.guarantee import Guarantee
from pointillist.privacy.promise import require_promise
from pointillist.release import Release, require_same_unit
from pointillist.sampling.condition import Condition
from pointillist.sampling.constraints import Rules
from pointillist.sampling.quotas import Source, Unreachable, balanced
from pointillist.sampling.raking import Tilt
from pointillist.schema import Schema
from pointillist.schema.constraints import Impossible, Order
from pointillist.schema.levels import Levels, levels_of

KIND, FORMAT = "model", 1
_CLOSED: tuple[dict[str, Any], dict[str, Any]] = (
    {Mixture.kind: Mixture, Points.kind: Points},
    {Gaussians.kind: Gaussians},
)
"""Generators that need no torch: of tables, and of images."""
_NETWORKS = (
    {"network": ("pointillist.generators.network.row_network", "Network")},
    {"image-network": ("pointillist.generators.network.image_network", "ImageNetwork")},
)
"""Those that do: where they are, as they are loaded late."""
FRAMES = ("pyarrow", "pandas", "polars")
_LONGEST_ID, _MOST_ESTIMATED = 100, 1e15
MOST_ROWS = 20_000_000
"""The most rows that are sampled at a time: they are held in memory."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Samples rows of the schema's types. Sampling costs no privacy, however often it is done."""

    schema: Schema
    guarantee: Guarantee
    release: str
    """The id of the release that it was fitted to."""
    frame: str
    rows: float
    """The estimated number of private rows."""
    generator: Generator

    @classmethod
    def of(cls, release: Release, *, rows: float, generator: Generator) -> Self:
        """A generator together with what its release promises."""
        return cls(release.schema, release.guarantee, release.id, release.frame, rows, generator)

    @cached_property
    def levels(self) -> tuple[Levels, ...]:
        """The levels of the schema's columns, in order."""
        return levels_of(self.schema)

    @property
    def default_count(self) -> int:
        """About as many rows as the private table has."""
        return min(MOST_ROWS, max(1, round(self.rows)))

    def __repr__(self) -> str:
        return f"<Model of {self.schema.name!r}: {len(self.levels)} columns, ε = {self.guarantee.epsilon:g}>"

    def sample(
        self,
        count: int | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
        frame: str | None = None,
    ) -> Any:
        """`count` rows (by default as many as the private table has, roughly) in the caller's own kind of frame.

        `given` is what all rows must have in common: for some columns a value, a list of values, a range (low, high)
        or None for missing, such as `{"sex": "F", "age": (30, 40)}`. `balance` names a column of which every class
        gets the same number of rows. The same seed gives the same rows. `frame` may be "pandas", "polars" or "pyarrow".
        """
        if count is None:
            count = self.default_count
        if count < 0:
            raise UsageError(f"the number of rows must not be negative, not {count}.")
        kind = self._kind(frame)
        return self.to_frame(self.sample_table(count, given=given, balance=balance, seed=seed), kind)

    def _kind(self, frame: str | None) -> str:
        kind = frame or self.frame
        if kind not in FRAMES:
            raise UsageError(f"frame {kind!r} is not known. Choose one of {', '.join(FRAMES)}.")
        return kind

    def to_frame(self, table: pa.Table, frame: str | None = None) -> Any:
        """Rows of the schema's types in another kind of frame: by default the caller's own."""
        kind = self._kind(frame)
        if kind == "pyarrow":
            return table
        try:
            return (
                self._to_pandas(table) if kind == "pandas" else nw.from_native(table).lazy().collect(kind).to_native()
            )
        except ModuleNotFoundError:
            raise UsageError(f'{kind} is not installed. Install it, or pass frame="pyarrow".') from None

    def _to_pandas(self, table: pa.Table) -> Any:
        """A pandas frame whose types depend on the schema alone, not on whether a value happens to be missing."""
        frame = table.to_pandas(date_as_object=False)
        kinds = {each.name: each.column.pandas_type for each in self.levels if each.has_missing}
        return frame.astype({name: kind for name, kind in kinds.items() if kind is not None})

    def sample_table(
        self,
        count: int,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
    ) -> pa.Table:
        """`count` rows as an Arrow table."""
        if count > MOST_ROWS:
            raise UsageError(
                f"{count:,} rows are too many at a time. Sample up to {MOST_ROWS:,} at a time, each with another seed."
            )
        generator = np.random.default_rng(seed)
        condition = Condition.of(self.levels, {} if given is None else given)
        if balance is None:
            return self._source(condition, generator).table(count, generator)
        level = next((each for each in self.levels if each.name == balance), None)
        if level is None:
            known = ", ".join(each.name for each in self.levels)
            raise UsageError(f"balance: {balance!r} is not a column of the model. Columns: {known}.")
        sources = []
        for each in condition.by_class(level):
            with contextlib.suppress(Unreachable):
                sources.append(self._source(each, generator))
        if not sources:
            raise UsageError(f"balance: no class of column {balance!r} has any probability. Loosen the condition.")
        return balanced(sources, count, generator)

    def _source(self, condition: Condition, generator: np.random.Generator) -> Source:
        return Source.of(self.levels, self.generator, condition, self._rules, self._tilt, generator)

    @cached_property
    def _rules(self) -> Rules:
        return Rules.of(self.schema.constraints, self.levels)

    @cached_property
    def _tilt(self) -> Tilt | None:
        """How to make up for rows that are impossible: learned once, and always the same for the same model."""
        if not self.schema.constraints:
            return None
        return Source(self.levels, self.generator, Condition({}), self._rules).fit_tilt(np.random.default_rng(0))

    def constrained(self, *constraints: Order | Impossible | Mapping[str, Any]) -> Self:
        """The same model under more constraints. They are public facts, and only sampling heeds them: no new release."""
        added = [each.model_dump(mode="json") if isinstance(each, BaseModel) else dict(each) for each in constraints]
        facts = self.schema.to_json()
        return replace(self, schema=Schema.parse({**facts, "constraints": [*facts["constraints"], *added]}))

    def summary(self) -> dict[str, Any]:
        """All but the generator, as JSON values."""
        return {
            "kind": KIND,
            "release": self.release,
            "rows": self.rows,
            "frame": self.frame,
            "guarantee": self.guarantee.to_json(),
            "schema": self.schema.to_json(),
        }

    def to_bytes(self) -> bytes:
        """The model as one file's content."""
        generator, arrays = self.generator.to_facts()
        facts = {**self.summary(), "generator": {"kind": self.generator.kind, **generator}}
        return container.pack(KIND, FORMAT, facts, arrays)

    def save(self, path: str | Path) -> None:
        """Write the model to a file, whole or not at all."""
        container.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model. Runs no code from the file."""
        facts, arrays = container.unpack(path, KIND, FORMAT)
        with container.sound(path):
            container.require_kind(facts, KIND)
            schema = Schema.from_json(table(facts, "schema"), origin=str(path))
            guarantee = Guarantee.from_json(table(facts, "guarantee"))
            require_promise(guarantee)
            require_same_unit(guarantee, schema)
            generator = table(facts, "generator")
            kind, image = text(generator, "kind"), schema.image is not None
            made: Self = _model(schema, cls)(
                schema=schema,
                guarantee=guarantee,
                release=text(facts, "release", _LONGEST_ID),
                frame=text(facts, "frame", _LONGEST_ID),
                rows=real(facts, "rows", 0.0, _MOST_ESTIMATED),
                generator=_generator(kind, image).from_facts(generator, arrays),
            )
            if not made._fits():
                raise ValueError("the generator does not fit the schema")
            return made

    def _fits(self) -> bool:
        """Whether the generator makes rows of the schema."""
        return self.generator.fits(self.levels)


def _model(schema: Schema, default: Any) -> Any:
    """The class of a model: images have their own."""
    from pointillist.generators.image_model import ImageModel

    return default if schema.image is None else ImageModel


def _generator(kind: str, image: bool) -> Any:
    """The class of a generator, by its name in model files. Those of images are not those of tables."""
    if kind in _NETWORKS[image]:
        module, name = _NETWORKS[image][kind]
        try:
            return getattr(importlib.import_module(module), name)
        except ImportError:
            raise UsageError(
                "this model is a network, which needs torch. Install it with: pip install 'pointillist[network]'"
            ) from None
    if kind not in _CLOSED[image]:
        raise ValueError(f"a generator of kind {kind[:50]!r} is not known here")
    return _CLOSED[image][kind]
