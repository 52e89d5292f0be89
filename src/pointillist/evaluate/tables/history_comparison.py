"""History comparison: how two tables of persons differ, in what makes a history: counts, steps, gaps, persistence, ends.

Distances are of total variation, between 0 and 1. Beside each stands what chance alone would show: the same distance
between two halves of the real persons, brought to the sizes of the two tables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.cells import Cells, tiles
from pointillist.evaluate.tables.histories import Histories

_PARTS = 8
"""Numbers are cut into so many parts of equal mass where pairs of values are compared."""
_MOST_COUNTS, _GAP_PARTS = 200, 16
_LEAST_ROWS = 30
"""Correlations of fewer values are not told."""
_MOST_PERSONS = 6_000
"""So many of each table a classifier sees."""


class Distance(NamedTuple):
    """A distance, and what chance would show."""

    value: float
    chance: float

    @property
    def excess(self) -> float:
        return max(0.0, self.value - self.chance)


class Beside(NamedTuple):
    """A figure of both tables."""

    real: float
    synthetic: float

    @property
    def difference(self) -> float:
        return abs(self.real - self.synthetic)


@dataclass(frozen=True)
class Course:
    """One column of rows, over the histories of persons."""

    column: str
    steps: Distance | None
    """Of the table of a value and the one in the row before; none where no person has two rows."""
    lag: Beside | None
    """The correlation of a value with the one before, where the column has an order."""
    between: Beside | None
    """The share of the variance that lies between persons and not within them."""
    first: float
    last: float
    """Distances of the values in first and in last rows."""
    ever: Beside
    """The share of persons who ever have the level in which the two tables differ most."""
    ever_level: str


def compared(real: Histories, synthetic: Histories, seed: int) -> tuple[Course, ...]:
    """Every column of rows."""
    return tuple(_course(real, synthetic, each.name, seed) for each in real.of_rows)


def rows_per_person(real: Histories, synthetic: Histories, seed: int) -> Distance:
    """Of how many rows persons have."""

    def shares(counts: Codes) -> Floats:
        return _shares(np.minimum(counts, _MOST_COUNTS), _MOST_COUNTS + 1)

    return _distance(real, synthetic, seed, lambda it: shares(it.counts))


def facts(real: Histories, synthetic: Histories) -> dict[str, float]:
    """For each fact of persons the distance between its shares among persons."""
    found = {}
    for each in real.facts:
        cells = tiles(real.first, synthetic.first, each.name, 4 * _PARTS)
        found[each.name] = tvd(_shares(cells.real, cells.size), _shares(cells.synthetic, cells.size))
    return found


def facts_with_rows(real: Histories, synthetic: Histories) -> dict[tuple[str, str], float]:
    """For each fact of persons and each column of rows the distance between their tables over rows."""
    cells = {
        each.name: tiles(real.sample, synthetic.sample, each.name, _PARTS) for each in (*real.facts, *real.of_rows)
    }

    def joint(one: Cells, other: Cells) -> float:
        size = one.size * other.size
        return tvd(
            _shares(one.real * other.size + other.real, size),
            _shares(one.synthetic * other.size + other.synthetic, size),
        )

    return {
        (fact.name, row.name): joint(cells[fact.name], cells[row.name]) for fact in real.facts for row in real.of_rows
    }


def gaps(real: Histories, synthetic: Histories, seed: int) -> Distance | None:
    """Of how far rows are from the row before; none where nothing orders them."""
    own = real.gaps()
    known = own[~np.isnan(own)]
    if not len(known) or not len(synthetic.gaps()):
        return None
    distinct = np.unique(known)
    if len(distinct) > _GAP_PARTS:
        distinct = np.unique(np.quantile(known, np.arange(_GAP_PARTS) / _GAP_PARTS, method="inverted_cdf"))

    def shares(it: Histories) -> Floats:
        found = it.gaps()
        return _shares(np.searchsorted(distinct, found[~np.isnan(found)], side="right"), len(distinct) + 1)

    return _distance(real, synthetic, seed, shares)


def told_apart(real: Histories, synthetic: Histories, seed: int) -> tuple[float, int]:
    """AUROC of a classifier that sees whole histories, on persons it has not seen; and how many persons of each it saw."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(seed)
    count = min(real.persons, synthetic.persons, _MOST_PERSONS)
    parts = []
    for each in (real, synthetic):
        chosen = np.zeros(each.persons, dtype=bool)
        chosen[rng.choice(each.persons, count, replace=False)] = True
        parts.append(each.of_persons(chosen).features())
    names = sorted(parts[0].keys() & parts[1].keys())
    x = np.concatenate([np.stack([part[name] for name in names], axis=1) for part in parts])
    y = np.repeat([0, 1], count)
    order = rng.permutation(2 * count)
    train, test = order[:count], order[count:]
    if min(len(np.unique(y[train])), len(np.unique(y[test]))) < 2:
        return 0.5, count
    model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed).fit(x[train], y[train])
    return float(roc_auc_score(y[test], model.predict_proba(x[test])[:, 1])), count


