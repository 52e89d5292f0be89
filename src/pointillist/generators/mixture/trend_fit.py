"""Trend fit: the correlations that measured pair tables show beyond noise and beyond the mixture."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.evidence import Evidence, Table
from pointillist.generators.drawing import draw, quota
from pointillist.generators.trends import Trends, normal_ends

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_ROWS, _LEAST_ROWS, _SWEEPS, _WORK = 20_000, 4_000, 40, 2e9
"""How many rows of the mixture exchange values, and how often, until the pull between columns is found; fewer where all
their multiplications would be more than the last."""
_MOST_COLUMNS = 150
"""Of more columns, those are tied whose correlations are farthest off."""
_VISIBLE, _ALONG = 2.0, 0.3
"""From how many standard deviations on a product of scores is believed, and how much a score must go along with its
column's order."""
_STRONGEST = 30.0
"""The strongest pull: correlations of 0.98 need about as much."""
_LEAST = 0.02
"""The least variance that is left to any combination of columns."""
_CONSTANT = 1e-6
"""A column with no more than this outside one tile does not vary."""
_STEPS, _LONGEST, _RAKES, _CLOSE = 20, 3.0, 5, 1e-3
"""How often a table is tilted a little more, and by how much at most; how often it is scaled back to its marginals each
time; and which correlation is near enough."""


def fit_trends(
    evidence: Evidence,
    base: Mapping[str, Tiles],
    order: Mapping[str, Integers],
    weights: Floats,
    tables: Mapping[str, Floats],
    seed: int,
    within: Mapping[str, Floats] | None = None,
) -> Trends | None:
    """What ties the ordered columns of a mixture; none if no two of them were measured together.

    The gap between a measured correlation and the mixture's is shrunk by how much of it the noise explains (James and
    Stein): each is one number, so little noise is in it, where the table as a whole may drown.

    Arguments:
        order: for each ordered column the numbers of the tiles that have an order, from low to high.
        tables: for each column the probabilities of its tiles in every component.
        within: for each column the share of each level inside its tile, where scores were measured.
    """
    names = [name for name in base if name in order and _varies((weights @ tables[name])[order[name]])]
    start = _untied(names, base, order, weights, tables)
    means = [tables[name] @ score for name, score in zip(names, start.scores, strict=True)]
    modelled = np.einsum("k,ak,bk->ab", weights, means, means, optimize=True) if means else np.zeros((0, 0))
    modelled = (modelled + modelled.T) / 2  # to the last bit, as model files want it
    wanted, measured = modelled.copy(), False
    for one, other, gap, sigma in _gaps(evidence, base, names, start.scores, modelled):
        wanted[one, other] = wanted[other, one] = modelled[one, other] + _beyond(gap, sigma)
        measured = True
    for one, other, gap, sigma in _score_gaps(evidence, base, names, start.scores, weights, tables, within or {}):
        if abs(gap) > _VISIBLE * sigma:
            wanted[one, other] = wanted[other, one] = modelled[one, other] + _beyond(gap, sigma)
            measured = True
    if not measured:
        return None
    kept = np.sort(np.argsort(-np.square(wanted - modelled).sum(axis=0), kind="stable")[:_MOST_COLUMNS])
    names, wanted = [names[number] for number in kept], wanted[np.ix_(kept, kept)]
    start = _untied(names, base, order, weights, tables)
    shares = [weights @ tables[name] for name in names]
    spread = np.sqrt([share @ score**2 for share, score in zip(shares, start.scores, strict=True)])
    found = replace(start, correlations=_possible(wanted / np.outer(spread, spread)))
    return replace(found, pull=_pull(found, wanted, spread, weights, list(tables.values()), seed))


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


def _gaps(
    evidence: Evidence, base: Mapping[str, Tiles], names: list[str], scores: tuple[Floats, ...], modelled: Floats
) -> Iterator[tuple[int, int, float, float]]:
    """For every two columns measured over the mixture's tiles how far their correlation is off, and its noise."""
    for table in evidence.tables:
        if _is_pair(table, base) and set(table.columns) <= set(names):
            one, other = (names.index(name) for name in table.columns)
            seen = float(scores[one] @ table.values @ scores[other]) / evidence.rows
            noise = table.sigma / evidence.rows * np.linalg.norm(scores[one]) * np.linalg.norm(scores[other])
            yield one, other, seen - modelled[one, other], float(noise)


def _score_gaps(
    evidence: Evidence,
    base: Mapping[str, Tiles],
    names: list[str],
    normal: tuple[Floats, ...],
    weights: Floats,
    tables: Mapping[str, Floats],
    within: Mapping[str, Floats],
) -> Iterator[tuple[int, int, float, float]]:
    """The same for every two columns of which no table was measured over the mixture's tiles, only products of scores.

    What moves two columns along their trend moves the product of their scores, too: by as much less as scores go along
    with the normal variables.
    """
    tabled = {frozenset(table.columns) for table in evidence.tables if _is_pair(table, base)}
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
            if len(group) == 2 and frozenset(columns) not in tabled and slopes[group[0]] * slopes[group[1]] > 0:
                steep = slopes[group[0]] * slopes[group[1]]
                gap = float(value) / evidence.rows - float(weights @ (means[group[0]] * means[group[1]]))
                one, other = (names.index(name) for name in columns)
                yield one, other, gap / steep, sums.sigma / evidence.rows / steep


def _is_pair(table: Table, base: Mapping[str, Tiles]) -> bool:
    return len(table.leaves) == 2 and all(base[leaf.column] == leaf for leaf in table.leaves)


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


def tilted(pairs: Floats, starts: NDArray[np.int64], trends: Trends) -> Floats:
    """Pair tables of all columns side by side, moved as little as possible to have the trends' correlations.

    Least in relative entropy: cells are multiplied by exp(pull x score x score), and marginals stay as they are.
    """
    pairs = pairs.copy()
    for one, other in itertools.combinations(range(len(trends.columns)), 2):
        first, second = trends.scores[one], trends.scores[other]
        rows, columns = (
            slice(int(starts[trends.columns[number]]), int(starts[trends.columns[number]]) + len(trends.scores[number]))
            for number in (one, other)
        )
        table = pairs[rows, columns]
        spread = np.sqrt((table.sum(axis=1) @ first**2) * (table.sum(axis=0) @ second**2))
        pairs[rows, columns] = _tilted(table, first, second, trends.correlations[one, other] * spread)
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
