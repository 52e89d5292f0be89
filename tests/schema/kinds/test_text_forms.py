from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.schema.kinds.text_forms import (
    CELLS,
    FIRST_YEAR,
    FORMS,
    NUMBER_CELLS,
    ZERO,
    cell_sql,
    date_forms,
    edges_of,
    form_sql,
    middles,
    number_sql,
)

QUERY = f"SELECT {form_sql()}, v, {cell_sql()} FROM (SELECT y, {number_sql()} AS v FROM (SELECT ?::VARCHAR AS y))"


@pytest.fixture(scope="module")
def db() -> Any:
    with duckdb.connect() as found:
        yield found


def read(db: Any, text: str) -> tuple[str, float | None, int | None]:
    form, number, cell = db.execute(QUERY, [text]).fetchall()[0]
    return FORMS[form], number, cell


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        ("7", "number 0", 7.0), ("-3", "number 0", -3.0), ("1995.0", "number 0", 1995.0), ("1.50", "number 1", 1.5),
        (".25", "number 2", 0.25), ("1e5", "number 7", 1e5), ("0.30000000000000004", "number 7", 0.30000000000000004),
        ("-0", "number 0", 0.0), ("1,234", "dress 9,999", 1234.0), ("$1,234.50", "dress $9,999", 1234.5),
        ("$12", "dress $9", 12.0), ("9%", "dress 9%", 9.0), ("€5", "dress €9", 5.0), ("TRUE", "boolean", None),
        ("2020-01-31", "date", None), ("2020-01-31T10:00", "time", None), ("2020-02-31", "text", None),
        ("31/01/2020", "first %d/%m/%Y", None), ("01/31/2020", "second %d/%m/%Y", None),
        ("01/02/2020", "both %d/%m/%Y", None), ("31.01.2020 10:30", "first %d.%m.%Y %H:%M", None),
        ("a@b.org", "email", None), ("007", "text", None), ("1234567890123456", "long number", None),
        ("one two three four five", "free text", None), ("inf", "text", None), ("nobody's", "text", None),
    ],
)  # fmt: skip
def test_forms(db: Any, text: str, form: str, number: float | None) -> None:
    assert read(db, text)[:2] == (form, number)


def read_all(texts: list[str]) -> list[tuple[str, float | None, int | None]]:
    with duckdb.connect() as db:
        query = QUERY.replace("(SELECT ?::VARCHAR AS y)", "(SELECT unnest(?::VARCHAR[]) AS y)")
        return [(FORMS[form], number, cell) for form, number, cell in db.execute(query, [texts]).fetchall()]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=20, max_size=50))
@settings(deadline=None, max_examples=8)
def test_numbers_lie_in_their_cells(numbers: list[float]) -> None:
    for number, (_, found, cell) in zip(numbers, read_all(list(map(repr, numbers))), strict=True):
        assert found == number
        assert cell is not None
        assert 0 <= cell < NUMBER_CELLS
        low, high = edges_of(cell)
        assert low <= number <= high or cell in (0, NUMBER_CELLS - 1)


def test_years_lie_in_their_cells(db: Any) -> None:
    assert read(db, "2020-01-31")[2] == NUMBER_CELLS + 2020 - FIRST_YEAR
    assert read(db, "31/01/2020")[2] == NUMBER_CELLS + 2020 - FIRST_YEAR
    assert read(db, "1066-01-31")[2] == NUMBER_CELLS
    assert read(db, "9999-01-31")[2] == CELLS - 1
    assert read(db, "hello")[2] is None


@given(st.lists(st.text(max_size=20).map(lambda text: text.replace("\0", "")), min_size=20, max_size=50))
@settings(deadline=None, max_examples=8)
def test_any_text_has_one_form(texts: list[str]) -> None:
    for form, number, cell in read_all(texts):
        assert form in FORMS
        assert cell is None or 0 <= cell < CELLS
        assert number is None or (cell is not None and cell < NUMBER_CELLS)


def test_the_grid_is_in_order() -> None:
    assert (middles()[1:] > middles()[:-1]).all()
    assert middles()[ZERO] == 0
    assert len(set(FORMS)) == len(FORMS)
    assert all(FORMS[place].endswith(name) for name, (_, places) in date_forms().items() for place in places)
