"""Fitting a mixture: exact expectations and gradients, a fit that finds structure and stops at the noise."""

import numpy as np
import pytest

from pointillist.features import OneHot, Product, Products, Tiles
from pointillist.fitting.evidence import Evidence, Table
from pointillist.generators.mixture.count_matrices import Problem
from pointillist.generators.mixture.fit_to_counts import Fit, _through_softmax, fit_mixture
from pointillist.generators.mixture.mixture import Mixture

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


@pytest.mark.parametrize("alone", [False, True], ids=["all kinds of tables", "pairs with one column alone"])
def test_the_gradient_is_exact(alone: bool) -> None:
    """Central differences of the loss in double steps."""
    given_evidence, joint = evidence(50.0)
    if alone:
        tables = tuple(each for each in given_evidence.tables if len(each.leaves) == 1 or each.leaves[-1] == Y)
        given_evidence = Evidence(given_evidence.rows, tables)
    problem = Problem(given_evidence, given_evidence.base)
    assert [layer.hub is not None for layer in problem.layers] == ([True] if alone else [False, False])
    marginal = np.concatenate(list(shares(joint).values()))
    bends = problem.bends({"b": 4}, marginal)
    assert (bends > 0).sum() == 2
    fit = Fit(problem, marginal, bends, 5, seed=3)

    def loss() -> float:
        fit.slopes()
        weights, table = fit.result()
        entropy = np.log(np.maximum(table, 1e-12)) - fit.log_marginal
        pull = fit.pull * problem.cells / 1000 * float(weights @ (table * entropy).sum(axis=1))
        raised = fit.logits - fit.log_marginal
        bent = raised[:, 2:] - 2 * raised[:, 1:-1] + raised[:, :-2]
        stiff = fit.pull * problem.cells / 1000 * float(weights @ (bends * bent**2).sum(axis=1)) / 2
        return 0.5 * fit.chi_squared + pull + stiff

    table_slope, weight_slope = fit.slopes()
    rng = np.random.default_rng(0)
    for logits, slope in ((fit.logits, table_slope), (fit.weight_logits, weight_slope)):
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


def test_the_softmax_slope_is_exact() -> None:
    starts = np.array([0, 3])
    table = np.array([[0.2, 0.3, 0.5, 0.6, 0.4]], dtype=np.float32)
    slope = np.array([[1.0, -2.0, 0.5, 3.0, 0.0]], dtype=np.float32)
    blocks = [np.diag(p) - np.outer(p, p) for p in (table[0, :3], table[0, 3:])]
    expected = np.concatenate([blocks[0] @ slope[0, :3], blocks[1] @ slope[0, 3:]])
    np.testing.assert_allclose(_through_softmax(table, slope, starts)[0], expected, rtol=1e-5)


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
