"""Orders and gaps that a draft finds, and what synthetic rows make of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pointillist as pt
from pointillist.curator.reviewing import review

N = 2_000


@pytest.fixture(scope="module")
def ward() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    mean = draw.normal(10, 3, N).round(2)
    worst = (mean + draw.exponential(2, N)).round(2)
    alive = draw.random(N) < 0.7
    start = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 700, N), "D")
    dose = np.where(draw.random(N) < 0.4, np.nan, draw.integers(0, 50, N))
    return pd.DataFrame({
        "mean": mean, "worst": worst, "largest": (worst + draw.exponential(2, N)).round(2), "alive": alive,
        "cause": np.where(alive, None, draw.choice(["flu", "heart", "fall"], N)), "dose": dose,
        "effect": np.where(np.isnan(dose), np.nan, draw.normal(0, 1, N).round(3)), "start": start,
        "end": start + pd.to_timedelta(draw.integers(0, 90, N), "D"), "score": draw.integers(0, 9, N),
    })  # fmt: skip


@pytest.fixture(scope="module")
def drafted(ward: pd.DataFrame) -> pt.Schema:
    return pt.draft(ward, name="ward")


class TestFound:
    def test_what_holds_in_every_row_and_not_by_chance(self, drafted: pt.Schema) -> None:
        assert {str(each) for each in drafted.constraints} == {
            "cause is missing exactly when alive is True",
            "effect is missing exactly when dose is missing",
            "start <= end",
            "mean <= worst",
            "worst <= largest",  # mean <= largest follows
        }

    def test_a_gap_that_comes_elsewhere_as_well(self, ward: pd.DataFrame) -> None:
        """Men were never asked, and some of the women did not answer: a rule in one direction. Chance makes none."""
        draw = np.random.default_rng(1)
        sex, late = draw.choice(["F", "M"], N), draw.random(N) < 0.3
        births = np.where((sex == "M") | late, np.nan, draw.integers(0, 6, N))
        table = pd.DataFrame({"sex": sex, "births": births, "ward": draw.choice(["a", "b", "c"], N), "x": ward["mean"]})
        (found,) = pt.draft(table, name="ward").constraints
        assert found == pt.Impossible(impossible={"sex": "M", "births": {"min": 0, "max": 5}})
        table.loc[table.index[table.sex == "M"][3], "births"] = 2
        assert pt.draft(table, name="ward").constraints == ()

    def test_what_only_happens_to_be_larger_is_no_order(self) -> None:
        """Two stations, one of which is busier, never are near each other; a count and a rate have other units."""
        draw = np.random.default_rng(2)
        busy = draw.normal(10, 2, N)
        table = pd.DataFrame({"small": (busy + draw.normal(0, 0.3, N)).round(2), "large": (busy + 3).round(2)})
        table["small"] = np.minimum(table.small, table.large - 1)
        table["count"] = draw.integers(1, 200, N)
        table["rate"] = draw.random(N).round(3)
        assert pt.draft(table, name="stations").constraints == ()

    def test_they_are_marked_and_reviewed(self, drafted: pt.Schema, tmp_path: Path) -> None:
        assert drafted.read_from_data == ("rows", "constraints")
        assert 'rule = "<=" # READ FROM THE DATA' in drafted.to_toml()
        shown = [each.text for each in review(drafted) if each.fact == "constraints"]
        assert "mean <= worst: in every row" in shown
        (tmp_path / "ward.toml").write_text(drafted.to_toml(), "utf-8")
        assert pt.Schema.load(tmp_path / "ward.toml") == drafted

    def test_from_texts_as_well(self, ward: pd.DataFrame, drafted: pt.Schema, tmp_path: Path) -> None:
        ward.to_csv(tmp_path / "ward.csv", index=False)
        assert set(map(str, pt.draft(tmp_path / "ward.csv", name="ward").constraints)) == set(
            map(str, drafted.constraints)
        )

    @pytest.mark.parametrize("column", ["mean", "cause", "effect"])
    def test_one_row_is_enough_to_say_no(self, ward: pd.DataFrame, column: str) -> None:
        values: dict[str, Any] = {"mean": 1000.0, "cause": None, "effect": None}
        one = ward.copy()
        one.loc[one.index[one.alive == (column != "cause")][5], column] = values[column]
        if column == "effect":
            one.loc[one.index[one.dose.notna()][5], column] = None
        found = {str(each) for each in pt.draft(one, name="ward").constraints}
        assert not any(text.startswith(column) for text in found)

    def test_few_rows_say_nothing(self, ward: pd.DataFrame) -> None:
        assert pt.draft(ward[:90], name="ward").constraints == ()


@pytest.mark.parametrize("epsilon", [0.3])
def test_samples_keep_to_them(ward: pd.DataFrame, drafted: pt.Schema, tmp_path: Path, epsilon: float) -> None:
    schema = drafted.model_copy(update={"reviewed": True, "read_from_data": (), "columns": _own(drafted)})
    made = pt.release(ward, schema, epsilon=epsilon, ledger=tmp_path / "l.sqlite")
    rows = pt.fit(made).sample(1_000, seed=1)
    assert (rows["mean"] <= rows.worst).all()
    assert (rows.worst <= rows.largest).all()
    assert (rows.start <= rows.end).all()
    assert (rows.cause.isna() == rows.alive).all()
    assert (rows.dose.isna() == rows.effect.isna()).all()
    assert rows.alive.mean() == pytest.approx(ward.alive.mean(), abs=0.1)


def _own(schema: pt.Schema) -> dict[str, Any]:
    """The columns as the owner's own facts."""
    return {name: each.model_copy(update={"read_from_data": ()}) for name, each in schema.columns.items()}
