"""White-box attack: many releases of two neighbouring tables, told apart by all that a release makes public.

The attacker knows the code, both tables and everything but the noise. Three tests are made of the noisy values: the
most powerful one for Gaussian noise (a projection on the direction in which the person really moves the sums), the same
scores cut at a threshold (no assumption on the noise), and the size of the noise itself, which thousands of coordinates
show to a fraction of a per cent. The noise must also be as promised in every single cell, and the facts beside the
values must be the same for both tables.
"""

import datetime as dt
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.evaluate.audit.epsilon_bounds import Estimate, gaussian_mu, noise_ratio, split_epsilon
from pointillist.evaluate.audit.finding import ALARM, Finding
from pointillist.evaluate.audit.neighbouring_tables import Pair, worst_pairs
from pointillist.evaluate.audit.noise_checks import Noise
from pointillist.evaluate.audit.stated_facts import StatedFacts, facts_finding
from pointillist.privacy.accounting import gaussian_epsilon
from pointillist.progress import Progress, silent
from pointillist.release import Release

MOST_COLUMNS, MOST_LEVELS = 24, 4_000
"""Wider schemas are cut to their first columns: the time goes into the noise, which is drawn cell by cell."""
_FEWEST = 4
"""Releases on each side without which scores say nothing."""


@dataclass
class _Scores:
    """What the releases of two neighbours say about who is in the table."""

    outside: list[float] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    shifts: list[list[float]] = field(default_factory=list)
    """By round, how far the person moves the sums, in units of the promised noise."""

    @property
    def enough(self) -> bool:
        return min(len(self.outside), len(self.inside)) >= _FEWEST


def white_box(
    audited: AuditedPipeline, *, runs: int, confidence: float = 0.95, progress: Progress = silent
) -> tuple[Finding, ...]:
    """Attack `runs` releases of each table; no private row is needed."""
    whole, audited = audited, audited.narrowed(MOST_COLUMNS, MOST_LEVELS)
    tables, pairs = worst_pairs(audited)
    stated, sums, noise = {name: StatedFacts() for name in tables}, _Exact(audited, tables), Noise()
    scores = {pair: _Scores() for pair in pairs}
    for number, name in enumerate(tables):
        for run in range(runs):
            progress("white-box releases", (number * runs + run) / (len(tables) * runs))
            _observe(name, stated[name], noise, scores, sums)
    progress("white-box releases", 1.0)
    if not any(each.releases for each in stated.values()):
        audited.release(next(iter(tables.values())))  # raises what it raised before
    found = facts_finding(stated, pairs, audited.promise.delta, confidence)
    if found.violated:
        return (found,)
    return found, _values_finding(audited, scores, noise, runs, confidence, len(whole.schema.measured))


def _observe(name: str, stated: StatedFacts, noise: Noise, scores: dict[Pair, _Scores], sums: "_Exact") -> None:
    """Make one release of a table and keep what the attack needs of it."""
    started = dt.datetime.now(dt.UTC)
    try:
        release = sums.audited.release(sums.tables[name])
    except Exception as error:  # a pipeline that fails for one table and not for its neighbour gives it away
        stated.refuse(error)
        return
    stated.add(release, sums.audited, started)
    exact = {name: sums.of(name, release)}
    noise.add(release, exact[name])
    for pair, seen in scores.items():
        if name not in (pair.without, pair.within):
            continue
        for side in (pair.without, pair.within):
            if side not in exact:
                exact[side] = sums.of(side, release)
        score, shifts = _score(release, exact[pair.without], exact[pair.within])
        (seen.inside if name == pair.within else seen.outside).append(score)
        seen.shifts.append(shifts)


@dataclass
class _Exact:
    """Exact sums in units of the noise. Those of round 1 are kept: its features are nearly always the same."""

    audited: AuditedPipeline
    tables: dict[str, pa.Table]
    kept: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def of(self, name: str, release: Release) -> list[Any]:
        first, *rest = release.measurements
        key, sums = self.kept.get(name, (None, None))
        wanted = (release.schema, first.feature_map, first.grid, first.sigma)
        if key != wanted:
            sums = self.audited.exact(self.tables[name], release.schema, first)
            self.kept[name] = wanted, sums
        return [sums, *(self.audited.exact(self.tables[name], release.schema, each) for each in rest)]


