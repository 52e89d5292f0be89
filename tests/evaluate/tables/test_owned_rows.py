"""Rows and who owns them: made up from a schema, or read from a private table."""

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import DataError
from pointillist.evaluate.tables.owned_rows import read_rows, repeated, spread

COLUMNS = {"k": pt.Categorical(categories=(1, 2, 5), missing=False), "x": pt.Integer(min=0, max=9, bins=5)}
ALONE = pt.Schema(name="alone", columns=COLUMNS)
OWNED = pt.Schema(name="owned", person=pt.Person(column="id", max_rows=3), columns=COLUMNS)


def test_rows_of_a_person_are_known_and_rows_of_nobody_left_out() -> None:
    table = pa.table({"id": ["Ann", "bob", None, "ANN"], "k": [1, 2, 5, 9], "x": [1, 2, 3, None]})
    whole, sample, owners = read_rows(table, OWNED)
    assert (whole.num_rows, sample.rows) == (3, 3)
    assert owners[0] == owners[2] != owners[1]
    assert read_rows(table.drop(["id"]), ALONE).owners.tolist() == [0, 1, 2, 3]
    with pytest.raises(DataError, match="no rows"):
        read_rows(table.slice(0, 0), OWNED)


def test_what_is_made_up_is_read_back_as_it_was_meant() -> None:
    made = spread(ALONE, 50, owner=7, generator=np.random.default_rng(0))
    assert sorted(made.owners) == list(range(7, 57))
    read = made.sample(ALONE)
    for name in COLUMNS:
        assert np.array_equal(read.codes(name), made.codes[name])
        counts = np.bincount(made.codes[name])
        assert counts.max() - counts.min() <= 1  # every level equally often
    part = made.take(made.codes["k"] == 3)  # an unlisted number comes back as one
    assert (part.sample(ALONE).codes("k") == 3).all()


def test_a_person_owns_as_many_rows_as_allowed() -> None:
    made = spread(OWNED, 10, owner=0, generator=np.random.default_rng(0))
    assert np.bincount(made.owners).tolist() == [3] * 10
    assert len(repeated(OWNED, {"k": 0, "x": 1}, 5, 2)) == 5
    assert repeated(OWNED, {"k": 0, "x": 1}, 2, 2).table()["id"].to_pylist() == [2, 2]
