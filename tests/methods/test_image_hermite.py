"""Hermite for images: shares of the budget, and groups of pixels that a public seed draws. More is in test_image_merf."""

import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features import ImageHermite as Features
from pointillist.features import ImageHermiteProducts
from pointillist.plan import Request
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Neighbours

SCHEMA = pt.Schema(name="i", columns={"image": pt.Image(height=4, width=3)})
REQUEST = Request(SCHEMA, Budget(1.0, 1e-5), Neighbours.ADD_REMOVE)


def test_single_pixels_products_and_counts_share_the_length() -> None:
    method = pt.ImageHermite(order=2, products=5, product_order=1, product_share=0.2, count_share=0.1)
    found = method.feature_map(method.plan(REQUEST), ()).blocks()
    single, products, _ = (block for block, _ in found)
    assert isinstance(single, Features)
    assert isinstance(products, ImageHermiteProducts)
    assert len(products.groups) == 5
    assert [weight**2 for _, weight in found] == pytest.approx([0.72, 0.18, 0.1])


def test_groups_are_those_of_the_seed() -> None:
    def groups(seed: int) -> object:
        method = pt.ImageHermite(order=1, products=4, product_order=1, product_seed=seed)
        return next(leaf for leaf in method.feature_map(method.plan(REQUEST), ()).leaves if leaf.dimension == 16).groups

    assert groups(0) == groups(0)
    assert groups(0) != groups(1)


def test_more_features_than_anyone_can_use_are_refused() -> None:
    with pytest.raises(UsageError, match="features are too many"):
        pt.ImageHermite(products=2000, product_order=40).plan(REQUEST)