def _score(release: Release, without: list[Any], within: list[Any]) -> tuple[float, list[float]]:
    """The most powerful statistic: standard normal without the person, mean mu with them; and mu by round."""
    total, shifts = 0.0, []
    for measurement, start, end in zip(release.measurements, without, within, strict=True):
        moved = end - start
        total += float((measurement.values / measurement.sigma - start) @ moved)
        shifts.append(float(np.linalg.norm(moved)))
    return total / max(math.hypot(*shifts), 1e-300), shifts


def _values_finding(
    audited: AuditedPipeline, scores: dict[Pair, _Scores], noise: Noise, runs: int, confidence: float, columns: int
) -> Finding:
    promise = audited.promise
    told = {pair: seen for pair, seen in scores.items() if seen.enough}
    epsilon, measures = _bound(told, noise, promise.delta, 1 - confidence)
    alarm, _ = _bound(told, noise, promise.delta, ALARM / 2)
    faults = noise.faults(ALARM / 2)
    if any(fault.bare for fault in faults):
        epsilon = math.inf
    violated = alarm > promise.epsilon or bool(faults)
    attacked = list(audited.schema.measured)
    measures |= {
        "runs": runs,
        "epsilon_by_threshold_at_most": _most_by_threshold(runs, promise.delta, _share(told, noise, 1 - confidence)),
        "mu_promised": promise.mu,
        "noise_faults": [fault.words for fault in faults],
        "columns": attacked,
        "columns_in_all": columns,
        "pairs_refused": len(scores) - len(told),
    }
    shown = f"≥ {epsilon:.3g}" if math.isfinite(epsilon) else "is infinite"
    words = [
        f"{'VIOLATED' if violated else 'Consistent'}: ε {shown} at {confidence:.0%} confidence where "
        f"{promise.epsilon:g} is promised."
    ]
    if faults:
        words.append(f"The noise is not as promised: {'; '.join(fault.words for fault in faults)}.")
    words += _in_words(measures, promise.mu)
    if len(attacked) < columns:
        words.append(f"Only {len(attacked)} of {columns} columns were attacked.")
    if len(told) < len(scores):
        words.append(f"{len(scores) - len(told)} of {len(scores)} pairs of neighbours were refused, and not attacked.")
    return Finding("white-box", epsilon, confidence, violated, " ".join(words), measures, private=False)


def _in_words(measures: dict[str, Any], promised: float) -> list[str]:
    if not measures["pairs"]:
        return []
    worst = max(measures["pairs"], key=lambda each: each["epsilon"])
    noise = min(measures["noise_ratio"], key=lambda each: each["value"])
    return [
        f"{measures['runs']} releases on each side; the noise is {noise['value']:.4f} ({noise['low']:.4f} to "
        f"{noise['high']:.4f}) times the promised; the worst neighbours ({worst['name']}) are told apart like μ = "
        f"{worst['mu_by_noise']:.4f} ({worst['mu_by_noise_low']:.4f} to {worst['mu_by_noise_high']:.4f}), promised "
        f"{promised:.4f}; by the attack's own scores {worst['mu']:.2f} ({worst['mu_low']:.2f} to {worst['mu_high']:.2f}). "
        f"Without an assumption on the noise, so many releases can show ε ≥ {measures['epsilon_by_threshold_at_most']:.2g} "
        "at most."
    ]


def _most_by_threshold(runs: int, delta: float, alpha: float) -> float:
    """What the threshold would show of neighbours that no release mistakes for each other."""
    return split_epsilon(np.zeros(runs), np.ones(runs), delta, alpha)


def _share(scores: dict[Pair, _Scores], noise: Noise, alpha: float) -> float:
    return alpha / max(1, 2 * len(scores) + len(noise.squares))


def _bound(scores: dict[Pair, _Scores], noise: Noise, delta: float, alpha: float) -> tuple[float, dict[str, Any]]:
    """The best bound over all pairs and tests; alpha is shared out among them (Bonferroni)."""
    share = _share(scores, noise, alpha)
    drawn = [noise_ratio(noise.squares[number], noise.counts[number], share) for number in sorted(noise.squares)]
    found: list[dict[str, Any]] = []
    for pair, seen in scores.items():
        outside, inside = np.array(seen.outside), np.array(seen.inside)
        mu = gaussian_mu(outside, inside, share)
        by_noise = _mu_by_noise(np.array(seen.shifts), drawn)
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
    ratios = [{"value": each.value, "low": each.low, "high": each.high} for each in drawn]
    return max((each["epsilon"] for each in found), default=0.0), {"pairs": found, "noise_ratio": ratios}


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
