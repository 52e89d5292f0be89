"""Facts: a schema or a budget, and nothing read from rows without either."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pointillist as pt
from pointillist.adapters.facts import Facts
from pointillist.errors import UsageError


def test_one_of_schema_and_budget_must_be_given(schema: pt.Schema, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither schema= and schema_epsilon="):
        Facts.given(None, None, None)
    with pytest.raises(UsageError, match="both"):
        Facts.given(schema, None, 0.1)
    with pytest.raises(UsageError, match="needs name="):
        Facts.given(None, None, 0.1)
    with pytest.raises(UsageError, match="whose is a row"):
        Facts.given(None, "people", 0.1)
    (tmp_path / "s.toml").write_text(schema.to_toml(), encoding="utf-8")
    assert Facts.given(tmp_path / "s.toml", None, None).settled(None, (), None) == schema


def test_a_schema_is_bought_in_the_ledger_and_does_not_look_at_what_is_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": range(2_000), "age": rng.integers(0, 90, 2_000)})
    book = pt.Ledger(tmp_path / "ledger.sqlite")
    schema = Facts.given(None, "people", 2.0, one_row_per_person=True).settled(table, ("id",), book)
    assert [spend.epsilon for spend in book.accounts()[0].spends] == [2.0]
    assert schema.vouched == {}
    assert schema.columns["age"].bought
    assert list(schema.columns) == ["id", "age"]
    assert list(schema.measured) == ["age"]


def test_who_a_row_belongs_to_is_looked_at_though_metadata_leave_it_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.arange(2_000) // 2, "age": rng.integers(0, 90, 2_000)})
    person = pt.Person(column="id", max_rows=2)
    facts = Facts.given(None, "people", 2.0, person=person)
    schema = facts.settled(table, ("id",), pt.Ledger(tmp_path / "ledger.sqlite"))
    assert schema.person is not None
    assert schema.person.unit == person
    assert list(schema.measured) == ["age"]
