"""Training logs: one line of JSON a look, at once; nothing where nobody listens."""

import json
from pathlib import Path

import pytest

from pointillist.errors import UsageError
from pointillist.progress import silent
from pointillist.training_log import Look, Relay, TrainingLog, logged, tell

LOOK = Look("fit", step=30, steps=90, loss=0.5, seconds=4.0, done=20, chi2=12.0, chi2_expected=10.0)


class Listening:
    """A progress that keeps all it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def __call__(self, step: str, fraction: float) -> None:
        self.told.append((step, fraction))

    def look(self, look: Look) -> None:
        self.told.append(look)


def test_what_a_line_says() -> None:
    assert LOOK.to_json() == {
        "work": "fit",
        "step": 30,
        "steps": 90,
        "steps_left": 60,
        "loss": 0.5,
        "chi2": 12.0,
        "chi2_expected": 10.0,
        "seconds": 4.0,
        "seconds_left": 12.0,  # 0.2 s a step: of this run, which went on from step 10
    }
    lost = Look("train", 1, 2, float("nan"), 0.1, 1)
    assert json.loads(json.dumps(lost.to_json(), allow_nan=False))["loss"] is None


def test_lines_are_there_at_once_and_are_added(tmp_path: Path) -> None:
    path, listening = tmp_path / "fit.jsonl", Listening()
    for times in (1, 2):
        with TrainingLog(path, listening) as log:
            log("fit", 0.5)
            log.look(LOOK)
            assert len(path.read_text().splitlines()) == times  # before the file is closed
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [30, 30]
    assert listening.told == [("fit", 0.5), LOOK] * 2


def test_who_does_not_listen_is_told_nothing(tmp_path: Path) -> None:
    tell(silent, LOOK)
    with logged(None, silent) as same:
        assert same is silent
    own, other = Listening(), Listening()
    relay = Relay(own, other)
    relay("fit", 0.1)
    tell(relay, LOOK)
    assert (own.told, other.told) == ([("fit", 0.1)], [LOOK])
    with pytest.raises(UsageError, match="the log cannot be written"):
        TrainingLog(tmp_path / "none" / "fit.jsonl", silent)
