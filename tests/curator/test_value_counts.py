import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.curator.value_counts import value_counts
from pointillist.errors import DataError
from pointillist.reading.connection import connect
from pointillist.reading.opening import open_source
from pointillist.schema import Person
from pointillist.schema.kinds.text_forms import CELLS, FORMS, NUMBER_CELLS


def texts(table: Any, columns: list[str], person: Person | None = None, **options: Any) -> list[dict[str, int]]:
    with connect() as db:
        found = value_counts(db, open_source(table, **options), columns, person)
        return [dict(zip(*each.values(numbers=False, least=1), strict=True)) for each in found]


class TestTexts:
    def test_types_do_not_show(self, tmp_path: Path) -> None:
        """Whether a frame has whole numbers as integers or, for someone else's gap, as floats."""
        whole, gap = pa.table({"a": [1, 2, 2]}), pd.DataFrame({"a": [1.0, 2.0, 2.0, None]})
        assert texts(whole, ["a"]) == texts(gap, ["a"]) == [{"1": 1, "2": 2}]
        (tmp_path / "a.csv").write_text("a,b\n1,x\n2,x\n 2 ,x\nNA,x\n")
        assert texts(tmp_path / "a.csv", ["a"]) == [{"1": 1, "2": 2}]

    def test_other_types(self) -> None:
        day = dt.date(2020, 1, 31)
        table = pa.table({
            "day": [day, None], "flag": [True, False], "short": pa.array([4.6, 0.5], pa.float32()),
            "bytes": [b"a", b"b"], "list": [[1], [2]], "label": pa.array(["x", "y"]).dictionary_encode(),
        })  # fmt: skip
        assert texts(table, table.column_names) == [
            {"2020-01-31": 1}, {"false": 1, "true": 1}, {"0.5": 1, "4.6": 1}, {}, {}, {"x": 1, "y": 1},
        ]  # fmt: skip

    def test_decimal_commas_are_numbers_and_stay_texts(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("a;b\n1,5;x\n2,5;y\n")
        with connect() as db:
            found = value_counts(db, open_source(tmp_path / "a.csv"), ["a"], None)[0]
            assert found.values(numbers=True, least=1)[0] == [1.5, 2.5]
            assert found.values(numbers=False, least=1)[0] == ["1,5", "2,5"]

    def test_a_damaged_file_is_named_and_not_quoted(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text('a,b\n1,"secret\n2,x\n')
        with pytest.raises(DataError, match="double quote") as found:
            texts(tmp_path / "a.csv", ["a"])
        assert "secret" not in str(found.value)


@given(st.lists(st.sampled_from(["1", "2.5", "x", "", "2020-01-31", "-7", "999999"]), max_size=30))
@settings(deadline=None, max_examples=8)
def test_every_row_is_counted_once_on_every_list(values: list[str]) -> None:
    table = pa.table({"a": pa.array(values, pa.string()), "b": pa.array([1] * len(values), pa.int64())})
    with connect() as db:
        found = value_counts(db, open_source(table), ["a"], None)[0]
        filled = sum(value != "" for value in values)
        assert found.forms().shape == (len(FORMS) + 1,)
        assert found.forms().sum() == len(values)
        assert found.missing == len(values) - filled
        assert found.cells().shape == (CELLS,)
        assert found.cells().sum() == filled - values.count("x")
        assert found.bins(0.0, 2.0, 4).sum() == found.cells()[:NUMBER_CELLS].sum()
        assert found.values(numbers=False, least=1)[1].sum() == filled
        assert (found.values(numbers=False, least=3)[1] >= 3).all()


class TestPersons:
    ROWS = pl.DataFrame({"who": ["a", "A ", "a", "b", None, ""], "x": [1, 2, 3, 1, 9, 9]})

    @pytest.mark.parametrize("most", [1, 2])
    def test_so_many_rows_of_each(self, most: int) -> None:
        found = texts(self.ROWS, ["x"], Person(column="who", max_rows=most))[0]
        assert sum(found.values()) == most + 1
        assert "9" not in found

    def test_which_rows_stay_depends_on_that_person_alone(self) -> None:
        person = Person(column="who", max_rows=2)
        alone = texts(self.ROWS.filter(pl.col("x") < 9)[:3], ["x"], person)[0]
        others = pl.DataFrame({"who": [f"p{n}" for n in range(50)], "x": [50] * 50})
        among = texts(pl.concat([others, self.ROWS[:3][::-1]]), ["x"], person)[0]
        assert {x: n for x, n in among.items() if x != "50"} == alone


def test_a_place_outside_is_refused() -> None:
    with connect() as db:
        found = value_counts(db, open_source(pa.table({"a": [1], "b": [2]})), ["a"], None)[0]
        with pytest.raises(ValueError, match="outside"):
            found._on("7", 3)
        assert np.array_equal(found._on("1", 3), [0, 1, 0])
