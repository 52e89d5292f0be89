"""Scales: strictly increasing, there and back; asinh is odd, linear near zero and a logarithm far from it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.schema.scale import Scale

NAMES = ("linear", "log", "asinh")


@given(st.sampled_from(NAMES), st.lists(st.floats(1e-6, 1e12), min_size=2, max_size=10, unique=True))
def test_there_and_back_in_order(name: str, values: list[float]) -> None:
    numbers = np.sort(np.array(values))
    scale = Scale.of(name, numbers[0], numbers[-1])
    bent = scale.bend(numbers)
    assert (np.diff(bent) >= 0).all()
    np.testing.assert_allclose(scale.unbend(bent), numbers, rtol=1e-9)
    assert scale.ends(numbers[0], numbers[-1]) == pytest.approx((bent[0], bent[-1]))


@given(st.floats(1e-3, 1e300))
def test_asinh_is_odd(value: float) -> None:
    scale = Scale.of("asinh", -value, value)
    assert scale.bend(np.array([-value]))[0] == -scale.bend(np.array([value]))[0]
    assert scale.bend(np.zeros(1))[0] == 0.0


def test_asinh_is_linear_near_zero_and_a_logarithm_far_from_it() -> None:
    scale = Scale.of("asinh", -10.0, 1000.0)
    assert scale.width == 1.0
    near, far = scale.bend(np.array([0.01, 0.02])), scale.bend(np.array([100.0, 1000.0]))
    assert near[1] / near[0] == pytest.approx(2, rel=1e-3)
    assert far[1] - far[0] == pytest.approx(math.log(10), rel=1e-3)


def test_the_smallest_bounds_have_a_width() -> None:
    assert Scale.of("asinh", -5e-324, 5e-324).width > 0
