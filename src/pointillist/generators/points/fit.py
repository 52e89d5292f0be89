"""Points fit: weighted rows whose mean features are near what a release measured. The reduced set of Balog et al. (2018).

Places, levels and weights move down the gradient of chi^2 together (`joint`), or points come one after another, each where
it helps most (`greedy`, as in the paper). A blind start, from public facts alone.

When to stop. The points themselves can follow some of the noise, so at the best moment chi^2 is not the number of features
but some way below, and how far depends on the features and the noise. So the fit is rehearsed with a few points: once on the
release, once on the mean features that came out, with new noise of the known size. There the truth is known, and so is how
much above its end chi^2 was when the points were nearest to the truth. The fit ends at the same height above the end of the
first rehearsal; or takes all its steps, if the rehearsal came nearer up to its own end. Needs torch.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pointillist.errors import UsageError
from pointillist.features import Records
from pointillist.fitting.class_shares import class_shares
from pointillist.fitting.descent import falling, move
from pointillist.fitting.evidence import readable_tables
from pointillist.fitting.likelihood import Group, Likelihood, Term, by_shape, means_of, squares
from pointillist.generators.points.movable_points import Columns, MovablePoints, settled, soft_columns
from pointillist.generators.points.points import Points
from pointillist.generators.points.settings import PointsSettings
from pointillist.generators.points.weighting import Kind, weigh
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema.levels import levels_of

Floats = NDArray[np.float64]

DEFAULT_POINTS = 1000
"""More hardly come nearer to a noisy embedding, and take longer."""
_REHEARSED = 200
"""Points in a rehearsal."""
_LATE = 0.75
"""Where a rehearsal was nearest to its truth after this part of its steps, it was not the noise that it followed."""
_COSTLY = 1.05
"""To go on is worth avoiding if it made the squared distance from the truth so many times as large."""
_COLDEST = 0.1
"""The temperature at which levels are settled."""
_COOLED = 0.6
"""The part of the steps after which it is reached."""
_CELLS = 1 << 22
"""Features of points held at a time in a step."""
_MOST_TOGETHER = 2048
"""The most points that are moved in one step."""
_MOST_CELLS = 1 << 26
"""The most features of points that weights are polished on: half a gigabyte."""
_CANDIDATES = 24
"""Starts from which the next point of a greedy search is looked for."""
_CANDIDATE_STEPS = 60
_NOTHING = 1.0
"""A chi^2 that is not worth another point: what the noise of one feature makes."""
_AGAIN = 1.25
"""A greedy search weighs all points again whenever there are so many times as many."""


def fit_points(
    release: Release,
    settings: PointsSettings,
    *,
    seed: int,
    progress: Progress,
) -> Points:
    """Weighted rows for a release."""
    task = _Task.of(release, settings, seed=seed)
    enough = task.enough() if settings.stop else 0.0
    progress("fit", 0.1)
    if settings.search == "greedy":
        return _greedy(task, enough, progress)
    return _joint(task, enough, progress)


@dataclass(frozen=True, eq=False)
class _Task:
    """A release to be met, and how."""

    settings: PointsSettings
    likelihood: Likelihood
    columns: Columns
    start: Callable[[int, int], MovablePoints]
    """So many blind points, by a seed."""
    seed: int

    @classmethod
    def of(cls, release: Release, settings: PointsSettings, *, seed: int) -> Self:
        rows, label, shares = class_shares(release)
        columns = soft_columns([each.feature_map for each in release.measurements], levels_of(release.schema))
        tables = [table for each in release.measurements for table in readable_tables(each)]

        def start(count: int, number: int) -> MovablePoints:
            return MovablePoints.blind(
                columns,
                count,
                label=None if label is None else label.name,
                shares=shares,
                tables=tables,
                equal=settings.weights == "uniform",
                seed=number,
            )

        return cls(settings, Likelihood.of(release, rows), columns, start, seed)

    @property
    def count(self) -> int:
        return self.settings.points or DEFAULT_POINTS

    @property
    def weighted(self) -> bool:
        return self.settings.weights != "uniform"

    @property
    def kind(self) -> Kind:
        return "bounded" if self.settings.weights == "bounded" else "probabilities"

    @cached_property
    def target(self) -> Floats:
        """All that was measured, in units of its noise."""
        return np.concatenate([term.wanted.numpy() / term.deviation for term in self.likelihood.terms], dtype=float)

    @cached_property
    def together(self) -> int:
        """How many points are moved in one step: so many that their features fit in memory."""
        leaves = {part for term in self.likelihood.terms for part in term.factors}
        held = [math.prod(part.dimension for part in term.factors[:-1]) for term in self.likelihood.terms]
        wide = sum(part.dimension for part in leaves) + max(held)
        return max(16, min(_MOST_TOGETHER, _CELLS // wide))

    def features(self, records: Records) -> Floats:
        """Of settled rows, in units of the noise."""
        return np.concatenate([term.map(records) / term.deviation for term in self.likelihood.terms], axis=1)

    def means(self, records: Records, weights: Floats) -> Floats:
        """The mean of `features`, a few rows at a time."""
        found = np.zeros_like(self.target)
        step = max(1, _CELLS // len(found))
        for start in range(0, records.rows, step):
            found += weights[start : start + step] @ self.features(records.part(slice(start, start + step)))
        return found

    def enough(self) -> float:
        """At which chi^2 to stop; see above. Both rehearsals start alike."""
        groups = self.likelihood.groups
        start = self.start(min(self.count, _REHEARSED), self.seed)
        ends = list(self._path(groups, start))
        truth = ends[-1][1]
        generator = torch.Generator().manual_seed(self.seed)
        again = [
            Group(group.factors, means + torch.randn(means.shape, generator=generator) / group.scale, group.scale)
            for group, means in zip(groups, truth, strict=True)
        ]
        known = [Group(group.factors, means, group.scale) for group, means in zip(groups, truth, strict=True)]
        path = [(chi, float(squares(known, means))) for chi, means in self._path(again, start)]
        nearest = min(range(len(path)), key=lambda step: path[step][1])
        if nearest >= _LATE * len(path) or path[-1][1] < _COSTLY * path[nearest][1]:
            return 0.0  # still on the way, so that its end is no floor; or to go on cost next to nothing
        return ends[-1][0] + path[nearest][0] - path[-1][0]

    def _path(self, groups: Sequence[Group], start: MovablePoints) -> Iterator[tuple[float, list[Tensor]]]:
        """chi^2 and mean features at every step of a descent with soft rows."""
        descent = _Descent(groups, start.parts(len(start)), self, self.settings.steps)
        for step in range(self.settings.steps):
            yield descent.step(step, 1.0, 0.0), descent.means

    def polished(self, records: Records, weights: Floats, enough: float) -> Floats:
        """Better weights for settled rows, if they are not good enough."""
        chi_squared = float(np.square(self.means(records, weights) - self.target).sum())
        if not self.weighted or chi_squared <= enough or records.rows * len(self.target) > _MOST_CELLS:
            return weights
        # `weigh` stops where chi^2 is the number of features times sigma^2.
        sigma = math.sqrt(max(enough, 0.0) / len(self.target))
        return weigh(self.features(records), self.target, sigma, self.kind, start=weights)


class _Descent:
    """Points held against mean features, part by part: each is moved while the others' sums are kept."""

    def __init__(self, groups: Sequence[Group], parts: list[MovablePoints], task: _Task, steps: int):
        self.groups, self.parts, self.steps = groups, parts, steps
        self.optimisers = [part.free(weights=task.weighted, rate=task.settings.rate) for part in parts]
        with torch.no_grad():
            found = [self._sums(part, 1.0) for part in parts]
        self.sums, self.masses = [each for each, _ in found], [mass for _, mass in found]

    @property
    def means(self) -> list[Tensor]:
        """Of all points, as they were when each was last looked at."""
        mass = torch.stack(self.masses).sum()
        return [torch.stack(each).sum(dim=0) / mass for each in zip(*self.sums, strict=True)]

    def _sums(self, part: MovablePoints, temperature: float) -> tuple[list[Tensor], Tensor]:
        soft = part.records(temperature)
        assert soft.weights is not None
        return means_of(self.groups, soft), soft.weights.sum()

    def step(self, number: int, temperature: float, enough: float) -> float:
        """Move every part once, unless chi^2 is low enough already; the chi^2 before the last."""
        wave = falling(number, self.steps)
        last = math.inf
        for place, (part, optimiser) in enumerate(zip(self.parts, self.optimisers, strict=True)):
            sums, mass = self._sums(part, temperature)
            others = [torch.stack(each).sum(dim=0) - each[place] for each in zip(*self.sums, strict=True)]
            total = mass + torch.stack(self.masses).sum() - self.masses[place]
            chi_squared = squares(self.groups, [(own + rest) / total for own, rest in zip(sums, others, strict=True)])
            last = chi_squared.item()
            self.sums[place], self.masses[place] = [each.detach() for each in sums], mass.detach()
            if last <= enough:
                continue
            for group in optimiser.param_groups:
                group["lr"] = group["rate"] * wave * min(1.0, (number + 1) / 5)
            move(optimiser, chi_squared)
            part.clamp()
        return last


