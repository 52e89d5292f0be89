"""Files of Stata and SPSS, with labels in the place of codes."""

from pathlib import Path

import pandas as pd
import pytest

from pointillist.curator.table_drafting import draft
from pointillist.errors import DataError
from pointillist.reading.opening import open_source
from pointillist.reading.statistics_files import labelled

pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, None, 2.0] * 10,
        "age": [30.0, -9.0, 41.0, 50.0] * 10,
        "when": pd.to_datetime(["2020-01-01", None, "2021-01-01", "2020-05-05"] * 10),
    }
)
LABELS = {"sex": {1: "male", 2: "female"}, "age": {-9: "refused"}}


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_labels_become_categories_and_numbers_stay(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    getattr(pyreadstat, f"write_{ending}")(FRAME, str(path), variable_value_labels=LABELS)
    columns = draft(path, name="s").columns
    assert columns["sex"].categories == ("female", "male")
    assert columns["sex"].missing
    assert columns["age"].kind == "integer"
    assert columns["when"].kind == "datetime"
    assert open_source(path).whole


def test_stand_ins_are_no_categories() -> None:
    assert labelled({0: "no", 1: "yes", -9: "refused"})
    assert not labelled({-9: "refused", -8: "unknown", 99: "missing"})
    assert not labelled({})


def test_damaged_files_are_refused_without_a_value(tmp_path: Path) -> None:
    (tmp_path / "t.dta").write_bytes(b"secret")
    with pytest.raises(DataError, match="cannot be read"):
        open_source(tmp_path / "t.dta")
