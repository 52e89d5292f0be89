"""The study of coverage on real tables: questions with the right answers, and a page that counts them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.intervals.real import NAME, held, main, page
from benchmarks.intervals.real_questions import STATISTICS, real_questions
from benchmarks.intervals.real_tables import MOST_ROWS, RealTable, real_tables
from benchmarks.papers.output import read

import pointillist as pt


def make(rows: int) -> pa.Table:
    rng = np.random.default_rng(1)
    height = rng.normal(170, 10, rows)
    weight = 70 + 0.5 * (height - 170) + rng.normal(0, 5, rows)
    return pa.table(
        {
            "height": height.clip(140, 200),
            "weight": weight.clip(40, 110),
            "age": rng.integers(20, 80, rows),
            "sex": np.where(rng.random(rows) < 0.5, "F", "M"),
        }
    )


SCHEMA = pt.Schema(
    name="small",
    columns={
        "height": pt.Real(min=150, max=200, missing=False),
        "weight": pt.Real(min=40, max=110, missing=False),
        "age": pt.Integer(min=20, max=79, missing=False),
        "sex": pt.Categorical(categories=("F", "M"), missing=False),
    },
)


def test_answers_are_those_of_the_table_as_it_is_measured() -> None:
    rows = make(500)
    found = {each.text: each for each in real_questions(RealTable("small", "tune", rows, SCHEMA))}
    height, weight = np.maximum(rows["height"].to_numpy(), 150), rows["weight"].to_numpy()  # below its bound is at it
    assert rows["height"].to_numpy().min() < 150
    assert found["mean(height)"].truth == pytest.approx(height.mean())
    assert found["sum(height)"].truth == pytest.approx(height.sum())
    assert found["correlation(height, weight)"].truth == pytest.approx(np.corrcoef(height, weight)[0, 1])
    of_women = found["mean(height) where \"sex\" = 'F'"].truth
    assert of_women == pytest.approx(height[np.array(rows["sex"].to_pylist()) == "F"].mean())
    assert {each.statistic for each in found.values()} == set(STATISTICS)


def test_tables_are_halved_by_name_and_cut_to_a_size(tmp_path: Path) -> None:
    (tmp_path / "intervals").mkdir()
    for number, name in enumerate(("a", "b", "c")):
        pq.write_table(make(MOST_ROWS + number), tmp_path / "intervals" / f"{name}.parquet")
    tune = [next(found) for found in [real_tables(tmp_path, "tune")] for _ in range(2)]
    assert [each.name for each in tune] == ["a", "c"]
    assert tune[1].rows.num_rows == MOST_ROWS
    assert tune[1].schema.reviewed


def test_the_page_counts_what_holds_and_what_has_no_interval() -> None:
    row = {"half": "report", "table": "t", "epsilon": 1.0, "statistic": "mean", "basis": "measured", "whole": 10.0}
    rows = [
        {**row, "low": 1.0, "high": 3.0, "truth": 2.0},
        {**row, "low": 1.0, "high": 3.0, "truth": 4.0},
        {**row, "low": 1.0, "high": 9.0, "truth": 4.0},
        {**row, "low": None, "high": None, "truth": 4.0, "basis": "not measured"},
    ]
    assert [held(each) for each in rows[:3]] == [True, False, True]
    assert "| mean | 4 | 0.75 | 0.667 | 0.200 | 0.25 |" in page(rows)
    assert "## report: 1 tables, 4 questions" in page(rows)


def test_a_small_study_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "intervals").mkdir()
    pq.write_table(make(400), tmp_path / "intervals" / "small.parquet")
    main(
        data=tmp_path, halves="tune", epsilons="3", only="small", keep=None, output=tmp_path, from_results=False
    )  # the table bench's own tables are not read
    shown = capsys.readouterr().out
    rows = read(NAME, tmp_path)
    assert {row["table"] for row in rows} == {"small"}
    assert {row["basis"] for row in rows} <= {"measured", "bounded", "assisted", "not measured"}
    assert (tmp_path / f"{NAME}.md").read_text().strip() == shown.strip()
