import datetime as dt
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.fixtures.schemas import ORIGIN, one_column, refusal

from pointillist.errors import SchemaError
from pointillist.schema import Boolean, Categorical, Datetime, Derived, Ignore, Integer, Ordinal, Person, Real, Schema

MANY = settings(deadline=None, max_examples=100)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
odd_names = texts | st.sampled_from(
    [
        "two words",
        "a.b",
        'say "x"',
        "it's",
        "'\"",
        "größe",
        "年龄",
        "",
        "#",
        "[x]",
        "a = 1",
        "line\nbreak",
        "\x7f",
        "kind",
    ]
)
exact_ints = st.integers(-(2**53), 2**53)


def _common(*facts: str) -> dict[str, st.SearchStrategy[Any]]:
    read = st.lists(st.sampled_from(["missing", *facts]), unique=True).map(tuple)
    return {"missing": st.booleans(), "description": texts, "read_from_data": read}


@st.composite
def names(draw: st.DrawFn) -> Categorical | Ordinal:
    kind = draw(st.sampled_from([Categorical, Ordinal]))
    values = draw(st.lists(texts, min_size=1, max_size=5, unique=True) | st.lists(exact_ints, min_size=1, unique=True))
    label = draw(texts.filter(lambda text: text not in values))
    options = draw(st.fixed_dictionaries(_common("categories")))
    rule = draw(st.sampled_from(["other", "error"]))
    return kind(categories=tuple(values), other_label=label, out_of_domain=rule, **options)


def _numeric_options(*facts: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        _common("min", "max", *facts),
        optional={"bins": st.integers(2, 4096), "out_of_domain": st.sampled_from(["clip", "error"])},
    )


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    low, high = sorted(draw(st.lists(st.integers(-(2**53) + 1, 2**53 - 1), min_size=2, max_size=2, unique=True)))
    scale = draw(st.sampled_from(["linear", "log"] if 0 < low < high / 1.001 else ["linear"]))
    special = tuple(draw(st.lists(exact_ints, max_size=3, unique=True)))
    return Integer(min=low, max=high, scale=scale, special=special, **draw(_numeric_options("special", "scale")))


@st.composite
def reals(draw: st.DrawFn) -> Real:
    wide = st.floats(-1e300, 1e300)
    low, high = sorted(draw(st.lists(wide, min_size=2, max_size=2, unique=True)))
    scale = draw(st.sampled_from(["linear", "log"] if 0 < low < high / 1.001 else ["linear"]))
    special = tuple(draw(st.lists(st.floats(-(2.0**53), 2.0**53), max_size=3, unique=True)))
    decimals = draw(st.none() | st.integers(0, 12))
    options = draw(_numeric_options("special", "scale", "decimals"))
    return Real(min=low, max=high, scale=scale, special=special, decimals=decimals, **options)


@st.composite
def datetimes(draw: st.DrawFn) -> Datetime:
    days = st.lists(
        st.datetimes() | st.dates().map(_midnight), min_size=2, max_size=2, unique_by=lambda when: when.date()
    )
    low, high = sorted(draw(days))
    resolution = draw(st.sampled_from(["day", "second"]))
    layout = draw(st.none() | st.sampled_from(["%d/%m/%Y", "%Y%m%d %H:%M"]))
    return Datetime(min=low, max=high, resolution=resolution, format=layout, **draw(_numeric_options()))


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime(day.year, day.month, day.day)


measured = names() | integers() | reals() | datetimes() | st.fixed_dictionaries(_common()).map(lambda o: Boolean(**o))
ignored = st.fixed_dictionaries(_common("kind")).map(lambda options: Ignore(**options))


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    columns = draw(st.dictionaries(odd_names, measured | ignored, max_size=4))
    columns[draw(odd_names)] = draw(measured)
    free = odd_names.filter(lambda name: name not in columns or isinstance(columns[name], Ignore))
    return Schema(
        name=draw(texts.filter(bool)),
        reviewed=draw(st.booleans()),
        rows=draw(st.none() | st.integers(1, 10**12)),
        person=draw(st.none() | st.builds(Person, column=free, max_rows=st.integers(1, 10**6))),
        columns=columns,
    )


