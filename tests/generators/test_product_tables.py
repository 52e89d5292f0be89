"""Product tables: joint tables of components, and slopes in them as slopes in every column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.generators.product_tables import cells_of, joint_table, slopes_of


def tables(sizes: list[int], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.dirichlet(np.ones(size), 3).astype(np.float32) for size in sizes]


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4), seed=st.integers(0, 1000))
def test_a_joint_table_is_the_weighted_sum_of_products(sizes: list[int], seed: int) -> None:
    made = tables(sizes, seed)
    weights = np.array([0.5, 0.3, 0.2], dtype=np.float32)
    expected = sum(
        weight * np.einsum(",".join("abcd"[: len(sizes)]), *(table[k] for table in made)).reshape(sizes)
        for k, weight in enumerate(weights)
    )
    np.testing.assert_allclose(joint_table(weights, made), expected, atol=1e-6)
    np.testing.assert_allclose(weights @ cells_of(made), expected.ravel(), atol=1e-6)


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4), seed=st.integers(0, 1000))
def test_slopes_are_those_of_finite_differences(sizes: list[int], seed: int) -> None:
    """Each column enters a cell once, so differences are exact."""
    made = tables(sizes, seed)
    force = np.random.default_rng(seed).standard_normal((3, int(np.prod(sizes)))).astype(np.float32)
    for number, slope in enumerate(slopes_of(made, force)):
        assert slope.shape == made[number].shape
        place = (seed % 3, seed % sizes[number])
        raised = [each.copy() for each in made]
        raised[number][place] += 1.0
        change = float(np.sum(force * (cells_of(raised) - cells_of(made))))
        assert change == pytest.approx(float(slope[place]), abs=1e-4)
