"""What an audit may say on a card."""

from dataclasses import replace

import pytest

from pointillist.errors import UsageError
from pointillist.evaluate.audit import Audit, Finding
from pointillist.pages.audited import Audited

OPEN = Finding("white-box", 0.8, 0.95, False, "", {}, False)
SECRET = Finding("membership", 0.9, 0.95, False, "", {}, True)
AUDIT = Audit("people", "", None, "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.27, (OPEN, SECRET), ())


def test_findings_on_private_rows_stay_private() -> None:
    assert AUDIT.published() == Audited(0.8, 0.95, ("white-box",))
    with pytest.raises(UsageError, match="private rows alone"):
        replace(AUDIT, findings=(SECRET,)).published()


def test_a_broken_promise_gets_no_card() -> None:
    with pytest.raises(UsageError, match="VIOLATED"):
        replace(AUDIT, findings=(replace(OPEN, violated=True),)).published()


def test_round_trip() -> None:
    assert Audited.from_json(AUDIT.published().to_json()) == AUDIT.published()
