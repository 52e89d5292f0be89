"""Held tables: those that components make, and arrays of a file in which compiled code finds every place."""

import numpy as np
import pytest

from pointillist.generators.held_tables import HeldTables, PairsByClass


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
