"""The two protocols: hard predictions as in the papers, rankings as they should be; never mixed up."""

import builtins
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

import pointillist as pt
from pointillist.errors import DataError, SchemaError, UsageError
from pointillist.evaluate.learners.classifiers import MODELS
from pointillist.evaluate.learners.papers_settings import options_of
from pointillist.evaluate.learners.trained_classifier import ranking_scores
from pointillist.evaluate.research.honest_protocol import MEASURES, HonestProtocol, honest_protocol
from pointillist.evaluate.research.papers_protocol import (
    MANY_CLASSES,
    TWO_CLASSES,
    PapersProtocol,
    hard_scores,
    papers_protocol,
    raw_inputs,
)
from pointillist.evaluate.tables.sample import read

QUICK = ("Gaussian naive Bayes", "decision tree", "LDA")
Protocols = Callable[..., PapersProtocol | HonestProtocol]
both = pytest.mark.parametrize("protocol", [papers_protocol, honest_protocol])


def flowers_schema(classes: int) -> pt.Schema:
    return pt.Schema(
        name="flowers",
        columns={
            "length": pt.Real(min=-10, max=10),
            "width": pt.Real(min=-10, max=10, missing=False),
            "colour": pt.Categorical(categories=("red", "blue"), missing=False),
            "kind": pt.Categorical(categories=tuple("abcdef"[:classes])),
        },
    )


def flowers(rows: int, seed: int, *, classes: int = 2, rare: float = 0.3) -> pa.Table:
    """Classes far apart in `length`; the last one makes up `rare` of the rows."""
    rng = np.random.default_rng(seed)
    shares = [(1 - rare) / (classes - 1)] * (classes - 1) + [rare]
    kind = rng.choice(classes, size=rows, p=shares)
    length = 4.0 * kind - 2.0 * (classes - 1) + rng.normal(0, 0.5, rows)
    return pa.table(
        {
            "length": pa.array(length, mask=rng.random(rows) < 0.01),
            "width": rng.normal(0, 1, rows),
            "colour": np.where(rng.random(rows) < 0.5, "red", "blue"),
            "kind": np.array(list("abcdef"))[kind],
        }
    )


def shuffled(table: pa.Table, seed: int = 0) -> pa.Table:
    """The same rows with labels dealt out anew: nothing can be learnt."""
    order = np.random.default_rng(seed).permutation(table.num_rows)
    return table.set_column(3, "kind", table["kind"].take(order))


def relabelled(table: pa.Table, label: str | None) -> pa.Table:
    return table.set_column(3, "kind", pa.array([label] * table.num_rows, pa.string()))


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


@both
def test_all_twelve_models_learn_from_good_rows(protocol: Protocols) -> None:
    """Classes eight standard deviations apart."""
    table, test = flowers(400, 1), flowers(300, 2)
    found = protocol(table, test, flowers_schema(2), "kind", train=flowers(400, 3))
    assert found.complete
    assert [each.model for each in found.scores] == list(MODELS)
    for each in found.scores:
        for measure in found.measures:
            assert each.synthetic[measure] > 0.95, each.model
            assert each.real[measure] == pytest.approx(each.synthetic[measure], abs=0.05)
    assert found.positive == "b"
    assert found.rows == {"synthetic": 400, "real": 400, "test": 300}
    assert not found.notes


@both
def test_rows_with_labels_dealt_at_random_are_worth_chance(protocol: Protocols) -> None:
    """Sixty deals, each scored between 0 and 1 and as likely above a half as below: by Hoeffding's bound the mean is
    off by more than 0.3 with a chance below 1e-4, however much single deals vary."""
    table, test = flowers(60, 1), flowers(60, 2)
    deals = [
        protocol(shuffled(table, seed), test, flowers_schema(2), "kind", models=["Gaussian naive Bayes"])
        for seed in range(60)
    ]
    assert np.mean([deal.mean(deal.measures[0]) for deal in deals]) == pytest.approx(0.5, abs=0.3)


def test_rankings_see_what_hard_predictions_miss() -> None:
    """A rare class is ranked well, yet no row is ever called rare: hard scores sink to chance, honest ones do not."""
    rng = np.random.default_rng(0)
    truth = (rng.random(2_000) < 0.05).astype(np.int64)
    chance = np.clip(0.05 + 0.3 * truth + rng.normal(0, 0.05, 2_000), 0, 0.49)  # never above a half
    hard = hard_scores(truth, (chance > 0.5).astype(np.int64), 1)
    ranked = ranking_scores(truth, np.stack([1 - chance, chance], axis=1), 1)
    assert hard["hard_roc"] == 0.5
    assert hard["hard_prc"] == pytest.approx(truth.mean())
    assert ranked["AUROC"] > 0.99
    assert ranked["AUPRC"] > 0.95


