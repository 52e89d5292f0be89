"""Columns as texts, and which texts stand for no value."""

import decimal

import pyarrow as pa
import pytest

from pointillist.schema.texts import MISSING_TEXTS, as_texts, is_text, without_missing_texts


@pytest.mark.parametrize(
    "array",
    [
        pa.array([7, None, -1]),
        pa.array([7.0, None, -1.0]),
        pa.array([7, None, -1], pa.float32()),
        pa.array([decimal.Decimal("7.00"), None, decimal.Decimal("-1.00")]),
        pa.array(["7", None, "-1"], pa.large_string()),
    ],
    ids=lambda array: str(array.type),
)
def test_whole_numbers_are_written_alike(array: pa.Array) -> None:
    assert as_texts(array).to_pylist() == ["7", None, "-1"]


def test_fractions_stay() -> None:
    assert as_texts(pa.array([0.5, 1e300])).to_pylist() == ["0.5", "1e+300"]


def test_missing_texts_become_gaps() -> None:
    texts = pa.array([*MISSING_TEXTS, " NA ", " a "])
    assert without_missing_texts(texts).to_pylist() == [None] * (len(MISSING_TEXTS) + 1) + ["a"]


def test_types_of_texts() -> None:
    assert all(map(is_text, (pa.string(), pa.large_string(), pa.string_view())))
    assert not is_text(pa.binary())
