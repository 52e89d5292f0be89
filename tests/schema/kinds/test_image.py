"""The image kind of column, and what a schema with images may hold."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import SchemaError
from pointillist.schema.kinds import AnyColumn

LABEL = {"kind": "categorical", "categories": ["a", "b"]}
IMAGE = {"kind": "image", "height": 4, "width": 3}


def parsed(**columns: dict[str, Any]) -> pt.Schema:
    return pt.Schema.parse({"name": "pictures", "columns": columns})


@given(height=st.integers(1, 128), width=st.integers(1, 128), colour=st.booleans())
def test_the_shape_is_height_width_and_channels(height: int, width: int, colour: bool) -> None:
    image = pt.Image(height=height, width=width, colour=colour)
    assert image.shape == (height, width, image.channels)
    assert image.channels == (3 if colour else 1)


def test_defaults() -> None:
    image = pt.Image(height=4, width=3)
    assert (image.kind, image.colour, image.resize, image.missing) == ("image", False, "stretch", False)
    assert isinstance(image, AnyColumn)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("height", 0),
        ("width", 129),
        ("height", 4.0),
        ("width", "4"),
        ("colour", 3),
        ("resize", "cut"),
        ("missing", True),
        ("categories", ["a"]),
    ],
)
def test_settings_that_cannot_be_are_refused(name: str, value: object) -> None:
    with pytest.raises(SchemaError, match=f"schema: column 'image': {name}: "):
        parsed(image={**IMAGE, name: value})


@pytest.mark.parametrize("name", ["height", "width"])
def test_the_size_must_be_given(name: str) -> None:
    with pytest.raises(SchemaError, match=f"column 'image': {name}: is required"):
        parsed(image={key: value for key, value in IMAGE.items() if key != name})


def test_image_and_label_are_found_by_kind_not_by_name() -> None:
    schema = parsed(sort=LABEL, scan=IMAGE, note={"kind": "ignore"})
    assert schema.image == ("scan", pt.Image(height=4, width=3))
    assert schema.label == "sort"
    assert list(schema.measured) == ["sort", "scan"]
    plain = parsed(scan=IMAGE)
    assert plain.image is not None
    assert plain.label is None


def test_a_table_has_neither() -> None:
    schema = parsed(sort=LABEL)
    assert schema.image is None
    assert schema.label is None


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "boolean"},
        {"kind": "integer", "min": 0, "max": 9},
        {"kind": "ordinal", "categories": ["low", "high"]},
        {"kind": "real", "min": 0.0, "max": 1.0},
    ],
    ids=lambda facts: facts["kind"],
)
def test_a_label_is_categorical(other: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r'a categorical one: the label\. Set the others. kind to "ignore"'):
        parsed(image=IMAGE, label=other)


def test_there_is_one_label() -> None:
    with pytest.raises(SchemaError, match="beside an image, one column can be measured"):
        parsed(image=IMAGE, label=LABEL, second=LABEL)


def test_there_is_one_image() -> None:
    with pytest.raises(
        SchemaError, match=r"columns 'front', 'back' are images: one can be measured\. Ignore the others"
    ):
        parsed(front=IMAGE, back=IMAGE, label=LABEL)


def test_an_image_is_a_record_of_its_own() -> None:
    """The promise is for one image: a person with several would be promised more than is kept."""
    facts = {"name": "s", "columns": {"image": IMAGE, "label": LABEL}, "person": {"column": "id", "max_rows": 2}}
    with pytest.raises(SchemaError, match="each image is a record of its own"):
        pt.Schema.parse(facts)


def test_constraints_are_for_tables() -> None:
    facts = {
        "name": "s",
        "columns": {"image": IMAGE, "label": LABEL},
        "constraints": [{"impossible": {"label": ["a"], "image": ["b"]}}],
    }
    with pytest.raises(SchemaError, match="constraints are for tables"):
        pt.Schema.parse(facts)


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("resize", ["stretch", "crop", "pad", "error"])
def test_files_keep_images(colour: bool, resize: str, tmp_path: Path) -> None:
    schema = parsed(image={**IMAGE, "colour": colour, "resize": resize}, label=LABEL)
    path = tmp_path / "schema.toml"
    path.write_text(schema.to_toml(), encoding="utf-8")
    assert pt.Schema.load(path) == schema
    assert pt.Schema.from_json(schema.to_json()) == schema


def test_the_promise_is_for_one_image() -> None:
    promised = pt.plan(parsed(image=IMAGE, label=LABEL), epsilon=1.0).guarantee
    assert promised.unit == "one image"
    assert promised.person is None