def test_a_threshold_that_is_off_costs_hard_scores_only() -> None:
    """Synthetic rows with the right shape and the wrong balance: the order is kept, the threshold is not."""
    skewed, test = flowers(3_000, 1, rare=0.01), flowers(1_000, 2, rare=0.4)
    near = [t.set_column(0, "length", pa.array(np.asarray(t["length"].to_numpy()) * 0.1)) for t in (skewed, test)]
    hard = papers_protocol(*near, flowers_schema(2), "kind", models=["logistic regression"])
    ranked = honest_protocol(*near, flowers_schema(2), "kind", models=["logistic regression"])
    assert ranked.mean("AUROC") > hard.mean("hard_roc") + 0.1


def test_the_two_can_never_be_mixed_up() -> None:
    table, test = flowers(200, 1), flowers(200, 2)
    hard = papers_protocol(table, test, flowers_schema(2), "kind", models=QUICK)
    ranked = honest_protocol(table, test, flowers_schema(2), "kind", models=QUICK)
    assert not set(hard.measures) & set(ranked.measures)
    assert not set(TWO_CLASSES + MANY_CLASSES) & set(MEASURES)
    assert all(name.startswith("hard_") for name in hard.measures)
    assert hard.to_json()["protocol"] != ranked.to_json()["protocol"]
    with pytest.raises(UsageError, match="no measure of this protocol"):
        hard.mean("AUROC")
    with pytest.raises(UsageError, match="no measure of this protocol"):
        ranked.mean("hard_roc")
    assert not hard.complete


def test_gap_and_what_is_kept() -> None:
    table, test = flowers(400, 1), flowers(400, 2)
    found = honest_protocol(shuffled(table), test, flowers_schema(2), "kind", train=table, models=QUICK)
    assert found.gap["AUROC"] == pytest.approx(found.mean("AUROC", "real") - found.mean("AUROC"))
    assert abs(found.kept("AUROC")) < 0.5 < found.gap["AUROC"] + 0.25
    assert honest_protocol(table, test, flowers_schema(2), "kind", train=table, models=QUICK).kept("AUPRC") == 1.0
    assert found.chance == {"AUROC": 0.5, "AUPRC": pytest.approx(0.3, abs=0.1)}
    alone = honest_protocol(table, test, flowers_schema(2), "kind", models=QUICK)
    with pytest.raises(UsageError, match="pass train="):
        _ = alone.gap
    assert "gap" not in alone.to_json()


@both
def test_results_are_plain_json_and_a_table(protocol: Protocols) -> None:
    found = protocol(flowers(200, 1), flowers(200, 2), flowers_schema(2), "kind", train=flowers(200, 3), models=QUICK)
    facts = found.to_json()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    table = found.table()
    assert table["model"].to_pylist() == [*QUICK, "mean"]
    measure = found.measures[0]
    assert table[f"{measure} (synthetic)"].to_pylist()[-1] == pytest.approx(found.mean(measure))
    assert table[f"{measure} (real)"].to_pylist()[-1] == pytest.approx(found.mean(measure, "real"))
    with pytest.raises(AttributeError):
        found.target = "other"  # type: ignore[misc]


@both
def test_the_same_seed_gives_the_same_scores(protocol: Protocols) -> None:
    tables = flowers(200, 1), flowers(200, 2)
    models = ("random forest", "MLP", "XGBoost", "bagging")
    first, second = (protocol(*tables, flowers_schema(2), "kind", models=models, seed=5) for _ in range(2))
    assert first == second


@both
@pytest.mark.parametrize("absent", ["a", "b", "c"])
def test_three_classes_one_absent_from_the_synthetic_rows(protocol: Protocols, absent: str) -> None:
    schema, test = flowers_schema(3), flowers(300, 2, classes=3)
    whole = flowers(300, 1, classes=3)
    lacking = whole.filter(pa.compute.not_equal(whole["kind"], absent))
    full = protocol(whole, test, schema, "kind", models=(*QUICK, "XGBoost"))
    short = protocol(lacking, test, schema, "kind", models=(*QUICK, "XGBoost"))
    measure = full.measures[0]
    assert full.positive is None
    assert full.classes == ("a", "b", "c")
    assert short.mean(measure) < full.mean(measure) - 0.1
    assert any(f"kind = {absent}" in note for note in short.notes)
    assert not full.notes
    assert all(each.synthetic for each in short.scores)


