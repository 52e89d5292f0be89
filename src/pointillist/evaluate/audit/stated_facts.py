"""Stated facts: all that a release states beside its noisy values. They must not depend on the rows in any way."""

import datetime as dt
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointillist.errors import PointillistError
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.evaluate.audit.epsilon_bounds import event_epsilon, same_chance
from pointillist.evaluate.audit.finding import ALARM, Finding
from pointillist.evaluate.audit.neighbouring_tables import Pair
from pointillist.features.serial import to_nodes
from pointillist.release import Release

_FOLLOWED = 5
"""Of so many releases of each table the features are made again from the published values."""


def facts_of(release: Release) -> dict[str, Any]:
    """Schema, plan, promise, row count, grids, noise scales and the first round's features; id and time are apart."""
    facts = release.summary()
    del facts["id"], facts["created"]
    first, *_ = release.measurements
    facts["features"] = to_nodes(first.feature_map)[0]
    facts["rounds"] = [{"bits": each.grid.bits, "sigma": each.sigma} for each in release.measurements]
    return facts


def follows(release: Release, audited: AuditedPipeline) -> bool:
    """Whether every round's features are what the method makes of the published values before it, and of no row."""
    try:
        plan = audited.plan_for(release.schema)
        return all(
            _same(audited.method.feature_map(plan, release.measurements[:number]), measurement.feature_map)
            for number, measurement in enumerate(release.measurements)
        )
    except PointillistError:
        return False


def _same(first: Any, second: Any) -> bool:
    (nodes, arrays), (other_nodes, other_arrays) = to_nodes(first), to_nodes(second)
    same_arrays = arrays.keys() == other_arrays.keys() and all(
        np.array_equal(arrays[name], other_arrays[name]) for name in arrays
    )
    return same_arrays and nodes == other_nodes


@dataclass
class StatedFacts:
    """What the releases of one table stated beside their noisy values."""

    facts: Counter[str] = field(default_factory=Counter)
    """Facts as JSON, with how often each was stated."""
    ids: Counter[str] = field(default_factory=Counter)
    values: set[bytes] = field(default_factory=set)
    follows: bool = True
    timely: bool = True

    @property
    def releases(self) -> int:
        return self.ids.total()

    @property
    def repeats(self) -> bool:
        return len(self.values) < self.releases

    def refuse(self, error: Exception) -> None:
        """Keep that no release was made: a table that is refused more often than its neighbour gives itself away."""
        self.facts[json.dumps({"refused": type(error).__name__})] += 1

    def add(self, release: Release, audited: AuditedPipeline, started: dt.datetime) -> None:
        """Keep what a release states; it was begun at `started`."""
        if len(self.values) < _FOLLOWED:
            self.follows &= follows(release, audited)
        self.timely &= _timely(release.created, started)
        self.facts[json.dumps(facts_of(release), sort_keys=True, default=str)] += 1
        self.ids[release.id] += 1
        self.values.add(b"".join(each.values.tobytes() for each in release.measurements))


def _timely(created: str, started: dt.datetime) -> bool:
    """Whether it is the time at which the release was made, to the second and no finer: digits can carry secrets."""
    try:
        stated = dt.datetime.fromisoformat(created)
    except ValueError:
        return False
    if stated.utcoffset() != dt.timedelta(0) or stated.isoformat(timespec="seconds") != created:
        return False
    return started.replace(microsecond=0) <= stated <= dt.datetime.now(dt.UTC)


@dataclass(frozen=True)
class Tell:
    """A fact that depends on the rows: it is stated of one table more often than of its neighbour."""

    place: str
    one: int
    runs: int
    other: int
    other_runs: int
    tests: int
    """Among so many it was found."""

    @property
    def certain(self) -> bool:
        """Whether it was always stated of one table, and never of the other."""
        return {self.one / self.runs, self.other / self.other_runs} == {0.0, 1.0}

    def bound(self, delta: float, alpha: float) -> float:
        """Lower bound on epsilon."""
        if self.certain:
            return math.inf
        return event_epsilon(self.one, self.runs, self.other, self.other_runs, delta, alpha / self.tests)

    def __str__(self) -> str:
        place = "one of two tables is refused" if self.place == "refused" else self.place
        if self.certain:
            return place
        return f"{place}, in {self.one} of {self.runs} releases against {self.other} of {self.other_runs}"


