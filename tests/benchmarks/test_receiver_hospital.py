"""The tutorial's figures: a small registry, both scenarios, and a page that is not made twice."""

from pathlib import Path

import pytest
from benchmarks.receiver import hospital

from pointillist.demo import people


def test_volunteers_are_ill_more_often() -> None:
    table = people.simulate(20_000, seed=1)
    random, biased = (hospital.figures(hospital.chosen(table, each, 0)) for each in ("random rows", "volunteers"))
    name = "share with a chronic illness"
    assert biased[name][0] > random[name][0] + 5 * random[name][1]


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hospital.main(3_000, 5.0, 1, tmp_path)
    page = capsys.readouterr().out
    for question in hospital.QUESTIONS:
        assert page.count(f"| {question} |") == 2
    assert "volunteers, registry 0: done" in page
    hospital.main(3_000, 5.0, 1, tmp_path)
    assert "done" not in capsys.readouterr().out
