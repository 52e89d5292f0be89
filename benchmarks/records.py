"""Records: what each run of a bench cost, and how good it was.

While a bench runs, a run's record and its scores are JSON files in the folder `cache` of its results, which is not for
version control, so that an interrupted bench goes on where it stopped. All of them together go to `results.parquet`, which
keeps them word for word beside the columns that pages are made of: a bench goes on from there, too.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Facts = dict[str, Any]
KEY, RECORD, SCORES = "key", "record", "scores"
TABLE = "results.parquet"


@dataclass(frozen=True)
class Records:
    """The runs of one folder of results, by their keys."""

    results: Path

    @property
    def cache(self) -> Path:
        """Where things are that pages do not need."""
        return self.results / "cache"

    def run(self, key: str) -> Facts | None:
        """What a run cost or why it failed; nothing if it has not been made."""
        return self._read("runs", RECORD, key)

    def scores(self, key: str) -> Facts | None:
        """How good a run was; nothing if it has not been scored."""
        return self._read("scores", SCORES, key)

    def keep_run(self, key: str, record: Facts) -> None:
        """Keep the record of a run that was just made: earlier scores are not its own."""
        store(self._path("runs", key), record)
        store(self._path("scores", key), None)

    def keep_scores(self, key: str, scores: Facts) -> None:
        """Keep how good a run was."""
        store(self._path("scores", key), scores)

    def __iter__(self) -> Iterator[tuple[str, Facts, Facts]]:
        """Every run, in the order of keys: the key, the record, the scores, if any."""
        new = {path.stem: None for path in (self.cache / "runs").glob("*.json")}
        for key in sorted({**new, **self._collected}, key="{}.json".format):  # as files are listed
            record = self.run(key)
            if record is not None:
                yield key, record, self.scores(key) or {}

    def _path(self, kind: str, key: str) -> Path:
        return self.cache / kind / f"{key}.json"

    def _read(self, kind: str, column: str, key: str) -> Facts | None:
        path = self._path(kind, key)
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        kept = self._collected.get(key)
        return None if kept is None or kept[column] is None else json.loads(kept[column])

    @cached_property
    def _collected(self) -> dict[str, Facts]:
        path = self.results / TABLE
        if not path.exists():
            return {}
        return {row[KEY]: row for row in pq.read_table(path, columns=[KEY, RECORD, SCORES]).to_pylist()}


def kept(key: str, record: Facts, scores: Facts) -> Facts:
    """The columns of a table of results that hold a run word for word."""
    return {KEY: key, RECORD: _text(record), SCORES: _text(scores) if scores else None}


def columns() -> Sequence[tuple[str, pa.DataType]]:
    """Their names and types."""
    return [(name, pa.string()) for name in (KEY, RECORD, SCORES)]


def _text(facts: Facts) -> str:
    return json.dumps(facts, ensure_ascii=False)


def store(path: Path, record: Facts | None) -> None:
    """Write a record whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(record, file, indent=1, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
