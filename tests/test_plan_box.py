"""Plan box: what would be measured, and that nothing is spent yet."""

from tests.fixtures.boxes import HOSTILE, hostile_schema, sound

import pointillist as pt
from pointillist.plan_box import plan_box


def test_a_plan_is_escaped_and_says_that_nothing_is_spent() -> None:
    box = sound(pt.plan(hostile_schema(), epsilon=1.0, target=HOSTILE)._repr_html_())
    assert "Nothing is spent yet" in box
    assert "The release will be (ε = 1" in box


def test_a_release_of_images_speaks_of_features() -> None:
    schema = pt.Schema(name="digits", columns={"image": pt.Image(height=8, width=8)})
    made = pt.plan(schema, epsilon=1.0)
    assert "noise per feature" in sound(plan_box(made.published(), schema, made.guarantee).to_html())
