"""The study of coverage: questions with the right answers, and a page that counts them."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.intervals.__main__ import NAME, main, page, plainly
from benchmarks.intervals.population import QUESTIONS, simulate
from benchmarks.papers.output import read


def test_the_answers_are_those_of_the_population() -> None:
    """One factor stands behind age and score, so their correlation is known; two seeds agree about everything."""
    tables = [simulate(20_000, seed) for seed in (1, 2)]
    answers = [{each.name: each.answer(table) for each in QUESTIONS} for table in tables]
    for name, first in answers[0].items():
        assert first == pytest.approx(answers[1][name], rel=0.25), name
    assert answers[0]["correlation of age and score"] == pytest.approx(0.5 * 15 / (17 * 0.94), abs=0.05)
    assert answers[0]["share of c, flagged, under 50"] < answers[0]["share of c, flagged"] < answers[0]["share of c"]


def test_the_page_counts_what_holds() -> None:
    row = {"epsilon": 1.0, "rows": 100, "refits": 3, "question": "q", "basis": "refits", "value": 3.0}
    rows = [
        {**row, "seed": 0, "low": 1.0, "high": 3.0, "truth": 2.0, "plainly": True},
        {**row, "seed": 1, "low": 1.0, "high": 3.0, "truth": 4.0, "plainly": False},
    ]
    assert "| q | refits | 0.500 / 1.0 / 0.500 |" in page(rows)
    assert "2 at ε = 1" in page(rows)


def test_refits_alone_are_judged_by_their_spread() -> None:
    tables = [simulate(500, seed) for seed in range(4)]

    def age(table: object) -> float:
        return float(np.asarray(table["age"]).mean())  # type: ignore[index]

    assert plainly(age, age(tables[0]), tables, age(tables[0]))
    assert not plainly(age, 0.0, tables, age(tables[0]))


def test_a_small_study_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(runs=2, epsilons="3", rows=300, refits=2, output=tmp_path, from_results=False)
    shown = capsys.readouterr().out
    rows = read(NAME, tmp_path)
    assert len(rows) == 2 * len(QUESTIONS)
    assert {row["basis"] for row in rows} >= {"measured", "refits"}
    assert {row["basis"] for row in rows} <= {"measured", "bounded", "refits", "not measured"}
    assert (tmp_path / f"{NAME}.md").read_text().strip() == shown.strip()
    main(from_results=True, output=tmp_path)
    assert capsys.readouterr().out == shown
