"""Fakes are made up from a seed and a row's number."""

import sys

import numpy as np
import pyarrow as pa
import pytest

from pointillist.sampling.fakes import fake_column, with_fakes
from pointillist.schema import Ignore, Integer, Schema

KINDS = ("id", "email", "phone", "uuid", "url", "ip", "name", "company", "address", "text")
SCHEMA = Schema(
    name="s",
    columns={"id": Ignore(fake="id"), "x": Integer(min=0, max=9), "skip": Ignore(), "who": Ignore(fake="email")},
)


def test_columns_come_in_the_schemas_order() -> None:
    table = with_fakes(pa.table({"x": [5, 6]}), SCHEMA, np.random.default_rng(0))
    assert table.column_names == ["id", "x", "who"]
    assert table["id"].to_pylist() == [1, 2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("installed", [True, False])
def test_the_same_seed_makes_the_same(kind: str, installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if installed:
        pytest.importorskip("faker")
    else:
        monkeypatch.setitem(sys.modules, "faker", None)
    one, other = (fake_column(kind, 30, np.random.default_rng(3)) for _ in range(2))
    assert one == other
    assert len(one) == 30
    assert one.null_count == 0
