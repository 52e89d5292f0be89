"""Trend fit: the correlations that measured pair tables show beyond noise and beyond the mixture."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.features.indicator import aggregation
from pointillist.fitting.evidence import Evidence
from pointillist.generators.drawing import draw, quota
from pointillist.generators.mixture.alike_columns import alike_gaps
from pointillist.generators.trends import Trends, normal_ends

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_ROWS, _LEAST_ROWS, _SWEEPS, _WORK = 20_000, 4_000, 40, 2e9
"""How many rows of the mixture exchange values, and how often, until the pull between columns is found; fewer where all
their multiplications would be more than the last."""
_MOST_COLUMNS = 150
"""Of more columns, those are tied whose correlations are farthest off."""
_VISIBLE, _ALONG = 3.0, 0.3
"""From how many standard deviations on a gap is believed, as there are very many, and how much a score must go along with
its column's order."""
_STRONGEST = 30.0
"""The strongest pull: correlations of 0.98 need about as much."""
_LEAST = 0.02
"""The least variance that is left to any combination of columns."""
_CONSTANT = 1e-6
"""A column with no more than this outside one tile does not vary."""
_STEPS, _LONGEST, _RAKES, _CLOSE = 20, 3.0, 5, 1e-3
"""How often a table is tilted a little more, and by how much at most; how often it is scaled back to its marginals each
time; and which correlation is near enough."""


@dataclass(frozen=True, eq=False)
class Tilt:
    """How two ordered columns go together, where tables or scores show it beyond the mixture and beyond noise."""

    columns: tuple[int, int]
    """Their numbers."""
    scores: tuple[Floats, Floats]
    """Of their tiles."""
    product: float
    """The mean product of their scores."""


@dataclass(frozen=True, eq=False)
class TrendFit:
    """Trends for samples, and for pair tables those of two columns that are known to be off."""

    trends: Trends
    tilts: tuple[Tilt, ...]


def fit_trends(
    evidence: Evidence,
    base: Mapping[str, Tiles],
    order: Mapping[str, Integers],
    weights: Floats,
    tables: Mapping[str, Floats],
    seed: int,
    within: Mapping[str, Floats] | None = None,
    alike: Collection[frozenset[str]] = (),
) -> TrendFit | None:
    """What ties the ordered columns of a mixture; none if no two of them were measured together.

    The gap between a measured correlation and the mixture's is shrunk by how much of it the noise explains (James and
    Stein): each is one number, so little noise is in it, where the table as a whole may drown.

    Arguments:
        order: for each ordered column the numbers of the tiles that have an order, from low to high.
        tables: for each column the probabilities of its tiles in every component.
        within: for each column the share of each level inside its tile, where scores were measured.
        alike: columns of the same quantity, two by two: how they go together is normal, so products of scores tell it all.
    """
    names = [name for name in base if name in order and _varies((weights @ tables[name])[order[name]])]
    start = _untied(names, base, order, weights, tables)
    means = [tables[name] @ score for name, score in zip(names, start.scores, strict=True)]
    modelled = np.einsum("k,ak,bk->ab", weights, means, means, optimize=True) if means else np.zeros((0, 0))
    modelled = (modelled + modelled.T) / 2  # to the last bit, as model files want it
    gaps = _together(
        _gaps(evidence, base, names, start.scores, weights, tables),
        _score_gaps(evidence, base, names, start.scores, weights, tables, within or {}),
    )
    gaps |= alike_gaps(evidence, base, names, start, modelled, {name: weights @ tables[name] for name in names}, alike)
    if not gaps:
        return None
    wanted, tilts = modelled.copy(), []
    for (one, other), (gap, sigma) in gaps.items():
        if abs(gap) > _VISIBLE * sigma:
            wanted[one, other] = wanted[other, one] = modelled[one, other] + _beyond(gap, sigma)
            numbers = int(start.columns[one]), int(start.columns[other])
            tilts.append(Tilt(numbers, (start.scores[one], start.scores[other]), float(wanted[one, other])))
    kept = np.sort(np.argsort(-np.square(wanted - modelled).sum(axis=0), kind="stable")[:_MOST_COLUMNS])
    names, wanted = [names[number] for number in kept], wanted[np.ix_(kept, kept)]
    start = _untied(names, base, order, weights, tables)
    shares = [weights @ tables[name] for name in names]
    spread = np.sqrt([share @ score**2 for share, score in zip(shares, start.scores, strict=True)])
    found = replace(start, correlations=_possible(wanted / np.outer(spread, spread)))
    pull = _pull(found, wanted, spread, weights, list(tables.values()), seed)
    return TrendFit(replace(found, pull=pull), tuple(tilts))


