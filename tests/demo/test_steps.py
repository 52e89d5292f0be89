"""The steps of the demo: what they leave in a folder, and what they never touch. They print nothing."""

from pathlib import Path

import pytest

import pointillist as pt
from pointillist.demo import people, steps
from pointillist.errors import UsageError


def test_a_folder_of_someone_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("mine")
    with pytest.raises(UsageError, match="not from a demo"):
        steps.prepare(tmp_path)
    with pytest.raises(UsageError, match="not from a demo"):
        steps.prepare(tmp_path / "people.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_preparing_makes_the_registry_and_sweeps_out_an_earlier_demo(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "demo"
    steps.prepare(folder)
    for name in steps.FILES:
        (folder / name).write_text("left over")
    (folder / "notes.txt").write_text("mine")
    steps.prepare(folder)
    assert {path.name for path in folder.iterdir()} == {"people.csv", "people.toml", "notes.txt", ".pointillist-demo"}
    assert pt.Schema.load(folder / "people.toml") == people.SCHEMA


def test_the_plan_is_that_of_the_walk() -> None:
    plan = steps.planned()
    assert (plan.guarantee.epsilon, plan.guarantee.delta) == (steps.EPSILON, steps.DELTA)
    assert plan.request.schema is people.SCHEMA


def test_the_walk_leaves_every_file_and_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = steps.simulate
    monkeypatch.setattr(steps, "simulate", lambda rows=300, seed=1: whole(300, seed))
    told: set[str] = set()
    steps.prepare(tmp_path / "demo")
    release, result = steps.walk(tmp_path / "demo", progress=lambda step, part: told.add(step))
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {*steps.FILES, ".pointillist-demo"}
    assert release.id == pt.Release.load(tmp_path / "demo" / "people.release").id
    assert result.verdict.points
    assert {"fit", "evaluate"} <= told
    assert capsys.readouterr() == ("", "")
