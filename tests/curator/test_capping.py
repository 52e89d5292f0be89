"""Capping: which rows of a person stay follows from that person's rows alone."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator.capping import capped, owned
from pointillist.errors import DataError
from pointillist.reading.encoding import Encoder

PERSON = pt.Person(column="who", max_rows=2)
SCHEMA = pt.Schema(name="s", columns={"n": pt.Integer(min=0, max=50, missing=False)}, person=PERSON)
ROWS = st.lists(st.tuples(st.sampled_from(["ann", "bo", "cy", None]), st.integers(0, 50)), max_size=30)


def kept(rows: list[tuple[str | None, int]], key: bytes = b"key", workers: int = 1) -> list[int]:
    """Numbers of the rows that stay, sorted; each worker has the rows of some persons."""
    encoder = Encoder.of_schema(SCHEMA, "t")
    found: list[int] = []
    for worker in range(workers):
        mine = [row for row in rows if len(row[0] or "") % workers == worker]
        who, n = ([row[k] for row in mine] for k in (0, 1))
        batch = pa.record_batch({"who": pa.array(who, pa.string()), "n": pa.array(n, pa.int64())})
        for part in capped(owned([batch], encoder, PERSON, key, "t"), encoder, PERSON, "t"):
            found += part.codes["n"].tolist()
    return sorted(found)


@given(ROWS, st.randoms(use_true_random=False))
def test_order_key_and_machine_do_not_matter(
    rows: list[tuple[str | None, int]], shuffle: "np.random.Generator"
) -> None:
    mixed = list(rows)
    shuffle.shuffle(mixed)
    assert kept(rows) == kept(mixed) == kept(mixed, b"other") == kept(mixed, workers=2)


@given(ROWS)
def test_no_person_has_more_and_none_loses_rows_to_another(rows: list[tuple[str | None, int]]) -> None:
    alone = [number for name in ("ann", "bo", "cy") for number in kept([row for row in rows if row[0] == name])]
    assert sorted(alone) == kept(rows)
    assert len(alone) == sum(min(2, sum(row[0] == name for row in rows)) for name in ("ann", "bo", "cy"))


def test_an_error_of_the_stream_comes_through() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"who": ["ann"], "n": [1]})
        raise DataError("the disk is gone")

    encoder = Encoder.of_schema(SCHEMA, "t")
    with pytest.raises(DataError, match=r"^the disk is gone$"):
        list(capped(owned(broken(), encoder, PERSON, b"key", "t"), encoder, PERSON, "t"))