def _varies(share: Floats) -> bool:
    """Whether more than one tile has rows: under much noise a rare value comes out as none, and nothing ties a constant."""
    return len(share) > 1 and bool(share.max() < (1 - _CONSTANT) * share.sum())


def tile_order(tiles: Tiles, within: Floats, positions: Floats) -> Integers:
    """The tiles that have an order, from low to high; `positions` are those of the levels, NaN where there is none."""
    middle = np.bincount(tiles.table, weights=within * positions, minlength=tiles.dimension)
    order = np.argsort(middle, kind="stable")
    return order[np.isfinite(middle[order])]


def _untied(
    names: list[str],
    base: Mapping[str, Tiles],
    order: Mapping[str, Integers],
    weights: Floats,
    tables: Mapping[str, Floats],
) -> Trends:
    """The tiles of some columns as parts of normal variables, and no ties between them."""
    ends = [normal_ends(weights @ tables[name], order[name]) for name in names]
    places = list(base)
    numbers = np.array([places.index(name) for name in names], dtype=np.int64)
    low, high = (tuple(each[side] for each in ends) for side in (0, 1))
    return Trends(numbers, low, high, np.zeros((len(names),) * 2), np.eye(len(names)))


def _beyond(gap: float, sigma: float) -> float:
    """What is left of a gap without that which noise explains."""
    return max(0.0, 1 - sigma**2 / gap**2) * gap if gap else 0.0


def _together(*readings: Iterator[tuple[int, int, float, float]]) -> dict[tuple[int, int], tuple[float, float]]:
    """For every two columns the mean of all readings of their gap, each by its precision, and its noise."""
    sums: dict[tuple[int, int], Floats] = {}
    for one, other, gap, sigma in itertools.chain(*readings):
        pair = min(one, other), max(one, other)
        sums[pair] = sums.get(pair, np.zeros(2)) + np.array([gap, 1.0]) / sigma**2
    return {pair: (float(total / precision), float(precision**-0.5)) for pair, (total, precision) in sums.items()}


def _gaps(
    evidence: Evidence,
    base: Mapping[str, Tiles],
    names: list[str],
    normal: tuple[Floats, ...],
    weights: Floats,
    tables: Mapping[str, Floats],
) -> Iterator[tuple[int, int, float, float]]:
    """For every two columns of which a table was measured how far their correlation is off, and its noise.

    The table's tiles may be coarser than the mixture's: then its own correlation is off by as much less as its tiles go
    along with the normal variables.
    """
    for table in evidence.tables:
        if len(table.leaves) != 2 or not set(table.columns) <= set(names):
            continue
        places, scores, means, steep = [], [], [], 1.0
        for leaf in table.leaves:
            place, inside = names.index(leaf.column), aggregation(base[leaf.column], leaf)
            share = weights @ tables[leaf.column]
            score = (share * normal[place]) @ inside / np.maximum(share @ inside, _CONSTANT)
            steep *= float(share @ inside @ score**2) / float(share @ normal[place] ** 2)
            places.append(place)
            scores.append(score)
            means.append(tables[leaf.column] @ (inside @ score))
        if steep > _ALONG**2:
            gap = float(scores[0] @ table.values @ scores[1]) / evidence.rows - float(weights @ (means[0] * means[1]))
            noise = table.sigma / evidence.rows * np.linalg.norm(scores[0]) * np.linalg.norm(scores[1])
            yield places[0], places[1], gap / steep, float(noise) / steep


