"""The ledger's account on a card: all spends together, and nobody's name."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scipy.special import ndtr

from pointillist.errors import LedgerError
from pointillist.pages.account_statement import AccountStatement
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.ledger import Ledger


def _release(name: str) -> Any:
    return SimpleNamespace(id=name)  # all that is asked of a release here


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    book = Ledger(tmp_path / "ledger")
    for name, mu in (("first", 0.3), ("second", 0.4)):
        promise = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, None, mu, 1e-7, 1e-12)
        book.record("people", promise, release=name, purpose="mosaic")
    return book


def test_all_spends_count_together(ledger: Ledger) -> None:
    found = AccountStatement.of(ledger, _release("second"))
    assert found.mu == pytest.approx(0.5)
    assert found.curve.advantage == pytest.approx(2 * ndtr(0.25) - 1 + 2e-7, rel=1e-6)
    assert found.spent == ledger.accounts()[0].spent
    assert found.left == pytest.approx(10 - found.spent)
    assert [each.this for each in found.entries] == [False, True]


def test_it_names_nobody_and_survives_a_round_trip(ledger: Ledger) -> None:
    found = AccountStatement.of(ledger, _release("first"))
    who = ledger.accounts()[0].spends[0].who
    text = json.dumps(found.to_json())
    assert f'"{who}"' not in text
    assert AccountStatement.from_json(json.loads(text)) == found
    with pytest.raises(ValueError, match="mu"):
        AccountStatement.from_json({**found.to_json(), "mu": math.nan})


def test_another_ledger_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no spend for this release"):
        AccountStatement.of(ledger, _release("third"))