FULL = Schema(
    name="study",
    rows=5000,
    person=Person(column="id", max_rows=3),
    columns={
        "id": Ignore(description="names the person"),
        "colour": Categorical(categories=("red", "blue"), out_of_domain="error", missing=False),
        "code": Categorical(categories=(1, 2, 9), other_label="none of them"),
        "grade": Ordinal(categories=("low", "high"), other_label="unknown", description='said "so"'),
        "alive": Boolean(missing=False),
        "visits": Integer(min=0, max=50, bins=20, special=(-1, 0), out_of_domain="error"),
        "income": Real(min=1, max=1e6, scale="log", special=(0.0, -1.0), decimals=2, bins=64),
        "born": Datetime(min=dt.datetime(1900, 1, 1), max=dt.datetime(2020, 12, 31), format="%d/%m/%Y"),
        "seen": Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2021, 1, 1, 23, 59, 59), resolution="second"),
    },
)


class TestRoundTrip:
    def test_every_kind_and_option_survives_toml(self) -> None:
        assert Schema.parse(tomllib.loads(FULL.to_toml())) == FULL

    def test_every_kind_and_option_survives_json(self) -> None:
        assert Schema.from_json(json.loads(json.dumps(FULL.to_json(), allow_nan=False))) == FULL

    @MANY
    @given(schemas())
    def test_any_schema_survives_toml(self, schema: Schema) -> None:
        assert Schema.parse(tomllib.loads(schema.to_toml())) == schema

    @MANY
    @given(schemas())
    def test_any_schema_survives_json(self, schema: Schema) -> None:
        assert Schema.from_json(json.loads(json.dumps(schema.to_json(), allow_nan=False))) == schema

    @MANY
    @given(schemas())
    def test_the_order_of_columns_survives(self, schema: Schema) -> None:
        assert list(Schema.parse(tomllib.loads(schema.to_toml())).columns) == list(schema.columns)

    def test_a_file_is_loaded(self, tmp_path: Path) -> None:
        path = tmp_path / "study.toml"
        path.write_text(FULL.to_toml(), encoding="utf-8")
        assert Schema.load(path) == FULL
        assert Schema.load(str(path)) == FULL

    def test_days_are_written_as_dates(self) -> None:
        toml = FULL.to_toml()
        assert "min = 1900-01-01\n" in toml
        assert tomllib.loads(toml)["columns"]["seen"]["max"] == dt.datetime(2021, 1, 1, 23, 59, 59)


class TestDraftMarks:
    draft = Schema(
        name="study",
        reviewed=False,
        rows=5000,
        read_from_data=("rows",),
        columns={
            "age": Integer(min=0, max=99, read_from_data=("min", "max")),
            "pay": Real(
                min=1, max=9, special=(0.0,), scale="log", decimals=1, read_from_data=("special", "scale", "decimals")
            ),
            "town": Categorical(categories=("Ay", "Bee"), read_from_data=("categories", "missing")),
            "note": Ignore(read_from_data=("kind",)),
            "sex": Categorical(categories=("f", "m")),
        },
    )

    def test_a_draft_says_so_at_the_top(self) -> None:
        first = self.draft.to_toml().splitlines()[0]
        assert first.startswith("# A DRAFT, NOT PRIVATE YET")
        assert "reviewed = false" in self.draft.to_toml()

    def test_a_reviewed_schema_has_no_notice(self) -> None:
        reviewed = self.draft.model_copy(update={"reviewed": True}).to_toml()
        assert "DRAFT" not in reviewed
        assert "rows = 5000 # READ FROM THE DATA" in reviewed

    def test_each_fact_from_the_data_is_marked_and_no_other(self) -> None:
        marked: dict[str, set[str]] = {}
        column = ""
        for line in self.draft.to_toml().splitlines():
            if header := re.fullmatch(r"\[columns\.(\w+)\]", line):
                column = header[1]
            elif "READ FROM THE DATA" in line and not line.startswith("#"):
                marked.setdefault(column, set()).add(line.split(" = ")[0])
        assert marked == {name: set(facts) for name, facts in self.draft.vouched.items()}

    @MANY
    @given(schemas())
    def test_marks_do_not_change_the_facts(self, schema: Schema) -> None:
        draft = schema.model_copy(update={"reviewed": False})
        assert Schema.parse(tomllib.loads(draft.to_toml())) == draft

    def test_facts_are_listed_by_column(self) -> None:
        assert set(self.draft.vouched) == {"", "age", "pay", "town", "note"}
        assert self.draft.vouched["age"] == ("min", "max")
        assert self.draft.vouched[""] == ("rows",)

    def test_a_draft_is_refused_until_reviewed(self) -> None:
        with pytest.raises(SchemaError, match=r"study\.toml: this schema is a draft.*reviewed = true"):
            self.draft.require_reviewed(ORIGIN)
        self.draft.model_copy(update={"reviewed": True}).require_reviewed(ORIGIN)


