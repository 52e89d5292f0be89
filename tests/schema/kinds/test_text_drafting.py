"""What many different texts seem to be."""

import duckdb
import pyarrow as pa
import pytest

from pointillist.curator.column_values import ColumnValues
from pointillist.schema.kinds.text_drafting import direct_identifier, why_left_out

CASES = {
    "email": [f"a.b{n}@x-y.example" for n in range(80)],
    "phone": [f"+49 30 {n:04}-{n:03}" for n in range(80)],
    "uuid": [f"{n:08x}-0000-4000-8000-{n:012x}" for n in range(80)],
    "url": [f"https://example.org/{n}" for n in range(80)],
    "ip": [f"10.0.0.{n}" for n in range(80)],
    "id": [f"PT-{n:05}" for n in range(80)],
    "name": [f"Ann{chr(97 + n % 26)} O'Hara-{chr(65 + n % 24)}ox" for n in range(80)],
    "text": [f"the {n} patients came back after some days" for n in range(80)],
}


def values(texts: list[str]) -> ColumnValues:
    rows = duckdb.from_arrow(pa.table({"c": texts}))
    return ColumnValues.of(rows, "c", "VARCHAR", len(texts), lambda each: each)


@pytest.mark.parametrize("kind", CASES)
def test_each_is_offered_as_a_fake(kind: str) -> None:
    assert f'fake = "{kind}"' in why_left_out(values(CASES[kind]))


def test_only_what_names_somebody_is_left_out_however_few() -> None:
    assert direct_identifier(values(CASES["email"])) is not None
    assert direct_identifier(values(["red", "blue", "+5", "01"])) is None
    assert direct_identifier(values(CASES["url"])) is None
