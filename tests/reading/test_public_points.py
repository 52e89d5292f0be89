"""Public points: rows of a public table, by the private table's rules."""

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import DataError, UsageError

SCHEMA = pt.Schema(
    name="t",
    columns={"a": pt.Categorical(categories=("p", "q"), missing=False), "x": pt.Real(min=0, max=1, missing=False)},
)


def test_every_measured_column_and_nothing_else() -> None:
    found = pt.public_points(pa.table({"x": [0.0, 1.0], "a": ["q", "p"], "name": ["n", "m"]}), SCHEMA)
    assert found.rows == 2
    assert found.codes["a"].tolist() == [1, 0]
    assert found.units["x"].tolist() == [0.0, 1.0]
    assert set(found.codes) == {"a", "x"}


def test_a_table_without_rows_is_refused() -> None:
    none = pa.table({"x": pa.array([], pa.float64()), "a": pa.array([], pa.string())})
    with pytest.raises(DataError, match=r"the frame: has no rows. Name a table with public rows."):
        pt.public_points(none, SCHEMA)


def test_images_are_refused() -> None:
    with pytest.raises(UsageError):
        pt.public_points(
            pa.table({"image": [b""]}),
            pt.Schema(name="t", columns={"image": pt.Image(height=2, width=2, colour=False)}),
        )
