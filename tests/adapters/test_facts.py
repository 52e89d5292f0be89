"""Facts: a schema or a budget, and nothing read from rows without either."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pointillist as pt
from pointillist.adapters.facts import Asked, Facts
from pointillist.errors import BudgetError, PointillistError, UsageError
from pointillist.privacy.budget import Budget


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
    assert Facts.given(tmp_path / "s.toml", None, None).settled(None, (), Asked(1.0)).schema == schema


def test_a_schema_is_bought_in_the_ledger_and_does_not_look_at_what_is_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": range(2_000), "age": rng.integers(0, 90, 2_000)})
    book = pt.Ledger(tmp_path / "ledger.sqlite")
    facts = Facts.given(None, "people", 2.0, one_row_per_person=True)
    schema = facts.settled(table, ("id",), Asked(1.0, ledger=book)).schema
    assert schema is not None
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
    schema = facts.settled(table, ("id",), Asked(1.0, ledger=tmp_path / "ledger.sqlite")).schema
    assert schema is not None
    assert schema.person is not None
    assert schema.person.unit == person
    assert list(schema.measured) == ["age"]


TABLE = pd.DataFrame({"id": range(2_000), "age": np.arange(2_000) % 90, "sex": ["f", "m"] * 1_000})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"epsilon": "much"}, "must be numbers"),
        ({"delta": 1.0}, "delta must lie"),
        ({"target": "wealth"}, "target 'wealth' is not a measured column"),
        ({"target": "id"}, "target 'id' is not a measured column"),
        ({"method": "magic"}, "method 'magic' is not known"),
        ({"generator": "magic"}, "generator 'magic' is not known"),
        ({"epsilon": 9.9}, "these spends would bring 'people' to .* over its cap"),
    ],
)
def test_nothing_is_bought_for_a_release_that_would_be_refused(
    asked: dict[str, Any], words: str, tmp_path: Path
) -> None:
    facts = Facts.given(None, "people", 2.0, one_row_per_person=True)
    with pytest.raises(PointillistError, match=words):
        facts.settled(TABLE, ("id",), Asked(**{"epsilon": 1.0, "ledger": tmp_path / "l.sqlite", **asked}))
    assert pt.Ledger(tmp_path / "l.sqlite").accounts() == ()


def test_a_cap_of_both_spends_together_admits_them(tmp_path: Path) -> None:
    book = pt.Ledger(tmp_path / "l.sqlite")
    facts, asked = Facts.given(None, "people", 2.0, one_row_per_person=True), Asked(1.0, ledger=book)
    book.set_cap("people", Budget(2.2))
    with pytest.raises(BudgetError, match="over its cap"):
        facts.settled(TABLE, ("id",), asked)
    book.set_cap("people", Budget(2.4))
    schema = facts.settled(TABLE, ("id",), asked).schema
    assert schema is not None
    pt.release(TABLE, schema, epsilon=1.0, ledger=book, method=pt.Merf(features=10))
    assert 2.2 < book.accounts()[0].spent < 2.4
