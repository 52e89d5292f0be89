"""The yardstick: real rows score nothing, shuffled columns lose dependence and learning but no single column."""

import numpy as np
import pytest
from benchmarks.tables.datasets import datasets
from benchmarks.tables.learning import FAST, accuracy_by_cells, learn
from benchmarks.tables.scoring import Yardstick

from pointillist.demo import people
from pointillist.evaluate.tables.metrics.marginals import independent, marginals
from pointillist.evaluate.tables.metrics.utility import utility
from pointillist.evaluate.tables.sample import read


@pytest.fixture(scope="module")
def yardstick() -> Yardstick:
    rows = people.simulate(1_500)
    train, test = (read(part, people.SCHEMA) for part in (rows.slice(0, 1_000), rows.slice(1_000)))
    return Yardstick(train, test, people.TARGET)


def test_real_rows_are_at_no_distance(yardstick: Yardstick) -> None:
    found = yardstick.score(yardstick.train, FAST[:1])
    names = ("tvd_1", "tvd_1_worst", "tvd_2", "tvd_3", "tvd_strongest", "ks", "dependence")
    assert {name: found[name] for name in names} == dict.fromkeys(names, 0.0)
    assert found["auroc"] == found["models"][FAST[0]]["AUROC"] > 0.6
    assert 0 < found["auprc"] < 1


def test_shuffled_columns_lose_most_in_the_strongest_pairs(yardstick: Yardstick) -> None:
    shuffled = independent(yardstick.train, seed=0)
    found = yardstick.near(shuffled) | yardstick.dependent(shuffled)
    assert found["tvd_1"] == 0.0
    assert found["tvd_strongest"] > 1.5 * found["tvd_2"] > 0
    assert found["dependence"] > 0.01
    apart = {each.columns: each.distance for each in marginals(yardstick.train, shuffled, 2).tables}
    assert found["tvd_strongest"] == pytest.approx(np.mean([apart[pair] for pair in yardstick.strongest]))


def test_a_table_without_a_target_is_scored_without_models(yardstick: Yardstick) -> None:
    assert "auroc" not in Yardstick(yardstick.train, yardstick.test, "").score(yardstick.train)


def test_models_learn_what_the_report_says_they_learn(yardstick: Yardstick) -> None:
    shuffled = independent(yardstick.train, seed=1)
    said = utility(yardstick.train, shuffled, yardstick.test, people.TARGET)
    found, notes = learn(shuffled, yardstick.test, people.TARGET)
    assert notes == said.notes
    for each in said.scores:
        assert {name: found[each.model][name] for name in each.synthetic} == each.synthetic
        assert 0 <= found[each.model]["accuracy"] <= 1


@pytest.mark.parametrize("name", ["xor2", "xor3"])
def test_a_parity_is_seen_by_its_cells_and_lost_by_shuffling(name: str) -> None:
    dataset = datasets()[name]
    rows = read(dataset.load(None).slice(0, 2_000), dataset.schema)
    real, shuffled = (
        accuracy_by_cells(each, rows, "odd", dataset.settling) for each in (rows, independent(rows, seed=0))
    )
    assert real == pytest.approx(0.9, abs=0.02)
    assert shuffled == pytest.approx(0.5, abs=0.25)  # eight cells at most, each right or wrong as a whole
    assert shuffled < real
