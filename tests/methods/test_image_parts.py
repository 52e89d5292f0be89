"""Image parts: the column of images and its label, counts that are paid for only where they are secret."""

import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features import Constant, Labelled, OneHot, Pixels
from pointillist.methods.image_parts import image_of, label_of_images, require_images, spent_on_counts, with_counts
from pointillist.methods.parts import Part
from pointillist.plan import Request
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Neighbours

IMAGE = pt.Image(height=3, width=3)
LABEL = pt.Categorical(categories=("a", "b"), missing=False, out_of_domain="error")
PLAIN = pt.Schema(name="i", columns={"image": IMAGE})
LABELLED = pt.Schema(name="i", columns={"image": IMAGE, "label": LABEL})
TABLE = pt.Schema(name="t", columns={"label": LABEL})
PIXELS = Part("pixels", Pixels("image", 3, 3, 1, 1.0), 0.9)


def request(schema: pt.Schema, neighbours: Neighbours, target: str | None = None) -> Request:
    return Request(schema, Budget(1.0, 1e-5), neighbours, () if target is None else (target,))


def test_the_column_and_its_label() -> None:
    assert image_of(PLAIN, "merf") == ("image", IMAGE)
    assert label_of_images(PLAIN) is None
    label = label_of_images(LABELLED)
    assert label is not None
    assert (label.name, label.size) == ("label", 2)
    with pytest.raises(UsageError, match="this merf is for images, and the schema has none"):
        image_of(TABLE, "merf")


def test_counts_are_paid_for_unless_the_only_one_is_public() -> None:
    assert spent_on_counts(request(PLAIN, Neighbours.REPLACE_ONE), 0.1) == 0
    assert spent_on_counts(request(PLAIN, Neighbours.ADD_REMOVE), 0.1) == 0.1
    assert spent_on_counts(request(LABELLED, Neighbours.REPLACE_ONE), 0.1) == 0.1


def test_parts_are_by_class_where_there_is_a_label() -> None:
    label = OneHot("label", 2)
    assert [part.map for part in with_counts([PIXELS], LABELLED, 0.1)] == [Labelled.of(PIXELS.map, label), label]
    assert [part.map for part in with_counts([PIXELS], PLAIN, 0.1)] == [PIXELS.map, Constant()]
    assert with_counts([PIXELS], PLAIN, 0.0) == [PIXELS]


def test_requests_that_cannot_be_planned_for() -> None:
    require_images(request(LABELLED, Neighbours.ADD_REMOVE, "label"), "merf", 0.1)
    with pytest.raises(UsageError, match="target 'image' is not the label"):
        require_images(request(LABELLED, Neighbours.ADD_REMOVE, "image"), "merf", 0.1)
    with pytest.raises(UsageError, match="count_share is 0"):
        require_images(request(PLAIN, Neighbours.ADD_REMOVE), "merf", 0.0)
