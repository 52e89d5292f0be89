"""Booking: a plan is paid for once, with its first round, and every round is there once."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.fixtures.owners import Trio

import pointillist as pt
from pointillist.curator.booking import Booking
from pointillist.errors import BudgetError, LedgerError, UsageError
from pointillist.files import container
from pointillist.methods import method_for
from pointillist.owners.shared_plan import FORMAT, KIND, SharedPlan
from pointillist.privacy.budget import Budget
from pointillist.privacy.ledger import Ledger
from pointillist.release import Measurement


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> tuple[SharedPlan, SharedPlan]:
    """The same plan before its first and before its second round."""
    trio = Trio(tmp_path_factory.mktemp("plans"))
    first = trio.plan()
    second = pt.merge(trio.parts(first), first)
    assert isinstance(second, SharedPlan)
    return first, second


def test_the_whole_plan_is_booked_with_its_first_round(plans: tuple[SharedPlan, SharedPlan], tmp_path: Path) -> None:
    book = pt.Ledger(tmp_path / "own.sqlite")
    for plan in plans:
        Booking(book, plan, 2, None).record()
    (account,) = book.accounts()
    guarantee = plans[0].plan.guarantee
    assert account.dataset == "wards"
    assert [(each.epsilon, each.delta, each.mu) for each in account.spends] == [
        (guarantee.epsilon, guarantee.delta, guarantee.mu),
        (0, 0, 0),
    ]
    assert "owner 2 of 3, round 2 of 3" in account.spends[1].purpose
    assert account.spent == pytest.approx(1.0, rel=1e-5)


def test_a_round_is_booked_once(plans: tuple[SharedPlan, SharedPlan], tmp_path: Path) -> None:
    book = pt.Ledger(tmp_path / "own.sqlite")
    early = Booking(book, plans[0], 2, None)
    Booking(book, plans[0], 2, None).record()
    with pytest.raises(LedgerError, match="round 1 of this plan already"):
        Booking(book, plans[0], 2, None)
    with pytest.raises(LedgerError, match="is in the ledger already"):
        early.record()  # of two that race, the second is refused as it writes
    (account,) = book.accounts()
    assert len(account.spends) == 1


def test_a_later_round_needs_the_ledger_of_the_first(plans: tuple[SharedPlan, SharedPlan], tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no record of round 1"):
        Booking(pt.Ledger(tmp_path / "own.sqlite"), plans[1], 2, None)


def test_a_later_round_of_other_terms_is_not_paid_for(plans: tuple[SharedPlan, SharedPlan], tmp_path: Path) -> None:
    """A collector who sends a second round with a hundred times the epsilon, under the same id."""
    dear = pt.shared_plan(plans[0].plan.request.schema, owners=3, epsilon=100.0)
    facts = json.loads(json.dumps(dear.facts))
    facts["terms"]["id"] = plans[0].id
    path = tmp_path / "dear.plan"
    path.write_bytes(container.pack(KIND, FORMAT, facts, dear.arrays))
    forged = SharedPlan.load(path)
    measured = _measured(forged)
    screen = method_for(forged.plan.request.schema, None).feature_map(forged.plan, [measured])
    later = forged.next(measured, screen, rows=None)
    book = pt.Ledger(tmp_path / "own.sqlite")
    Booking(book, plans[0], 2, None).record()
    with pytest.raises(LedgerError, match="a plan of other terms"):
        Booking(book, later, 2, None)


def _measured(plan: SharedPlan) -> Measurement:
    """A sum of nothing."""
    values = np.zeros(plan.feature_map.dimension, dtype=np.int64)
    return Measurement(plan.feature_map, values, plan.plan.rounds[0].grid, plan.sigma)


def test_an_account_of_ones_own(plans: tuple[SharedPlan, SharedPlan], tmp_path: Path) -> None:
    """Whoever makes a plan names the data set: that name is not what an owner's cap hangs on."""
    book = pt.Ledger(tmp_path / "own.sqlite")
    book.set_cap("patients", pt.Budget(1.2, 1e-5))
    Booking(book, plans[0], 2, "patients").record()
    Booking(book, plans[1], 2, None).record()
    with pytest.raises(UsageError, match="was booked to 'patients'"):
        Booking(book, plans[1], 2, "other")
    assert [account.dataset for account in book.accounts()] == ["patients"]
    with pytest.raises(BudgetError, match="over its cap"):
        Booking(book, pt.shared_plan(plans[0].plan.request.schema, owners=3, epsilon=1.0), 2, "patients")


def test_a_collectors_name_for_the_data_opens_no_new_account(
    plans: tuple[SharedPlan, SharedPlan], tmp_path: Path
) -> None:
    """Under a new name for each plan no cap would ever be reached."""
    book = Ledger(tmp_path / "l.sqlite")
    book.set_cap("patients of ours", Budget(3.0, 1e-5))
    with pytest.raises(UsageError, match=r"has no account.*--account: 'patients of ours'"):
        Booking(book, plans[0], 1, None)
    Booking(book, plans[0], 1, "patients of ours").record()
    assert [each.dataset for each in book.accounts()] == ["patients of ours"]
