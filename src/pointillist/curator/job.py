"""Job: what the pass over the private rows does with them. Encode, cap, clip and embed; where it runs, an engine knows."""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from pointillist.curator.capping import OWNER, capped, owned
from pointillist.curator.clipping import Integers
from pointillist.curator.embedding import Embedding
from pointillist.curator.histories import Persons, gathered, history_encoder, records_of
from pointillist.device import CPU
from pointillist.engines import Job, Partial
from pointillist.engines.base import Sum
from pointillist.errors import UsageError
from pointillist.features import FeatureMap, Records
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.files import container
from pointillist.files.facts import listed, table, text, texts
from pointillist.privacy.grid import Grid
from pointillist.reading.encoding import Encoder
from pointillist.schema import Schema
from pointillist.schema.history import History

_KIND, _FORMAT, _KEY_BYTES = "job", 1, 32


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingJob(Job):
    """The exact sum of a feature map over a table; with a person column, over so many rows of each person at most."""

    schema: Schema
    feature_map: FeatureMap
    grid: Grid
    origin: str
    """How messages call the table."""
    key: bytes = field(default_factory=lambda: secrets.token_bytes(_KEY_BYTES))
    """Under which persons become numbers: the same for all workers of this pass, and forgotten with it."""

    @cached_property
    def encoder(self) -> Encoder:
        """From batches as they are read to what the feature map takes."""
        if self.history is not None:
            return history_encoder(self.schema, self.origin)
        return Encoder.of_map(self.feature_map, self.schema, self.origin)

    @cached_property
    def history(self) -> History | None:
        """How a person's rows become records, where these share one weight; none where every row counts by itself."""
        return History.of(self.schema) if self.grid.shared else None

    @property
    def columns(self) -> list[str]:
        person = [] if self.schema.person is None else [self.schema.person.column]
        return list(dict.fromkeys([*self.encoder.columns, *person]))

    @property
    def together(self) -> tuple[str, ...]:
        return () if self.schema.person is None else OWNER

    def prepared(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.schema.person is None:
            return iter(batches)
        return owned(batches, self.encoder, self.schema.person, self.key, self.origin)

    def stream(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
        if self.schema.person is None:
            return iter(batches)
        if self.history is not None:
            most = min(self.schema.person.max_rows, self.grid.parts)
            return gathered(batches, self.history, self.encoder, most, self.origin)
        return capped(batches, self.encoder, self.schema.person, self.origin)

    def start(self) -> "Sum":
        return _Sum(self) if self.history is None else _SharedSum(self, self.history)

    def sums(self, total: Partial) -> Integers:
        """The exact sum in grid units, of what an engine gave back. Secret."""
        return Embedding(self.feature_map, self.grid, total).sums()

    def to_bytes(self) -> bytes:
        if self.feature_map.device != CPU:
            raise UsageError(
                f"a public network on {self.feature_map.device} cannot look at images on a cluster: which worker has which "
                "card would decide what is measured of an image, and who else is in the table decides which worker it goes "
                "to. Use --device cpu, or --engine local. Nothing was spent."
            )
        nodes, arrays = to_nodes(self.feature_map)
        facts = {
            "kind": _KIND,
            "schema": self.schema.to_json(),
            "feature_map": nodes,
            "arrays": sorted(arrays),
            **self.grid.to_json(),
            "origin": self.origin,
        }
        return container.pack(_KIND, _FORMAT, facts, {**arrays, "key": np.frombuffer(self.key, dtype=np.uint8)})

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        facts, arrays = container.unpack_bytes(content, _KIND, _FORMAT)
        with container.sound("the job"):
            container.require_kind(facts, _KIND)
            parts = {name: arrays[name] for name in texts(facts, "arrays")}
            return cls(
                Schema.from_json(table(facts, "schema"), origin="the job"),
                from_nodes(list(listed(facts, "feature_map", table)), parts),
                Grid.from_json(facts),
                text(facts, "origin"),
                arrays["key"].tobytes(),
            )


class _Sum:
    """One worker's sum. Batches are encoded here, on its own thread; what was capped has been encoded before."""

    def __init__(self, job: EmbeddingJob):
        self._encode = job.encoder if job.schema.person is None else _as_it_is
        self._embedding = Embedding(job.feature_map, job.grid)

    def add(self, item: Any) -> None:
        self._embedding.add(self._encode(item))

    def partial(self) -> Partial:
        return self._embedding.partial()


class _SharedSum:
    """One worker's sum of records that share their person's weight."""

    def __init__(self, job: EmbeddingJob, history: History):
        self._history = history
        self._embedding = Embedding(job.feature_map, job.grid)

    def add(self, item: Persons) -> None:
        records, counts = records_of(item, self._history), np.repeat(item.counts, item.counts)
        for count in np.unique(counts):
            self._embedding.add_parts(records.part(counts == count), self._embedding.grid.parts // int(count))

    def partial(self) -> Partial:
        return self._embedding.partial()


def _as_it_is(records: Records) -> Records:
    return records
