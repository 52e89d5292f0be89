"""Command: the command line, with arguments and files of all sorts."""

import contextlib
import io
import os
import sys
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from benchmarks.fuzz import base
from benchmarks.fuzz.kind import Attempt, Kind, Refused
from benchmarks.fuzz.mutation import NUMBERS, TEXTS, damaged, garbled
from pointillist.cli import main
from pointillist.visible import visible

_CODES = (0, 1, 2, 3, 4, 5, 6)
"""How a command may end: 70 is a fault of ours."""


@cache
def _files() -> dict[str, bytes]:
    """What a folder of somebody who uses the product holds."""
    csv, parquet = io.BytesIO(), io.BytesIO()
    pacsv.write_csv(base.table(), csv)
    pq.write_table(base.table(), parquet)
    schema = base.SCHEMA.to_toml()
    return {
        "t.csv": csv.getvalue(),
        "t.parquet": parquet.getvalue(),
        "t.toml": schema.encode(),
        "draft.toml": schema.replace("reviewed = true", "reviewed = false").encode(),
        "t.release": base.release().to_bytes(),
        "t.model": base.model().to_bytes(),
        "empty.csv": b"",
        "\x1b[31mred\u202e.csv": csv.getvalue(),
    }


_ODD = (
    "/dev/zero",
    "/dev/null",
    "nope.csv",
    "folder",
    "",
    ".",
    "x" * 300,
    "pipe",
    "loop",
    "n\udcff.csv",
    "t.csv/x",
    "/dev",
    "-",
)
_COMMANDS: dict[str, tuple[str, ...]] = {
    "draft": ("schema", "draft", "FILE:t.csv", "-o", "OUT:o.toml"),
    "plan": ("release", "FILE:t.csv", "--schema", "FILE:t.toml", "--epsilon", "NUM:1", "--plan"),
    "release": ("release", "FILE:t.csv", "--schema", "FILE:t.toml", "--epsilon", "NUM:1", "-o", "OUT:o.release"),
    "inspect": ("inspect", "FILE:t.release"),
    "inspect model": ("inspect", "FILE:t.model", "--json"),
    "sample": ("sample", "FILE:t.model", "-n", "NUM:20", "-o", "OUT:o.csv", "--safe-csv"),
    "given": ("sample", "FILE:t.model", "--given", "TEXT:sex=male", "--balance", "TEXT:sex", "-o", "OUT:o.parquet"),
    "query": ("query", "FILE:t.release", "TEXT:mean(age) where sex = 'male'", "--model", "FILE:t.model"),
    "card": ("card", "FILE:t.release", "-o", "OUT:o.md"),
    "ledger": ("ledger", "--ledger", "FILE:l.sqlite"),
    "cap": ("ledger", "cap", "TEXT:base", "--epsilon", "NUM:3"),
    "evaluate": ("evaluate", "FILE:empty.csv", "FILE:t.csv", "--schema", "FILE:t.toml", "-o", "OUT:o.html"),
    "nonsense": ("TEXT:sample", "TEXT:--help", "FILE:t.model"),
}  # fmt: skip
_MORE = (
    ("--target", "TEXT:sex"), ("--delta", "NUM:1e-5"), ("--neighbours", "TEXT:replace-one"), ("--method", "TEXT:merf"),
    ("--seed", "NUM:1"), ("--sql", "TEXT:SELECT * FROM source"), ("--delimiter", "TEXT:;"), ("--name", "TEXT:x"),
    ("--person", "TEXT:sex"), ("--max-rows", "NUM:2"), ("--json",), ("-q",), ("--overwrite",), ("--help",),
)  # fmt: skip


def _argument(written: str, rng: Random) -> str:
    kind, colon, usual = written.partition(":")
    if not colon or kind not in ("FILE", "OUT", "NUM", "TEXT") or rng.random() < 0.75:
        return usual if colon and kind in ("FILE", "OUT", "NUM", "TEXT") else written
    if kind == "NUM":
        return str(rng.choice((*NUMBERS, *TEXTS)))
    if kind == "TEXT":
        return garbled(usual, rng, 3) if rng.random() < 0.5 else rng.choice(TEXTS)
    return rng.choice((*_ODD, *_files()))


def _command(rng: Random, folder: Path) -> Attempt:
    for name, content in _files().items():
        (folder / name).write_bytes(damaged(content, rng, 2) if rng.random() < 0.1 else content)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    os.symlink("loop", folder / "loop")
    written = [*rng.choice(list(_COMMANDS.values())), *(each for part in _MORE if rng.random() < 0.06 for each in part)]
    # A program cannot be called with a null in an argument.
    arguments = [_argument(each, rng).replace("\x00", "") for each in written]
    return lambda: run(arguments, folder)


def run(arguments: list[str], folder: Path) -> None:
    """The command as if it were called in the folder; fails if it ends or speaks as no command may."""
    out, err = io.StringIO(), io.StringIO()
    environment = {"POINTILLIST_LEDGER": str(folder / "ledger.sqlite"), "NO_COLOR": "1", "COLUMNS": "100"}
    with (
        contextlib.chdir(folder),
        patch.dict(os.environ, environment),
        patch.object(sys, "argv", ["pointillist", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    said = out.getvalue() + err.getvalue()
    if code not in _CODES:
        raise AssertionError(f"ended with {code}: {err.getvalue()[-300:]}")
    if visible(said) != said:
        raise AssertionError(f"a name reached the terminal as it is: {said[-300:]!r}")
    if code != 0:
        raise Refused(said)


KINDS = (Kind("command", _command, 3),)