def _score_gaps(
    evidence: Evidence,
    base: Mapping[str, Tiles],
    names: list[str],
    normal: tuple[Floats, ...],
    weights: Floats,
    tables: Mapping[str, Floats],
    within: Mapping[str, Floats],
) -> Iterator[tuple[int, int, float, float]]:
    """The same by products of scores, for every two columns that have scores along their order.

    What moves two columns along their trend moves the product of their scores, too: by as much less as scores go along
    with the normal variables.
    """
    for sums in evidence.scores:
        if sums.label is not None:
            continue
        means, slopes = [], []
        for score in sums.products.scores:
            tiles, place = base[score.column], names.index(score.column) if score.column in names else None
            signs = np.bincount(tiles.table, within[score.column] * score.table, minlength=tiles.dimension)
            share = weights @ tables[score.column]
            means.append(tables[score.column] @ signs)
            going = 0.0 if place is None else float(share @ (signs * normal[place]))
            slopes.append(going / float(share @ normal[place] ** 2) if place is not None and going > _ALONG else 0.0)
        for group, value in zip(sums.products.groups, sums.values[0], strict=True):
            columns = [sums.products.scores[number].column for number in group]
            if len(group) == 2 and slopes[group[0]] * slopes[group[1]] > 0:
                steep = slopes[group[0]] * slopes[group[1]]
                gap = float(value) / evidence.rows - float(weights @ (means[group[0]] * means[group[1]]))
                one, other = (names.index(name) for name in columns)
                yield one, other, gap / steep, sums.sigma / evidence.rows / steep


def _possible(matrix: Floats) -> Floats:
    """The correlations near a matrix that some normal variables can have."""
    filled = np.clip(matrix, -1.0, 1.0)
    np.fill_diagonal(filled, 1.0)
    values, vectors = np.linalg.eigh(filled)
    found = (vectors * np.maximum(values, _LEAST)) @ vectors.T
    spread = np.sqrt(np.diag(found))
    found = found / np.outer(spread, spread)
    return np.asarray((found + found.T) / 2)


def _pull(trends: Trends, wanted: Floats, spread: Floats, weights: Floats, tables: list[Floats], seed: int) -> Floats:
    """The pull by which rows of the mixture come to the wanted products of scores: more where they are too few."""
    rng = np.random.default_rng(seed)
    rows = int(np.clip(2 * _WORK / (_SWEEPS * len(spread) ** 2), _LEAST_ROWS, _MOST_ROWS))
    component = quota(weights, rows, rng)
    tiles = np.stack([draw(table, component, rng) for table in tables], axis=1).astype(np.int32)
    pull = np.zeros_like(wanted)
    for sweep in range(_SWEEPS):
        scores = replace(trends, pull=pull).sweep(tiles, component, rng)
        short = (wanted - scores.T @ scores / rows) / np.outer(spread, spread)
        pull = np.clip(pull + (0.6 if 2 * sweep < _SWEEPS else 0.25) * short, -_STRONGEST, _STRONGEST)
        np.fill_diagonal(pull, 0.0)
    return pull


def tilted(pairs: Floats, starts: NDArray[np.int64], tilts: Sequence[Tilt]) -> Floats:
    """Pair tables of all columns side by side, moved as little as possible to have some mean products of scores.

    Least in relative entropy: cells are multiplied by exp(pull x score x score), and marginals stay as they are.
    """
    pairs = pairs.copy()
    for tilt in tilts:
        rows, columns = (
            slice(int(starts[column]), int(starts[column]) + len(score))
            for column, score in zip(tilt.columns, tilt.scores, strict=True)
        )
        pairs[rows, columns] = _tilted(pairs[rows, columns], *tilt.scores, tilt.product)
        pairs[columns, rows] = pairs[rows, columns].T
    return pairs


def _tilted(table: Floats, first: Floats, second: Floats, wanted: float) -> Floats:
    """One table with a wanted mean product of scores."""
    table = np.maximum(table, 0.0)
    down, across, product = table.sum(axis=1), table.sum(axis=0), np.outer(first, second)
    columns, found, pull = np.ones(len(second)), table, 0.0
    seen = float((found * product).sum())
    slope = float((found * product**2).sum())  # how much a little more pull brings: this at first, less and less then
    for _ in range(_STEPS):
        short = wanted - seen
        if abs(short) <= _CLOSE or slope <= 0:
            break
        step = float(np.clip(0.7 * short / slope, -_LONGEST, _LONGEST))
        pull += step
        lifted = table * np.exp(np.clip(pull * product, -50.0, 50.0))
        for _ in range(_RAKES):
            rows = _ratio(down, lifted @ columns)
            columns = _ratio(across, rows @ lifted)
        found = rows[:, None] * lifted * columns
        before, seen = seen, float((found * product).sum())
        slope = (seen - before) / step
    return found


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.where(found > 0, wanted / np.where(found > 0, found, 1.0), 0.0)
