"""Problems: what tables of a release say directly, of marginals, of pairs and of how much structure there is."""

import itertools

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
    assert few == 80
    assert many > few


def parities(noise: float) -> Evidence:
    """Four columns of zeros and ones whose parity is even, all pairs of them, and one table of all four."""
    rng = np.random.default_rng(2)
    leaves = tuple(OneHot(name, 2) for name in "abcd")
    truth = np.zeros((2, 2, 2, 2))
    for place in np.ndindex(truth.shape):
        truth[place] = (sum(place) % 2 == 0) / 8
    whole = Table(leaves, ROWS * truth + noise * rng.standard_normal(truth.shape), noise)
    ones, twos = (
        [
            Table(chosen, np.full((2,) * count, ROWS / 2**count), noise)
            for chosen in itertools.combinations(leaves, count)
        ]
        for count in (1, 2)
    )
    return Evidence(ROWS, (*ones, *twos, whole))


@pytest.mark.parametrize(("noise", "held"), [(20.0, 1), (20_000.0, 0)])
def test_cliques_are_held_where_they_show_more_than_noise(noise: float, held: int) -> None:
    evidence = parities(noise)
    made = Problem(evidence, evidence.base)
    assert (len(made.cliques), len(made.layers)) == (1, 1)
    table = np.full((1, 8), 0.5)
    pairs = made.held(np.ones(1), table)
    assert pairs is not None
    cliques = made.held_cliques(pairs)
    assert len(cliques) == held
    for clique in cliques:
        assert clique.columns == (0, 1, 2, 3)
        even = sum(clique.wanted[place] for place in np.ndindex(clique.wanted.shape) if sum(place) % 2 == 0)
        assert even > 0.97
        np.testing.assert_allclose(clique.wanted.sum((2, 3)), 0.25, atol=0.01)


def test_pairs_that_nobody_measured_are_not_linked() -> None:
    """Pairs with one column alone: what the others have to do with each other is not known."""
    leaves = [OneHot(name, 2) for name in "aby"]
    tables = [Table((leaf, leaves[-1]), np.full((2, 2), ROWS / 4), 1.0) for leaf in leaves[:-1]]
    evidence = Evidence(ROWS, tuple(tables))
    held = Problem(evidence, evidence.base).held(np.ones(1), np.full((1, 6), 0.5))
    assert held is not None
    assert held.linked is not None
    names = list(evidence.base)
    assert not held.linked[names.index("a"), names.index("b")]
    assert held.linked[names.index("a"), names.index("y")]
