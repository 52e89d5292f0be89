"""Domain: what a schema offers maps to read; maps of another schema do not fit."""

import pointillist as pt
from pointillist.features import Hermite, OneHot, Pixels, Tiles
from pointillist.features.domain import Domain

TABLE = pt.Schema(
    name="t",
    columns={
        "a": pt.Categorical(categories=("x", "y"), missing=False),
        "b": pt.Real(min=0, max=1, bins=8, missing=False),
        "c": pt.Ignore(),
    },
)
IMAGES = pt.Schema(
    name="i",
    columns={
        "image": pt.Image(height=4, width=3, colour=True),
        "label": pt.Categorical(categories=(0, 1), missing=False),
    },
)


def test_a_table_has_levels_and_numbers() -> None:
    domain = Domain.of(TABLE)
    assert dict(domain.sizes) == {"a": 3, "b": 8}  # a: others, too
    assert domain.numbers == {"b"}
    assert (domain.image, domain.pixels, domain.classes) == (None, 0, 1)


def test_images_have_a_shape_and_classes() -> None:
    domain = Domain.of(IMAGES)
    assert (domain.image, domain.shape, domain.pixels, domain.label) == ("image", (4, 3, 3), 36, "label")
    assert domain.classes == domain.sizes["label"]


def test_maps_fit_the_columns_that_they_read_and_their_sizes() -> None:
    table, images = Domain.of(TABLE), Domain.of(IMAGES)
    assert OneHot("a", 3).fits(table)
    assert not OneHot("a", 4).fits(table)
    assert not Tiles("c", (0, 1)).fits(table)
    assert Hermite("b", 3, 0.1).fits(table)
    assert not Hermite("a", 3, 0.1).fits(table)
    assert Pixels("image", 4, 3, 3, 1.0).fits(images)
    assert not Pixels("image", 3, 4, 3, 1.0).fits(images)
    assert not Pixels("image", 4, 3, 3, 1.0).fits(table)
