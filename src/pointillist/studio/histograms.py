"""Histograms: how a column's values are spread, for the owner's eyes. They are not private, and leave the studio nowhere.

They are counted over the first rows alone: enough to see whether kind and bounds are right, and quick whatever the size.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from pointillist.pages import charts, share
from pointillist.progress import Progress, silent
from pointillist.reading.base import Source
from pointillist.reading.encoding import Encoder
from pointillist.schema import Schema
from pointillist.schema.levels import Levels, coarse, coarse_size, levels_of

FIRST = 200_000
"""Rows that are looked at."""
_BINS, _BARS = 32, 6

Counts = dict[str, list[int]]
"""For each column how many of the first rows are at each of its levels; a number's bins are joined to a few."""


def counted(schema: Schema, source: Source, progress: Progress = silent) -> Counts:
    """Rows at each level of every column."""
    levels = levels_of(schema)
    joined = {each.name: coarse(each, _BINS) for each in levels}
    totals = {each.name: np.zeros(coarse_size(each, _BINS), dtype=np.int64) for each in levels}
    if not levels:
        return {}
    names = frozenset(totals)
    encoder = Encoder(levels, names, frozenset(), source.name)
    rows = 0
    for batch in source.batches(encoder.columns, schema, lambda part: progress("histograms", part)):
        records = encoder(batch.slice(0, FIRST - rows))
        for name, codes in records.codes.items():
            totals[name] += np.bincount(joined[name][codes], minlength=len(totals[name]))
        rows += records.rows
        if rows >= FIRST:
            break
    return {name: total.tolist() for name, total in totals.items()}


def key_of(schema: Schema, name: str) -> str:
    """What a column's counts are kept by: they are of the column as it is described now."""
    return f"{name}\n{schema.columns[name].model_dump_json()}"


def load(path: Path) -> Counts:
    """What a worker counted; nothing if it is gone."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}


def chart(levels: Levels, counts: list[int]) -> Markup:
    """One column's values, drawn."""
    rows = sum(counts) or 1
    if not levels.numeric:
        return _bars(levels, counts, rows)
    regular = min(_BINS, levels.regular)
    inside = counts[:regular]
    atoms = {
        levels.label(levels.size - len(counts) + at): n / rows for at, n in enumerate(counts) if at >= regular and n
    }
    column: Any = levels.column
    low, _, high = str(column.show_ends()).partition(" to ")
    said = ", ".join(f"{name}: {share(value)}" for name, value in atoms.items())
    drawn = charts.histogram(
        list(range(regular + 1)),
        [each / rows for each in inside],
        [],
        (low, high),
        f"Values of {levels.name} from {low} to {high}, in {regular} equal parts of its scale. {said}",
    )
    return drawn if not atoms else drawn + charts.shares(list(atoms.items())[:_BARS], f"Single values: {said}")


def _bars(levels: Levels, counts: list[int], rows: int) -> Markup:
    found = sorted(((levels.label(at), n / rows) for at, n in enumerate(counts) if n), key=lambda each: -each[1])
    rest = found[_BARS:]
    shown = [*found[:_BARS], *([(f"{len(rest)} more", sum(part for _, part in rest))] if rest else [])]
    said = ", ".join(f"{name} {share(part)}" for name, part in shown)
    return charts.shares(shown, f"Values of {levels.name}: {said}")
