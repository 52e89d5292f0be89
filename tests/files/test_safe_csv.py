"""Safe CSV: no text begins as a formula does, and nothing else changes."""

import pyarrow as pa
import pytest

from pointillist.files.safe_csv import without_formulas


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\tx", "\rx"])
def test_an_apostrophe_stands_before_what_a_spreadsheet_runs(text: str) -> None:
    table = without_formulas(pa.table({text: [text, "a" + text, None, ""]}))
    assert table.column_names == ["'" + text]
    assert table.column(0).to_pylist() == ["'" + text, "a" + text, None, ""]


def test_dictionaries_and_large_texts_too() -> None:
    words = pa.array(["=a", "b", "=a"])
    table = without_formulas(pa.table({"d": words.dictionary_encode(), "l": words.cast(pa.large_string())}))
    assert table["d"].to_pylist() == table["l"].to_pylist() == ["'=a", "b", "'=a"]


def test_numbers_keep_their_minus() -> None:
    table = pa.table({"n": [-1, 2], "x": [-0.5, None], "b": [True, False]})
    assert without_formulas(table).equals(table)
