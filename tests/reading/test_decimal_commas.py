"""Decimal commas are read value by value."""

import pyarrow as pa
import pytest

from pointillist.errors import UsageError
from pointillist.reading.decimal_commas import read
from pointillist.reading.opening import open_source

TEXTS = ["1,5", "1.234,50", "-,5", "1.5", "1.234", "7", "", None, "a,b", "1,2,3"]


@pytest.mark.parametrize(
    ("grouped", "expected"),
    [
        (False, ["1.5", "1234.50", "-.5", "1.5", "1.234", "7", "", None, "a,b", "1,2,3"]),
        (True, ["1.5", "1234.50", "-.5", "1.5", "1234", "7", "", None, "a,b", "1,2,3"]),
    ],
)
def test_each_value_is_looked_at_by_itself(grouped: bool, expected: list[str | None]) -> None:
    batch = pa.record_batch({"x": TEXTS, "y": TEXTS})
    found = read(batch, ["x"], grouped=grouped)
    assert found["x"].to_pylist() == expected
    assert found["y"].to_pylist() == TEXTS
    one_by_one = [read(batch[n : n + 1], ["x"], grouped=grouped)["x"][0].as_py() for n in range(len(TEXTS))]
    assert one_by_one == expected


def test_frames_have_no_decimal_sign() -> None:
    with pytest.raises(UsageError, match="--decimal"):
        open_source(pa.table({"x": [1.5]}), decimal=",")
