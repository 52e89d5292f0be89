"""Numbers in dress: `$1,234.50`, `12%`."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pointillist.curator.table_drafting import draft
from pointillist.reading.opening import open_source
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


@pytest.mark.parametrize(
    ("form", "decimals", "texts", "values"),
    [
        ("9,9 %", 1, ["1,1 %", "-26,2 %"], [1.1, -26.2]),
        ("9.999,9 EUR", 2, ["167,72 EUR", "1.234.567,50 EUR"], [167.72, 1234567.5]),
        ("€ 9.999,00", 0, ["€ 2.101,00", "€ 7,00"], [2101.0, 7.0]),
        ("9 999,9 €", 2, ["1 234,50 €", "7,25 €"], [1234.5, 7.25]),
        ("9.999,9", 1, ["1.234,5", "7,0"], [1234.5, 7.0]),
        ("$9,999.00", 0, ["$1,234.00", "-$7.00"], [1234.0, -7.0]),
    ],
)
def test_decimals_may_follow_a_comma(form: str, decimals: int, texts: list[str], values: list[float]) -> None:
    column = Real(min=-1e3, max=2e6, decimals=decimals, format=form)
    assert column.from_arrow(pa.array(texts)).tolist() == values
    assert column.to_text(pa.chunked_array([values])).to_pylist() == texts
    assert str(NumberFormat.of(form)) == form


@pytest.mark.parametrize("form", ["9,999,9", "9.999.00", "9,99"])
def test_a_sign_that_means_two_things_is_refused(form: str) -> None:
    with pytest.raises(ValueError, match="9 for digits"):
        NumberFormat.of(form)


def _texts(form: str, digits: int) -> list[str]:
    values = [17 * number**2 + number / 10**digits for number in range(300)]
    return NumberFormat.of(form).write(pa.chunked_array([values]), digits).to_pylist()


@pytest.mark.parametrize(
    ("form", "digits"),
    [
        *(("9,9 %", 1), ("9,9%", 2), ("9,9 EUR", 2), ("9.999,9 EUR", 2), ("€ 9.999,00", 0), ("9 999,9\u00a0€", 2)),
        *(("$9,999", 2), ("$9.00", 0), ("9%", 1), ("9'999", 2), ("9 999", 2)),
    ],
)
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_draft_finds_the_dress_and_writes_alike(tmp_path: Path, form: str, digits: int, delimiter: str) -> None:
    texts = _texts(form, digits)
    path = tmp_path / "dressed.csv"
    path.write_text(f"x{delimiter}y\n" + "".join(f"{text}{delimiter}{n % 7}\n" for n, text in enumerate(texts)))
    schema = draft(path, name="dressed")
    column = schema.columns["x"]
    assert isinstance(column, Integer if digits == 0 else Real)
    assert column.format == form
    batches = open_source(path).batches(["x"], schema, lambda fraction: None)
    numbers = np.concatenate([column.from_arrow(batch["x"]) for batch in batches])
    assert column.to_text(pa.chunked_array([numbers])).to_pylist() == texts


def test_numbers_of_somebody_are_no_amounts(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{123 + n} 456 789,{n % 7}\n" for n in range(300)))
    assert draft(path, name="numbers").columns["x"].kind == "ignore"
