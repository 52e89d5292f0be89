"""SDV's metadata: read in every form, held against the schema, and every mistake named."""

import json
from pathlib import Path

import pytest

import pointillist as pt
from pointillist.adapters.sdv_metadata import Metadata
from pointillist.errors import UsageError

COLUMNS = {
    "id": {"sdtype": "id"},
    "age": {"sdtype": "numerical", "computer_representation": "Int64"},
    "sex": {"sdtype": "categorical"},
}
SCHEMA = pt.Schema(
    name="people",
    columns={"id": pt.Ignore(), "age": pt.Integer(min=0, max=99), "sex": pt.Categorical(categories=("f", "m"))},
)


class Described:
    """As SDV's own object gives its facts away."""

    def to_dict(self) -> dict[str, object]:
        return {"tables": {"people": {"primary_key": "id", "columns": COLUMNS}}, "METADATA_SPEC_VERSION": "V1"}


def test_every_form_is_read(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"columns": COLUMNS}), encoding="utf-8")
    for given in ({"columns": COLUMNS}, Described(), Described().to_dict(), tmp_path / "m.json"):
        read = Metadata.read(given)
        assert read.columns == COLUMNS
        assert read.left_out == ("id",)
        read.require(SCHEMA)
    assert list(read.without({"id"})["columns"]) == ["age", "sex"]


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="describes 2 tables"):
        Metadata.read({"tables": {"a": {}, "b": {}}})
    with pytest.raises(UsageError, match="names no columns"):
        Metadata.read({"columns": {"age": {}}})
    with pytest.raises(UsageError, match=r"none\.json: is not a JSON file"):
        Metadata.read(tmp_path / "none.json")
    with pytest.raises(UsageError, match="column 'town' stands only in one"):
        Metadata.read({"columns": {**COLUMNS, "town": {"sdtype": "categorical"}}}).require(SCHEMA)
    with pytest.raises(UsageError, match="column 'age' is datetime in the metadata and integer in the schema"):
        Metadata.read({"columns": {**COLUMNS, "age": {"sdtype": "datetime"}}}).require(SCHEMA)
    with pytest.raises(UsageError, match=r"column 'sex' is email in the metadata.*ignore"):
        Metadata.read({"columns": {**COLUMNS, "sex": {"sdtype": "email"}}}).require(SCHEMA)