REAL = {"kind": "real", "min": 0, "max": 1}
NAMED = {"kind": "categorical", "categories": ["a", "b"]}

COLUMN_RULES: dict[str, tuple[dict[str, Any], str]] = {
    "no kind": ({"min": 0, "max": 1}, "kind is not given. Kinds: categorical"),
    "unknown kind": ({"kind": "float"}, "kind 'float' is not known. Kinds: categorical"),
    "unknown setting": ({**REAL, "bin": 5}, "bin: is not a known setting here"),
    "missing as text": ({"kind": "boolean", "missing": "yes"}, "missing"),
    "settings of another kind": ({"kind": "boolean", "min": 0}, "min: is not a known setting here"),
}


class TestColumnRules:
    @pytest.mark.parametrize(("facts", "rule"), COLUMN_RULES.values(), ids=COLUMN_RULES.keys())
    def test_a_broken_rule_is_named_with_file_and_column(self, facts: dict[str, Any], rule: str) -> None:
        message = refusal(one_column(**facts))
        assert message.startswith(f"{ORIGIN}: column 'x'")
        assert rule in message

    def test_a_column_that_is_no_table(self) -> None:
        assert refusal({"name": "study", "columns": {"x": 5}}).startswith(f"{ORIGIN}: column 'x'")

    def test_each_mistake_has_its_own_line(self) -> None:
        message = refusal({"name": "study", "columns": {"x": {"kind": "real"}, "y": {**NAMED, "colour": 1}}})
        assert len(message.splitlines()) == 3
        assert "column 'y': colour" in message

    @MANY
    @given(odd_names)
    def test_odd_column_names_are_shown(self, name: str) -> None:
        assert f"column {name!r}: kind" in refusal({"name": "study", "columns": {name: {"kind": "float"}}})

    def test_columns_cannot_be_changed(self) -> None:
        with pytest.raises(ValidationError):
            FULL.columns["visits"].max = 99


