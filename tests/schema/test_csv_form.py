"""How CSV files are written is a public fact of the schema, and files without it stay as they were."""

import tomllib

import pytest

from pointillist.errors import SchemaError
from pointillist.schema import Real, Schema
from pointillist.schema.csv_form import CsvForm

PLAIN = Schema(name="s", columns={"x": Real(min=0, max=9)})


def test_it_is_kept_in_toml_and_json() -> None:
    schema = PLAIN.model_copy(update={"csv": CsvForm(delimiter=";", decimal=",")})
    assert Schema.parse(tomllib.loads(schema.to_toml())) == schema
    assert Schema.from_json(schema.to_json()) == schema


def test_files_without_it_stay_as_they_were() -> None:
    assert "csv" not in PLAIN.to_toml()
    assert "csv" not in PLAIN.to_json()


@pytest.mark.parametrize("facts", [{"delimiter": ""}, {"delimiter": "ab"}, {"delimiter": '"'}, {"decimal": ";"}])
def test_what_no_file_can_have_is_refused(facts: dict[str, str]) -> None:
    with pytest.raises(SchemaError, match="csv"):
        Schema.parse({**PLAIN.model_dump(), "csv": facts})
