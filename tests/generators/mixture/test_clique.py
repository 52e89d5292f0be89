"""Cliques: chi^2 and slopes of a table of three or four columns, over tiles that may be coarser."""

import numpy as np
import pytest

from pointillist.features import OneHot, Tiles
from pointillist.generators.mixture.clique import Clique

BASE: dict[str, Tiles] = {"a": OneHot("a", 4), "b": OneHot("b", 3), "c": OneHot("c", 2), "d": OneHot("d", 2)}
PLACES = {"a": slice(0, 4), "b": slice(4, 7), "c": slice(7, 9), "d": slice(9, 11)}
COARSE = Tiles("a", (0, 0, 1, 1))


def clique(names: str, seed: int = 0) -> Clique:
    leaves = [COARSE if name == "a" else BASE[name] for name in names]
    shape = [leaf.dimension for leaf in leaves]
    values = np.random.default_rng(seed).dirichlet(np.ones(int(np.prod(shape)))).reshape(shape)
    return Clique(leaves, BASE, PLACES, values, 100.0)


def mixture(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    parts = [rng.dirichlet(np.ones(place.stop - place.start), 3) for place in PLACES.values()]
    return rng.dirichlet(np.ones(3)).astype(np.float32), np.concatenate(parts, axis=1).astype(np.float32)


@pytest.mark.parametrize("names", ["abc", "cad", "abcd", "dcba"])
def test_slopes_are_those_of_finite_differences(names: str) -> None:
    made = clique(names)
    weights, table = mixture()

    def distance() -> float:
        return made.add_slopes(weights, table, np.zeros_like(weights), np.zeros_like(table))

    to_weights, to_table = np.zeros_like(weights), np.zeros_like(table)
    made.add_slopes(weights, table, to_weights, to_table)
    for values, slope in ((weights, to_weights), (table, to_table)):
        for place in np.ndindex(values.shape):
            kept = values[place]
            values[place] = kept + 0.01
            up = distance()
            values[place] = kept - 0.01
            down = distance()
            values[place] = kept
            assert (up - down) / 0.04 == pytest.approx(float(slope[place]), abs=0.02)


def test_components_that_make_the_table_have_no_chi_squared() -> None:
    made = clique("bcd")
    cells = [(b, c, d) for b in range(3) for c in range(2) for d in range(2)]
    table = np.zeros((len(cells), 11), dtype=np.float32)
    table[:, 0] = 1
    for number, (b, c, d) in enumerate(cells):
        table[number, [4 + b, 7 + c, 9 + d]] = 1
    weights = made.wanted.ravel()
    assert made.add_slopes(weights, table, np.zeros_like(weights), np.zeros_like(table)) == pytest.approx(0, abs=1e-6)


def test_pairs_are_added_up_over_coarser_tiles() -> None:
    made = clique("abc")
    pairs = np.random.default_rng(3).random((11, 11)).astype(np.float32)
    found = made.pairs_in(pairs)
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    np.testing.assert_allclose(found[0, 1], pairs[:4, 4:7].reshape(2, 2, 3).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(found[1, 2], pairs[4:7, 7:9], rtol=1e-6)