def tells(one: Counter[str], other: Counter[str], alpha: float, *, constant: bool = True) -> list[Tell]:
    """The places of two tables' facts that depend on the rows, each once; with chance alpha there is a false one.

    Every value at every place must turn up equally often on both sides, by Fisher's exact test. Where facts should be
    `constant`, a value that is always there on one side and never on the other needs no test.
    """
    counts = _counted(one), _counted(other)
    runs = one.total(), other.total()
    varied = [leaf for leaf in counts[0] | counts[1] if counts[0][leaf] + counts[1][leaf] < sum(runs)]
    found: dict[str, Tell] = {}
    for leaf in varied:
        tell = Tell(leaf[0], counts[0][leaf], runs[0], counts[1][leaf], runs[1], len(varied))
        unlikely = same_chance(tell.one, tell.runs, tell.other, tell.other_runs) < alpha / len(varied)
        if unlikely or (constant and tell.certain):
            found.setdefault(tell.place, tell)
    if "refused" in found:
        return [found["refused"]]
    return sorted(found.values(), key=lambda tell: not tell.place.startswith("schema"))  # causes before effects


def _counted(texts: Counter[str]) -> Counter[tuple[str, str]]:
    """How often each place held each value."""
    found: Counter[tuple[str, str]] = Counter()
    for text, times in texts.items():
        for leaf in leaves(json.loads(text)):
            found[leaf] += times
    return found


def leaves(facts: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every value in facts as text, with its place as a dotted name."""
    if not isinstance(facts, dict | list) or not facts:
        yield place, json.dumps(facts)
        return
    for key, value in facts.items() if isinstance(facts, dict) else enumerate(facts):
        yield from leaves(value, f"{place}.{key}" if place else str(key))


def facts_finding(stated: dict[str, StatedFacts], pairs: Sequence[Pair], delta: float, confidence: float) -> Finding:
    """Facts that differ between neighbours tell them apart; so do ids, times and noise that are not fresh."""
    share, level = ALARM / (2 * len(pairs)), (1 - confidence) / (2 * len(pairs))
    told: list[str] = []
    epsilon = 0.0
    for pair in pairs:
        one, other = stated[pair.without], stated[pair.within]
        found = tells(one.facts, other.facts, share) + tells(_spelt(one), _spelt(other), share, constant=False)
        epsilon = max([epsilon, *(tell.bound(delta, level) for tell in found)])
        if found:
            told.append(f"{', '.join(map(str, found[:3]))}{' …' if len(found) > 3 else ''} ({pair.name})")
    everyone = stated.values()
    ids = sum((each.ids for each in everyone), Counter[str]())
    faults = {
        "the noise repeats: two releases of one table came out alike, so it can be subtracted": any(
            each.repeats for each in everyone
        ),
        "ids repeat: two releases share one, so it is not drawn afresh and may be made from the rows": (
            len(ids) < ids.total()
        ),
        "the stated time is not the time of making, to the second, so it may be made from the rows": not all(
            each.timely for each in everyone
        ),
        "features of a later round do not follow from the published values, so they give rows away": not all(
            each.follows for each in everyone
        ),
    }
    wrong = [fault for fault, there in faults.items() if there]
    if told:
        verdict = (
            f"VIOLATED: the release's facts depend on the rows: {'; '.join(told)}. That tells neighbours apart; facts must "
            "not depend on the rows at all."
        )
    elif wrong:
        verdict = f"VIOLATED: {'; '.join(wrong)}."
    else:
        verdict = (
            f"Consistent: nothing to tell neighbours apart by. All {ids.total()} releases state the same schema, plan, "
            "noise scales, row count and features, whoever is in the table, under ids of their own."
        )
    certain = bool(wrong) or math.isinf(epsilon) or not told
    measures = {"releases": ids.total(), "depends_on_rows": told, "faults": wrong}
    return Finding(
        "facts",
        math.inf if wrong else epsilon,
        1.0 if certain else confidence,
        bool(told or wrong),
        verdict,
        measures,
        private=False,
    )


def _spelt(stated: StatedFacts) -> Counter[str]:
    """Ids as facts of one letter each: any part of an id may give rows away."""
    return Counter({json.dumps({"id": list(name)}): times for name, times in stated.ids.items()})
