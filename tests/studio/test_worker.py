import errno
from pathlib import Path
from typing import Any

import pytest

from pointillist.errors import DataError
from pointillist.studio import jobs
from pointillist.studio.worker import Teller, said


def test_errors_quote_nothing_but_our_own_messages() -> None:
    assert said(DataError("people.csv: no such file.")) == "people.csv: no such file."
    full = said(OSError(errno.ENOSPC, "No space left on device", "SECRETVALUE"))
    assert "No space left on device" in full
    assert "SECRETVALUE" not in full
    with pytest.raises(KeyError) as caught:
        raise KeyError("SECRETVALUE")
    assert said(caught.value).startswith("A fault in pointillist (KeyError at test_worker.py:")


def test_a_teller_says_what_is_spent_and_not_too_often(tmp_path: Path) -> None:
    tell = Teller(tmp_path, jobs.Job("release"))
    tell("pass 1 of 2", 0.1)
    tell("pass 1 of 2", 0.2)  # too soon
    now = jobs.read(tmp_path)
    assert now is not None
    assert (now.doing, now.fraction, now.spent) == ("reading the records, pass 1 of 2", 0.1, False)
    tell("spend", 0.0)
    tell("noise 1 of 2", 0.0)
    tell.end(jobs.DONE)
    now = jobs.read(tmp_path)
    assert now is not None
    assert (now.state, now.fraction, now.spent) == (jobs.DONE, 1.0, True)


def test_a_full_disk_is_told(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pointillist.studio.project.Project.write_schema", full)
    job = visitor.work("open")
    assert job.state == jobs.FAILED
    assert "No space left on device" in job.message
