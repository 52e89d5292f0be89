"""Merf and hermite for images: one release by class, bounded by 1, and images out at the end."""

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import pointillist as pt
from pointillist.curator.embedding import Embedding
from pointillist.errors import UsageError
from pointillist.features import ImageFourier, Records
from pointillist.features.serial import to_nodes
from pointillist.files.jsonable import finite
from pointillist.fitting.class_shares import class_shares
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.methods.base import Method
from pointillist.methods.image_hermite import ImageHermite
from pointillist.methods.image_merf import ImageMerf
from pointillist.plan import Plan, Request
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Neighbours
from pointillist.release import Measurement
from pointillist.schema import Categorical, Image, Schema

IMAGE = Image(height=6, width=5, colour=True)
LABEL = Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error")
LABELLED = Schema(name="pictures", columns={"image": IMAGE, "label": LABEL})
PLAIN = Schema(name="pictures", columns={"image": IMAGE})
TABLE = Schema(name="table", columns={"label": LABEL})
METHODS: dict[str, ImageMerf | ImageHermite] = {
    "merf": ImageMerf(features=40, length_scales=(0.2, 0.5)),
    "merf without counts": ImageMerf(features=40, count_share=0.0),
    "hermite": ImageHermite(order=4),
    "hermite with products": ImageHermite(order=3, products=4, product_order=2),
}
PIXELS = np.random.default_rng(0).integers(0, 256, (300, 6, 5, 3), dtype=np.uint8)
RECORDS = Records(300, {"label": (np.arange(300) % 3).astype(np.uint16)}, {}, {"image": PIXELS})


