"""A sweep of exchanges: two rows meet, and exchange values where that brings the held tables nearer. Compiled.

A gap is what a table of the rows counts beyond what it should. All gaps change with every exchange. Of each kind of tables
only those are looked at that hold the column in question.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]
Places = NDArray[np.int32]
Spots = NDArray[np.uint32]
Integers = NDArray[np.int64]


class PairGaps(NamedTuple):
    """Tables of pairs of columns."""

    gap: Single
    """Over tiles x tiles, of all columns side by side; both halves are kept."""
    linked: NDArray[np.bool_]
    """Which two columns are held together."""
    ends: Integers
    """The same as lists: column c is held together with `others[ends[c] : ends[c + 1]]`."""
    others: Integers


class ClassGaps(NamedTuple):
    """Tables of pairs of columns within each class of a label; any number of labels."""

    labels: Integers
    classes: Places
    """By label the class of every row."""
    places: Places
    """By label the place of every tile."""
    gap: Single
    """By label: classes x places x places."""
    ends: Integers
    """By label as for pairs."""
    others: Integers


class CliqueGaps(NamedTuple):
    """Tables of three columns and more; any number of them."""

    ends: Integers
    """Column c is in the cliques `numbers[ends[c] : ends[c + 1]]`."""
    numbers: Integers
    member_ends: Integers
    """Clique q holds the columns `members[member_ends[q] : member_ends[q + 1]]`."""
    members: Integers
    steps: Places
    """By clique what every tile adds to the number of a row's cell."""
    gap: Single
    """By clique the gap of each cell."""


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_pairs(placed: Spots, pairs: PairGaps) -> None:
    """Add every row to the pair tables."""
    rows, columns = placed.shape
    for row in range(rows):
        for a in range(columns):
            for number in range(pairs.ends[a], pairs.ends[a + 1]):
                pairs.gap[placed[row, a], placed[row, pairs.others[number]]] += 1.0


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_classes(placed: Spots, by_class: ClassGaps) -> None:
    """Add every row to the pair tables of its class."""
    rows, columns = placed.shape
    for s in range(len(by_class.labels)):
        for row in range(rows):
            here = by_class.classes[s, row]
            for a in range(columns):
                own = by_class.places[s, placed[row, a]]
                for number in range(by_class.ends[s, a], by_class.ends[s, a + 1]):
                    by_class.gap[s, here, own, by_class.places[s, placed[row, by_class.others[number]]]] += 1.0


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_cliques(placed: Spots, cliques: CliqueGaps) -> None:
    """Add every row to the tables of cliques."""
    for q in range(len(cliques.gap)):
        own = cliques.members[cliques.member_ends[q] : cliques.member_ends[q + 1]]
        for row in range(len(placed)):
            cliques.gap[q, _cell(placed[row], own, cliques.steps[q])] += 1.0


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def sweep(
    placed: Spots,
    met: Integers,
    pairs: PairGaps,
    by_class: ClassGaps,
    cliques: CliqueGaps,
    temperature: float,
    seed: int,
) -> None:
    """Every two rows that meet may exchange each of their values, but for a label that is of another class."""
    np.random.seed(seed)  # of compiled code alone, and of this thread
    gap, linked, ends, others = pairs
    labels, classes, places, class_gap, class_ends, class_others = by_class
    clique_ends, numbers, member_ends, members, steps, clique_gap = cliques
    rows, columns = placed.shape
    differ = np.empty(columns, dtype=np.int64)
    for meeting in range(0, rows - 1, 2):
        i, j = met[meeting], met[meeting + 1]
        one, other = placed[i], placed[j]
        count = 0
        for b in range(columns):
            if one[b] != other[b]:
                differ[count] = b
                count += 1
        for number in range(count if count > 1 else 0):
            column = differ[number]
            start, end = ends[column], ends[column + 1]
            # Of those that differ and those that are held together with this one, the shorter list holds both.
            beside = differ[:count] if count <= end - start else others[start:end]
            gain = _gain(one, other, column, beside, gap, linked)
            for s in range(len(labels)):
                if labels[s] == column and classes[s, i] != classes[s, j]:
                    gain = -np.inf
                own = class_others[class_ends[s, column] : class_ends[s, column + 1]]
                gain += _gain_by_class(one, other, column, own, places[s], class_gap[s], classes[s, i], classes[s, j])
            for place in range(clique_ends[column], clique_ends[column + 1]):
                q = numbers[place]
                own = members[member_ends[q] : member_ends[q + 1]]
                gain += _gain_of_clique(one, other, column, own, steps[q], clique_gap[q])
            # Twice the gain is how far the sum of squared gaps would fall.
            if gain <= 0.0 and (temperature == 0.0 or gain < temperature * np.log(np.random.random())):
                continue
            _move(one, other, column, beside, gap, linked)
            for s in range(len(labels)):
                own = class_others[class_ends[s, column] : class_ends[s, column + 1]]
                _move_by_class(one, other, column, own, places[s], class_gap[s], classes[s, i], classes[s, j])
            for place in range(clique_ends[column], clique_ends[column + 1]):
                q = numbers[place]
                _move_in_clique(
                    one, other, column, members[member_ends[q] : member_ends[q + 1]], steps[q], clique_gap[q]
                )
            one[column], other[column] = other[column], one[column]


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _gain(one: Spots, other: Spots, column: int, beside: Integers, gap: Single, linked: NDArray[np.bool_]) -> float:
    """What an exchange in a column brings to pair tables; only pairs with other columns that differ change."""
    own, foreign = one[column], other[column]
    gain = 0.0
    for b in beside:
        near, far = one[b], other[b]
        if linked[column, b] and near != far:
            gain += gap[own, near] + gap[foreign, far] - gap[own, far] - gap[foreign, near] - 2.0
    return gain


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _move(one: Spots, other: Spots, column: int, beside: Integers, gap: Single, linked: NDArray[np.bool_]) -> None:
    """Enter an exchange into the pair tables."""
    for b in beside:
        if linked[column, b] and one[b] != other[b]:
            _shift(gap, one[column], other[column], one[b])
            _shift(gap, other[column], one[column], other[b])


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _gain_by_class(
    one: Spots, other: Spots, column: int, beside: Integers, place_of: Places, gap: Single, here: int, there: int
) -> float:
    """What an exchange in a column brings to pair tables by class, of two rows that are of these classes."""
    own, foreign = place_of[one[column]], place_of[other[column]]
    gain = 0.0
    if own == foreign:
        return gain
    for b in beside:
        near, far = place_of[one[b]], place_of[other[b]]
        if here != there or near != far:
            gain += gap[here, own, near] - gap[here, foreign, near] - 2.0
            gain += gap[there, foreign, far] - gap[there, own, far]
    return gain


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _move_by_class(
    one: Spots, other: Spots, column: int, beside: Integers, place_of: Places, gap: Single, here: int, there: int
) -> None:
    """Enter an exchange into the pair tables by class."""
    own, foreign = place_of[one[column]], place_of[other[column]]
    if own == foreign:
        return
    for b in beside:
        _shift(gap[here], own, foreign, place_of[one[b]])
        _shift(gap[there], foreign, own, place_of[other[b]])


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _shift(gap: Single, old: int, new: int, beside: int) -> None:
    """A row that has the tile `beside` in another column goes from one tile to another."""
    gap[old, beside] -= 1.0
    gap[beside, old] -= 1.0
    gap[new, beside] += 1.0
    gap[beside, new] += 1.0


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _cell(row: Spots, members: Integers, steps: Places) -> int:
    """The number of a row's cell in a clique."""
    found = 0
    for column in members:
        found += steps[row[column]]
    return found


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _gain_of_clique(one: Spots, other: Spots, column: int, members: Integers, steps: Places, gap: Single) -> float:
    """What an exchange in a column brings to the table of a clique."""
    turn = steps[other[column]] - steps[one[column]]
    near, far = _cell(one, members, steps), _cell(other, members, steps)
    if turn == 0 or near + turn == far:  # the two rows at most change places
        return 0.0
    return gap[near] - gap[near + turn] + gap[far] - gap[far - turn] - 2.0


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _move_in_clique(one: Spots, other: Spots, column: int, members: Integers, steps: Places, gap: Single) -> None:
    """Enter an exchange into the table of a clique."""
    turn = steps[other[column]] - steps[one[column]]
    near, far = _cell(one, members, steps), _cell(other, members, steps)
    gap[near] -= 1.0
    gap[near + turn] += 1.0
    gap[far] -= 1.0
    gap[far - turn] += 1.0
