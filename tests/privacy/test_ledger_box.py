"""Ledger box: a ledger that holds nothing, or is none, says so. What a full one shows: tests/pages/test_notebook.py."""

from pathlib import Path

import pointillist as pt


def test_a_ledger_that_is_none_says_why(tmp_path: Path) -> None:
    assert "nothing has been spent" in pt.Ledger(tmp_path / "new.sqlite")._repr_html_()
    (tmp_path / "bad.sqlite").write_bytes(b"not a database at all" * 60)
    assert "cannot be read" in pt.Ledger(tmp_path / "bad.sqlite")._repr_html_()
