"""Numbers in dress: `$1,234.50`, `12%`."""

import pyarrow as pa
import pytest

from pointillist.schema.kinds import Integer, Real
from pointillist.schema.kinds.number_format import NumberFormat


@pytest.mark.parametrize(
    ("form", "texts", "values"),
    [
        ("$9,999", ["$1,234.50", "-$7.00", "$0.25"], [1234.5, -7.0, 0.25]),
        ("9%", ["12.00%", "5.50%"], [12.0, 5.5]),
        ("9,999 EUR", ["1,000,000.00 EUR"], [1e6]),
    ],
)
def test_texts_are_read_and_written_alike(form: str, texts: list[str], values: list[float]) -> None:
    column = Real(min=-10.0, max=2e6, decimals=2, format=form)
    assert column.from_arrow(pa.array(texts)).tolist() == values
    assert column.to_text(pa.chunked_array([values])).to_pylist() == texts
    assert str(NumberFormat.of(form)) == form


def test_what_is_missing_or_bare_is_read_too() -> None:
    found = Integer(min=0, max=100, format="9%").from_arrow(pa.array(["7%", " 8 ", "NA", None]))
    assert found[:2].tolist() == [7.0, 8.0]
    assert (found[2:] != found[2:]).all()


def test_a_format_without_digits_is_refused() -> None:
    with pytest.raises(ValueError, match="9 for digits"):
        Integer(min=0, max=9, format="percent")
