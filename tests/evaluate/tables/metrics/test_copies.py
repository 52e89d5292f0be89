"""Copies: rows that were handed on, told from rows that are alike by chance."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.metrics.copies import Copies, copies, fingerprints
from pointillist.evaluate.tables.sample import read

People = Callable[..., pa.Table]


def test_a_second_sample_has_few_and_a_copy_has_all(schema: pt.Schema, people: People) -> None:
    real = read(people(2_000, 1), schema)
    assert copies(real, real).synthetic == 1.0
    assert copies(real, real).suspicious
    other = copies(real, read(people(2_000, 2), schema))
    assert other.synthetic < 0.01
    assert not other.suspicious


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_some_copies_among_honest_rows_are_found(schema: pt.Schema, people: People, share: float) -> None:
    count = int(2_000 * share)
    mixed = pa.concat_tables([people(2_000, 1).slice(0, count), people(2_000 - count, 2)])
    found = copies(read(people(2_000, 1), schema), read(mixed, schema))
    assert found.synthetic == pytest.approx(share, abs=0.01)
    assert found.suspicious


def test_few_columns_repeat_by_chance() -> None:
    schema = pt.Schema(name="few", columns={name: pt.Boolean(missing=False) for name in ("a", "b")})
    rng = np.random.default_rng(0)
    tables = [pa.table({name: rng.random(500) < 0.5 for name in ("a", "b")}) for _ in range(2)]
    found = copies(*(read(table, schema) for table in tables))
    assert found.synthetic == found.expected == 1.0
    assert not found.suspicious


def test_fingerprints_differ_where_rows_do(schema: pt.Schema, people: People) -> None:
    sample = read(people(3_000, 1), schema)
    rows = {tuple(row.values()) for row in people(3_000, 1).to_pylist()}
    assert len(np.unique(fingerprints(sample))) == len(rows)
    assert np.array_equal(fingerprints(sample), fingerprints(sample.take(np.arange(3_000))))


def test_one_row() -> None:
    schema = pt.Schema(name="one", columns={"a": pt.Integer(min=0, max=9)})
    one = read(pa.table({"a": [3]}), schema)
    assert not copies(one, read(pa.table({"a": [4]}), schema)).suspicious


def test_copies_are_graded_where_there_are_too_many() -> None:
    (point,) = Copies(0.9, 0.01, 1000).points()
    assert (point.question, point.grade) == ("copies of real rows", "poor")
    assert "Do not hand this table out" in point.sentence
    assert Copies(0.012, 0.01, 1000).points() == ()
