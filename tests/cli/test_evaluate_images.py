"""The evaluate command on images: one report for the owner, the figures as JSON, clear messages."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tests.fixtures.command_line import Outcome

import pointillist as pt
from pointillist.evaluate.images.inception import FidInception

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


def test_fid_by_the_users_own_network(run: Run) -> None:
    """With FID's network its figures stand beside the relative ones, which are named so; other files are refused."""
    torch.manual_seed(0)
    kept = {name: value for name, value in FidInception().state_dict().items() if not name.endswith("tracked")}
    save_file({**kept, "fc.weight": torch.zeros(1008, 2048)}, "inception.safetensors")
    for name, seed in (("few", 4), ("made-few", 5)):
        save(f"{name}.npz", 8, seed)
    words = ("evaluate", "few.npz", "made-few.npz", "--schema", "bars.toml")
    code, text = run(*words, "--fid-network", "inception.safetensors", "--device", "cpu", "--json")
    assert code == 0, text
    found = json.loads(text)["fid"]
    assert found["fid"] >= 0
    assert found["images"] == [8, 8]
    code, text = run(*words, "--json")
    assert code == 0, text
    figures = json.loads(text)
    assert figures.get("fid") is None
    assert {each["note"] for each in figures["distances"]} == {"relative, not comparable with published FID"}
    code, text = run(*words, "--fid-network", "bars.toml")
    assert code == 2
    assert "is no safetensors file" in " ".join(text.split())
    code, text = run(*words, "--device", "cpu")
    assert code == 2
    assert "goes with --fid-network" in " ".join(text.split())
