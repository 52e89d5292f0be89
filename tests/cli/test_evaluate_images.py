"""The evaluate command on images: one report for the owner, the figures as JSON, clear messages."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.fixtures.command_line import Outcome

import pointillist as pt

Run = Callable[..., tuple[int, str]]
SCHEMA = pt.Schema(
    name="bars",
    reviewed=True,
    columns={
        "image": pt.Image(height=8, width=8),
        "label": pt.Categorical(categories=("up", "down"), missing=False, out_of_domain="error"),
    },
)


def save(path: str, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    pixels = rng.integers(0, 60, (count, 8, 8)).astype(np.uint8)
    pixels[labels == 0, :3] += 150
    pixels[labels == 1, -3:] += 150
    np.savez(path, images=pixels, labels=np.array(["up", "down"])[labels])


@pytest.fixture
def run(run: Callable[..., Outcome]) -> Run:
    """The command, in a folder with real.npz, made.npz, test.npz and bars.toml."""
    for name, seed in (("real", 1), ("made", 2), ("test", 3)):
        save(f"{name}.npz", 120, seed)
    Path("bars.toml").write_text(SCHEMA.to_toml())

    def call(*words: str) -> tuple[int, str]:
        outcome = run(*words)
        return outcome.code, outcome.out + outcome.err

    return call


def test_a_report_for_the_owner(run: Run) -> None:
    words = ("evaluate", "real.npz", "made.npz", "--schema", "bars.toml", "--holdout", "test.npz", "-o", "report.html")
    code, text = run(*words)
    assert code == 0, text
    assert "keep it where the data are kept" in " ".join(text.split())
    assert "not comparable with published FID" in " ".join(text.split())
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Private." in page
    assert "data:image/png" in page
    if os.name == "posix":
        assert Path("report.html").stat().st_mode & 0o077 == 0


def test_figures_as_json(run: Run) -> None:
    code, text = run("evaluate", "real.npz", "made.npz", "--schema", "bars.toml", "--json")
    assert code == 0, text
    facts = json.loads(text)
    assert facts["images"]["synthetic"] == 120
    assert facts["classifiers"]["synthetic"]["classifiers"][0]["accuracy"] > 0.9


def test_another_target_than_the_label(run: Run) -> None:
    code, text = run("evaluate", "real.npz", "made.npz", "--schema", "bars.toml", "--target", "age")
    assert code == 2
    assert "label" in text


def test_a_file_that_is_no_image_file(run: Run) -> None:
    Path("broken.npz").write_bytes(b"no archive")
    code, text = run("evaluate", "real.npz", "broken.npz", "--schema", "bars.toml")
    assert code == 4
    assert "broken.npz" in text
