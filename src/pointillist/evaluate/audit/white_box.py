"""White-box attack: many releases of two neighbouring tables, told apart by all that a release makes public.

The attacker knows the code, both tables and everything but the noise. Three tests are made of the noisy values: the
most powerful one for Gaussian noise (a projection on the direction in which the person really moves the sums), the same
scores cut at a threshold (no assumption on the noise), and the size of the noise itself, which thousands of coordinates
show to a fraction of a per cent. The facts beside the values must be the same for both tables.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.audit.bounds import Estimate, gaussian_mu, noise_ratio, split_epsilon
from pointillist.evaluate.audit.facts import differences, facts_of, follows
from pointillist.evaluate.audit.finding import ALARM, Finding
from pointillist.evaluate.audit.neighbours import Pair, worst_pairs
from pointillist.evaluate.audit.subject import Subject
from pointillist.privacy.accounting import gaussian_epsilon
from pointillist.progress import Progress, silent
from pointillist.release import Release

MOST_COLUMNS, MOST_LEVELS = 24, 4_000
"""Wider schemas are cut to their first columns: the time goes into the noise, which is drawn cell by cell."""
_FOLLOWED = 5
"""Of so many releases of each table the features are made again from the published values."""


@dataclass
class _Seen:
    """What is kept of the releases of one table."""

    facts: dict[str, Any] = field(default_factory=dict)
    """Distinct facts, by their text."""
    releases: int = 0
    follows: bool = True
    values: set[bytes] = field(default_factory=set)
    scores: dict[Pair, list[float]] = field(default_factory=dict)
    shifts: dict[Pair, list[list[float]]] = field(default_factory=dict)
    """By round, how far the person moves the sums, in units of the promised noise."""
    squares: dict[int, float] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)


def white_box(
    subject: Subject, *, runs: int = 100, confidence: float = 0.95, progress: Progress = silent
) -> tuple[Finding, ...]:
    """Attack `runs` releases of each table; no private row is needed."""
    subject = subject.narrowed(MOST_COLUMNS, MOST_LEVELS)
    tables, pairs = worst_pairs(subject)
    seen, sums = {name: _Seen() for name in tables}, _Exact(subject, tables)
    for number, name in enumerate(tables):
        for run in range(runs):
            progress("white-box releases", (number * runs + run) / (len(tables) * runs))
            _observe(seen[name], name, pairs, sums)
    progress("white-box releases", 1.0)
    if all("refused" in facts for each in seen.values() for facts in each.facts.values()):
        subject.release(next(iter(tables.values())))  # raises what it raised before
    stated = _facts_finding(pairs, seen, runs)
    if stated.violated:
        return (stated,)
    return stated, _values_finding(subject, pairs, seen, runs, confidence)


def _observe(seen: _Seen, name: str, pairs: Sequence[Pair], sums: "_Exact") -> None:
    """Make one release of a table and keep what the attack needs of it."""
    subject = sums.subject
    try:
        release = subject.release(sums.tables[name])
    except Exception as error:  # a pipeline that fails for one table and not for its neighbour gives it away
        seen.facts.setdefault("refused", {"refused": type(error).__name__})
        return
    facts = facts_of(release)
    if len(seen.values) < _FOLLOWED:
        seen.follows &= follows(release, subject)
    seen.facts.setdefault(json.dumps(facts, sort_keys=True, default=str), facts)
    seen.releases += 1
    seen.values.add(b"".join(each.values.tobytes() for each in release.measurements))
    exact = {name: sums.of(name, release)}
    for number, (measurement, start) in enumerate(zip(release.measurements, exact[name], strict=True)):
        residual = measurement.values / measurement.sigma - start
        seen.squares[number] = seen.squares.get(number, 0.0) + float(residual @ residual)
        seen.counts[number] = seen.counts.get(number, 0) + len(residual)
    for pair in pairs:
        if name not in (pair.without, pair.within):
            continue
        for side in (pair.without, pair.within):
            if side not in exact:
                exact[side] = sums.of(side, release)
        score, shifts = _score(release, exact[pair.without], exact[pair.within])
        seen.scores.setdefault(pair, []).append(score)
        seen.shifts.setdefault(pair, []).append(shifts)


@dataclass
class _Exact:
    """Exact sums in units of the noise. Those of round 1 are kept: its features are nearly always the same."""

    subject: Subject
    tables: dict[str, pa.Table]
    kept: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def of(self, name: str, release: Release) -> list[Any]:
        first, *rest = release.measurements
        key, sums = self.kept.get(name, (None, None))
        wanted = (release.schema, first.feature_map, first.grid, first.sigma)
        if key != wanted:
            sums = self.subject.exact(self.tables[name], release.schema, first)
            self.kept[name] = wanted, sums
        return [sums, *(self.subject.exact(self.tables[name], release.schema, each) for each in rest)]


def _score(release: Release, without: list[Any], within: list[Any]) -> tuple[float, list[float]]:
    """The most powerful statistic: standard normal without the person, mean mu with them; and mu by round."""
    total, shifts = 0.0, []
    for measurement, start, end in zip(release.measurements, without, within, strict=True):
        moved = end - start
        total += float((measurement.values / measurement.sigma - start) @ moved)
        shifts.append(float(np.linalg.norm(moved)))
    return total / max(math.hypot(*shifts), 1e-300), shifts


def _facts_finding(pairs: Sequence[Pair], seen: dict[str, _Seen], runs: int) -> Finding:
    """Facts that differ between neighbours tell them apart with certainty; so does noise that repeats."""
    told: list[str] = []
    for pair in pairs:
        one, other = seen[pair.without].facts, seen[pair.within].facts
        if not one.keys() & other.keys():
            told.append(f"{_places(next(iter(one.values())), next(iter(other.values())))} ({pair.name})")
    loose = not all(each.follows for each in seen.values())
    repeats = any(len(each.values) < each.releases for each in seen.values())
    if told:
        verdict = f"VIOLATED: the release's facts depend on the rows: {'; '.join(told)}. That tells neighbours apart."
    elif repeats:
        verdict = "VIOLATED: the noise repeats: two releases of one table came out alike, so it can be subtracted."
    elif loose:
        verdict = "VIOLATED: features of a later round do not follow from the published values, so they give rows away."
    else:
        verdict = "Consistent: schema, plan, noise scales, row count and features are the same whoever is in the table."
    broken = bool(told) or loose or repeats
    measures = {"releases": runs * len(seen), "depends_on_rows": told, "noise_repeats": repeats, "follows": not loose}
    return Finding("facts", math.inf if broken else 0.0, 1.0, broken, verdict, measures, private=False)


def _places(one: dict[str, Any], other: dict[str, Any]) -> str:
    if "refused" in one or "refused" in other:
        return "one of two tables is refused"
    places = sorted(differences(one, other), key=lambda place: not place.startswith("schema"))  # causes before effects
    return ", ".join(places[:3]) + (" …" if len(places) > 3 else "")


def _values_finding(
    subject: Subject, pairs: Sequence[Pair], seen: dict[str, _Seen], runs: int, confidence: float
) -> Finding:
    promise = subject.promise
    epsilon, measures = _bound(pairs, seen, promise.delta, 1 - confidence)
    alarm, _ = _bound(pairs, seen, promise.delta, ALARM)
    violated = alarm > promise.epsilon
    worst = max(measures["pairs"], key=lambda each: each["epsilon"])
    measures |= {"runs": runs, "mu_promised": promise.mu, "columns": list(subject.schema.measured)}
    noise = min(measures["noise_ratio"], key=lambda each: each["value"])
    verdict = (
        f"{'VIOLATED' if violated else 'Consistent'}: ε ≥ {epsilon:.3g} at {confidence:.0%} confidence where "
        f"{promise.epsilon:g} is promised. {runs} releases on each side; the noise is {noise['value']:.4f} times the "
        f"promised; the worst neighbours ({worst['name']}) are told apart like μ = {worst['mu_by_noise']:.4f} "
        f"(by the attack's own scores {worst['mu']:.2f}, from {worst['mu_low']:.2f} to {worst['mu_high']:.2f}), "
        f"promised {promise.mu:.4f}."
    )
    return Finding("white-box", epsilon, confidence, violated, verdict, measures, private=False)


def _bound(pairs: Sequence[Pair], seen: dict[str, _Seen], delta: float, alpha: float) -> tuple[float, dict[str, Any]]:
    """The best bound over all pairs and tests; alpha is shared out among them (Bonferroni)."""
    rounds = sorted({number for each in seen.values() for number in each.squares})
    share = alpha / (2 * len(pairs) + len(rounds))
    noise = [
        noise_ratio(
            sum(each.squares.get(number, 0.0) for each in seen.values()),
            sum(each.counts.get(number, 0) for each in seen.values()),
            share,
        )
        for number in rounds
    ]
    found: list[dict[str, Any]] = []
    for pair in pairs:
        sides = seen[pair.without], seen[pair.within]
        outside, inside = (np.array(side.scores[pair]) for side in sides)
        mu = gaussian_mu(outside, inside, share)
        by_noise = _mu_by_noise(np.array(sides[0].shifts[pair] + sides[1].shifts[pair]), noise)
        by_threshold = split_epsilon(outside, inside, delta, share)
        found.append(
            {
                "name": pair.name,
                "epsilon": max(_epsilon(max(mu.low, by_noise.low), delta), by_threshold),
                "mu": mu.value,
                "mu_low": mu.low,
                "mu_high": mu.high,
                "mu_by_noise": by_noise.value,
                "mu_by_noise_low": by_noise.low,
                "mu_by_noise_high": by_noise.high,
                "epsilon_by_threshold": by_threshold,
            }
        )
    ratios = [{"value": each.value, "low": each.low, "high": each.high} for each in noise]
    return max(each["epsilon"] for each in found), {"pairs": found, "noise_ratio": ratios}


def _mu_by_noise(shifts: Any, noise: list[Estimate]) -> Estimate:
    """Mu from the distance between the exact sums, the smallest of all runs, and the size of the noise drawn."""
    least, most = shifts.min(axis=0), shifts.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # no noise at all: mu is infinite
        value, low = (
            float(np.linalg.norm(least / [getattr(each, end) for each in noise])) for end in ("value", "high")
        )
        high = float(np.linalg.norm(most / [each.low for each in noise]))
    return Estimate(value, low, high)


def _epsilon(mu: float, delta: float) -> float:
    return gaussian_epsilon(mu, delta) if math.isfinite(mu) else math.inf
