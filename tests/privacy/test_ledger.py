"""The ledger: exact totals, caps that hold under races, one relation and one unit for each account."""

import json
import math
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pointillist.errors import BudgetError, LedgerError
from pointillist.privacy.accounting import gaussian_mu
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.ledger import DEFAULT_CAP, Ledger, State, default_path
from pointillist.schema import Person

ONE = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, None, gaussian_mu(Budget(1.0, 1e-5)), 0.0, 0.0)


def record(ledger: Ledger, release: str, guarantee: Guarantee = ONE, dataset: str = "people") -> None:
    ledger.record(dataset, guarantee, release=release, purpose="test")


def test_a_spend_is_open_then_done(own_ledger: Path) -> None:
    ledger = Ledger()
    assert ledger.path == own_ledger
    record(ledger, "r1")
    assert ledger.accounts()[0].spends[0].state is State.OPEN
    ledger.finish("r1")
    (account,) = ledger.accounts()
    (spend,) = account.spends
    assert (spend.state, spend.release, spend.purpose, spend.epsilon) == (State.DONE, "r1", "test", 1.0)
    assert spend.who
    assert account.spent == pytest.approx(1.0, rel=1e-6)


def test_totals_compose_exactly(own_ledger: Path) -> None:
    """Four releases at (1, 1e-5) are one Gaussian with twice the mu: far less than epsilon = 4."""
    ledger = Ledger()
    for number in range(4):
        record(ledger, f"r{number}")
    (account,) = ledger.accounts()
    two = Guarantee(2.0, 1e-5, Neighbours.ADD_REMOVE, None, 2 * ONE.mu, 0.0, 0.0)
    record(ledger, "one", two, "other")
    assert account.spent == pytest.approx(ledger.accounts()[0].spent)
    assert account.spent < 2.5


def test_a_spend_is_held_by_its_account_at_its_price() -> None:
    ledger = Ledger()
    record(ledger, "r1")
    assert ledger.holds("r1", "people", Budget(1.0, 1e-5))
    assert not ledger.holds("r2", "people", Budget(1.0, 1e-5))
    assert not ledger.holds("r1", "others", Budget(1.0, 1e-5))
    assert not ledger.holds("r1", "people", Budget(0.5, 1e-5))
    assert not ledger.holds("r1", "people", Budget(1.0, 1e-6))


def test_a_cap_equal_to_the_budget_admits_it_once() -> None:
    ledger = Ledger()
    ledger.set_cap("people", Budget(1.0, 1e-5))
    ledger.check("people", ONE)
    record(ledger, "r1")
    with pytest.raises(BudgetError, match="over its cap"):
        ledger.check("people", ONE)
    with pytest.raises(BudgetError, match="over its cap"):
        record(ledger, "r2")
    assert len(ledger.accounts()[0].spends) == 1


def test_an_open_spend_counts_against_the_cap() -> None:
    ledger = Ledger()
    ledger.set_cap("people", Budget(1.2, 1e-5))
    record(ledger, "crashed")
    with pytest.raises(BudgetError):
        record(ledger, "next")


def test_the_default_cap_holds() -> None:
    ledger = Ledger()
    large = Guarantee(11.0, 1e-5, Neighbours.ADD_REMOVE, None, gaussian_mu(Budget(11.0, 1e-5)), 0.0, 0.0)
    with pytest.raises(BudgetError, match=f"{DEFAULT_CAP.epsilon:g}"):
        record(ledger, "r", large)
    assert not any(account.spends for account in ledger.accounts())


def test_slack_of_the_grid_counts() -> None:
    ledger = Ledger()
    ledger.set_cap("people", Budget(1.0, 1e-5))
    with pytest.raises(BudgetError):
        record(ledger, "r", replace(ONE, epsilon_slack=0.01))
    with pytest.raises(BudgetError):
        record(ledger, "r", replace(ONE, delta_slack=1e-6))


def test_a_release_is_recorded_once_and_can_be_found() -> None:
    ledger = Ledger()
    assert ledger.find("r1") is None
    record(ledger, "r1", dataset="people")
    found = ledger.find("r1")
    assert found is not None
    assert (found.dataset, found.epsilon) == ("people", 1.0)
    with pytest.raises(LedgerError, match="r1 is in the ledger already, and is made once"):
        record(ledger, "r1", dataset="other")
    assert [account.dataset for account in ledger.accounts()] == ["people"]


