"""How feature maps compose: bounds, blocks and factors, and what cannot be composed."""

import math
from collections.abc import Callable

import pytest
from tests.fixtures.maps import FOURIER, A, B, Y

from pointillist.features import Concat, Constant, FeatureMap, Labelled, Product, Weighted


@pytest.mark.parametrize(
    "make",
    [
        lambda: Concat(()),
        lambda: Product(()),
        lambda: Product((A, A)),
        lambda: Weighted(A, -1.0),
        lambda: Weighted(A, math.inf),
        lambda: Labelled((FOURIER, A)),
        lambda: Labelled((A, B, Y)),
    ],
)
def test_impossible_maps_are_refused(make: Callable[[], FeatureMap]) -> None:
    with pytest.raises(ValueError):
        make()


def test_bounds_compose() -> None:
    assert Concat((Weighted(A, 0.6), Weighted(B, 0.8))).bound == pytest.approx(1.0)
    assert Product((Weighted(A, 0.5), Weighted(B, 0.5))).bound == pytest.approx(0.25)
    assert not FOURIER.nonnegative
    assert Product((A, B)).nonnegative


def test_blocks_stand_in_the_order_of_their_features_with_their_weights() -> None:
    inner = Concat((Weighted(A, 0.5), Product((A, B))))
    whole = Concat((Weighted(inner, 0.5), Weighted(Weighted(FOURIER, 0.1), 0.2)))
    assert whole.blocks() == [(A, 0.25), (Product((A, B)), 0.5), (FOURIER, pytest.approx(0.02))]
    assert sum(block.dimension for block, _ in whole.blocks()) == whole.dimension


def test_factors_of_products_within_products() -> None:
    assert Labelled.of(Product((A, Product((B, FOURIER)))), Y).factors == (Y, A, B, FOURIER)
    assert Weighted(Product((A, B)), 0.5).factors == (Weighted(Product((A, B)), 0.5),)


def test_what_has_a_soft_form() -> None:
    class Hard(Constant):
        soft = FeatureMap.soft

    assert Concat((Weighted(Product((A, FOURIER)), 0.5), Constant())).has_soft
    assert not Concat((Weighted(Hard(), 0.5), A)).has_soft
