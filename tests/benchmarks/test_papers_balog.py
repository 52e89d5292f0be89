"""Distances of mean embeddings: closed forms against brute force, and a page from a small run."""

import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.papers import balog
from benchmarks.papers.balog import Embedding, Population, TrueEmbedding, distance, projection, slope


@pytest.fixture
def population() -> Population:
    return Population.draw(2)


def test_the_closed_form_is_the_limit_of_samples(population: Population) -> None:
    """A sample of 4,000 is off by about sqrt(1 / 4,000); seeds are fixed."""
    truth, sample = TrueEmbedding(population), Embedding(population, population.rows(4_000, 0))
    assert sample.squared_norm == pytest.approx(truth.squared_norm, abs=0.02)
    assert np.abs(sample.at(sample.rows[:50]) - truth.at(sample.rows[:50])).max() < 0.05


def test_the_squared_norm_is_that_of_all_pairs(population: Population) -> None:
    rows = population.rows(500, 1)
    assert Embedding(population, rows).squared_norm == pytest.approx(
        float(population.alike(rows, rows).mean()), abs=1e-9
    )


def test_rows_are_no_distance_from_themselves_and_no_weights_beat_the_projection(population: Population) -> None:
    rows = population.rows(300, 2)
    truth = Embedding(population, rows)
    assert distance(truth, rows, np.full(300, 1 / 300)) < 1e-5
    some = rows[:20]
    weights = np.linalg.solve(population.alike(some, some) + 1e-9 * np.eye(20), truth.at(some))
    assert projection(truth, some) == pytest.approx(distance(truth, some, weights), rel=0.01)
    assert projection(truth, some) < distance(truth, some, np.full(20, 1 / 20))


def test_the_slope_is_the_power() -> None:
    rows = [{"rows": size, "distance": 3 / math.sqrt(size)} for size in (100, 1_000, 10_000)]
    assert slope(rows) == pytest.approx(-0.5)


def test_a_small_run_leaves_a_page_and_pictures_and_is_not_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        balog.main("2", "5,20", "1", 400, 1, "400,800", 1, tmp_path)
        return len(capsys.readouterr().out.splitlines())

    assert run() == 2 * 4 + 2 * 4 + 2 * 4  # public rows, no public rows, rates
    assert run() == 0
    page = (tmp_path / "balog.md").read_text()
    for text in ("Public rows, D = 2", "No public rows, D = 2", "Algorithm 2, authors' code", "slope"):
        assert text in page
    for name in ("balog-figure-1", "balog-figure-2", "balog-rates"):
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()
