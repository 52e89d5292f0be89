"""Scores: products of -1, 0 and 1. Their sums are exact, their bound holds, and files give them back."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.features import Labelled, Products, Records, Score, ScoreProducts, Tiles
from pointillist.features.serial import from_nodes, to_nodes

SIZES = {"a": 3, "b": 4, "c": 2, "d": 5}
SIGNS = {name: st.lists(st.sampled_from((-1, 0, 1)), min_size=size, max_size=size) for name, size in SIZES.items()}


@st.composite
def maps(draw: st.DrawFn) -> ScoreProducts:
    scores = tuple(Score(name, tuple(draw(SIGNS[name]))) for name in SIZES)
    order = draw(st.integers(1, 4))
    groups = st.sampled_from(list(itertools.combinations(range(len(scores)), order)))
    return ScoreProducts(scores, tuple(draw(st.lists(groups, min_size=1, max_size=6))))


def records(seed: int, rows: int) -> Records:
    rng = np.random.default_rng(seed)
    return Records(rows, {name: rng.integers(0, size, rows).astype(np.uint16) for name, size in SIZES.items()}, {})


@given(maps(), st.integers(0, 100), st.integers(0, 40))
def test_totals_are_the_sums_of_the_features(made: ScoreProducts, seed: int, rows: int) -> None:
    batch = records(seed, rows)
    assert made.totals(batch).tolist() == made(batch).sum(axis=0).tolist()
    label = Tiles("d", (0, 1, 0, 2, 1))
    if not any("d" in {made.scores[number].column for number in group} for group in made.groups):
        free = ScoreProducts(made.scores[:3], made.groups)
        by_class = Labelled.of(free, label)
        assert by_class.totals(batch).tolist() == by_class(batch).sum(axis=0).tolist()


@given(maps(), st.integers(0, 100))
def test_no_record_is_longer_than_the_bound(made: ScoreProducts, seed: int) -> None:
    features = made(records(seed, 30))
    assert set(np.unique(features)) <= {-1.0, 0.0, 1.0}
    assert (np.linalg.norm(features, axis=1) <= made.bound).all()
    assert made.most_ones == made.dimension
    assert math.isclose(made.bound**2, made.dimension)
    assert made.nonnegative <= (features >= 0).all()


@given(maps())
def test_files_give_a_map_back(made: ScoreProducts) -> None:
    assert from_nodes(*to_nodes(made)) == made


def test_the_expectation_is_that_of_independent_columns() -> None:
    made = ScoreProducts((Score("a", (-1, 0, 1)), Score("c", (-1, 1))), ((0, 1),))
    products = Products({"a": np.array([[0.2, 0.3, 0.5]]), "c": np.array([[0.1, 0.9]])}, {})
    assert made.expectation(products)[0, 0] == pytest.approx(0.3 * 0.8)


@pytest.mark.parametrize(
    ("groups", "rule"),
    [
        ((), "from 1 to 4"),
        (((0, 1), (0,)), "of one size"),
        (((0, 3),), "that there are"),
        (((0, 2),), "different columns"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups: tuple[tuple[int, ...], ...], rule: str) -> None:
    scores = (Score("a", (-1, 0, 1)), Score("c", (-1, 1)), Score("a", (1, 0, -1)))
    with pytest.raises(ValueError, match=rule):
        ScoreProducts(scores, groups)


@pytest.mark.parametrize(("signs", "rule"), [((), "levels"), ((2, 0), "-1, 0 or 1")])
def test_a_score_is_minus_one_zero_or_one(signs: tuple[int, ...], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Score("a", signs)


def test_soft_scores_are_their_expectation() -> None:
    torch = pytest.importorskip("torch")
    import pointillist as pt
    from pointillist.features.soft_records import SoftColumn, SoftRecords
    from pointillist.schema.levels import levels_of

    schema = pt.Schema(
        name="t",
        columns={"a": pt.Categorical(categories=["x", "y", "z"], missing=False), "c": pt.Boolean(missing=False)},
    )
    levels = levels_of(schema)
    columns = {each.name: SoftColumn(each, Tiles(each.name, tuple(range(each.size))), False) for each in levels}
    chances = {"a": torch.tensor([[0.2, 0.3, 0.5, 0.0]]), "c": torch.tensor([[0.1, 0.9]])}
    made = ScoreProducts((Score("a", (-1, 0, 1, 0)), Score("c", (-1, 1))), ((0, 1),))
    assert made.soft(SoftRecords(1, columns, chances)).item() == pytest.approx(0.3 * 0.8)