def planned(method: Method, schema: Schema, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Plan:
    return method.plan(Request(schema, Budget(1.0, 1e-5), neighbours))


def released(method: Method, plan: Plan) -> pt.Release:
    """As planned, with noise that a seed decides."""
    feature_map, grid = method.feature_map(plan, ()), plan.rounds[0].grid
    embedding = Embedding(feature_map, grid)
    embedding.add(RECORDS)
    noise = plan.sigma(0) * np.random.default_rng(0).standard_normal(feature_map.dimension)
    measured = Measurement(feature_map, embedding.sums() + np.rint(noise).astype(np.int64), grid, plan.sigma(0))
    schema, public = plan.request.schema, plan.request.neighbours is Neighbours.REPLACE_ONE
    return pt.Release(
        "x",
        pt.Release.now(),
        schema,
        plan.guarantee,
        schema.label,
        plan.published(),
        300 if public else None,
        "pyarrow",
        (measured,),
    )


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("schema", [LABELLED, PLAIN], ids=["labelled", "plain"])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_map_is_what_the_plan_says(name: str, schema: Schema, neighbours: Neighbours) -> None:
    method = METHODS[name]
    if name == "merf without counts" and neighbours is Neighbours.ADD_REMOVE:
        with pytest.raises(UsageError, match="count_share is 0"):
            planned(method, schema, neighbours)
        return
    plan = planned(method, schema, neighbours)
    feature_map = method.feature_map(plan, ())
    assert feature_map.dimension == plan.rounds[0].dimension
    assert feature_map.bound <= 1 + 1e-12
    assert feature_map.image_columns == {"image"}
    assert feature_map.code_columns == ({"label"} if schema is LABELLED else set())
    assert (np.linalg.norm(feature_map(RECORDS), axis=1) <= 1 + 1e-12).all()


def test_one_public_number_is_not_paid_for() -> None:
    """Without labels there is only the number of images to count, and replace-one has it public."""
    names = {
        each: [block.name for block in planned(METHODS["merf"], PLAIN, each).rounds[0].blocks] for each in Neighbours
    }
    assert names[Neighbours.REPLACE_ONE] == ["random features"]
    assert names[Neighbours.ADD_REMOVE] == ["random features", "image count"]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("schema", [LABELLED, PLAIN], ids=["labelled", "plain"])
def test_from_images_to_images(name: str, schema: Schema) -> None:
    method = METHODS[name]
    release = released(method, planned(method, schema))
    rows, label, shares = class_shares(release)
    assert rows == 300
    assert len(shares) == (3 if schema is LABELLED else 1)
    assert (label is None) == (schema is PLAIN)
    quick = ImageNetworkSettings(steps=3, batch=12, breadth=8)
    made = pt.fit(release, generator=quick).sample(10, seed=0)
    assert made.pixels.shape == (10, 6, 5, 3)


def test_images_are_counted_where_their_number_is_secret() -> None:
    """The count's noise is about 17 images at this budget: 8 standard deviations."""
    plan = planned(METHODS["merf"], PLAIN, Neighbours.ADD_REMOVE)
    release = released(METHODS["merf"], plan)
    block = plan.rounds[0].blocks[-1]
    assert abs(class_shares(release)[0] - 300) < 8 * plan.noise_rows(0, block)


@pytest.mark.parametrize("name", METHODS)
def test_a_plan_remembers_the_method(name: str) -> None:
    """Options pass through a file, and give the same map."""
    plan = planned(METHODS[name], LABELLED)
    options = finite(plan.to_json())["options"]
    again = type(METHODS[name])(**options)
    assert again == METHODS[name]
    assert to_nodes(again.feature_map(plan, ()))[0] == to_nodes(METHODS[name].feature_map(plan, ()))[0]
    assert asdict(again) == asdict(METHODS[name])


def test_length_scales_are_the_papers() -> None:
    """DP-MERF's variance for MNIST, 105, from public facts alone: frequencies have a standard deviation of 1/sqrt(105).

    Of 15,680 frequencies it is known to 0.6 percent: 4 percent is 7 standard errors.
    """
    schema = Schema(name="digits", columns={"image": Image(height=28, width=28)})
    method = ImageMerf(features=40)
    (waves,) = method.feature_map(planned(method, schema), ()).leaves
    assert isinstance(waves, ImageFourier)
    deviation = waves.frequencies.std() * waves.scale * 255
    assert deviation == pytest.approx(1 / math.sqrt(105), rel=0.04)


@pytest.mark.parametrize(
    ("method", "wrong", "message"),
    [
        (ImageMerf, {"features": 3}, "even"),
        (ImageMerf, {"features": 0}, "even"),
        (ImageMerf, {"length_scales": ()}, "length_scales"),
        (ImageMerf, {"length_scales": (0.0,)}, "length_scales"),
        (ImageMerf, {"length_scales": 0.3}, "list of numbers"),
        (ImageMerf, {"count_share": 1.0}, "count_share"),
        (ImageHermite, {"order": -1}, "order"),
        (ImageHermite, {"length_scale": 0.0}, "length_scale"),
        (ImageHermite, {"product_length_scale": -1.0}, "product_length_scale"),
        (ImageHermite, {"products": -1}, "products"),
        (ImageHermite, {"product_pixels": 1}, "product_pixels"),
        (ImageHermite, {"product_share": 0.0}, "product_share"),
    ],
)
def test_wrong_options_are_refused(method: type[ImageMerf | ImageHermite], wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        method(**wrong)


@pytest.mark.parametrize("name", ["merf", "hermite"])
def test_wrong_requests_are_refused(name: str) -> None:
    method, budget = METHODS[name], Budget(1.0, 1e-5)
    with pytest.raises(UsageError, match="is for images"):
        planned(method, TABLE)
    with pytest.raises(UsageError, match="is not the label"):
        method.plan(Request(LABELLED, budget, Neighbours.REPLACE_ONE, ("image",)))
    with pytest.raises(UsageError, match="takes one target"):
        method.plan(Request(LABELLED, budget, Neighbours.REPLACE_ONE, ("label", "image")))


def test_too_many_features_are_refused() -> None:
    with pytest.raises(UsageError, match="features are too many"):
        planned(ImageHermite(products=100, product_pixels=3, product_order=20), LABELLED)
    with pytest.raises(UsageError, match="more than an image has"):
        planned(ImageHermite(products=1, product_pixels=91), LABELLED)
