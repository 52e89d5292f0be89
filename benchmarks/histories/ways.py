"""Ways to make synthetic persons: by histories, by rows that are dealt out to persons, and by one wide row each."""

import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pointillist as pt

Frame = Any
DELTA = 1e-6


@dataclass(frozen=True)
class Made:
    """Synthetic rows with a column of persons, and the CPU seconds of release, fit and sample."""

    rows: Frame
    cpu: float


def chronicle(rows: Frame, schema: pt.Schema, epsilon: float, target: str | None, seed: int) -> Made:
    """Persons with their rows."""
    start = time.process_time()
    model = pt.fit(_released(rows, schema, epsilon, target, "chronicle"), seed=seed)
    persons = rows[_person(schema).column].nunique()
    made = model.sample(persons=persons, seed=seed, frame="pandas")
    return Made(made, time.process_time() - start)


def by_row(rows: Frame, schema: pt.Schema, epsilon: float, target: str | None, seed: int) -> Made:
    """Rows that know of no persons, under the same promise for persons. They are dealt out at random, with the real numbers
    of rows, which is more than anyone would know."""
    start = time.process_time()
    model = pt.fit(_released(rows, schema, epsilon, target, "mosaic"), seed=seed)
    person = _person(schema)
    counts = rows.groupby(person.column).size().to_numpy()
    made = model.sample(int(counts.sum()), seed=seed, frame="pandas")
    owners = np.repeat(np.arange(len(counts)), counts)
    made[person.column] = np.random.default_rng(seed).permutation(owners)
    return Made(made, time.process_time() - start)


def wide(rows: Frame, schema: pt.Schema, epsilon: float, target: str | None, seed: int) -> Made:
    """One row a person, with the columns of her first rows side by side, as many as a person has at most."""
    start = time.process_time()
    person = _person(schema)
    facts = [name for name, each in schema.measured.items() if each.of == "person"]
    own = [name for name in schema.measured if name not in facts]
    columns: dict[str, Any] = {name: schema.columns[name].model_copy(update={"of": "row"}) for name in facts}
    ordered = rows.sort_values([person.column, str(person.order)]).groupby(person.column)
    parts = [ordered[facts].first()]
    for place in range(person.max_rows):
        parts.append(ordered.nth(place).set_index(person.column)[own].add_suffix(f" {place}"))
        columns |= {f"{name} {place}": schema.columns[name].model_copy(update={"missing": True}) for name in own}
    whole = pd.concat(parts, axis=1).reset_index(drop=True)
    flat = pt.Schema(name=schema.name, rows=len(whole), columns=columns)
    model = pt.fit(_released(whole, flat, epsilon, target, "mosaic"), seed=seed)
    made = model.sample(len(whole), seed=seed, frame="pandas")
    made[person.column] = np.arange(len(made))
    long = []
    for place in range(person.max_rows):
        part = made[[person.column, *facts, *(f"{name} {place}" for name in own)]]
        long.append(part.rename(columns={f"{name} {place}": name for name in own}))
    there = pd.concat(long)
    needed = [str(person.order), *(name for name in own if not schema.columns[name].missing)]
    return Made(there[there[needed].notna().all(axis=1)].reset_index(drop=True), time.process_time() - start)


WAYS = {"chronicle": chronicle, "by row": by_row, "one wide row": wide}


def _released(rows: Frame, schema: pt.Schema, epsilon: float, target: str | None, method: str) -> pt.Release:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.FactsFromDataWarning)  # the data are public
        ledger = Path(folder) / "ledger.sqlite"
        return pt.release(rows, schema, epsilon=epsilon, delta=DELTA, target=target, method=method, ledger=ledger)


def _person(schema: pt.Schema) -> pt.Person:
    assert schema.person is not None
    return schema.person
