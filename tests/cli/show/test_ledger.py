"""A ledger in a terminal of 80 columns."""

from collections.abc import Callable

import pointillist as pt
from pointillist.cli.show.ledger import show_accounts
from pointillist.demo import people

Shown = Callable[[], list[str]]


def test_no_word_of_a_ledger_is_broken(shown: Shown) -> None:
    promise = pt.plan(people.SCHEMA, epsilon=0.25, delta=1e-6).guarantee
    ledger = pt.Ledger()
    ledger.record(
        "national-household-survey", promise, release="0123456789", purpose="mosaic, target employment_status"
    )
    show_accounts(ledger.accounts())
    lines = shown()
    assert max(map(len, lines)) <= 80
    for word in ("employment_status", "01234567", "0.25", "1e-06", "open:", "counted", "spent"):
        assert word in " ".join(lines).split()
