"""The two protocols: hard predictions as in the papers, rankings as they should be; never mixed up."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.flowers import QUICK, flowers, flowers_schema, relabelled, shuffled

import pointillist as pt
from pointillist.errors import DataError, SchemaError, UsageError
from pointillist.evaluate.learners.classifiers import MODELS
from pointillist.evaluate.learners.trained_classifier import ranking_scores
from pointillist.evaluate.research.honest_protocol import MEASURES, HonestProtocol, honest_protocol
from pointillist.evaluate.research.papers_protocol import (
    MANY_CLASSES,
    TWO_CLASSES,
    PapersProtocol,
    hard_scores,
    papers_protocol,
)
from pointillist.evaluate.tables.sample import read

Protocols = Callable[..., PapersProtocol | HonestProtocol]
both = pytest.mark.parametrize("protocol", [papers_protocol, honest_protocol])


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


@both
def test_paths_and_samples_do_as_well(protocol: Protocols, tmp_path: Path) -> None:
    table, test, schema = flowers(150, 1), flowers(150, 2), flowers_schema(2)
    pa.parquet.write_table(table, tmp_path / "synthetic.parquet")
    expected = protocol(table, test, schema, "kind", models=QUICK).scores
    assert protocol(tmp_path / "synthetic.parquet", read(test, schema), schema, "kind", models=QUICK).scores == expected
