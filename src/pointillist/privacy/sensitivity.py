"""Sensitivity: how far one person can move an exact sum. All in integers, squared, so that nothing is rounded."""

import math

from pointillist.privacy.guarantee import Neighbours
from pointillist.schema import Person


def squared_sensitivity(
    squared_norm: int,
    neighbours: Neighbours,
    person: Person | None,
    *,
    nonnegative: bool,
    positive: int | None = None,
    shared: bool = False,
) -> int:
    """The largest squared distance between the sums over two neighbouring data sets.

    `squared_norm` bounds the squared norm of one record's integer features; a person has at most k records. Where these
    share one weight (`shared`, see `Grid`), it bounds that of all of a person's records together, and k counts as 1.

    - add-remove: the sums differ by at most k vectors, so by k times the bound;
    - replace-one: two such groups of vectors a, b. ||a - b||^2 = ||a||^2 + ||b||^2 - 2<a, b>, which is at most twice
      the square when no coordinate is negative (then <a, b> >= 0), and four times the square in general;
    - replace-one where no two records' features have a negative inner product before they are rounded; `positive` is their
      number D. Rounding and clipping move a record's integer features from a multiple of the real ones by less than
      e = 3 sqrt D (each coordinate by less than 1, twice, and a float's own error is far below that). So with norms at most
      N, <a, b> >= -2eN - e^2, and ||a - b||^2 <= 2 N^2 + 4eN + 2e^2.
    """
    rows = 1 if person is None or shared else person.max_rows
    factor = 1
    if neighbours is Neighbours.REPLACE_ONE:
        if positive is not None and not nonnegative:
            rounding = 3 * (math.isqrt(positive) + 1)
            norm = math.isqrt(squared_norm) + 1
            return rows**2 * min(4 * squared_norm, 2 * squared_norm + 4 * rounding * norm + 2 * rounding**2)
        factor = 2 if nonnegative else 4
    return factor * rows**2 * squared_norm
