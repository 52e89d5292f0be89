import json
import tomllib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pointillist.demo.people import REGIONS, SCHEMA, TARGET, simulate
from pointillist.reading.encoding import Encoder
from pointillist.reading.opening import open_source
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of


@pytest.fixture(scope="module")
def registry() -> pa.Table:
    return simulate()


def shares(table: pa.Table, column: str) -> dict[Any, float]:
    return {entry["values"]: entry["counts"] / len(table) for entry in table[column].value_counts().to_pylist()}


def test_the_same_seed_gives_the_same_table(registry: pa.Table) -> None:
    assert simulate().equals(registry)
    assert simulate(500, seed=1).equals(simulate(500, seed=1))
    assert not simulate(500, seed=1).equals(simulate(500, seed=2))


def test_the_size(registry: pa.Table) -> None:
    assert registry.num_rows >= 20_000
    assert registry.num_rows == SCHEMA.rows
    assert simulate(123).num_rows == 123


def test_the_columns_are_those_of_the_schema(registry: pa.Table) -> None:
    assert registry.column_names == list(SCHEMA.columns)
    assert TARGET in SCHEMA.measured


@pytest.mark.parametrize("seed", [20260101, 1, 2])
def test_every_row_is_inside_the_schema(seed: int) -> None:
    strict = {
        name: column if column.kind == "boolean" else column.model_copy(update={"out_of_domain": "error"})
        for name, column in SCHEMA.columns.items()
    }
    schema = SCHEMA.model_copy(update={"columns": strict})
    encoder = Encoder(levels_of(schema), frozenset(schema.measured), frozenset(), "the registry")
    table = simulate(seed=seed)
    rows = 0
    for batch in open_source(table).batches(encoder.columns, schema, lambda part: None):
        records = encoder(batch)
        rows += records.rows
        for each in levels_of(schema):
            assert records.codes[each.name].max() < each.size
    assert rows == table.num_rows


def test_some_values_are_missing(registry: pa.Table) -> None:
    gaps = {name for name in registry.column_names if registry[name].null_count}
    assert gaps == {name for name, column in SCHEMA.columns.items() if column.missing}
    assert all(registry[name].null_count < 0.3 * len(registry) for name in gaps)


@pytest.mark.parametrize("column", ["income", "savings", "hours_per_week"])
def test_some_numbers_are_often_exactly_zero(registry: pa.Table, column: str) -> None:
    zeros = pc.mean(pc.equal(registry[column], 0)).as_py()
    assert 0.02 < zeros < 0.7
    assert 0 in SCHEMA.columns[column].special


def test_some_categories_are_rare(registry: pa.Table) -> None:
    regions = shares(registry, "region")
    assert set(regions) == set(REGIONS)
    assert 0 < min(regions.values()) < 0.01
    assert 0 < shares(registry, "sex")["other"] < 0.01


def test_the_share_of_the_target(registry: pa.Table) -> None:
    assert 0.15 < shares(registry, TARGET)["yes"] < 0.30


def test_columns_depend_on_each_other(registry: pa.Table) -> None:
    ill = pc.equal(registry[TARGET], "yes")
    born = registry["birth_date"].cast(pa.int32())
    older = np.corrcoef(ill.to_numpy().astype(float), born.to_numpy())[0, 1]
    assert older < -0.2


def test_money_has_a_long_tail(registry: pa.Table) -> None:
    income = registry["income"].to_numpy()
    assert income.max() > 5 * np.median(income[income > 0])


def test_the_schema_is_public_and_survives_toml_and_json() -> None:
    SCHEMA.require_reviewed()
    assert not SCHEMA.read_from_data
    assert Schema.parse(tomllib.loads(SCHEMA.to_toml())) == SCHEMA
    assert Schema.from_json(json.loads(json.dumps(SCHEMA.to_json()))) == SCHEMA
