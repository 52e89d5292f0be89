"""Problems: what tables of a release say directly, of marginals, of pairs and of how much structure there is."""

import numpy as np
import pytest

from pointillist.features import OneHot
from pointillist.fitting.evidence import Evidence, Table
from pointillist.generators.mixture.count_matrices import Problem

A, B = OneHot("a", 3), OneHot("b", 4)
ROWS = 10_000.0


def problem(joint: np.ndarray, noise: float = 1.0) -> Problem:
    rng = np.random.default_rng(1)
    tables = tuple(
        Table(leaves, ROWS * truth + noise * rng.standard_normal(truth.shape), noise)
        for leaves, truth in (((A,), joint.sum(1)), ((B,), joint.sum(0)), ((A, B), joint))
    )
    evidence = Evidence(ROWS, tables)
    return Problem(evidence, evidence.base)


def test_one_component_is_raked_to_the_marginals_and_its_pairs_are_corrected() -> None:
    joint = np.random.default_rng(0).dirichlet(np.ones(12)).reshape(3, 4)
    made = problem(joint)
    weights = np.ones(1)
    table = made.rake(weights, np.concatenate([np.full(3, 1 / 3), np.full(4, 1 / 4)])[None])
    np.testing.assert_allclose(table[0, made.places["a"]], joint.sum(1), atol=0.002)
    np.testing.assert_allclose(table[0, made.places["b"]], joint.sum(0), atol=0.002)
    held = made.held(weights, table)
    assert held is not None
    assert held.pairs is not None
    assert (held.sizes, held.by_class) == ((3, 4), ())
    np.testing.assert_allclose(held.pairs[made.places["a"], made.places["b"]], joint, atol=0.003)


def test_components_follow_structure() -> None:
    flat = np.outer(np.full(3, 1 / 3), np.full(4, 1 / 4))
    tied = np.random.default_rng(0).dirichlet(np.full(12, 0.2)).reshape(3, 4)
    few, many = (problem(each).components(np.concatenate([each.sum(1), each.sum(0)])) for each in (flat, tied))
    assert few == 40
    assert many > few


def test_tables_of_four_columns_are_not_for_a_mixture() -> None:
    leaves = tuple(OneHot(name, 2) for name in "abcd")
    evidence = Evidence(ROWS, (Table(leaves, np.zeros((2, 2, 2, 2)), 1.0),))
    with pytest.raises(ValueError, match="one, two or three columns"):
        Problem(evidence, {leaf.column: leaf for leaf in leaves})
