import pytest

import pointillist as pt
from pointillist.errors import SchemaError
from pointillist.studio.column_form import changed, fields_of, kinds


@pytest.fixture
def drafted() -> pt.Schema:
    return pt.Schema(
        name="t",
        reviewed=False,
        columns={
            "age": pt.Integer(min=0, max=97, special=(-1,), missing=False, read_from_data=("min", "max")),
            "job": pt.Categorical(categories=("cook", "smith"), read_from_data=("kind", "categories")),
            "seen": pt.Datetime(min="2020-01-01", max="2021-01-01"),
        },
    )


def filled(schema: pt.Schema, name: str, **fields: str) -> dict[str, str]:
    """The form as the page shows it, with some fields changed."""
    column = schema.columns[name]
    shown = {each.name: each.value for each in fields_of(column)}
    return {"kind": column.kind, **({"missing": "yes"} if column.missing else {}), **shown, **fields}


@pytest.mark.parametrize("name", ["age", "job", "seen"])
def test_a_form_that_is_sent_as_it_is_changes_nothing(drafted: pt.Schema, name: str) -> None:
    assert changed(drafted, name, filled(drafted, name)) == drafted


def test_what_is_changed_is_the_owners_word(drafted: pt.Schema) -> None:
    column = changed(drafted, "age", filled(drafted, "age", max="120")).columns["age"]
    assert (column.min, column.max, column.special) == (0, 120, (-1,))
    assert column.read_from_data == ("min",)


def test_lists_have_an_entry_on_each_line(drafted: pt.Schema) -> None:
    made = changed(drafted, "job", filled(drafted, "job", categories="cook\n smith \n\nnurse"))
    assert made.columns["job"].categories == ("cook", "smith", "nurse")
    assert made.columns["job"].read_from_data == ("kind",)
    assert changed(drafted, "age", filled(drafted, "age", special="-1\n-9")).columns["age"].special == (-1, -9)


def test_another_kind_keeps_what_it_can(drafted: pt.Schema) -> None:
    real = changed(drafted, "age", filled(drafted, "age", kind="real")).columns["age"]
    assert isinstance(real, pt.Real)
    assert (real.min, real.max) == (0.0, 97.0)
    ignored = changed(drafted, "job", filled(drafted, "job", kind="ignore")).columns["job"]
    assert isinstance(ignored, pt.Ignore)
    assert ignored.read_from_data == ()


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("age", {"max": "-5"}, "column 'age'"),
        ("age", {"max": "many"}, "'many' is not a number"),
        ("age", {"max": ""}, "max: is required"),
        ("job", {"categories": "a\na"}, "has an entry twice"),
        ("job", {"kind": "nothing"}, "kind 'nothing' is not known"),
    ],
)
def test_mistakes_name_the_column_and_the_rule(
    drafted: pt.Schema, name: str, fields: dict[str, str], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        changed(drafted, name, filled(drafted, name, **fields))


def test_fields_are_those_of_the_kind(drafted: pt.Schema) -> None:
    assert {"categories", "description"} <= {each.name for each in fields_of(drafted.columns["age"], "categorical")}
    read = {each.name for each in fields_of(drafted.columns["age"]) if each.read}
    assert read == {"min", "max"}
    assert "ordinal" in kinds()