@both
def test_a_constant_synthetic_target_is_worth_chance(protocol: Protocols) -> None:
    table, test = flowers(100, 1), flowers(200, 2)
    found = protocol(relabelled(table, "a"), test, flowers_schema(2), "kind", models=QUICK)
    assert found.mean(found.measures[0]) == 0.5
    prevalence = test["kind"].to_pylist().count("b") / 200
    assert found.mean(found.measures[1]) == pytest.approx(prevalence)
    assert "kind is constant in the synthetic table" in found.notes[0]


@both
def test_bad_input_is_named(protocol: Protocols) -> None:
    table, schema = flowers(100, 1), flowers_schema(2)
    with pytest.raises(SchemaError, match="target 'stem' is not a measured column"):
        protocol(table, table, schema, "stem")
    with pytest.raises(UsageError, match="target 'width' is a number"):
        protocol(table, table, schema, "width")
    with pytest.raises(DataError, match="fewer than two values among the test rows"):
        protocol(table, relabelled(table, "a"), schema, "kind")
    with pytest.raises(DataError, match="fewer than two values among the real rows"):
        protocol(table, table, schema, "kind", train=relabelled(table, "a"))
    nothing = protocol(relabelled(table, None), table, schema, "kind", models=QUICK)
    assert nothing.notes == ("kind is missing in every row of the synthetic table: no model can learn it from there.",)
    assert nothing.mean(nothing.measures[0]) == 0.5
    with pytest.raises(UsageError, match="model 'oracle' is not known"):
        protocol(table, table, schema, "kind", models=["oracle"])
    with pytest.raises(UsageError, match="models is empty"):
        protocol(table, table, schema, "kind", models=[])
    with pytest.raises(UsageError, match="there are none"):
        protocol(table, table, pt.Schema(name="x", columns={"kind": schema.columns["kind"]}), "kind")
    with pytest.raises(UsageError, match="settings 'mine' are not known"):
        papers_protocol(table, table, schema, "kind", settings="mine")  # type: ignore[arg-type]


@both
def test_without_xgboost_the_message_says_how_to_get_it(protocol: Protocols, monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> Any:
        if name == "xgboost":
            raise ImportError(name)
        return found(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    table = flowers(100, 1)
    with pytest.raises(UsageError, match=r"pip install 'pointillist\[papers\]'"):
        protocol(table, table, flowers_schema(2), "kind")
    assert protocol(table, table, flowers_schema(2), "kind", models=QUICK).mean  # all others need no extra


@both
def test_rows_without_a_class_are_left_out_and_counted(protocol: Protocols) -> None:
    table, test = flowers(100, 1), flowers(100, 2)
    more = pa.concat_tables([table, relabelled(flowers(100, 3), None)])
    found = protocol(more, test, flowers_schema(2), "kind", models=QUICK)
    assert found.rows["synthetic"] == 100
    assert "50.00% of the synthetic rows were left out" in found.notes[0]
    assert found.scores == protocol(table, test, flowers_schema(2), "kind", models=QUICK).scores


@both
def test_a_model_that_cannot_be_trained_is_left_out_and_named(protocol: Protocols) -> None:
    """LDA needs more rows than classes."""
    two = flowers(50, 1)
    kinds = two["kind"].to_pylist()
    pair = two.take([kinds.index("a"), kinds.index("b")])
    found = protocol(pair, flowers(50, 2), flowers_schema(2), "kind", models=QUICK)
    assert found.scores[2].synthetic == {}
    assert any("LDA could not be trained" in note for note in found.notes)
    assert math.isfinite(found.mean(found.measures[0]))
    assert found.table()[f"{found.measures[0]} (synthetic)"].to_pylist()[2] is None


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


@both
def test_paths_and_samples_do_as_well(protocol: Protocols, tmp_path: Path) -> None:
    table, test, schema = flowers(150, 1), flowers(150, 2), flowers_schema(2)
    pa.parquet.write_table(table, tmp_path / "synthetic.parquet")
    expected = protocol(table, test, schema, "kind", models=QUICK).scores
    assert protocol(tmp_path / "synthetic.parquet", read(test, schema), schema, "kind", models=QUICK).scores == expected


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


@pytest.mark.parametrize("settings", ["dp-merf", "dp-hp", "images"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_setting_can_be_built_and_trained(settings: Any, classes: int) -> None:
    """A configuration that today's libraries refuse would be dropped without a word: here it is not."""
    from pointillist.evaluate.learners.papers_settings import build
    from pointillist.evaluate.learners.trained_classifier import train

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 12)), np.arange(60) % classes
    for model in MODELS:
        for options in options_of(settings, model, classes):
            few = {**options, "n_estimators": 5} if options.get("n_estimators", 0) > 100 else options

            def make(x: Any, y: Any, model: str = model, few: dict[str, Any] = few) -> Any:
                return build(model, few, x, y, 0)

            assert train(make, x, y, classes).predict(x).shape == (60,)
