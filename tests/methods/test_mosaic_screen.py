"""Screens: scores that split columns evenly, and dependence read off noisy sums of their products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.features import Labelled, OneHot, Records, ScoreProducts
from pointillist.fitting.evidence import ScoreSums
from pointillist.methods.mosaic_screen import Screen, groups_of, most_scores, pairs_of, scores
from pointillist.schema.levels import levels_of

SCHEMA = pt.Schema(
    name="t",
    columns={
        "age": pt.Integer(min=0, max=9),
        "sex": pt.Categorical(categories=["F", "M"], missing=False),
        "job": pt.Categorical(categories=["a", "b", "c", "d"], missing=False),
        "paid": pt.Real(min=0, max=100, special=[-1.0], bins=20, missing=False),
    },
)
LEVELS = levels_of(SCHEMA)


def shares_of(masses: list[float], size: int) -> np.ndarray:
    found = np.resize(np.asarray(masses), size)
    return found / found.sum()


@given(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=30))
def test_every_column_has_one_or_two_scores_that_tell_its_rows_apart(masses: list[float]) -> None:
    shares = {each.name: shares_of(masses, each.size) for each in LEVELS}
    found = scores(LEVELS, shares)
    assert len(found) <= most_scores(LEVELS)
    for each in LEVELS:
        own = [score for score in found if score.column == each.name]
        assert 1 <= len(own) <= 2
        for score in own:
            assert {-1, 1} <= set(score.signs)


def test_an_ordered_column_is_cut_in_the_middle_and_special_values_stand_among_the_others() -> None:
    paid = LEVELS[-1]
    shares = {each.name: shares_of([1.0], each.size) for each in LEVELS}
    shares["paid"] = np.zeros(paid.size)
    shares["paid"][:2], shares["paid"][paid.regular] = 0.25, 0.5  # half of the rows have the special value -1
    (score,) = [each for each in scores(LEVELS, shares) if each.column == "paid"]
    assert score.signs[paid.regular] == -1
    assert set(score.signs[: paid.regular]) == {1}


def test_gaps_are_worth_a_score_where_there_are_some() -> None:
    age = LEVELS[0]
    shares = {each.name: shares_of([1.0], each.size) for each in LEVELS}
    assert len([each for each in scores(LEVELS, shares) if each.column == "age"]) == 2
    shares["age"] = np.where(np.arange(age.size) == age.missing, 0.0, 1 / (age.size - 1))
    assert len([each for each in scores(LEVELS, shares) if each.column == "age"]) == 1


def test_dependence_stands_out_of_the_noise_and_its_lack_does_not() -> None:
    rng = np.random.default_rng(3)
    rows, noise = 20_000, 100.0
    sex = rng.integers(0, 2, rows)
    job = np.where(rng.random(rows) < 0.5, sex, rng.integers(0, 4, rows))
    codes = {"sex": sex, "job": job, "age": rng.integers(0, 10, rows), "paid": rng.integers(0, 20, rows)}
    records = Records(rows, {name: values.astype(np.uint16) for name, values in codes.items()}, {})
    shares = {each.name: np.bincount(codes[each.name], minlength=each.size) / rows for each in LEVELS}
    products = pairs_of(scores(LEVELS, shares))
    assert products is not None
    noisy = products.totals(records) + noise * rng.standard_normal(products.dimension)
    found = Screen.of([ScoreSums(products, None, noisy[None], noise)], shares, rows)
    assert found.pairs["sex", "job"].noises > 20
    assert found.pairs["sex", "job"].strength == pytest.approx(
        0.6, abs=0.1
    )  # two scores of the job see it, 0.45 and 0.4
    others = [each for pair, each in found.pairs.items() if pair != ("sex", "job")]
    assert max(each.noises for each in others) < 4.5  # of ten numbers, once in 14,000 runs
    assert max(each.strength for each in others) < 0.05


def test_scores_by_class_show_what_depends_on_the_target() -> None:
    rng = np.random.default_rng(4)
    rows, noise = 20_000, 50.0
    sex, age = rng.integers(0, 2, rows), rng.integers(0, 10, rows)
    codes = {"sex": sex, "job": (age > 4).astype(int), "age": age, "paid": rng.integers(0, 20, rows)}
    records = Records(rows, {name: values.astype(np.uint16) for name, values in codes.items()}, {})
    shares = {each.name: np.bincount(codes[each.name], minlength=each.size) / rows for each in LEVELS}
    own = [score for score in scores(LEVELS, shares) if score.column != "job"]
    products = ScoreProducts(tuple(own), tuple((number,) for number in range(len(own))))
    label = OneHot("job", LEVELS[2].size)
    noisy = Labelled.of(products, label).totals(records) + noise * rng.standard_normal(label.dimension * len(own))
    found = Screen.of([ScoreSums(products, label, noisy.reshape(label.dimension, -1), noise)], shares, rows)
    assert found.by_target["job"]["age"].strength > 0.9
    assert found.by_target["job"]["sex"].noises < 4.5
    assert not found.pairs


def test_a_parity_stands_out_and_what_pairs_explain_does_not() -> None:
    """The last of four bits is the parity of the others; three other columns follow each other closely."""
    rng = np.random.default_rng(6)
    rows, noise = 20_000, 100.0
    bits = rng.integers(0, 2, (rows, 3))
    chain = [rng.random(rows) < 0.3]
    for _ in range(2):
        chain.append(np.where(rng.random(rows) < 0.8, chain[-1], rng.random(rows) < 0.3))
    values = [*bits.T, bits.sum(axis=1) % 2, *chain]
    names = ["p", "q", "r", "parity", "one", "two", "three"]
    schema = pt.Schema(name="t", columns={name: pt.Boolean(missing=False) for name in names})
    levels = levels_of(schema)
    records = Records(rows, {name: each.astype(np.uint16) for name, each in zip(names, values, strict=True)}, {})
    shares = {each.name: np.bincount(records.codes[each.name], minlength=each.size) / rows for each in levels}
    found = scores(levels, shares)
    sums = []
    for products in (pairs_of(found), groups_of(found, 3), groups_of(found, 4, "parity")):
        assert products is not None
        noisy = products.totals(records) + noise * rng.standard_normal(products.dimension)
        sums.append(ScoreSums(products, None, noisy[None], noise))
    seen = Screen.of(sums, shares, rows).groups
    assert len(seen) == 35 + 20
    assert seen["p", "q", "r", "parity"].noises > 100
    clear = {group for group, each in seen.items() if each.noises > 6}
    # A chain of skewed columns has a third cumulant of its own, small beside its pairs.
    assert clear <= {("p", "q", "r", "parity"), ("one", "two", "three")}


def test_groups_are_of_the_first_scores_of_different_columns() -> None:
    shares = {each.name: shares_of([1.0], each.size) for each in LEVELS}
    made = groups_of(scores(LEVELS, shares), 3, "age")
    assert made is not None
    assert [score.column for score in made.scores] == ["age", "sex", "job", "paid"]
    assert all(0 in group for group in made.groups)
    assert made.dimension == 3
    assert groups_of(scores(LEVELS, shares), 3, "nobody") is None
