"""The screen of mosaic: which columns depend on each other, from noisy sums of products of scores. Post-processing.

A column's scores split its rows in two halves that are about as heavy. Two columns that depend on each other show it in the
mean product of their scores, which is one number: so all pairs can be looked at for the price of a few tables.
"""

import itertools
import math
from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Score, ScoreProducts
from pointillist.fitting.evidence import ScoreSums
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
Pair = tuple[str, str]

MOST_SCORES = 1000
"""Of how many scores every two are multiplied."""
OUTLINE = "pairs of columns in outline"
"""The block of the screen for all pairs."""
_MOST_GROUPS = 5000
"""The most groups of three columns, or of four, that are looked at."""
_SURE = 3.0
"""Standard deviations of the noise from which on the strength of a dependence is relied on."""
_GAPS = 0.03, 0.97
"""A share of missing values between these is worth a score of its own."""


def scores(levels: Sequence[Levels], shares: Mapping[str, Floats]) -> tuple[Score, ...]:
    """One or two scores for each column, from its noisy marginal."""
    return tuple(score for each in levels for score in _scores(each, shares[each.name])[: _each(levels)])


def most_scores(levels: Sequence[Levels]) -> int:
    """The most scores that columns can have."""
    return sum(min(_each(levels), each.size - 1) for each in levels)


def most_products(levels: Sequence[Levels], pairs: Sequence[Pair]) -> int:
    """The most products of two scores that some pairs of columns can have, and at least one."""
    most = {each.name: min(_each(levels), each.size - 1) for each in levels}
    return max(1, sum(most[one] * most[other] for one, other in pairs))


def _each(levels: Sequence[Levels]) -> int:
    """How many scores a column has at most: the more columns, the fewer, as there are products of every two."""
    return 2 if 2 * len(levels) <= MOST_SCORES else 1


def pairs_of(found: Sequence[Score], pairs: Container[Pair] | None = None) -> ScoreProducts | None:
    """The products of every two scores of different columns, or of some pairs of them; none where there are none."""
    groups = [
        (one, other)
        for one, other in itertools.combinations(range(len(found)), 2)
        if found[one].column != found[other].column
        and (pairs is None or (found[one].column, found[other].column) in pairs)
    ]
    return ScoreProducts(tuple(found), tuple(groups)) if groups else None


def groups_of(found: Sequence[Score], order: int, within: str | None = None) -> ScoreProducts | None:
    """The products of the first scores of every so many columns, with a given one among them; none where there are none."""
    first = {score.column: number for number, score in reversed(list(enumerate(found)))}
    chosen = sorted(first.values())
    groups = [
        group
        for group in itertools.combinations(chosen, order)
        if within is None or within in {found[number].column for number in group}
    ]
    used = sorted({number for group in groups for number in group})
    if not groups:
        return None
    place = {number: at for at, number in enumerate(used)}
    return ScoreProducts(
        tuple(found[number] for number in used), tuple(tuple(place[number] for number in group) for group in groups)
    )


def group_counts(columns: int, targets: Sequence[str]) -> dict[int, int]:
    """How many groups of columns the screen looks at, by their size: all threes, and fours with the first target."""
    found = {3: math.comb(columns, 3), **({4: math.comb(columns - 1, 3)} if targets else {})}
    return {order: count for order, count in found.items() if 0 < count <= _MOST_GROUPS}


def outline_of(order: int) -> str:
    """The block of the screen for so many columns together."""
    return f"{'three' if order == 3 else 'four'} columns in outline"


def outline_by(target: str) -> str:
    """The block of the screen for columns by class of a target."""
    return f"columns in outline, by {target}"


def _scores(levels: Levels, shares: Floats) -> list[Score]:
    if levels.size < 2:
        return []
    missing = levels.missing if levels.has_missing else None
    found = []
    if levels.ordered:
        order = _order(levels)
        half = float(shares[order].sum()) / 2
        # A heavy level in the middle goes to the side that leaves both sides the more even.
        below = np.cumsum(shares[order])[:-1]
        cut = 1 + int(np.argmin(np.abs(below - half))) if len(order) > 1 else 1
        signs = np.zeros(levels.size, dtype=np.int64)
        signs[order[:cut]], signs[order[cut:]] = -1, 1
        if len(order) > 1:
            found.append(signs)
        if missing is not None and _GAPS[0] <= shares[missing] <= _GAPS[1]:
            gaps = np.full(levels.size, -1)
            gaps[missing] = 1
            found.append(gaps)
    else:
        ranked = np.argsort(-shares, kind="stable")
        signs = np.full(levels.size, -1)
        signs[ranked[0]] = 1
        found.append(signs)
        if levels.size > 2 and shares[ranked[2]] > 0:
            signs = np.zeros(levels.size, dtype=np.int64)
            masses = [0.0, 0.0]
            for level in ranked[1:]:  # the next always goes to the lighter side
                side = int(masses[1] < masses[0])
                masses[side] += float(shares[level])
                signs[level] = 2 * side - 1
            found.append(signs)
    return [Score(levels.name, tuple(each.tolist())) for each in found]


def _order(levels: Levels) -> NDArray[np.int64]:
    """The levels of an ordered column by their order; special numbers stand among the others."""
    regular = np.arange(levels.regular)
    if not levels.numeric or not levels.specials:
        return regular
    edges = levels.edges
    values = np.concatenate([(edges[:-1] + edges[1:]) / 2, np.asarray(levels.specials, dtype=np.float64)])
    return np.argsort(values, kind="stable")


