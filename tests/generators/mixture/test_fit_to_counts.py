"""Fitting a mixture: exact expectations and gradients, a fit that finds structure and stops at the noise."""

import itertools

import numpy as np
import pytest

from pointillist.features import OneHot, Product, Products, Tiles
from pointillist.fitting.evidence import Evidence, Table
from pointillist.generators.mixture.count_matrices import Problem
from pointillist.generators.mixture.fit_to_counts import Fit, fit_mixture
from pointillist.generators.mixture.mixture import Mixture
from pointillist.schema import Boolean, Schema

A, B, Y = OneHot("a", 3), OneHot("b", 4), OneHot("y", 2)


def silent(step: str, fraction: float) -> None:
    """Progress that nobody watches."""


def evidence(noise: float, rows: float = 10_000.0, seed: int = 0) -> tuple[Evidence, np.ndarray]:
    """Tables of a joint distribution with real dependence, over two columns and a label."""
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(24, 0.3)).reshape(2, 3, 4)

    def table(leaves: tuple[Tiles, ...], truth: np.ndarray) -> Table:
        return Table(leaves, rows * truth + noise * rng.standard_normal(truth.shape), max(noise, 1.0))

    tables = (
        table((A,), joint.sum((0, 2))),
        table((B,), joint.sum((0, 1))),
        table((Y,), joint.sum((1, 2))),
        table((A, B), joint.sum(0)),
        table((A, Y), joint.sum(2).T),
        table((B, Y), joint.sum(1).T),
        table((Y, A, B), joint),
    )
    return Evidence(rows, tables), joint


def shares(joint: np.ndarray) -> dict[str, np.ndarray]:
    return {"a": joint.sum((0, 2)), "b": joint.sum((0, 1)), "y": joint.sum((1, 2))}


def fitted(mixture: Mixture) -> np.ndarray:
    return np.einsum("k,ky,ka,kb->yab", mixture.weights, *(mixture.tables[n] for n in "yab"))


def test_without_noise_the_fit_finds_the_joint_distribution() -> None:
    given_evidence, joint = evidence(0.0)
    mixture = fit_mixture(given_evidence, shares(joint), components=60, steps=600, seed=1, progress=silent)
    assert 0.5 * np.abs(fitted(mixture) - joint).sum() < 0.01
    independent = np.einsum("y,a,b->yab", *(shares(joint)[n] for n in "yab"))
    assert 0.5 * np.abs(independent - joint).sum() > 0.2


def test_under_pure_noise_the_fit_stays_near_independence() -> None:
    """Noise of 400 rows on 24 cells of 10,000: what a fit to the noise would chase is an error of over 0.3."""
    rng = np.random.default_rng(5)
    truth = np.einsum("y,a,b->yab", *(rng.dirichlet(np.ones(n)) for n in (2, 3, 4)))
    rows, noise = 10_000.0, 400.0
    tables = tuple(
        Table(leaves, rows * t + noise * rng.standard_normal(t.shape), noise)
        for leaves, t in (
            ((A,), truth.sum((0, 2))),
            ((B,), truth.sum((0, 1))),
            ((Y,), truth.sum((1, 2))),
            ((A, B), truth.sum(0)),
            ((Y, A, B), truth),
        )
    )
    raw = 0.5 * np.abs(tables[-1].values / rows - truth).sum()
    mixture = fit_mixture(Evidence(rows, tables), shares(truth), components=60, steps=400, seed=1, progress=silent)
    assert 0.5 * np.abs(fitted(mixture) - truth).sum() < 0.4 * raw


def test_the_pull_brings_chi_squared_to_its_expectation() -> None:
    given_evidence, joint = evidence(60.0)
    problem = Problem(given_evidence, given_evidence.base)
    fit = Fit(problem, np.concatenate(list(shares(joint).values())), np.zeros(7, dtype=np.float32), 60, seed=0)
    for step in range(400):
        fit.step(step, 400)
    assert 0.5 < fit.chi_squared / problem.cells < 1.5


