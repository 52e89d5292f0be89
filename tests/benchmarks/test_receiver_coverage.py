"""The study of the receiver's intervals: questions with the right answers, and a page that counts them."""

from pathlib import Path

import pytest
from benchmarks.papers.output import read
from benchmarks.receiver.coverage import NAME, QUESTIONS, main, page, simulate


def test_the_answers_are_those_of_the_distribution() -> None:
    """E x = 0 and E x^2 = 0.25 + 0.64; x and y are uncorrelated, because y is even in the hidden factor.

    The rows have seeds, so there are no false alarms.
    """
    answers = {each.name: each.answer(simulate(100_000, 1)) for each in QUESTIONS}
    assert answers["mean of x"] == pytest.approx(0, abs=0.02)
    assert answers["mean of x * x"] == pytest.approx(0.89, abs=0.02)
    assert answers["correlation of x and y"] == pytest.approx(0, abs=0.02)
    assert answers["share of x > 2"] < answers["share of x > 1"]


def test_the_page_counts_what_holds() -> None:
    row = {
        "kind": "public",
        "epsilon": 1.0,
        "rows": 100,
        "question": "q",
        "basis": "assisted",
        "value": 3.0,
        "low": 1.0,
    }
    rows = [
        {**row, "seed": 0, "population": False, "high": 3.0, "truth": 1.5},
        {**row, "seed": 1, "population": False, "high": 3.0, "truth": 4.0},
        {**row, "seed": 0, "population": True, "high": 3.0, "truth": 2.0},
        {**row, "seed": 1, "population": True, "high": 3.0, "truth": 2.0},
    ]
    assert "| q | assisted | 0.500 | 1.000 | 0.7 |" in page(rows)
    assert "1 of 2 for the private table, 2 of 2 for the population" in page(rows)


def test_a_small_study_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(runs=2, kinds="public", epsilons="3", rows=400, output=tmp_path, from_results=False)
    shown = capsys.readouterr().out
    rows = read(NAME, tmp_path)
    assert len(rows) == 2 * 2 * len(QUESTIONS)
    assert {row["basis"] for row in rows} <= {"measured", "assisted"}
    assert (tmp_path / f"{NAME}.md").read_text().strip() == shown.strip()
    main(from_results=True, output=tmp_path)
    assert capsys.readouterr().out == shown
