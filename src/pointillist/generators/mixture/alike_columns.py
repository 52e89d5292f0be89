"""Alike columns: how two columns of the same quantity go together, from the product of their scores alone.

A person's blood pressure now, the last time and usually are one quantity, seen thrice. Such columns depend on each other so
strongly that a table of them drowns in noise along its sides. But they go together as normal variables do, and of two of
these the share of rows in which both lie on the same side of the middle tells the correlation: it is the sine of a quarter
turn times the mean product of their signs.
"""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.evidence import Evidence
from pointillist.generators.trends import Trends

Floats = NDArray[np.float64]

_EVEN = 0.25
"""Signs tell a correlation where their mean is no farther from 0 than this."""
_STRONGEST = 0.97
"""The strongest correlation that is believed."""


def alike_gaps(
    evidence: Evidence,
    base: Mapping[str, Tiles],
    names: list[str],
    trends: Trends,
    modelled: Floats,
    shares: Mapping[str, Floats],
    alike: Collection[frozenset[str]],
) -> dict[tuple[int, int], tuple[float, float]]:
    """For pairs of alike columns how far the mean product of their normal scores is off, and its noise."""
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for sums in evidence.scores:
        if sums.label is not None:
            continue
        for group, value in zip(sums.products.groups, sums.values[0], strict=True):
            scores = [sums.products.scores[number] for number in group]
            pair = frozenset(score.column for score in scores)
            if len(group) != 2 or pair not in alike or not pair <= set(names):
                continue
            places = [names.index(score.column) for score in scores]
            signs = [_signs(base[score.column], score.table, shares[score.column]) for score in scores]
            if any(sided == 0 or abs(mean) > _EVEN * sided for mean, sided in signs):
                continue
            if not all(
                _along(base[score.column], score.table, trends, place)
                for score, place in zip(scores, places, strict=True)
            ):
                continue
            both = signs[0][1] * signs[1][1]
            product = float(np.clip(value / evidence.rows / both, -1.0, 1.0))
            correlation = float(np.clip(np.sin(np.pi / 2 * product), -_STRONGEST, _STRONGEST))
            noise = np.pi / 2 * max(np.cos(np.pi / 2 * product), 0.2) * sums.sigma / evidence.rows / both
            spread = both * np.sqrt(np.prod([_spread(trends, place, shares[names[place]]) for place in places]))
            one, other = min(places), max(places)
            if (one, other) not in found or abs(correlation) * spread > abs(
                found[one, other][0] + modelled[one, other]
            ):
                found[one, other] = correlation * spread - float(modelled[one, other]), float(noise * spread)
    return found


def _signs(tiles: Tiles, signs: NDArray[np.int8], share: Floats) -> tuple[float, float]:
    """The mean of a column's signs, and the share of rows that have one."""
    sizes = np.bincount(tiles.table)
    level = share[tiles.table] / sizes[tiles.table]
    return float(signs @ level), float(np.abs(signs) @ level)


def _along(tiles: Tiles, signs: NDArray[np.int8], trends: Trends, place: int) -> bool:
    """Whether signs go along with the order of a column: those that tell gaps from values say nothing of a quantity."""
    placed = trends.scores[place][tiles.table]
    return not np.asarray(signs)[placed == 0.0].any() and bool(
        np.all(np.diff(np.asarray(signs)[np.argsort(placed)]) >= 0)
    )


def _spread(trends: Trends, place: int, share: Floats) -> float:
    """The variance of a column's normal scores, among rows that have one."""
    scores = trends.scores[place]
    placed = scores != 0.0
    return float(share[placed] @ scores[placed] ** 2 / max(float(share[placed].sum()), 1e-12))
