"""Model: a generator fitted to a release, ready to make rows or images. Public."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from pydantic import BaseModel

from pointillist.errors import UsageError
from pointillist.files import container
from pointillist.files.facts import real, table, text
from pointillist.fitting.class_shares import record_count
from pointillist.generators import generator_class
from pointillist.generators.base import Generator, GeneratorSettings, OfPersons
from pointillist.privacy.guarantee import Guarantee
from pointillist.privacy.guarantee_check import require_promise
from pointillist.progress import Progress
from pointillist.release import Release, require_same_unit
from pointillist.sampling.constrained_sampler import ConstrainedSampler
from pointillist.sampling.decoder import Decoder, decoder_of
from pointillist.sampling.history_sampler import HistorySampler
from pointillist.sampling.parts import at_a_time, in_order
from pointillist.sampling.quotas import balanced
from pointillist.schema import Schema
from pointillist.schema.constraints import Gap, Impossible, Order
from pointillist.schema.levels import Levels, levels_of

KIND, FORMAT = "model", 1
PART_ROWS = 1_000_000
"""In a part of a sample that is drawn in parts."""
_LONGEST_ID, _MOST_ESTIMATED = 100, 1e15


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Samples rows of the schema's types, or images of its size. It costs no privacy, however often it is done."""

    schema: Schema
    guarantee: Guarantee
    release: str
    """The id of the release that it was fitted to."""
    frame: str
    rows: float
    """The estimated number of private records."""
    generator: Generator

    @classmethod
    def of(cls, release: Release, *, rows: float, generator: Generator) -> Self:
        """A generator together with what its release promises."""
        return cls(release.schema, release.guarantee, release.id, release.frame, rows, generator)

    @classmethod
    def fitted(
        cls,
        release: Release,
        settings: GeneratorSettings,
        *,
        seed: int,
        progress: Progress,
        checkpoint: Path | None = None,
    ) -> Self:
        """The model of a generator that is fitted to a release by its settings."""
        generator = settings.fit(release, seed=seed, progress=progress, checkpoint=checkpoint)
        return cls.of(release, rows=record_count(release), generator=generator)

    @cached_property
    def levels(self) -> tuple[Levels, ...]:
        """The levels of the schema's columns, in order."""
        return levels_of(self.schema)

    @property
    def default_count(self) -> int:
        """About as many records as the private data have."""
        return min(self._decoder.most, max(1, round(self.rows)))

    def __repr__(self) -> str:
        columns = len(self.schema.measured)
        return f"<Model of {self.schema.name!r}: {columns} columns, ε = {self.guarantee.epsilon:g}>"

    def _repr_html_(self) -> str:
        from pointillist.pages.notebook import Box

        record = self.guarantee.record
        made = f"It is {self.generator.describe()}; about {self.rows:,.0f} private {record}s by its noisy count."
        next_ = f"model.sample(1000) draws {record}s. Sample as often as you like: it costs no privacy."
        beside = f"{len(self.schema.measured)} columns, fitted to release {self.release[:8]}"
        return Box(f"Model of {self.schema.name}", beside, [self.guarantee.sentence(), made], notes=[next_]).to_html()

    def sample(
        self,
        count: int | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
        frame: str | None = None,
        persons: int | None = None,
    ) -> Any:
        """`count` records (by default as many as the private data have, roughly): rows in the caller's own kind of frame, or
        `Images`.

        `given` is what all rows must have in common: for some columns a value, a list of values, a range (low, high)
        or None for missing, such as `{"sex": "F", "age": (30, 40)}`; of images, a class or a list of classes. `balance`
        names a column of which every class gets the same number of rows; of images, the label. The same seed gives the
        same rows. `frame` may be "pandas", "polars" or "pyarrow". A model of histories makes whole persons, `persons` of
        them in the place of `count` rows; then `given` is about persons.
        """
        self._decoder.require_frame(frame)
        if persons is not None:
            return self._decoder.to_frame(self.sample_persons(persons, given=given, seed=seed), frame)
        count = self.default_count if count is None else count
        return self._decoder.to_frame(self._decoded(count, given, balance, seed), frame)

    def sample_persons(
        self, persons: int, *, given: Mapping[str, Any] | None = None, seed: int | None = None
    ) -> pa.Table:
        """All rows of so many persons as an Arrow table, hers one after the other."""
        if not isinstance(self._sampler, HistorySampler):
            raise UsageError("this model makes rows, not persons: release the table by the method chronicle.")
        self._decoder.require_count(persons)
        rng = np.random.default_rng(seed)
        sampler = self._sampler.under(self._decoder.condition({} if given is None else given), rng)
        return self._decoder.decode(sampler.sample_persons(persons, rng), rng)

    def sample_table(
        self,
        count: int,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
    ) -> pa.Table:
        """`count` rows as an Arrow table."""
        if self.schema.image is not None:
            raise UsageError("this is a model of images: use sample(), which gives Images.")
        return self._decoded(count, given, balance, seed)

    def sample_parts(
        self,
        count: int,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
        part: int = PART_ROWS,
        threads: int | None = None,
    ) -> Iterator[pa.Table]:
        """`count` rows as Arrow tables of at most `part` rows, one after the other: any number, and few parts in memory.

        Each part is drawn by itself, with a seed of its own: the same seed and parts give the same rows, however many
        `threads` draw them (by default one for every four cores; a part keeps about as many busy). Its shares and tables are
        the model's to within its own rounding to whole rows.
        """
        if self.schema.image is not None:
            raise UsageError("this is a model of images: use sample(), which gives Images.")
        if count < 0 or part < 1:
            raise UsageError(f"count must not be negative and part at least 1, not {count} and {part}.")
        if threads is not None and threads < 1:
            raise UsageError(f"threads must be at least 1, not {threads}.")
        sizes = [min(part, count - start) for start in range(0, count, part)] or [0]
        seeds = np.random.SeedSequence(seed).spawn(len(sizes))
        _ = self._sampler  # made once, before threads ask for it

        def draw(number: int) -> pa.Table:
            rng = np.random.default_rng(seeds[number])
            return self._decoded(sizes[number], given, balance, rng, before=number * part)

        yield from in_order(draw, len(sizes), at_a_time() if threads is None else threads)

    def to_frame(self, table: pa.Table, frame: str | None = None) -> Any:
        """Rows of the schema's types in another kind of frame: by default the caller's own."""
        return self._decoder.to_frame(table, frame)

    def _decoded(
        self,
        count: int,
        given: Mapping[str, Any] | None,
        balance: str | None,
        seed: int | np.random.Generator | None,
        before: int | None = None,
    ) -> Any:
        """The one way from the generator to rows, or to images: condition, draw, decode."""
        decoder = self._decoder
        decoder.require_count(count)
        rng = np.random.default_rng(seed)
        condition = decoder.condition({} if given is None else given)
        if balance is None:
            sample = self._sampler.under(condition, rng).sample(count, rng)
            if sample.persons is not None and before:  # numbers of persons go on from part to part
                sample = replace(sample, persons=sample.persons + before)
        elif isinstance(self._sampler, HistorySampler):
            raise UsageError("balance: rows of histories belong to persons. Sample each class by itself, with given.")
        else:
            sample = balanced(self._sampler, condition, decoder.balanced_column(balance), count, rng, before)
        return decoder.decode(sample, rng)

    @cached_property
    def _decoder(self) -> Decoder:
        return decoder_of(self.schema, self.frame)

    @cached_property
    def _sampler(self) -> ConstrainedSampler | HistorySampler:
        if isinstance(self.generator, OfPersons):
            return HistorySampler.of(self.levels, self.generator, self.schema.constraints)
        return ConstrainedSampler.of(self.levels, self.generator, self.schema.constraints)

    def constrained(self, *constraints: Order | Impossible | Gap | Mapping[str, Any]) -> Self:
        """The same model under more constraints. They are public facts, and only sampling heeds them: no new release."""
        added = [each.model_dump(mode="json") if isinstance(each, BaseModel) else dict(each) for each in constraints]
        facts = self.schema.to_json()
        return replace(self, schema=Schema.parse({**facts, "constraints": [*facts["constraints"], *added]}))

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever uses the rows or images should know, where the generator has anything to say."""
        return tuple(getattr(self.generator, "notes", ()))

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
        return container.read(path, KIND, FORMAT, cls._from_content)

    @classmethod
    def _from_content(cls, facts: dict[str, Any], arrays: container.Arrays, origin: str) -> Self:
        schema = Schema.from_json(table(facts, "schema"), origin=origin)
        guarantee = Guarantee.from_json(table(facts, "guarantee"))
        require_promise(guarantee)
        require_same_unit(guarantee, schema)
        generator = table(facts, "generator")
        made = cls(
            schema=schema,
            guarantee=guarantee,
            release=text(facts, "release", _LONGEST_ID),
            frame=text(facts, "frame", _LONGEST_ID),
            rows=real(facts, "rows", 0.0, _MOST_ESTIMATED),
            generator=generator_class(text(generator, "kind")).from_facts(generator, arrays, schema),
        )
        if not made.generator.fits(schema):
            raise ValueError("the generator does not fit the schema")
        return made