def _joint(task: _Task, enough: float, progress: Progress) -> Points:
    start = task.start(task.count, task.seed)
    size = math.ceil(len(start) / math.ceil(len(start) / task.together))
    steps = task.settings.steps
    descent = _Descent(task.likelihood.groups, start.parts(size), task, steps)
    for step in range(steps):
        cooled = min(1.0, step / (_COOLED * steps)) if start.logits else 1.0
        chi_squared = descent.step(step, _COLDEST**cooled, enough)
        progress("fit", 0.1 + 0.85 * (step + 1) / steps)
        if cooled == 1.0 and chi_squared <= enough:
            break
    records, weights = settled(descent.parts, np.random.default_rng(task.seed))
    points = Points(records, task.polished(records, weights, enough))
    progress("fit", 1.0)
    return points


def _greedy(task: _Task, enough: float, progress: Progress) -> Points:
    """One point after another: where the features have most in common with what is left, then as far as is best.

    With bounded weights a point may also be taken away from the others.
    """
    if task.count * len(task.target) > _MOST_CELLS:
        raise UsageError(
            f"{task.count:,} points of {len(task.target):,} features are too many to find one by one. Ask for fewer "
            'points, or search = "joint".'
        )
    signs = (1.0, -1.0) if task.kind == "bounded" else (1.0,)
    found: list[Records] = []
    features = np.empty((task.count, len(task.target)))
    weights, mean, weighed = np.zeros(0), np.zeros(len(task.target)), 0
    while len(found) < task.count:
        rest = task.target - mean
        if found and float(rest @ rest) <= enough:
            break
        candidates = [_candidates(task, sign * rest, len(found), sign) for sign in signs]
        number, best, values = max(
            ((sign, records, values) for sign, records, values in candidates),
            key=lambda each: each[0] * (each[2] @ rest),
        )
        step = number * values - mean
        share = 1.0 if not found and number > 0 and len(signs) == 1 else float(step @ rest) / float(step @ step)
        if found and task.weighted and 2 * float(step @ rest) <= _NOTHING:
            break  # chi^2 is convex: no weights of any points that were looked at would lower it by more than this
        share = min(1.0, share) if task.weighted else 1 / (len(found) + 1)
        features[len(found)] = values
        found.append(best)
        weights = np.append((1 - share) * weights, number * share)
        if task.weighted and len(found) >= _AGAIN * weighed:
            sigma = math.sqrt(max(enough, 0.0) / len(task.target))
            weights, weighed = weigh(features[: len(found)], task.target, sigma, task.kind, start=weights), len(found)
        mean = weights @ features[: len(found)]
        progress("fit", 0.1 + 0.85 * len(found) / task.count)
    records = Records.joined(found)
    points = Points(records, task.polished(records, weights, enough))
    progress("fit", 1.0)
    return points


