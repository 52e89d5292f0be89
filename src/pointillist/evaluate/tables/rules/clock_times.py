"""Clock times: whole numbers that are hours and minutes written together (1745), whose last two digits are below 60."""

from collections.abc import Iterable

import numpy as np

from pointillist.evaluate.advice import Advice
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.rules.base import EVIDENCE, RULES, Facts, Flags, Rule, RuleKind

_LEAST_MINUTES = 12
"""So many different minutes: numbers that are all multiples of 100 are no times."""
_LATEST, _LEAST_LATEST = 2400, 1000


@RULES.register("clock time", place=60)
class ClockTimes(RuleKind):
    """One rule for each column of such numbers."""

    def find(self, facts: Facts) -> Iterable[Rule]:
        for column in facts.numeric:
            if not column.whole or column.level.column.compared_as != "a number":
                continue
            known = column.numbers[0][~column.gaps[0]]
            if not valid(known[facts.probe]).all() or not _LEAST_LATEST <= known.max() <= _LATEST:
                continue
            if 0.4 * len(known) < EVIDENCE or len(np.unique(known % 100)) < _LEAST_MINUTES or not valid(known).all():
                continue
            broken = float(np.mean(~valid(column.numbers[1]) & ~column.gaps[1]))
            said = (
                f"Release {column.name} as minutes since midnight, with min = 0 and max = 1440 in the schema: then every "
                "value is a time."
            )
            text = f"{column.name} is a clock time (HHMM): its last two digits are below 60"
            yield Rule("clock time", text, (column.name,), broken, (Advice(said, _minutes(column.name)),))


def _minutes(name: str) -> str:
    """The query that counts a time's minutes, for commands that read tables."""
    quoted = '"' + name.replace('"', '""') + '"'
    number = f"CAST({quoted} AS INTEGER)"  # the columns of a CSV file are texts there
    return f"--sql 'SELECT * REPLACE ({number} // 100 * 60 + {number} % 100 AS {quoted}) FROM source'"


def valid(values: Floats) -> Flags:
    """Which numbers are times from 0000 to 2400."""
    with np.errstate(invalid="ignore"):
        return np.asarray((values >= 0) & (values <= _LATEST) & (values % 100 < 60))
