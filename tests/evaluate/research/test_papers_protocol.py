"""The papers' protocol: hard scores by their formulas, gaps by medians, and the best of several."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score
from tests.fixtures.flowers import flowers, flowers_schema, shuffled

import pointillist as pt
from pointillist.evaluate.research.papers_protocol import hard_scores, papers_protocol, raw_inputs
from pointillist.evaluate.tables.sample import read


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=50), st.integers(0, 1))
def test_the_papers_roc_is_balanced_accuracy(pairs: list[tuple[int, int]], positive: int) -> None:
    truth, predicted = np.array(pairs).T
    assume(0 < truth.sum() < len(truth))
    found = hard_scores(truth, predicted, positive)
    with np.errstate(all="ignore"):
        assert found["hard_roc"] == pytest.approx(balanced_accuracy_score(truth, predicted))
    precision_at_point = np.mean(truth[predicted == positive] == positive) if (predicted == positive).any() else 0.0
    recall = np.mean(predicted[truth == positive] == positive)
    prevalence = np.mean(truth == positive)
    assert found["hard_prc"] == pytest.approx(precision_at_point * recall + prevalence * (1 - recall))


def test_more_classes_have_a_weighted_f1() -> None:
    truth, predicted = np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 0])
    assert hard_scores(truth, predicted, None) == {
        "hard_f1": pytest.approx((3 * (2 / 3) + 1 * (2 / 3) + 0) / 5),
        "hard_accuracy": pytest.approx(0.6),
    }


def test_gaps_are_filled_with_the_median_of_the_training_rows(
    schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    training, test = read(people(500, 1), schema), read(people(300, 2), schema)
    columns = ("grade", "age", "income", "seen")
    found = raw_inputs(test, columns, training)
    assert np.isfinite(found).all()
    gaps = test.missing("income")
    assert gaps.any()
    assert np.unique(found[gaps, 2]) == pytest.approx([np.nanmedian(training.values("income"))])
    assert found[~gaps, 2] == pytest.approx(test.values("income")[~gaps])
    assert set(found[:, 0]) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert 0 <= found[:, 3].min() < found[:, 3].max() <= 2191


def test_the_best_of_several_on_the_test_rows_is_never_worse() -> None:
    """DP-HP's way: the default is among the choices, so its scores can only rise; the result says so."""
    table, test, schema = flowers(60, 1), flowers(200, 2), flowers_schema(2)
    noisy = shuffled(table)
    models = ("Gaussian naive Bayes", "decision tree", "LDA", "AdaBoost", "bagging", "random forest")
    one = papers_protocol(noisy, test, schema, "kind", models=models)
    best = papers_protocol(noisy, test, schema, "kind", models=models, settings="dp-hp")
    assert best.mean("hard_roc") > one.mean("hard_roc")
    for tuned, plain in zip(best.scores, one.scores, strict=True):
        for measure in best.measures:
            assert tuned.synthetic[measure] >= plain.synthetic[measure], tuned.model
    assert "too good to be true" in best.notes[-1]
    assert best.to_json()["settings"] == "dp-hp"
    assert all(each.synthetic for each in best.scores)