@pytest.mark.parametrize("kind", ["a clique", "pairs by class", "pairs with one column alone"])
def test_the_gradient_is_exact(kind: str) -> None:
    """Central differences of the loss in double steps."""
    given_evidence, joint = evidence(50.0)
    if kind == "pairs by class":  # three of them are a layer
        repeated = (*given_evidence.tables, given_evidence.tables[-1], given_evidence.tables[-1])
        given_evidence = Evidence(given_evidence.rows, repeated)
    if kind == "pairs with one column alone":
        tables = tuple(each for each in given_evidence.tables if len(each.leaves) == 1 or each.leaves[-1] == Y)
        given_evidence = Evidence(given_evidence.rows, tables)
    problem = Problem(given_evidence, given_evidence.base)
    assert [len(layer.wanted) for layer in problem.layers] == ([1, 2, 2, 2] if kind == "pairs by class" else [1])
    assert len(problem.cliques) == (kind == "a clique")
    marginal = np.concatenate(list(shares(joint).values()))
    bends = problem.bends({"b": 4}, marginal)
    assert (bends > 0).sum() == 2
    fit = Fit(problem, marginal, bends, 5, seed=3)

    made = fit.components

    def loss() -> float:
        fit.slopes()
        weights, table = made.result()
        entropy = np.log(np.maximum(table, 1e-12)) - made.log_marginal
        pull = fit.pull * problem.cells / 1000 * float(weights @ (table * entropy).sum(axis=1))
        raised = made.logits - made.log_marginal
        bent = raised[:, 2:] - 2 * raised[:, 1:-1] + raised[:, :-2]
        stiff = fit.pull * problem.cells / 1000 * float(weights @ (bends * bent**2).sum(axis=1)) / 2
        return 0.5 * fit.chi_squared + pull + stiff

    table_slope, weight_slope = fit.slopes()
    rng = np.random.default_rng(0)
    for logits, slope in ((made.logits, table_slope), (made.weight_logits, weight_slope)):
        for _ in range(12):
            place = tuple(rng.integers(0, size) for size in logits.shape)
            kept = logits[place]
            logits[place] = kept + 0.02
            up = loss()
            logits[place] = kept - 0.02
            down = loss()
            logits[place] = kept
            assert (up - down) / 0.04 == pytest.approx(
                float(slope[place]), rel=0.02, abs=0.02 * float(np.abs(slope).max())
            )


def test_pair_tables_are_the_feature_maps_expectation() -> None:
    """P' diag(w) P is what `Product.expectation` gives for the mixture's components."""
    given_evidence, joint = evidence(30.0)
    mixture = fit_mixture(given_evidence, shares(joint), components=20, steps=30, seed=0, progress=silent)
    products = Products(mixture.tables, {})
    expected = mixture.weights @ Product((A, B)).expectation(products)
    np.testing.assert_allclose(fitted(mixture).sum(0).ravel(), expected, atol=1e-6)


def test_the_same_seed_gives_the_same_fit() -> None:
    given_evidence, joint = evidence(30.0)
    one, two, other = (
        fit_mixture(given_evidence, shares(joint), components=10, steps=20, seed=s, progress=silent) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.tables["a"], two.tables["a"])
    assert not np.array_equal(one.tables["a"], other.tables["a"])


def test_one_way_tables_alone_give_independent_columns() -> None:
    given_evidence, joint = evidence(0.0)
    only = Evidence(given_evidence.rows, given_evidence.tables[:3])
    mixture = fit_mixture(only, shares(joint), components=9, steps=5, seed=0, progress=silent)
    assert len(mixture.weights) == 1
    codes = mixture.sample(200_000, np.random.default_rng(0)).codes
    np.testing.assert_allclose(np.bincount(codes["b"], minlength=4) / 200_000, joint.sum((0, 1)), atol=0.006)


def test_where_there_is_nothing_but_noise_the_pull_stays_finite() -> None:
    """Even independence leaves less than is wanted: the pull grows for a thousand steps, and must not overflow."""
    given_evidence, joint = evidence(0.0, rows=3.0)
    calm = Evidence(3.0, tuple(Table(t.leaves, t.values, 500.0) for t in given_evidence.tables))
    mixture = fit_mixture(calm, shares(joint), components=30, steps=1500, seed=0, progress=silent)
    assert np.isfinite(mixture.weights).all()
    independent = np.einsum("y,a,b->yab", *(shares(joint)[n] for n in "yab"))
    assert 0.5 * np.abs(fitted(mixture) - independent).sum() < 0.02


