"""Temporary files: gone when work ends however it ends, or with the next run; what is in use stays."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pointillist.files import temporary
from pointillist.files.temporary import file_beside, folder, folder_beside, sweep, tidy_when_terminated

PREFIX = "pointillist-scratch-"
OURS = re.compile(f"{PREFIX}.{{8}}")

FOLDER = """
    import time
    from pathlib import Path
    import pyarrow as pa
    from pointillist.files.table_folder import write_folder

    def parts():
        yield pa.table({"a": [1]})
        yield pa.table({"a": [2]})
        time.sleep(1000)

    write_folder(parts(), Path("t"), overwrite=True)
"""
FILE = """
    import time
    from pointillist.files.container import reserve

    with reserve("t", 100):
        time.sleep(1000)
"""


def ended(code: str, end: int, cwd: Path) -> int:
    """Run a program until something temporary is there, then send it a signal."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=cwd) as process:
        try:
            deadline = time.monotonic() + 60
            while not any(os.path.getsize(each) for each in cwd.rglob("*") if each.is_file() and ".part" in str(each)):
                assert process.poll() is None, "it ended by itself"
                assert time.monotonic() < deadline, "nothing was written"
                time.sleep(0.02)
            process.send_signal(end)
            return process.wait(timeout=20)
        finally:
            process.kill()


@pytest.mark.parametrize("program", [FOLDER, FILE], ids=["folder", "file"])
def test_whatever_is_written_when_told_to_end_leaves_nothing(program: str, tmp_path: Path) -> None:
    assert ended(program, signal.SIGTERM, tmp_path) == 143
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_goes_with_the_next_and_what_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "part-00000.parquet").write_bytes(b"before")
    (tmp_path / ".mine.part").mkdir()
    assert ended(FOLDER, signal.SIGKILL, tmp_path) == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 3
    with file_beside(tmp_path / "another"):
        assert len(list(tmp_path.iterdir())) == 3  # the file of this one in the place of the folder that was left
    assert {each.name for each in tmp_path.iterdir()} == {"t", ".mine.part"}
    assert (tmp_path / "t" / "part-00000.parquet").read_bytes() == b"before"


def test_a_file_may_be_given_its_name(tmp_path: Path) -> None:
    with file_beside(tmp_path / "t") as aside:
        aside.write_text("whole")
        os.replace(aside, tmp_path / "t")
    assert [each.name for each in tmp_path.iterdir()] == ["t"]


def test_two_at_a_time_leave_each_other_alone(tmp_path: Path) -> None:
    place = tmp_path / "t"
    with folder_beside(place) as one, folder_beside(place) as other, file_beside(place) as file:
        assert len({one, other, file}) == 3
        assert set(tmp_path.iterdir()) == {one, other, file}
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_removes_what_nobody_holds(tmp_path: Path) -> None:
    (left := tmp_path / f"{PREFIX}abcdefgh").mkdir()
    (left / "spilled.tmp").write_text("x")
    (other := tmp_path / "pointillist-bench").mkdir()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (link := tmp_path / f"{PREFIX}alinkxxx").symlink_to(elsewhere)
    with folder(tmp_path, PREFIX) as ours:
        assert not left.exists()
        sweep(tmp_path, OURS)
        assert ours.exists()
    assert {other, elsewhere, link} == set(tmp_path.iterdir())


def test_a_sweep_leaves_other_users_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (left := tmp_path / f"{PREFIX}abcdefgh").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
    sweep(tmp_path, OURS)
    assert left.exists()


def test_sweeps_while_folders_are_made_take_none_away(tmp_path: Path) -> None:
    done = threading.Event()

    def sweeping() -> None:
        while not done.is_set():
            sweep(tmp_path, OURS)

    sweeper = threading.Thread(target=sweeping)
    sweeper.start()
    try:
        for _ in range(300):
            with folder(tmp_path, PREFIX) as made:
                (made / "file").write_text("x")
    finally:
        done.set()
        sweeper.join()
    assert list(tmp_path.iterdir()) == []


def test_a_forked_process_takes_nothing_from_its_parent(tmp_path: Path) -> None:
    with folder(tmp_path, PREFIX) as made:
        child = os.fork()
        if child == 0:
            temporary._terminated(signal.SIGTERM, None)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 143
        assert made.exists()


class TestSignals:
    @pytest.fixture(autouse=True)
    def back(self) -> Iterator[None]:
        before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
        yield
        signal.signal(signal.SIGTERM, before)

    def test_the_default_comes_back(self) -> None:
        with tidy_when_terminated(), tidy_when_terminated():
            assert signal.getsignal(signal.SIGTERM) is temporary._terminated
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    @pytest.mark.parametrize("own", [signal.SIG_IGN, lambda number, frame: None])
    def test_a_programs_own_answer_stays(self, own: Any, tmp_path: Path) -> None:
        signal.signal(signal.SIGTERM, own)
        with folder(tmp_path, PREFIX), file_beside(tmp_path / "t"):
            assert signal.getsignal(signal.SIGTERM) is own
        assert signal.getsignal(signal.SIGTERM) is own

    def test_other_threads_leave_it_alone(self, tmp_path: Path) -> None:
        def work() -> None:
            with folder(tmp_path, PREFIX):
                found.append(signal.getsignal(signal.SIGTERM))

        found: list[Any] = []
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert found == [signal.SIG_DFL]