class TestTableRules:
    @pytest.mark.parametrize(
        ("change", "rule"),
        [
            ({"name": ""}, "name"),
            ({"name": "n" * 201}, "name"),
            ({"name": 5}, "name"),
            ({"rows": 0}, "rows"),
            ({"rows": 1.5}, "rows"),
            ({"reviewed": "yes"}, "reviewed"),
            ({"title": "x"}, "title: is not a known setting here"),
            ({"format": 2}, "schema format 2 is not known to this version"),
            ({"format": "one"}, "schema format 'one' is not known"),
            ({"columns": []}, "columns"),
            ({"columns": {}}, "no column is left to measure"),
            ({"columns": {"x": {"kind": "ignore"}}}, "no column is left to measure"),
            ({"person": {"column": "x", "max_rows": 1}}, "column 'x' names the person and may not be measured"),
            ({"person": {"column": "id", "max_rows": 0}}, "person.max_rows"),
            ({"person": {"column": "id"}}, "person.max_rows: is required"),
            ({"person": {"max_rows": 1}}, "person.column: is required"),
            ({"person": {"column": "id", "max_rows": 1, "cap": 2}}, "person.cap: is not a known setting here"),
            ({"person": "id"}, "person"),
        ],
    )
    def test_a_broken_rule_is_named_with_its_file(self, change: dict[str, Any], rule: str) -> None:
        message = refusal({**one_column(kind="boolean"), **change})
        assert message.startswith(f"{ORIGIN}: ")
        assert rule in message

    @pytest.mark.parametrize("key", ["name", "columns"])
    def test_required_facts(self, key: str) -> None:
        facts = one_column(kind="boolean")
        del facts[key]
        assert refusal(facts) == f"{ORIGIN}: {key}: is required."

    @pytest.mark.parametrize(
        "columns", [{"x": {"kind": "boolean"}}, {"x": {"kind": "boolean"}, "id": {"kind": "ignore"}}]
    )
    def test_the_person_is_an_ignored_or_an_unlisted_column(self, columns: dict[str, Any]) -> None:
        schema = Schema.parse({"name": "s", "columns": columns, "person": {"column": "id", "max_rows": 2}})
        assert schema.person == Person(column="id", max_rows=2)
        assert list(schema.measured) == ["x"]

    def test_measured_columns_keep_their_order(self) -> None:
        assert list(FULL.measured) == [name for name in FULL.columns if name != "id"]

    def test_a_role_needs_a_measured_column(self) -> None:
        FULL.require_column("born", role="target")
        for name in ("id", "nowhere"):
            with pytest.raises(SchemaError, match=f"target '{name}' is not a measured column.*colour, code"):
                FULL.require_column(name, role="target")


class TestLoad:
    def test_no_such_file(self, tmp_path: Path) -> None:
        path = tmp_path / "none.toml"
        with pytest.raises(SchemaError, match="no such schema file") as caught:
            Schema.load(path)
        assert str(path) in str(caught.value)

    @pytest.mark.parametrize(
        ("content", "rule"),
        [
            (b"name = ", "not valid TOML"),
            (b"name = 'a'\nname = 'b'\n", "not valid TOML"),
            (b"\xff\xfe\x00", "not a text file"),
            (b"", "name: is required"),
            (b"name = 's'\n[columns.x]\nkind = 'real'\n", "column 'x': min: is required"),
        ],
    )
    def test_a_bad_file_is_named_with_its_fault(self, tmp_path: Path, content: bytes, rule: str) -> None:
        path = tmp_path / "bad.toml"
        path.write_bytes(content)
        with pytest.raises(SchemaError) as caught:
            Schema.load(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert rule in str(caught.value)

    def test_a_folder_is_no_schema(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaError, match="cannot be read"):
            Schema.load(tmp_path)


def test_a_derived_target_says_what_it_follows_from() -> None:
    columns = {"a": Integer(min=0, max=9), "b": Integer(min=0, max=9), "sum": Derived(derived="a + b")}
    schema = Schema(name="s", columns=columns)
    with pytest.raises(SchemaError, match=r"target 'sum' is derived and follows from a, b.*one of these"):
        schema.require_column("sum", role="target")


def test_every_fact_that_is_vouched_for_can_be_looked_up() -> None:
    """The order and the number of persons are vouched for as the table's, and stand under its person."""
    person = Person(column="id", max_rows=3, order="day", persons=1_500)
    column = Integer(min=0, max=365, read_from_data=("max",))
    read = ("rows", "order", "persons")
    schema = Schema(name="t", rows=4_000, read_from_data=read, person=person, columns={"day": column})
    found = {(name, fact): schema.fact(name, fact) for name, facts in schema.vouched.items() for fact in facts}
    assert found == {("", "rows"): 4_000, ("", "order"): "day", ("", "persons"): 1_500, ("day", "max"): 365}
