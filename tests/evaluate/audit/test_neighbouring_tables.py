"""Pairs of tables that differ in one person."""

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.audit import Pipeline
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.evaluate.audit.neighbouring_tables import worst_pairs
from pointillist.methods import Mosaic
from pointillist.privacy.guarantee import Neighbours


def audited(schema: pt.Schema, neighbours: str) -> AuditedPipeline:
    return AuditedPipeline(schema, 1.0, 1e-5, None, Neighbours(neighbours), Mosaic(), Pipeline())


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_two_tables_of_a_pair_differ_in_one_row(slim: pt.Schema, neighbours: str) -> None:
    tables, pairs = worst_pairs(audited(slim, neighbours))
    assert len(pairs) == 3
    for pair in pairs:
        without, within = tables[pair.without], tables[pair.within]
        assert within.num_rows - without.num_rows == (neighbours == "add-remove")
        same = min(without.num_rows, within.num_rows) - (neighbours == "replace-one")
        assert without.slice(0, same) == within.slice(0, same)


def test_a_person_brings_more_rows_than_allowed(slim: pt.Schema) -> None:
    owned = slim.model_copy(update={"person": pt.Person(column="id", max_rows=2)})
    tables, _ = worst_pairs(audited(owned, "add-remove"))
    assert tables["last"].num_rows == 4
    assert pa.compute.count_distinct(tables["last"]["id"]).as_py() == 1


def test_someone_has_values_outside_the_schema(slim: pt.Schema) -> None:
    tables, _ = worst_pairs(audited(slim, "add-remove"))
    odd = tables["odd"].slice(tables["odd"].num_rows - 1).to_pylist()[0]
    assert odd["sex"] not in ("female", "male")
    assert odd["age"] > 99