def _candidates(task: _Task, wanted: Floats, number: int, sign: float) -> tuple[float, Records, Floats]:
    """The best of some blind points after a short search of their own, with its features."""
    moved = task.start(_CANDIDATES, task.seed + 1 + number)
    optimiser = moved.free(weights=False, rate=2 * task.settings.rate)
    slopes = _by_group(task.likelihood, wanted)
    for step in range(_CANDIDATE_STEPS):
        soft = moved.records(_COLDEST ** min(1.0, step / (_COOLED * _CANDIDATE_STEPS)))
        alike = [
            torch.sum(slope * each) for slope, each in zip(slopes, means_of(task.likelihood.groups, soft), strict=True)
        ]
        move(optimiser, -torch.stack(alike).sum())
        moved.clamp()
    records, _ = settled([moved], np.random.default_rng(task.seed + number))
    features = task.features(records)
    best = int(np.argmax(features @ wanted))
    return sign, records.part(slice(best, best + 1)), features[best]


def _by_group(likelihood: Likelihood, values: Floats) -> list[Tensor]:
    """Values by feature, in units of the noise, as slopes of the groups' mean features."""
    ends = np.cumsum([len(term.wanted) for term in likelihood.terms])
    parts = dict(zip(likelihood.terms, np.split(values, ends[:-1]), strict=True))

    def slope(term: Term) -> Tensor:
        return torch.as_tensor(parts[term] / term.deviation, dtype=torch.float32)

    return [torch.stack([slope(term) for term in terms]) for terms in by_shape(likelihood.terms)]