def test_pairs_are_corrected_by_as_much_as_the_noise_allows() -> None:
    """One component can tie nothing together: with hardly any noise the measured tables stand, with much it stands."""
    for noise, least, most in ((1.0, 0.0, 0.02), (5_000.0, 0.2, 1.0)):
        given_evidence, joint = evidence(noise)
        mixture = fit_mixture(given_evidence, shares(joint), components=1, steps=50, seed=0, progress=silent)
        order = list(mixture.tiles)
        starts = dict(zip(order, np.cumsum([0, *(mixture.tiles[n].dimension for n in order)]), strict=False))
        assert mixture.held is not None
        assert mixture.held.pairs is not None
        pairs = mixture.held.pairs[starts["a"] : starts["a"] + 3, starts["b"] : starts["b"] + 4]
        assert least <= 0.5 * np.abs(pairs - joint.sum(0)).sum() <= most


def test_more_components_where_more_structure_is_seen() -> None:
    counts = []
    for noise in (1.0, 100.0, 3_000.0):
        given_evidence, joint = evidence(noise)
        mixture = fit_mixture(given_evidence, shares(joint), components=None, steps=1, seed=0, progress=silent)
        counts.append(len(mixture.weights))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def parity(rows: float = 20_000.0, sigma: float = 12.0) -> tuple[Evidence, dict[str, np.ndarray]]:
    """All pairs of five columns of zeros and ones, and a table of the first four, whose parity is mostly even."""
    rng = np.random.default_rng(6)
    leaves = tuple(OneHot(name, 2) for name in "abcde")
    truth = np.zeros((2,) * 4)
    for place in np.ndindex(truth.shape):
        truth[place] = (0.95 if sum(place) % 2 == 0 else 0.05) / 8

    def noisy(chosen: tuple[Tiles, ...], shares: np.ndarray) -> Table:
        return Table(chosen, rows * shares + sigma * rng.standard_normal(shares.shape), sigma)

    ones = [noisy((leaf,), np.full(2, 0.5)) for leaf in leaves]
    twos = [noisy(pair, np.full((2, 2), 0.25)) for pair in itertools.combinations(leaves, 2)]
    return Evidence(rows, (*ones, *twos, noisy(leaves[:4], truth))), {name: np.full(2, 0.5) for name in "abcde"}


def test_a_table_of_four_columns_is_fitted_held_and_kept_under_conditions() -> None:
    given_evidence, marginals = parity()
    mixture = fit_mixture(given_evidence, marginals, components=None, steps=200, seed=0, progress=silent)

    def even(made: Mixture) -> float:
        assert made.held is not None
        (clique,) = made.held.cliques
        return float(sum(clique.wanted[place] for place in np.ndindex((2,) * 4) if sum(place) % 2 == 0))

    codes = mixture.sample(20_000, np.random.default_rng(0)).codes
    assert np.mean(sum(codes[name].astype(int) for name in "abcd") % 2 == 0) > 0.85
    assert abs(even(mixture) - 0.95) < 0.02
    _, conditioned = mixture.given({"e": np.array([0.0, 1.0])})
    assert even(conditioned) > 0.85
    facts, arrays = mixture.to_facts()
    columns = {name: Boolean(missing=False) for name in "abcde"}
    back = Mixture.from_facts(facts, arrays, Schema(name="parity", columns=columns))
    assert even(back) == even(mixture)


def test_a_clique_leaves_pairs_as_they_were_measured() -> None:
    given_evidence, marginals = parity()
    held = fit_mixture(given_evidence, marginals, components=20, steps=60, seed=0, progress=silent).held
    assert held is not None
    assert held.pairs is not None
    for one, other in itertools.combinations(range(5), 2):
        own = held.pairs[2 * one : 2 * one + 2, 2 * other : 2 * other + 2]
        assert np.abs(own - 0.25).sum() < 0.05
