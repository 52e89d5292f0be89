"""AIM around a target: the workload's weights, and tables of three columns from a model of pairs. Needs neither mbi nor JAX.

The package that fits has an environment of its own, so a stand-in takes its place here: what is tested does not ask it.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "tables" / "rivals" / "mbi_rival.py"


@pytest.fixture
def rival(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.setenv("NPROC", "1")
    jax = SimpleNamespace(config=SimpleNamespace(update=lambda *_: None))
    for name, stand_in in {"jax": jax, "networkx": SimpleNamespace(), "mbi": SimpleNamespace()}.items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    spec = importlib.util.spec_from_file_location("mbi_rival", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mbi_rival", module)
    spec.loader.exec_module(module)
    return module


def test_a_target_adds_the_triples_that_hold_it_and_they_weigh_most(rival: ModuleType) -> None:
    rows = rival.Rows(np.zeros((1, 4), dtype=np.int64), (2, 3, 2, 5))
    plain, told = rival.weights(rows, None), rival.weights(rows, 2)
    assert {len(clique): weight for clique, weight in plain.items()} == {1: 0.5, 2: 1.0}
    triples = [clique for clique in told if len(clique) == 3]
    assert triples == [(0, 1, 2), (0, 2, 3), (1, 2, 3)]
    # The target is in 3 pairs and 3 triples, each other column in 3 pairs and 2 triples.
    assert {told[each] for each in triples} == {1.0}
    assert told[2,] == pytest.approx(6 / 16)
    assert told[0,] == pytest.approx(5 / 16)
    assert told[0, 2] == pytest.approx(11 / 16)
    assert told[0, 1] == pytest.approx(10 / 16)


def test_tables_of_three_come_from_the_pairs_given_each_level_of_the_target(rival, monkeypatch) -> None:
    """A tree of one node, which holds the whole distribution: what is said of it can be counted."""
    sizes = (2, 3, 2)
    joint = np.random.default_rng(0).random(sizes)
    joint /= joint.sum()

    class Whole:
        def marginals(self, potentials: dict) -> dict:
            return {(2,): joint.sum(axis=(0, 1))}

    def pairs(tree: Whole, potentials: dict) -> list:
        kept = np.isfinite(potentials[2,])
        given = joint[:, :, kept].sum(axis=2)
        return [((0, 1), given / given.sum())]

    monkeypatch.setattr(rival, "Pairs", pairs)
    model = rival.Model(rival.Rows(np.zeros((1, 3), dtype=np.int64), sizes), Whole(), {(2,): np.zeros(2)}, 100.0, 1.0)
    ((clique, table),) = model.triples(2)
    assert clique == (0, 1, 2)
    np.testing.assert_allclose(table, 100 * joint)
