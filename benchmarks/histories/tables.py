"""Tables of persons with several rows: public ones from a folder, and a simulated one that needs none.

Their schemas are drafts, taken as they are: the data are public.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pointillist as pt
from pointillist.errors import UsageError

Frame = Any


@dataclass(frozen=True)
class Table:
    """A table, whose the rows are, and what is predicted from a history."""

    name: str
    rows: Callable[[Path | None], Frame]
    person: str
    order: str
    most: int
    target: str = ""
    """A fact of persons; empty where nothing is predicted."""
    ordinal: tuple[str, ...] = ()
    """The categories of what orders rows, where they are texts."""

    def schema(self, rows: Frame) -> pt.Schema:
        """A draft, with what is known of the order."""
        person = pt.Person(column=self.person, max_rows=self.most, order=None if self.ordinal else self.order)
        drafted = pt.draft(rows, name=self.name, person=person)
        facts = drafted.model_dump(exclude={"purchase"})
        columns = dict(drafted.columns)
        if self.ordinal:
            columns[self.order] = pt.Ordinal(categories=self.ordinal, missing=False)
        found = drafted.person or person
        facts |= {"columns": columns, "person": found.model_copy(update={"order": self.order})}
        return pt.Schema(**{**facts, "reviewed": True, "read_from_data": (), "constraints": drafted.constraints})


def _parquet(folder: Path | None, name: str) -> Frame:
    if folder is None:
        raise UsageError("--data FOLDER is needed: its tables/ has the public tables.")
    return pd.read_parquet(folder / "tables" / f"{name}.parquet")


def _nlswork(folder: Path | None) -> Frame:
    return _parquet(folder, "long_nlswork")


def _star(folder: Path | None) -> Frame:
    rows = _parquet(folder, "long_star")
    return rows.drop(columns=["yrs", "tch", "birthq"])  # the grade again, a teacher's number, the year again


def _oulad(folder: Path | None) -> Frame:
    """What students of one course handed in, with what is known of them; those who handed in nothing have no row."""
    students = _parquet(folder, "rel_oulad_enrolment").drop(columns=["date_unregistration"])
    once = students.groupby("id_student")["code_module"].transform("size") == 1
    handed_in = _parquet(folder, "rel_oulad_assessment_result")
    keys = ["id_student", "code_module", "code_presentation"]
    return students[once].merge(handed_in, on=keys).drop(columns=["id_assessment"])


def _lahman(folder: Path | None) -> Frame:
    """A player's seasons in teams, with what is known of the player."""
    people = _parquet(folder, "rel_lahman_people")[
        ["playerID", "birthYear", "birthCountry", "weight", "height", "bats", "throws"]
    ]
    seasons = _parquet(folder, "rel_lahman_batting")
    kept = ["playerID", "yearID", "stint", "lgID", "G", "AB", "R", "H", "HR", "RBI", "SB", "BB", "SO"]
    return people.merge(seasons[kept], on="playerID")


def _visits(folder: Path | None) -> Frame:
    """Patients who keep about their own blood pressure and rather stay on their ward."""
    rng = np.random.default_rng(7)
    rows = []
    for patient in range(1500):
        sex, born, own = rng.choice(["female", "male"]), int(rng.integers(1930, 2000)), rng.normal(125, 12)
        day, ward = dt.date(2020, 1, 1) + dt.timedelta(days=int(rng.integers(700))), rng.choice(["general", "surgery"])
        for _ in range(1 + min(rng.poisson(1 + max(0, 1990 - born) / 20 + (sex == "male")), 19)):
            rows.append((f"P{patient:05}", sex, born, day, round(own + rng.normal(0, 5)), ward))
            day += dt.timedelta(days=int(rng.gamma(2, 20)))
            ward = ward if rng.random() < 0.8 else rng.choice(["general", "surgery"])
    return pd.DataFrame(rows, columns=["patient", "sex", "born", "day", "pressure", "ward"])


TABLES = {
    each.name: each
    for each in (
        Table("visits", _visits, "patient", "day", 20, "sex"),
        Table("nlswork", _nlswork, "idcode", "year", 15),
        Table("star", _star, "id", "gr", 4, "eth", ordinal=("K", "1", "2", "3")),
        Table("oulad", _oulad, "id_student", "date_submitted", 20, "final_result"),
        Table("lahman", _lahman, "playerID", "yearID", 25),
    )
}