def test_relations_and_units_do_not_mix() -> None:
    ledger = Ledger()
    record(ledger, "r1")
    with pytest.raises(BudgetError, match="add-remove"):
        record(ledger, "r2", replace(ONE, neighbours=Neighbours.REPLACE_ONE))
    with pytest.raises(BudgetError, match="privacy unit"):
        record(ledger, "r3", replace(ONE, person=Person(column="id", max_rows=2)))
    record(ledger, "r4", replace(ONE, neighbours=Neighbours.REPLACE_ONE), "other")


RACER = """
import sys, time
from pathlib import Path
import pointillist as pt
schema = pt.Schema(name="people", columns={"a": pt.Boolean(missing=False), "b": pt.Boolean(missing=False)})
ledger, number = sys.argv[1:]
Path(f"{ledger}.ready{number}").touch()
while not Path(f"{ledger}.go").exists():
    time.sleep(0.02)
try:
    pt.release(pt.sql("SELECT true AS a, false AS b"), schema, epsilon=1.0, ledger=ledger)
except pt.PointillistError as error:
    sys.exit(error.exit_code)
"""


def test_racing_releases_cannot_slip_under_the_cap_together(tmp_path: Path) -> None:
    """Three whole releases at once, where the cap has room for two."""
    path = tmp_path / "race.sqlite"
    two = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, None, ONE.mu * math.sqrt(2), 0.0, 0.0)
    probe = Ledger(tmp_path / "probe.sqlite")
    record(probe, "p", two)
    Ledger(path).set_cap("people", Budget(probe.accounts()[0].spent * (1 + 1e-6), 1e-5))
    racers = [subprocess.Popen([sys.executable, "-c", RACER, str(path), str(n)]) for n in range(3)]
    while len(list(tmp_path.glob("*.ready*"))) < 3:
        assert all(racer.poll() in (None, 0) for racer in racers)
        time.sleep(0.01)
    (tmp_path / "race.sqlite.go").touch()
    codes = sorted(racer.wait() for racer in racers)
    assert codes == [0, 0, BudgetError.exit_code]
    assert len(Ledger(path).accounts()[0].spends) == 2


def test_a_spend_is_on_disk_when_record_returns(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    record(ledger, "r1")
    with sqlite3.connect(tmp_path / "l.sqlite") as db:
        assert db.execute("SELECT count(*) FROM spend").fetchone() == (1,)
    db.close()
    assert not (tmp_path / "l.sqlite-journal").exists()


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l").write_bytes(b"not a database" * 100)
    with pytest.raises(LedgerError, match="cannot be used"):
        record(Ledger(tmp_path / "l"), "r1")
    with pytest.raises(LedgerError, match="cannot be used"):
        Ledger(tmp_path / "l").accounts()


def test_nothing_spent_yet(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "none").accounts() == ()
    assert not (tmp_path / "none").exists()


def test_the_default_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POINTILLIST_LEDGER")
    assert default_path().name == "ledger.sqlite"
    assert "pointillist" in str(default_path())


def test_the_promise_in_words() -> None:
    assert "added or removed" in ONE.sentence()
    assert "ε = 1, δ = 1e-5" in ONE.sentence()
    owned = replace(ONE, person=Person(column="id", max_rows=3), neighbours=Neighbours.REPLACE_ONE)
    assert "one person (column 'id', at most 3 rows each)" in owned.sentence()
    assert "replaced" in owned.sentence()
    assert Guarantee.from_json(owned.to_json()) == owned
    assert math.isclose(1 / ONE.mu, 3.7306, rel_tol=1e-4)


def test_the_order_of_rows_is_no_other_unit(own_ledger: Path) -> None:
    """Nor in an account that has it from an earlier version."""
    ledger, person = Ledger(), Person(column="id", max_rows=2, order="t", persons=9)
    record(ledger, "r1", replace(ONE, person=person))
    assert ledger.accounts()[0].person == person.unit
    with sqlite3.connect(own_ledger) as db:
        db.execute("UPDATE account SET person = ?", (json.dumps(person.facts()),))
    db.close()
    record(ledger, "r2", replace(ONE, person=person.unit))
    record(ledger, "r3", replace(ONE, person=person))
    with pytest.raises(BudgetError, match="privacy unit"):
        record(ledger, "r4", replace(ONE, person=Person(column="id", max_rows=3, order="t")))