def learnt(train: Histories, test: Histories, target: str, seed: int) -> float | None:
    """AUROC of predicting a person's fact from her history, trained on one table and tested on another; over classes the
    mean of each against the rest. None where a table does not have two of the classes."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    names = sorted(train.features(target).keys() & test.features(target).keys())
    matrices = [np.stack([each.features(target)[name] for name in names], axis=1) for each in (train, test)]
    learn, truth = (each.first.codes(target) for each in (train, test))
    known = np.isin(truth, np.unique(learn))
    classes = np.unique(truth[known])
    if len(classes) < 2 or len(np.unique(learn)) < 2:
        return None
    model = HistGradientBoostingClassifier(max_iter=100, early_stopping=False, random_state=seed).fit(
        matrices[0], learn
    )
    chances = model.predict_proba(matrices[1][known])
    scores = [
        roc_auc_score(truth[known] == each, chances[:, list(model.classes_).index(each)])
        for each in classes
        if 0 < np.count_nonzero(truth[known] == each) < np.count_nonzero(known)
    ]
    return float(np.mean(scores)) if scores else None


def tvd(one: Floats, other: Floats) -> float:
    """Half of all that two distributions differ by."""
    return float(np.abs(one - other).sum() / 2)


def _course(real: Histories, synthetic: Histories, name: str, seed: int) -> Course:
    level = real.sample.level(name)
    cells = tiles(real.sample, synthetic.sample, name, _PARTS)
    ends = [
        tvd(_shares(cells.real[one], cells.size), _shares(cells.synthetic[other], cells.size))
        for one, other in (
            (real.starts, synthetic.starts),
            (real.starts + real.counts - 1, synthetic.starts + synthetic.counts - 1),
        )
    ]
    ever = real.ever(level), synthetic.ever(level)
    worst = int(np.argmax(np.abs(ever[0] - ever[1])))
    steps = _steps(real, synthetic, cells, seed) if len(real.later) and len(synthetic.later) else None
    values = [each.numbers(level) for each in (real, synthetic)] if level.ordered or level.regular == 2 else []
    return Course(
        name,
        steps,
        _both(_lag(real, values[0]), _lag(synthetic, values[1])) if values else None,
        _both(_between(real, values[0]), _between(synthetic, values[1])) if values else None,
        ends[0],
        ends[1],
        Beside(float(ever[0][worst]), float(ever[1][worst])),
        level.label(worst),
    )


def _both(real: float | None, synthetic: float | None) -> Beside | None:
    return None if real is None or synthetic is None else Beside(real, synthetic)


def _steps(real: Histories, synthetic: Histories, cells: Cells, seed: int) -> Distance:
    def table(codes: Codes, later: Codes) -> Floats:
        return _shares(codes[later - 1] * cells.size + codes[later], cells.size**2)

    value = tvd(table(cells.real, real.later), table(cells.synthetic, synthetic.later))
    half = np.random.default_rng(seed).permutation(real.persons) < real.persons // 2
    side = half[real.owners[real.later]]
    halves = tvd(table(cells.real, real.later[side]), table(cells.real, real.later[~side]))
    return Distance(value, halves * _brought(real.persons, synthetic.persons))


def _lag(histories: Histories, values: Floats) -> float | None:
    """The correlation of values with those in the row before."""
    now, before = values[histories.later], values[histories.later - 1]
    known = ~(np.isnan(now) | np.isnan(before))
    if known.sum() < _LEAST_ROWS or now[known].std() == 0 or before[known].std() == 0:
        return None
    return float(np.corrcoef(now[known], before[known])[0, 1])


def _between(histories: Histories, values: Floats) -> float | None:
    """The intraclass correlation, by analysis of variance: it does not grow where persons have few rows."""
    known = ~np.isnan(values)
    counts = np.bincount(histories.owners[known], minlength=histories.persons)
    total, people = int(counts.sum()), int((counts > 0).sum())
    if total - people < _LEAST_ROWS or people < 2 or values[known].std() == 0:
        return None
    means = np.nan_to_num(histories.means(values))
    overall = values[known].mean()
    between = (counts * (means - overall) ** 2).sum() / (people - 1)
    within = ((values[known] - means[histories.owners[known]]) ** 2).sum() / (total - people)
    size = (total - (counts.astype(float) ** 2).sum() / total) / (people - 1)
    whole = between + (size - 1) * within
    return float(max(0.0, (between - within) / whole)) if whole > 0 else None


def _distance(real: Histories, synthetic: Histories, seed: int, shares: Callable[[Histories], Floats]) -> Distance:
    half = np.random.default_rng(seed).permutation(real.persons) < real.persons // 2
    value = tvd(shares(real), shares(synthetic))
    if real.persons < 2:
        return Distance(value, value)
    halves = tvd(shares(real.of_persons(half)), shares(real.of_persons(~half)))
    return Distance(value, halves * _brought(real.persons, synthetic.persons))


def _brought(real: int, synthetic: int) -> float:
    """By how much less chance shows between two whole tables than between two halves of the real one."""
    return float(np.sqrt((1 / max(real, 1) + 1 / max(synthetic, 1)) / (4 / max(real, 1))))


def _shares(codes: Codes, size: int) -> Floats:
    return np.bincount(codes, minlength=size)[:size] / max(1, len(codes))
