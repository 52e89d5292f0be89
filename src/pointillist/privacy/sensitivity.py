"""Sensitivity: how far one person can move an exact sum. All in integers, squared, so that nothing is rounded."""

from pointillist.privacy.budget import Neighbours
from pointillist.schema import Person


def squared_sensitivity(squared_norm: int, neighbours: Neighbours, person: Person | None, *, nonnegative: bool) -> int:
    """The largest squared distance between the sums over two neighbouring data sets.

    `squared_norm` bounds the squared norm of one record's integer features; a person has at most k records.

    - add-remove: the sums differ by at most k vectors, so by k times the bound;
    - replace-one: two such groups of vectors a, b. ||a - b||^2 = ||a||^2 + ||b||^2 - 2<a, b>, which is at most twice
      the square when no coordinate is negative (then <a, b> >= 0), and four times the square in general.
    """
    rows = 1 if person is None else person.max_rows
    factor = 1
    if neighbours is Neighbours.REPLACE_ONE:
        factor = 2 if nonnegative else 4
    return factor * rows**2 * squared_norm
