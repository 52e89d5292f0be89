"""Learning curves: good rows teach more when there are more of them."""

import json

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import SchemaError, UsageError
from pointillist.evaluate.research.learning_curve import LearningCurve, Point, learning_curve

SCHEMA = pt.Schema(
    name="signals",
    columns={
        **{f"x{i}": pt.Real(min=-6, max=6, missing=False) for i in range(6)},
        "kind": pt.Categorical(categories=("a", "b"), missing=False),
    },
)


def signals(rows: int, seed: int) -> pa.Table:
    """Six weak signals: it takes many rows to learn how to add them up."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 6))
    kind = (x.sum(axis=1) + rng.normal(size=rows) > 0).astype(int)
    return pa.table({**{f"x{i}": x[:, i] for i in range(6)}, "kind": np.array(["a", "b"])[kind]})


def test_the_curve_of_good_rows_rises_to_the_line_of_real_ones() -> None:
    """From 20 to 4,000 rows accuracy rises by about 0.1; its sd over repeats at 20 rows is 0.04, so 0.02 for the mean
    of five: a rise below 0.03 is more than three sd away."""
    found = learning_curve(
        signals(4_000, 1),
        signals(2_000, 2),
        SCHEMA,
        "kind",
        train=signals(4_000, 3),
        sizes=[20, 200, 4_000],
        models=["logistic regression"],
        repeats=5,
    )
    curve = found.curve("logistic regression")
    assert [point.rows for point in curve] == [20, 200, 4_000]
    assert curve[-1].accuracy > curve[0].accuracy + 0.03
    assert curve[-1].auroc > curve[0].auroc
    assert curve[0].accuracy_sd > curve[-1].accuracy_sd == pytest.approx(0.0, abs=1e-12)
    assert curve[-1].accuracy == pytest.approx(found.real[0].accuracy, abs=0.02)
    assert found.real[0].rows == 4_000
    assert found.majority == pytest.approx(0.5, abs=0.05)


def test_repeated_rows_teach_nothing_new() -> None:
    """Fifty rows, forty times over: the curve goes flat early, and below that of fresh rows."""
    model, test = "logistic regression", signals(1_000, 2)
    tables = {"stale": pa.concat_tables([signals(50, 1)] * 40), "fresh": signals(2_000, 1)}
    found = {
        name: learning_curve(table, test, SCHEMA, "kind", sizes=[50, 500, 2_000], models=[model], repeats=10)
        for name, table in tables.items()
    }
    assert found["stale"].curve(model)[-1].accuracy < found["fresh"].curve(model)[-1].accuracy - 0.02
    assert found["stale"].enough(model, 0.02) < 2_000


def test_sizes_follow_the_paper_by_default() -> None:
    found = learning_curve(signals(2_000, 1), signals(200, 2), SCHEMA, "kind", models=["decision tree"], repeats=1)
    assert [point.rows for point in found.points] == [20, 100, 200, 1_000, 2_000]
    again = learning_curve(signals(2_000, 1), signals(200, 2), SCHEMA, "kind", models=["decision tree"], repeats=1)
    assert found == again


def test_a_single_row_answers_with_its_class() -> None:
    found = learning_curve(signals(100, 1), signals(200, 2), SCHEMA, "kind", sizes=[1], models=["LDA"], repeats=2)
    assert found.points[0].auroc == 0.5


def test_runs_that_fail_are_said() -> None:
    found = learning_curve(signals(100, 1), signals(200, 2), SCHEMA, "kind", sizes=[2, 100], models=["LDA"], repeats=8)
    assert any("LDA could not be trained in" in note and "on 2 synthetic rows" in note for note in found.notes)
    assert found.points[-1].rows == 100


def test_enough_is_where_the_curve_goes_flat() -> None:
    heights = {10: 0.6, 20: 0.795, 50: 0.75, 100: 0.795, 200: 0.8}
    points = tuple(Point("m", "synthetic", rows, height, 0.0, 0.5, 0.0) for rows, height in heights.items())
    found = LearningCurve("kind", ("a", "b"), 1, points, (), 0.5, ())
    assert found.enough("m") == 100
    assert found.enough("m", tolerance=0.001) == 200
    assert found.enough("m", tolerance=0.5) == 10
    with pytest.raises(UsageError, match="has no curve"):
        found.enough("n")


def test_results_are_plain_json_and_a_table() -> None:
    found = learning_curve(
        signals(100, 1), signals(100, 2), SCHEMA, "kind", train=signals(100, 3), sizes=[20, 100], models=["LDA"]
    )
    facts = found.to_json()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert found.table()["trained_on"].to_pylist() == ["synthetic", "synthetic", "real"]


def test_mistakes_are_named() -> None:
    table = signals(50, 1)
    with pytest.raises(SchemaError, match="target 'sort'"):
        learning_curve(table, table, SCHEMA, "sort")
    with pytest.raises(UsageError, match="target 'x1' is a number"):
        learning_curve(table, table, SCHEMA, "x1")
    for sizes in ([0], [51], [10, 99]):
        with pytest.raises(UsageError, match="sizes must lie between 1 and"):
            learning_curve(table, table, SCHEMA, "kind", sizes=sizes)
    with pytest.raises(UsageError, match="sizes is empty"):
        learning_curve(table, table, SCHEMA, "kind", sizes=[])
    with pytest.raises(UsageError, match="repeats must be at least 1"):
        learning_curve(table, table, SCHEMA, "kind", repeats=0)
