"""A classifier between two tables: blind where there is nothing to see, sure where there is, and it names the column."""

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.metrics.discriminator import Discriminator, _error, discriminator
from pointillist.evaluate.tables.metrics.marginals import independent
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.evaluate.verdict import Point

SCHEMA = pt.Schema(
    name="d",
    columns={
        "a": pt.Real(min=-5, max=5, missing=False),
        "b": pt.Real(min=-10, max=10),
        "k": pt.Categorical(categories=("u", "v"), missing=False),
    },
)


def sample(rows: int, seed: int, *, shift: float = 0.0) -> Sample:
    """b follows a; `shift` moves b alone."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(rows)
    b = pa.array(a + 0.2 * rng.standard_normal(rows) + shift, mask=rng.random(rows) < 0.03)
    return read(pa.table({"a": a, "b": b, "k": np.where(rng.random(rows) < 0.5, "u", "v")}), SCHEMA)


def test_two_samples_of_one_distribution_look_alike() -> None:
    """Within four of its own standard errors of 0.5 (1 in 10,000), and that error is small."""
    found = discriminator(sample(2_000, 1), sample(2_000, 2))
    assert abs(found.auroc - 0.5) < 4 * found.error
    assert found.error < 0.02
    assert max(found.columns.values()) < 0.05


def test_the_error_is_that_of_its_score() -> None:
    """Scores of 30 pairs of samples spread as stated, to a factor of 1.5: three standard deviations of a spread of 30."""
    found = [discriminator(sample(150, 2 * i), sample(150, 2 * i + 1)) for i in range(30)]
    spread = np.std([each.auroc for each in found])
    assert 1 / 1.5 < spread / np.mean([each.error for each in found]) < 1.5


def test_disjoint_tables_are_told_apart_by_the_culprit() -> None:
    found = discriminator(sample(300, 1), sample(300, 2, shift=9))
    assert found.auroc > 0.97  # all but the rows where b is missing
    assert next(iter(found.columns)) == "b"
    assert found.columns["b"] > 0.3 > 10 * found.columns["k"]


def test_lost_dependence_is_found() -> None:
    found = discriminator(sample(1_000, 1), independent(sample(1_000, 2), seed=0))
    assert found.auroc > 0.8
    assert set(list(found.columns)[:2]) == {"a", "b"}


def test_copies_fall_below_one_half() -> None:
    """A row that was learnt as real comes again as synthetic: the classifier is wrong more often than not."""
    found = discriminator(sample(500, 1), sample(500, 1))
    assert found.auroc < 0.5 - 4 * found.error


@pytest.mark.parametrize(("rows", "others"), [(1, 1), (1, 100), (2, 2), (3, 2), (5, 5), (10, 10)])
def test_tiny_tables(rows: int, others: int) -> None:
    for seed in range(4):
        found = discriminator(sample(rows, 1), sample(others, 2), seed=seed)
        assert 0 <= found.auroc <= 1
        assert 0 <= found.error <= 0.5
        assert found.rows == min(rows, others)
        assert set(found.columns) == {"a", "b", "k"}


def test_settings() -> None:
    first, second = sample(400, 1), sample(300, 2)
    found = discriminator(first, second, most_rows=100, seed=3)
    assert found.rows == 100
    assert found == discriminator(first, second, most_rows=100, seed=3)
    assert found != discriminator(first, second, most_rows=100, seed=4)
    assert found.table().num_rows == 3
    assert found.to_json()["columns"] == found.columns


def test_other_schemas_are_refused() -> None:
    other = read(pa.table({"a": [1.0]}), pt.Schema(name="o", columns={"a": pt.Real(min=0, max=2)}))
    with pytest.raises(UsageError, match="different schemas"):
        discriminator(sample(5, 1), other)


def test_standard_error_against_simulation() -> None:
    """The formula assumes scores of a certain shape; for bell shapes it is right to 15 % (2,000 simulations: to 5 %)."""
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((2_000, 100))
    draws[:, :60] += 1.0
    scores = (draws[:, :60, None] > draws[:, None, 60:]).mean(axis=(1, 2))
    assert _error(float(np.mean(scores)), 60, 40) == pytest.approx(np.std(scores), rel=0.15)
    assert _error(1.0, 10, 10) == 0


def told(auroc: float, error: float = 0.01, **importance: float) -> Point:
    (point,) = Discriminator(auroc, error, 100, importance).points()
    return point


class TestGrades:
    @pytest.mark.parametrize(
        ("auroc", "grade"),
        [(0.47, "good"), (0.5, "good"), (0.65, "good"), (0.66, "fair"), (0.85, "fair"), (0.86, "poor"), (1.0, "poor")],
    )
    def test_likeness(self, auroc: float, grade: str) -> None:
        point = told(auroc)
        assert (point.question, point.figure, point.grade) == ("likeness of whole rows", f"{auroc:.2f}", grade)

    def test_what_is_shown_is_what_is_graded(self) -> None:
        """A figure of 0.65 is good by the rule that is printed beside it, whatever its third digit."""
        assert told(0.654).grade == "good"

    def test_culprits_are_named(self) -> None:
        sentence = told(0.9, age=0.2, sex=0.1, pay=0.05, job=0.02).sentence
        assert sentence.endswith("most of all by age, sex and pay.")
        assert told(0.9, age=0.2, sex=0.0).sentence.endswith("by age.")
        assert told(0.5, age=0.002).sentence.endswith("(0.5 is guessing).")

    def test_copies_of_real_rows_are_called_that(self) -> None:
        """Standard error 0.01: below 0.46 it is no accident."""
        assert told(0.47).grade == "good"
        assert told(0.3).grade == "poor"
        assert "copies of real ones" in told(0.3).sentence

    def test_what_few_rows_cannot_tell(self) -> None:
        assert told(0.5, error=0.06).grade == "unclear"
