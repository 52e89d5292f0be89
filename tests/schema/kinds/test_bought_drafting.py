"""From noisy counts to columns: here the noise is drawn by an ordinary generator, so that cases can be told apart."""

import datetime as dt
from typing import Any, ClassVar

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.schema import Boolean, Categorical, Datetime, Ignore, Integer, Real
from pointillist.schema.kinds.bought_drafting import BINS, FirstLook, SecondLook, column, guess
from pointillist.schema.kinds.text_forms import CELLS, FORMS, cell_sql, form_sql, number_sql

ROWS, NOISE = 10_000, 20.0


def drafted(values: list[Any], *, noise: float = NOISE, seed: int = 0) -> Any:
    """The column that comes of some texts, with so much noise on every count."""
    draw = np.random.default_rng(seed)
    texts = [None if value is None else str(value) for value in values]
    with duckdb.connect() as db:
        db.execute("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS y", [texts])
        read = db.execute(
            f"SELECT {form_sql()}, v, {cell_sql()} FROM (SELECT y, {number_sql()} AS v FROM t WHERE y IS NOT NULL)"
        ).fetchall()
    forms, cells = np.zeros(len(FORMS) + 1), np.zeros(CELLS)
    for form, _, cell in read:
        forms[form] += 1
        cells[cell] += cell is not None
    forms[-1] = len(texts) - len(read)
    first = FirstLook(*(each + draw.normal(0, noise, each.size) for each in (forms, cells)), noise)
    guessed = guess(first)
    numbers = [number for _, number, _ in read if number is not None]
    found = numbers if guessed.kind == "number" else [text for text in texts if text is not None]
    keys, often = np.unique(found, return_counts=True)
    loud = often + draw.normal(0, noise, often.size)
    kept = loud >= 6 * noise
    bins = None
    if guessed.asks_bins:
        places = np.clip((np.array(numbers) - guessed.low) // guessed.width, 0, BINS - 1).astype(int)
        bins = np.bincount(places, minlength=BINS) + draw.normal(0, noise, BINS)
    second = SecondLook(keys[kept].tolist(), loud[kept], 6 * noise, bins, noise)
    return column(guessed, first, second)


def draws(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestNumbers:
    def test_years_are_near(self) -> None:
        found = drafted(draws().integers(1995, 2004, ROWS).tolist())
        assert isinstance(found, Integer)
        assert (found.min, found.max) == (1995, 2003)
        assert set(found.bought) == {"kind", "min", "max"}
        assert found.read_from_data == ()

    def test_years_stored_with_a_fraction(self) -> None:
        assert isinstance(drafted([f"{year}.0" for year in draws().integers(1995, 2004, ROWS)]), Integer)

    def test_few_values_with_gaps_are_listed(self) -> None:
        found = drafted(draws().choice([10, 25, 90], ROWS).tolist())
        assert found.only == (10, 25, 90)

    def test_two_values_are_codes(self) -> None:
        found = drafted(draws().choice([0, 1], ROWS).tolist())
        assert isinstance(found, Categorical)
        assert found.categories == (0, 1)

    def test_a_bell(self) -> None:
        values = np.round(draws().normal(120, 15, ROWS), 1)
        found = drafted(values.tolist())
        assert isinstance(found, Real)
        assert found.decimals == 1
        assert found.scale == "linear"
        inside = ((values >= found.min) & (values <= found.max)).mean()
        assert inside > 0.99
        assert found.max - found.min < 200

    def test_a_long_tail_with_zeros(self) -> None:
        values = np.round(np.exp(draws().normal(8, 2, ROWS)), 2)
        values[:2000] = 0
        found = drafted(values.tolist())
        assert isinstance(found, Real)
        assert found.scale == "log"
        assert found.special[0] == 0
        assert found.min > 0
        assert ((values >= found.min) & (values <= found.max) | (values == 0)).mean() > 0.98

    def test_frequent_values_are_atoms(self) -> None:
        values = np.round(draws().uniform(10, 90_000, ROWS), 2)
        values[:1500] = 50_000
        assert 50_000.0 in drafted(values.tolist()).special

    def test_a_row_number_is_left_out(self) -> None:
        assert isinstance(drafted(list(range(1, ROWS + 1))), Ignore)

    def test_dressed_numbers(self) -> None:
        found = drafted([f"${value:,}" for value in draws().integers(1_000, 90_000, ROWS)])
        assert isinstance(found, Real)
        assert found.format == "$9,999"
        assert found.max >= 80_000

    @given(st.integers(-(2**52), 2**52), st.integers(0, 2**40), st.integers(0, 3))
    @settings(deadline=None, max_examples=40)
    def test_any_range_gives_a_column(self, low: int, span: int, seed: int) -> None:
        found = drafted(draws(seed).integers(low, low + span + 1, 600).tolist(), noise=5.0, seed=seed)
        assert isinstance(found, Integer | Categorical | Ignore | Real)


class TestTexts:
    def test_rare_ones_are_other(self) -> None:
        found = drafted(["red"] * 6000 + ["blue"] * 3950 + ["one person's"] * 50)
        assert isinstance(found, Categorical)
        assert found.categories == ("blue", "red")
        assert found.has_other
        assert "fewer than about 120 rows" in found.description

    def test_other_may_be_a_category(self) -> None:
        assert drafted(["other"] * 5000 + ["x"] * 5000).other_label == "(other)"

    @pytest.mark.parametrize(
        ("values", "why"),
        [
            ([f"name {n}" for n in range(ROWS)], "no text stood out"),
            (["usual"] * 3000 + [f"name {n}" for n in range(7000)], "too few share"),
            ([f"p{n}@example.org" for n in range(ROWS)], "e-mail"),
            ([f"{10**15 + n}" for n in range(ROWS)], "16 digits"),
            (["one two three four five " + str(n) for n in range(ROWS)], "free text"),
            ([None] * ROWS, "too few values"),
        ],
    )
    def test_left_out(self, values: list[Any], why: str) -> None:
        found = drafted(values)
        assert isinstance(found, Ignore)
        assert why in found.description
        assert found.bought == ("kind",)

    def test_numbers_among_texts_are_texts(self) -> None:
        assert drafted(["1"] * 5000 + ["one"] * 5000).categories == ("1", "one")


class TestDates:
    DAYS: ClassVar = [dt.date(1990, 1, 1) + dt.timedelta(days=int(n)) for n in draws().integers(0, 7000, ROWS)]

    def test_iso(self) -> None:
        found = drafted(self.DAYS)
        assert isinstance(found, Datetime)
        assert found.resolution == "day"
        assert found.format is None
        assert (found.min.year, found.max.year) == (1990, 2009)

    def test_times(self) -> None:
        found = drafted([f"{day}T10:00:00" for day in self.DAYS])
        assert found.resolution == "second"

    @pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y"])
    def test_of_day_and_month_those_that_fit_one_alone_decide(self, form: str) -> None:
        assert drafted([day.strftime(form) for day in self.DAYS]).format == form


def test_booleans() -> None:
    assert isinstance(drafted(["true", "False"] * 5000), Boolean)


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_gives_nothing(seed: int) -> None:
    assert isinstance(drafted([], seed=seed), Ignore)
