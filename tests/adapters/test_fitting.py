"""Fitting: what was paid for is kept, whatever fails after it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pointillist as pt
from pointillist import synthesizer
from pointillist.adapters.facts import Asked, Facts
from pointillist.adapters.fitting import Fitting
from pointillist.errors import DataError, UsageError

TABLE = pd.DataFrame({"id": range(2_000), "age": np.arange(2_000) % 90, "sex": ["f", "m"] * 1_000})
METHOD = pt.Merf(features=10)


def fitting(book: pt.Ledger, epsilon: float = 1.0) -> Fitting:
    facts = Facts.given(None, "people", 2.0, one_row_per_person=True)
    return Fitting(facts, Asked(epsilon, method=METHOD, generator=pt.MixtureSettings(steps=2), ledger=book))


def spends(book: pt.Ledger) -> list[float]:
    return [each.epsilon for account in book.accounts() for each in account.spends]


def test_a_schema_is_bought_once(tmp_path: Path) -> None:
    book = pt.Ledger(tmp_path / "l.sqlite")
    made = fitting(book)
    first = made.fit(TABLE, TABLE, ("id",))
    second = made.fit(TABLE, TABLE, ("id",))
    assert first.schema == second.schema == made.facts.schema
    assert spends(book) == [2.0, 1.0, 1.0]


def test_a_release_that_fails_does_not_lose_the_schema(tmp_path: Path) -> None:
    book = pt.Ledger(tmp_path / "l.sqlite")
    made = fitting(book)
    with pytest.raises(DataError):
        made.fit(TABLE.drop(columns="age"), TABLE, ("id",))
    assert spends(book) == [2.0]
    assert made.synthesizer is None
    made.fit(TABLE, TABLE, ("id",))
    assert spends(book) == [2.0, 1.0]


def test_a_fit_that_fails_does_not_lose_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = pt.Ledger(tmp_path / "l.sqlite")
    made = fitting(book)

    def fails(*arguments: Any, **options: Any) -> Any:
        raise UsageError("no torch")

    with monkeypatch.context() as patch:
        patch.setattr(synthesizer, "fit", fails)
        with pytest.raises(UsageError, match="no torch"):
            made.fit(TABLE, TABLE, ("id",))
    assert made.synthesizer is not None
    assert pt.fit(made.synthesizer.release_, generator=pt.MixtureSettings(steps=2)).sample(3, seed=0) is not None
    assert spends(book) == [2.0, 1.0]


def test_a_later_fit_that_is_refused_keeps_the_release_before_it(tmp_path: Path) -> None:
    made = fitting(pt.Ledger(tmp_path / "l.sqlite"), epsilon=7.0)
    first = made.fit(TABLE, TABLE, ("id",))
    with pytest.raises(pt.PointillistError, match="over its cap"):
        made.fit(TABLE, TABLE, ("id",))
    assert made.synthesizer is first
