"""Image parts: measuring features of images by class, with the class counts beside them."""

from pointillist.errors import UsageError
from pointillist.features import Constant
from pointillist.methods.parts import Part, by_class, counts, require_one_target, require_rows
from pointillist.plan import Request
from pointillist.privacy.guarantee import Neighbours
from pointillist.schema import Image, Schema
from pointillist.schema.levels import Levels, levels_of


def image_of(schema: Schema, method: str) -> tuple[str, Image]:
    """The column of images."""
    if schema.image is None:
        raise UsageError(f"this {method} is for images, and the schema has none. Choose a method for tables.")
    return schema.image


def label_of_images(schema: Schema) -> Levels | None:
    """What images are labelled with."""
    return next((each for each in levels_of(schema) if each.name == schema.label), None)


def require_images(request: Request, method: str, count_share: float) -> None:
    """Refuse a request that the method cannot plan for."""
    image_of(request.schema, method)
    require_one_target(request, method)
    if request.target not in (None, request.schema.label):
        raise UsageError(
            f"target {request.target!r} is not the label of the images. Leave it out: {method} uses the label."
        )
    require_rows(request, count_share)


def spent_on_counts(request: Request, share: float) -> float:
    """The part of the budget that counts take: none where there is but one number to count, and it is public."""
    public = request.neighbours is Neighbours.REPLACE_ONE and request.schema.person is None
    return 0.0 if public and request.schema.label is None else share


def with_counts(parts: list[Part], schema: Schema, share: float) -> list[Part]:
    """Every part by class, and the class counts; or the parts as they are, and the number of images."""
    label = label_of_images(schema)
    if label is not None:
        return [*by_class(parts, label), *counts((), label, share)]
    return [*parts, *([Part("image count", Constant(), share)] if share else [])]