class Dependence(NamedTuple):
    """What a screen says about two columns."""

    strength: float
    """About how strongly they depend on each other, from 0 to 1, with what the noise explains taken off."""
    noises: float
    """How many standard deviations of the noise the clearest sign of it is."""


class Screen(NamedTuple):
    """Dependence of every two columns, as far as noisy sums of scores show it."""

    pairs: Mapping[Pair, Dependence]
    """In the order of the columns."""
    by_target: Mapping[str, Mapping[str, Dependence]]
    """For each target, how every other column depends on it."""
    groups: Mapping[tuple[str, ...], Dependence] = MappingProxyType({})
    """What three columns and more have in common beyond what fewer of them say: parities, for example."""

    def sure_strength(self, pair: Pair) -> float:
        """How strongly two columns depend on each other; 0 where noise may have made it."""
        found = self.pairs.get(pair) or self.pairs.get(pair[::-1])
        return found.strength if found is not None and found.noises > _SURE else 0.0

    @classmethod
    def of(cls, sums: Sequence[ScoreSums], shares: Mapping[str, Floats], rows: float) -> Self:
        pairs: dict[Pair, list[tuple[float, float]]] = {}
        by_target: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for each in sums:
            means = [float(score.table @ shares[score.column]) for score in each.products.scores]
            spreads = [
                max(float(np.abs(score.table) @ shares[score.column]) - mean**2, 1e-9)
                for score, mean in zip(each.products.scores, means, strict=True)
            ]
            columns = [score.column for score in each.products.scores]
            if each.label is None:
                for group, value in zip(each.products.groups, each.values[0], strict=True):
                    if len(group) != 2:
                        continue
                    one, other = group
                    root = np.sqrt(spreads[one] * spreads[other])
                    seen = (float(value) / rows - means[one] * means[other]) / root
                    pairs.setdefault((columns[one], columns[other]), []).append((seen, each.sigma / rows / root))
                continue
            classes = np.bincount(each.label.table, weights=shares[each.label.column], minlength=each.label.dimension)
            for cls_, values in enumerate(each.values):
                share = float(classes[cls_])
                spread = max(share * (1 - share), 1e-9)
                for (number,), value in zip(each.products.groups, values, strict=True):
                    root = np.sqrt(spread * spreads[number])
                    seen = (float(value) / rows - share * means[number]) / root
                    own = by_target.setdefault(each.label.column, {}).setdefault(columns[number], [])
                    own.append((seen, each.sigma / rows / root))
        return cls(
            {pair: _joined(found) for pair, found in pairs.items()},
            {target: {name: _joined(found) for name, found in of.items()} for target, of in by_target.items()},
            _beyond_pairs(sums, shares, rows),
        )


def _beyond_pairs(
    sums: Sequence[ScoreSums], shares: Mapping[str, Floats], rows: float
) -> dict[tuple[str, ...], Dependence]:
    """Joint cumulants of three scores and four: their mean product without what means, pairs and triples say of it."""
    means: dict[frozenset[str], float] = {}
    spreads: dict[str, float] = {}
    for each in sorted((one for one in sums if one.label is None), key=lambda one: len(one.products.groups[0])):
        scores_ = each.products.scores
        for score in scores_:
            if score.column not in spreads:
                mean = float(score.table @ shares[score.column])
                means[frozenset([score.column])] = mean
                spreads[score.column] = max(float(np.abs(score.table) @ shares[score.column]) - mean**2, 1e-9)
        for group, value in zip(each.products.groups, each.values[0], strict=True):
            means.setdefault(frozenset(scores_[number].column for number in group), float(value) / rows)
    found = {}
    for each in sums:
        if each.label is None and len(each.products.groups[0]) > 2:
            for group in each.products.groups:
                columns = tuple(each.products.scores[number].column for number in group)
                root = math.sqrt(math.prod(spreads[name] for name in columns))
                seen, noise = _cumulant(columns, means) / root, each.sigma / rows / root
                found[columns] = Dependence(min(1.0, math.sqrt(max(seen**2 - noise**2, 0.0))), abs(seen) / noise)
    return found


def _cumulant(columns: tuple[str, ...], means: Mapping[frozenset[str], float]) -> float:
    """What the mean product of some scores is beyond all that fewer of them say; what was not measured says nothing."""
    if frozenset(columns) not in means:
        return 0.0
    first, rest = columns[0], columns[1:]
    # The mean product is the sum over all ways to cut the columns in parts of the product of the parts' cumulants: take
    # off all in which the first column is not with all others.
    told = 0.0
    for size in range(len(rest)):
        for beside in itertools.combinations(rest, size):
            others = tuple(name for name in rest if name not in beside)
            told += _cumulant((first, *beside), means) * _mean(others, means)
    return means[frozenset(columns)] - told


def _mean(columns: tuple[str, ...], means: Mapping[frozenset[str], float]) -> float:
    """The mean product of some scores; where it was not measured, what fewer of them say."""
    known = means.get(frozenset(columns))
    if known is not None:
        return known
    first, rest = columns[0], columns[1:]
    return sum(
        _cumulant((first, *beside), means) * _mean(tuple(name for name in rest if name not in beside), means)
        for size in range(len(rest))
        for beside in itertools.combinations(rest, size)
    )


def _joined(found: Sequence[tuple[float, float]]) -> Dependence:
    squared = sum(max(seen**2 - noise**2, 0.0) for seen, noise in found)
    return Dependence(min(1.0, float(np.sqrt(squared))), max(abs(seen) / noise for seen, noise in found))
