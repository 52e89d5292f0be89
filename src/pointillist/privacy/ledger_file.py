"""Ledger file: the SQLite file under a ledger, and whether it can be trusted.

An account that is lost counts as nothing spent, so a file is either known to be a ledger or refused. It is born whole,
with its tables and a stamp in its header; a file that is there and is empty, has other tables or another stamp was
never one, or is one no longer. Ledgers written before there was a stamp are known by their tables, and get it.
"""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from pointillist.errors import LedgerError, UsageError
from pointillist.files.container import write_new

APPLICATION, VERSION = 0x506F696E, 1
"""The stamp: "Poin", and the number of the layout."""

_NOTHING = "Nothing was spent."
_RESTORE = "Restore the ledger from a backup: without it, what was spent before would count as unspent."
_TABLES = """
CREATE TABLE account (
    dataset TEXT PRIMARY KEY,
    neighbours TEXT,
    person TEXT,
    cap_epsilon REAL NOT NULL,
    cap_delta REAL NOT NULL
) STRICT;
CREATE TABLE spend (
    id INTEGER PRIMARY KEY,
    dataset TEXT NOT NULL REFERENCES account (dataset),
    release TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    purpose TEXT NOT NULL,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    mu REAL NOT NULL,
    epsilon_slack REAL NOT NULL,
    delta_slack REAL NOT NULL,
    state TEXT NOT NULL
) STRICT;
"""
_STAMP = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"


Identity = tuple[int, int]
"""Device and number of a file: a copy or a new one under the same name has others."""


def plain(path: str | Path) -> Path:
    """A path on disk, and not one of the names that SQLite takes for something else."""
    if not isinstance(path, str | Path):
        raise UsageError(f"the ledger must be the path of a file, not {type(path).__name__}.")
    name = str(path)
    if not name or name.startswith((":", "file:")) or "\0" in name:
        raise UsageError(
            f"the ledger {name!r} is not the path of a file. A ledger must outlast the process that spends: name a plain "
            "file."
        )
    return Path(path)


class LedgerFile:
    """A ledger's file; opened for each transaction, so that any number of processes may share it."""

    def __init__(self, path: Path):
        self.path = path

    def identity(self, otherwise: str = _NOTHING) -> Identity | None:
        """Which file is there, or none; what is there and is no file is refused."""
        with self._explained(otherwise):
            try:
                found = os.stat(self.path)
            except FileNotFoundError:
                if self.path.is_symlink():
                    raise self._refused("is a link to a file that is not there", _RESTORE, otherwise) from None
                return None
        if not stat.S_ISREG(found.st_mode):
            what = "a folder" if stat.S_ISDIR(found.st_mode) else "not a file"
            raise self._refused(f"is {what}", "Name a file.", otherwise)
        return found.st_dev, found.st_ino

    def require_room(self) -> None:
        """Refuse a place where no new ledger could be begun, without beginning one."""
        with self._explained(_NOTHING):
            folder = next(each for each in self.path.absolute().parents if each.exists())
            tempfile.TemporaryFile(dir=folder).close()

    @contextmanager
    def transaction(
        self, otherwise: str = _NOTHING, *, write: bool = True, create: bool = False, seen: Identity | None = None
    ) -> Iterator[sqlite3.Connection]:
        """One transaction; a durable one that keeps every other writer out from its first line, if it is to write.

        `otherwise` says what it means for the user if it fails. A missing file is made only where `create` says so, and
        never in place of one that was `seen`.
        """
        found = self.identity(otherwise)
        if found is not None and seen not in (None, found):
            raise self._refused("was replaced by another file while it was in use", _RESTORE, otherwise)
        if found is None:
            if not create or seen is not None:
                raise self._refused("is gone", _RESTORE, otherwise)
            with self._explained(otherwise):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                write_new(self.path, _new())
        with self._explained(otherwise), closing(self._connect()) as db:
            db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                self._require_ledger(db, otherwise)
                if write:
                    # Also where it is there already: this is what shows that the file and its folder can be written.
                    for line in _STAMP.split(";"):
                        db.execute(line)
                yield db
                db.execute("COMMIT")
            except BaseException:
                # A full disk has rolled back already; and whatever comes of this, the first error is the one to tell.
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise

    def _connect(self) -> sqlite3.Connection:
        # As a URI, because only there can SQLite be told not to begin a new file.
        db = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True, timeout=60, isolation_level=None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA synchronous = EXTRA")
        db.execute("PRAGMA foreign_keys = ON")
        return db

    def _require_ledger(self, db: sqlite3.Connection, otherwise: str) -> None:
        application, version = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        found = _layout(db)
        ours = application == APPLICATION
        if ours and version > VERSION:
            raise self._refused(
                f"is a ledger of format {version}, and this version of pointillist reads up to {VERSION}",
                "Upgrade pointillist.",
                otherwise,
            )
        if not ours and not found:
            raise self._refused(
                "is there, but is empty, as no ledger ever is",
                f"{_RESTORE} Only if nothing was ever recorded in it, remove the file: then a new ledger is begun.",
                otherwise,
            )
        if (application, version) not in ((APPLICATION, VERSION), (0, 0)) or not _expected().items() <= found.items():
            what = (
                "is a damaged ledger: its tables are not as they were made" if ours else "is another program's database"
            )
            advice = _RESTORE if ours else f"Is the path right? If a ledger stood here: {_RESTORE}"
            raise self._refused(what, advice, otherwise)
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise self._refused("is a damaged ledger", _RESTORE, otherwise)

    @contextmanager
    def _explained(self, otherwise: str) -> Iterator[None]:
        """Errors of SQLite and of the system in our words."""
        try:
            yield
        except sqlite3.Error as error:
            kind = getattr(error, "sqlite_errorname", "").removeprefix("SQLITE_")
            reason, advice = next((v for k, v in _CAUSES.items() if kind.startswith(k)), (str(error), _ACCESS))
            raise self._refused(f"cannot be used ({reason})", advice, otherwise) from None
        except OSError as error:
            raise self._refused(f"cannot be used ({error.strerror or error})", _ACCESS, otherwise) from None

    def _refused(self, what: str, advice: str, otherwise: str = _NOTHING) -> LedgerError:
        return LedgerError(f"{self.path}: the ledger {what}. {otherwise} {advice}")


_ACCESS = "Let it and its folder be read and written, with space left on the disk."
_CAUSES = {
    "FULL": ("the disk is full", _ACCESS),
    "READONLY": ("it is read-only", _ACCESS),
    "CANTOPEN": ("it or its folder cannot be opened and written", _ACCESS),
    "BUSY": ("another process holds it", "Wait until that one is done."),
    "NOTADB": ("it is not a database, or damaged", _RESTORE),
    "CORRUPT": ("it is damaged", _RESTORE),
}


@cache
def _new() -> bytes:
    """The file of a ledger in which nothing is recorded."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_TABLES + _STAMP)
        return db.serialize()


@cache
def _expected() -> dict[str, tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_TABLES)
        return _layout(db)


def _layout(db: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Tables and the names of their columns."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for table in tables:
        rows = db.execute("SELECT name FROM pragma_table_info(?)", (table,))
        found[table] = tuple(row[0] for row in rows)
    return found
