"""The ledger's file: known to be a ledger or refused, and every failure in words that say what was spent."""

import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import LedgerError, UsageError
from pointillist.privacy.accounting import gaussian_mu
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.ledger import Ledger, State
from pointillist.privacy.ledger_file import APPLICATION, VERSION, LedgerFile

ONE = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, None, gaussian_mu(Budget(1.0, 1e-5)), 0.0, 0.0)
CALLS: dict[str, Callable[[Ledger], object]] = {
    "record": lambda ledger: ledger.record("people", ONE, release="r", purpose="test"),
    "check": lambda ledger: ledger.check("people", ONE),
    "finish": lambda ledger: ledger.finish("r"),
    "cap": lambda ledger: ledger.set_cap("people", Budget(1.0, 1e-5)),
    "accounts": lambda ledger: ledger.accounts(),
}
every_call = pytest.mark.parametrize("call", CALLS)


def run_sql(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)


def stamp(path: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(path)) as db:
        return tuple(db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow over `size` bytes: as on a full disk."""
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestPath:
    @pytest.mark.parametrize(
        "name", [":memory:", "file:x", "file::memory:?cache=shared", "file:///tmp/x", "", ":x", "a\0b"]
    )
    def test_what_is_no_path_is_refused(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(UsageError, match="not the path of a file"):
            pt.Ledger(name)
        if name and "\0" not in name:
            monkeypatch.setenv("POINTILLIST_LEDGER", name)
            with pytest.raises(UsageError, match="not the path of a file"):
                pt.Ledger()

    def test_what_is_no_text_is_refused(self) -> None:
        with pytest.raises(UsageError, match="not int"):
            pt.Ledger(7)  # type: ignore[arg-type]

    def test_nothing_is_released_into_memory(self, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
        with pytest.raises(UsageError, match=":memory:"):
            pt.release(people(10), schema, epsilon=1.0, ledger=":memory:")

    @pytest.mark.parametrize("name", ["a?b#c %41.sqlite", "ü ☃", "x:memory:"])
    def test_any_other_name_is_a_file(self, name: str, tmp_path: Path) -> None:
        CALLS["record"](Ledger(tmp_path / name))
        assert [each.name for each in tmp_path.iterdir()] == [name]
        assert len(Ledger(tmp_path / name).accounts()) == 1


class TestStamp:
    def test_a_new_ledger_is_born_with_it(self, own_ledger: Path) -> None:
        CALLS["cap"](Ledger())
        assert stamp(own_ledger) == (APPLICATION, VERSION)
        assert [each.name for each in own_ledger.parent.iterdir()] == [own_ledger.name]

    def test_a_new_ledger_is_as_open_as_the_user_has_it(self, own_ledger: Path) -> None:
        before = os.umask(0o027)
        try:
            CALLS["cap"](Ledger())
        finally:
            os.umask(before)
        assert own_ledger.stat().st_mode & 0o777 == 0o640

    def test_a_ledger_without_one_is_known_by_its_tables(self, own_ledger: Path) -> None:
        CALLS["record"](Ledger())
        run_sql(own_ledger, "PRAGMA application_id = 0; PRAGMA user_version = 0;")
        assert Ledger().accounts()[0].spends
        assert stamp(own_ledger) == (0, 0)  # reading alone changes nothing
        Ledger().finish("r")
        assert stamp(own_ledger) == (APPLICATION, VERSION)
        assert [spend.state for spend in Ledger().accounts()[0].spends] == [State.DONE]

    @every_call
    def test_an_empty_file_is_refused(self, call: str, own_ledger: Path) -> None:
        own_ledger.touch()
        with pytest.raises(LedgerError, match=r"is empty, as no ledger ever is.*backup") as caught:
            CALLS[call](Ledger())
        assert "another" not in str(caught.value)
        assert own_ledger.read_bytes() == b""

    @every_call
    @pytest.mark.parametrize(
        ("script", "words"),
        [
            ("CREATE TABLE x (y); DROP TABLE x;", "is empty"),
            ("CREATE TABLE x (y);", "another program's database"),
            ("CREATE TABLE account (dataset, colour); CREATE TABLE spend (id);", "another program's database"),
            ("PRAGMA application_id = 252006673;CREATE TABLE x (y);", "another program's database"),
        ],
    )
    def test_a_database_that_is_no_ledger_is_refused(
        self, call: str, script: str, words: str, own_ledger: Path
    ) -> None:
        run_sql(own_ledger, script)
        before = own_ledger.read_bytes()
        with pytest.raises(LedgerError, match=words):
            CALLS[call](Ledger())
        assert own_ledger.read_bytes() == before

    @every_call
    @pytest.mark.parametrize(
        ("script", "words"),
        [
            (f"PRAGMA user_version = {VERSION + 1};", "format 2.*Upgrade"),
            ("DROP TABLE spend;", "damaged.*backup"),
            ("ALTER TABLE spend DROP COLUMN mu;", "damaged.*backup"),
            ("PRAGMA application_id = 7;", "another program's"),
        ],
    )
    def test_a_ledger_of_a_newer_version_or_a_broken_one_is_refused(
        self, call: str, script: str, words: str, own_ledger: Path
    ) -> None:
        CALLS["record"](Ledger())
        run_sql(own_ledger, script)
        before = own_ledger.read_bytes()
        with pytest.raises(LedgerError, match=words) as caught:
            CALLS[call](Ledger())
        assert "choose another" not in str(caught.value).lower()
        assert own_ledger.read_bytes() == before

    @pytest.mark.parametrize(
        "script",
        [
            "UPDATE spend SET state = 'lost'",
            "UPDATE account SET cap_epsilon = -1",
            "UPDATE account SET neighbours = 'next door'",
            "UPDATE account SET person = '{'",
            "UPDATE account SET person = '{}'",
        ],
    )
    def test_an_account_that_makes_no_sense_is_refused(self, script: str, own_ledger: Path) -> None:
        CALLS["record"](Ledger())
        run_sql(own_ledger, script)
        for call in ("record", "check", "accounts"):
            with pytest.raises(LedgerError, match="does not make sense"):
                CALLS[call](Ledger())

    def test_damage_never_makes_an_account_smaller(self, own_ledger: Path, tmp_path: Path) -> None:
        """A page of zeros anywhere: the account is refused, or whole."""
        for number in range(40):
            Ledger().record("people", ONE.__class__(0.01, 1e-5, ONE.neighbours, None, 0.01, 0, 0), release=f"r{number}",
                            purpose="p" * 300)  # fmt: skip
        whole, (account,) = own_ledger.read_bytes(), Ledger().accounts()
        pages = range(0, len(whole), 4096)
        assert len(pages) > 4
        for start in pages:
            own_ledger.write_bytes(whole[:start] + bytes(4096) + whole[start + 4096 :])
            try:
                assert Ledger().accounts() == (account,)
            except LedgerError as error:
                assert "backup" in str(error)  # noqa: PT017  (either outcome is right)


class TestPlace:
    @every_call
    @pytest.mark.parametrize("place", ["folder", "loop", "dangling", "device", "under a file", "too long"])
    def test_what_cannot_be_a_ledger_is_refused(self, call: str, place: str, tmp_path: Path) -> None:
        path = tmp_path / "ledger"
        if place == "folder":
            path.mkdir()
        elif place == "loop":
            path.symlink_to(path)
        elif place == "dangling":
            path.symlink_to(tmp_path / "unmounted" / "ledger")
        elif place == "device":
            path = Path(os.devnull)
        elif place == "under a file":
            path.touch()
            path = path / "ledger"
        else:
            path = tmp_path / ("x" * 300)
        with pytest.raises(LedgerError, match="the ledger ") as caught:
            CALLS[call](Ledger(path))
        assert str(path) in str(caught.value)
        assert not (tmp_path / "unmounted").exists()

    def test_a_link_to_a_ledger_is_followed(self, tmp_path: Path) -> None:
        CALLS["record"](Ledger(tmp_path / "real"))
        (tmp_path / "link").symlink_to("real")
        CALLS["finish"](Ledger(tmp_path / "link"))
        assert Ledger(tmp_path / "real").accounts()[0].spends[0].state is State.DONE

    @pytest.mark.parametrize("what", ["file", "folder", "new"])
    def test_what_may_not_be_written_is_refused_before_the_pass(self, what: str) -> None:
        """In a process without root's rights, as root may write anywhere."""
        folder = Path(tempfile.mkdtemp())
        path = folder / "ledger"
        try:
            if what != "new":
                CALLS["record"](Ledger(path))
            folder.chmod(0o777 if what == "file" else 0o555)
            if what != "new":
                path.chmod(0o444 if what == "file" else 0o666)
            child = multiprocessing.get_context("fork").Process(target=_unprivileged, args=(path, what))
            child.start()
            child.join()
            assert child.exitcode == 0
        finally:
            folder.chmod(0o777)
            shutil.rmtree(folder)


def _unprivileged(path: Path, what: str) -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    for call in ("check", "record", "cap") + (("finish",) if what != "new" else ()):
        with pytest.raises(LedgerError, match="cannot be used"):
            CALLS[call](Ledger(path))
    assert len(Ledger(path).accounts()) == (what != "new")  # reading is allowed


class TestFullDisk:
    def test_before_the_spend(self, own_ledger: Path) -> None:
        with largest_file(0), pytest.raises(LedgerError, match="Nothing was spent"):
            CALLS["record"](Ledger())
        assert not own_ledger.exists()
        CALLS["cap"](Ledger())
        with largest_file(0), pytest.raises(LedgerError, match="Nothing was spent"):
            CALLS["record"](Ledger())
        assert Ledger().accounts()[0].spends == ()

    def test_after_it(self, own_ledger: Path) -> None:
        CALLS["record"](Ledger())
        with largest_file(0), pytest.raises(LedgerError, match="cannot be used") as caught:
            Ledger().finish("r", "The release is safe.")
        assert "The release is safe." in str(caught.value)
        assert "rollback" not in str(caught.value)
        assert "Nothing was spent" not in str(caught.value)
        assert [spend.state for spend in Ledger().accounts()[0].spends] == [State.OPEN]

    def test_when_the_first_error_has_rolled_back_already(self, own_ledger: Path) -> None:
        """SQLite ends the transaction itself when the disk is full: the rollback that follows fails, and is not told."""
        CALLS["record"](Ledger())

        def overflow() -> None:
            with LedgerFile(own_ledger).transaction() as db:
                db.execute("PRAGMA max_page_count = 1")
                for number in range(1000):
                    db.execute("INSERT INTO account VALUES (?, NULL, NULL, 1, 1)", (f"{number}" * 100,))

        with pytest.raises(LedgerError, match="the disk is full") as caught:
            overflow()
        assert "rollback" not in str(caught.value)
        assert [account.dataset for account in Ledger().accounts()] == ["people"]


class TestFinish:
    def release(
        self, people: Callable[..., pa.Table], schema: pt.Schema, spoil: Callable[[], object], **options: object
    ) -> pt.Release:
        return pt.release(
            people(50), schema, epsilon=1.0, progress=lambda step, part: spoil() if step == "close" else None, **options
        )  # fmt: skip

    @pytest.mark.parametrize("fate", ["deleted", "replaced", "garbage", "folder"])
    @pytest.mark.parametrize("kept", [True, False])
    def test_a_ledger_that_is_lost_meanwhile_is_told(
        self,
        fate: str,
        kept: bool,
        schema: pt.Schema,
        people: Callable[..., pa.Table],
        own_ledger: Path,
        tmp_path: Path,
    ) -> None:
        def spoil() -> None:
            own_ledger.unlink()
            if fate == "replaced":
                CALLS["cap"](Ledger())
            elif fate == "garbage":
                own_ledger.write_bytes(b"garbage" * 1000)
            elif fate == "folder":
                own_ledger.mkdir()

        output = tmp_path / "people.release" if kept else None
        with pytest.raises(LedgerError, match="ε = 1, δ = 1e-5 was spent on 'people', and counts") as caught:
            self.release(people, schema, spoil, output=output)
        assert "Nothing was spent" not in str(caught.value)
        assert isinstance(caught.value.made, pt.Release)
        if output is not None:
            assert f"safe in {output}" in str(caught.value)
            assert pt.Release.load(output).id == caught.value.made.id
        assert own_ledger.exists() == (fate != "deleted")

    def test_a_full_disk_at_the_end(
        self, schema: pt.Schema, people: Callable[..., pa.Table], own_ledger: Path, tmp_path: Path
    ) -> None:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        output = tmp_path / "people.release"
        try:
            with pytest.raises(LedgerError, match=f"safe in {output}.*was spent on 'people'"):
                self.release(
                    people, schema, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1])), output=output
                )
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert pt.Release.load(output).schema == schema
        assert [spend.state for spend in Ledger().accounts()[0].spends] == [State.OPEN]

    def test_a_folder_that_goes_before_the_file_is_written(
        self, schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path
    ) -> None:
        (tmp_path / "out").mkdir()
        with pytest.raises(
            pt.PointillistError, match=r"cannot be written.*was spent on 'people', and counts"
        ) as caught:
            pt.release(
                people(50), schema, epsilon=1.0, output=tmp_path / "out" / "r",
                progress=lambda step, part: shutil.rmtree(tmp_path / "out") if step == "write" else None,
            )  # fmt: skip
        assert isinstance(caught.value.made, pt.Release)

    def test_a_spend_that_was_never_recorded(self) -> None:
        CALLS["cap"](Ledger())
        with pytest.raises(LedgerError, match="does not have the spend"):
            Ledger().finish("r")

    def test_a_choice_is_not_lost_either(self, own_ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        schema = pt.Schema(name="people", columns={"a": pt.Boolean(missing=False)})
        whole = Ledger.record

        def record(self: Ledger, *args: object, **options: object) -> None:
            whole(self, *args, **options)  # type: ignore[arg-type]
            own_ledger.unlink()

        monkeypatch.setattr(Ledger, "record", record)
        with pytest.raises(LedgerError, match=r"choice was made.*attribute `made`.*ε = 1, δ = 0 was spent") as caught:
            pt.choose(pa.table({"a": [True, False]}), schema, 2, epsilon=1.0)
        assert isinstance(caught.value.made, pt.Choice)


BEGINNER = """
import sys, time
from pathlib import Path
from pointillist.privacy.budget import Budget
from pointillist.privacy.ledger import Ledger
ledger, number = sys.argv[1:]
Path(f"{ledger}.ready{number}").touch()
while not Path(f"{ledger}.go").exists():
    pass
Ledger(ledger).set_cap(number, Budget(1.0, 1e-5))
"""


def test_processes_that_begin_a_ledger_together_share_it(tmp_path: Path) -> None:
    path = tmp_path / "l"
    racers = [subprocess.Popen([sys.executable, "-c", BEGINNER, str(path), str(n)]) for n in range(3)]
    while len(list(tmp_path.glob("*.ready*"))) < 3:
        assert all(racer.poll() in (None, 0) for racer in racers)
    (tmp_path / "l.go").touch()
    assert [racer.wait() for racer in racers] == [0, 0, 0]
    assert [account.dataset for account in Ledger(path).accounts()] == ["0", "1", "2"]


class TestDuringAPass:
    """The ledger that was checked before the rows are read is the one that the spend goes into."""

    SCHEMA = pt.Schema(name="few", reviewed=True, columns={"a": pt.Integer(min=0, max=1)})

    def release(self, ledger: Path, meanwhile: Callable[[], object]) -> None:
        def progress(step: str, fraction: float) -> None:
            if step.startswith("pass 1") and fraction == 0:
                meanwhile()

        pt.release(pa.table({"a": [0, 1] * 20}), self.SCHEMA, epsilon=1.0, ledger=ledger, progress=progress)

    def test_a_ledger_that_vanishes_is_not_begun_anew(self, tmp_path: Path) -> None:
        path, away = tmp_path / "ledger.sqlite", tmp_path / "away"
        Ledger(path).set_cap("few", Budget(1.5, 1e-5))
        with pytest.raises(LedgerError, match=r"is gone\. Nothing was spent"):
            self.release(path, lambda: path.rename(away))
        assert not path.exists()
        assert Ledger(away).accounts()[0].spends == ()

    def test_a_ledger_that_is_replaced_is_refused(self, tmp_path: Path) -> None:
        path, other = tmp_path / "ledger.sqlite", tmp_path / "other.sqlite"
        Ledger(path).set_cap("few", Budget(1.5, 1e-5))
        shutil.copy(path, other)
        with pytest.raises(LedgerError, match="was replaced by another file"):
            self.release(path, lambda: other.replace(path))
        assert Ledger(path).accounts()[0].spends == ()

    def test_a_first_release_begins_a_ledger(self, tmp_path: Path) -> None:
        self.release(tmp_path / "new.sqlite", lambda: None)
        assert len(Ledger(tmp_path / "new.sqlite").accounts()[0].spends) == 1


@pytest.mark.parametrize(
    "edit", ["epsilon_slack = -50, mu = 0", "mu = -1", "delta = -1", "delta_slack = -1", "epsilon = -3"]
)
def test_a_spend_that_takes_something_back_is_damage(tmp_path: Path, edit: str) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).record("people", ONE, release="r", purpose="test")
    run_sql(path, f"UPDATE spend SET {edit}")
    with pytest.raises(LedgerError, match="does not make sense"):
        Ledger(path).accounts()
    with pytest.raises(LedgerError, match="does not make sense"):
        Ledger(path).check("people", ONE)
