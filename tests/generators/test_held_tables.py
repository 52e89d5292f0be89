"""Held tables: those that components make, and arrays of a file in which compiled code finds every place."""

import numpy as np
import pytest

from pointillist.generators.held_tables import HeldClique, HeldTables, PairsByClass


def held() -> HeldTables:
    """Three columns of two tiles; pairs of the first two within the classes of the third."""
    place_of = np.array([0, 1, 2, 3, -1, -1], dtype=np.int32)
    tied = np.zeros((3, 3), dtype=np.bool_)
    tied[0, 1] = tied[1, 0] = True
    by_class = PairsByClass(2, np.array([0, 1], np.int32), place_of, np.zeros((2, 4, 4), np.float32), tied)
    return HeldTables((2, 2, 2), np.zeros((6, 6), dtype=np.float32), (by_class,))


def test_components_make_pairs_for_all_and_by_class() -> None:
    rng = np.random.default_rng(0)
    weights, tables = np.array([1.0, 3.0]), [rng.dirichlet(np.ones(2), 2) for _ in range(3)]
    made = held().made_by(weights, tables)
    assert made.pairs is not None
    joint = np.einsum("k,ka,kb,kc->abc", weights / 4, *tables)
    np.testing.assert_allclose(made.pairs[0:2, 2:4], joint.sum(2), atol=1e-6)
    (by_class,) = made.by_class
    np.testing.assert_allclose(by_class.wanted[:, 0:2, 2:4], joint.transpose(2, 0, 1), atol=1e-6)
    assert held().starts.tolist() == [0, 2, 4]


def test_arrays_come_back() -> None:
    back = HeldTables.from_arrays(held().to_arrays(), [2], (2, 2, 2))
    np.testing.assert_array_equal(back.by_class[0].place_of, held().by_class[0].place_of)
    assert (back.sizes, back.by_class[0].label, back.by_class[0].held.dtype) == ((2, 2, 2), 2, np.bool_)
    only = HeldTables((2, 2, 2), None, held().by_class)
    assert HeldTables.from_arrays(only.to_arrays(), [2], (2, 2, 2)).pairs is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pairs", np.zeros((5, 6), np.float32)),
        ("split.0.class_of", np.array([0, 2], np.int32)),
        ("split.0.place_of", np.array([0, 1, 2, 4, -1, -1], np.int32)),
        ("split.0.place_of", np.array([0, 1, 2, 3, 0, -1], np.int32)),
        ("split.0.wanted", np.zeros((2, 4, 3), np.float32)),
        ("split.0.held", np.ones((3, 3), np.uint8)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"do not fit|must be in the tables|held with itself"):
        HeldTables.from_arrays({**held().to_arrays(), name: value}, [2], (2, 2, 2))


def with_clique() -> HeldTables:
    """Four columns; a clique of the first, the last and the third, which has two of its three tiles in one."""
    place_of = (np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([0, 0, 1], np.int32))
    clique = HeldClique((0, 3, 2), place_of, np.full((2, 2, 2), 1 / 8, np.float32))
    linked = ~np.eye(4, dtype=np.bool_)
    return HeldTables((2, 2, 3, 2), np.zeros((9, 9), np.float32), (), (clique,), linked)


def test_components_make_cliques() -> None:
    rng = np.random.default_rng(1)
    weights, tables = np.array([1.0, 3.0]), [rng.dirichlet(np.ones(size), 2) for size in (2, 2, 3, 2)]
    (clique,) = with_clique().made_by(weights, tables).cliques
    joint = np.einsum("k,ka,kd,kc->adc", weights / 4, tables[0], tables[3][:, [1, 0]], tables[2])
    expected = np.stack([joint[..., :2].sum(axis=2), joint[..., 2]], axis=2)
    np.testing.assert_allclose(clique.wanted, expected, atol=1e-6)


def test_cells_of_cliques_are_numbered_by_steps() -> None:
    held = with_clique()
    steps = held.cliques[0].steps(held.starts, 9)
    row = held.starts + np.array([1, 0, 2, 0])
    assert steps[row].sum() == np.ravel_multi_index((1, 1, 1), (2, 2, 2))
    assert (steps[2:4] == 0).all()


def test_cliques_and_links_come_back() -> None:
    back = HeldTables.from_arrays(with_clique().to_arrays(), [], (2, 2, 3, 2), cliques=1)
    (clique,) = back.cliques
    assert clique.columns == (0, 3, 2)
    assert [each.tolist() for each in clique.place_of] == [[0, 1], [1, 0], [0, 0, 1]]
    assert back.linked is not None
    assert back.linked.dtype == np.bool_
    assert HeldTables.from_arrays({}, [], (2, 2), cliques=0).linked is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linked", np.zeros((3, 3), np.uint8)),
        ("clique.0.columns", np.array([0, 3, 4], np.int32)),
        ("clique.0.columns", np.array([0, 3, 3], np.int32)),
        ("clique.0.columns", np.array([0, 3], np.int32)),
        ("clique.0.place_of", np.array([0, 1, 1, 0, 0, 0, 2], np.int32)),
        ("clique.0.place_of", np.array([0, 1, 1, 0, 0, -1, 1], np.int32)),
        ("clique.0.place_of", np.array([0, 1, 1, 0, 0, 0], np.int32)),
        ("clique.0.wanted", np.zeros((2, 2), np.float32)),
        ("clique.0.wanted", np.zeros((2, 2, 2))),
    ],
)
def test_cliques_that_do_not_fit_are_refused(name: str, value: np.ndarray) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        HeldTables.from_arrays({**with_clique().to_arrays(), name: value}, [], (2, 2, 3, 2), cliques=1)
