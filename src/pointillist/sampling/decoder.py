"""Decoder: what records become for their user, and in which terms they are asked for. A table's rows, or images."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from pointillist.sampling.condition import Condition
from pointillist.sampling.image_decoder import ImageDecoder
from pointillist.sampling.sample import Sample
from pointillist.sampling.table_decoder import TableDecoder
from pointillist.schema import Schema
from pointillist.schema.levels import Levels


class Decoder(Protocol):
    """From a sample to what its user gets."""

    @property
    def most(self) -> int:
        """The most records that are sampled at a time: they are held in memory."""
        ...

    def require_count(self, count: int) -> None:
        """Refuse a number of records that cannot be sampled at a time."""
        ...

    def require_frame(self, frame: str | None) -> None:
        """Refuse a kind of frame that the result cannot come in."""
        ...

    def condition(self, given: Mapping[str, Any]) -> Condition:
        """Understand what all records are to have in common."""
        ...

    def balanced_column(self, name: str) -> Levels:
        """The column of which every class is to get the same number of records."""
        ...

    def decode(self, sample: Sample, rng: np.random.Generator) -> Any:
        """An Arrow table, or images."""
        ...

    def to_frame(self, decoded: Any, frame: str | None) -> Any:
        """The same in the kind of frame that its user asks for."""
        ...


def decoder_of(schema: Schema, frame: str) -> Decoder:
    """The decoder of a schema's records; `frame` is the kind of frame that tables come in."""
    return TableDecoder(schema, frame) if schema.image is None else ImageDecoder(schema)
