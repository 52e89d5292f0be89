"""Domain points: rows spread over everything that a schema allows, from public facts alone."""

import hashlib
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from pointillist.features import Records
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_ATOM = 0.1
"""The share of a number's rows at each special value, and of those without a value; at most half for all together."""


def domain_points(levels: tuple[Levels, ...], count: int, *, seed: int) -> Records:
    """`count` rows of a low-discrepancy sequence: numbers spread evenly over their range, categories equally frequent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers that are not powers of 2 are a little less balanced, and welcome
        places = qmc.Sobol(len(levels), scramble=False).random(count)
    places = (places + np.random.default_rng(seed).random(len(levels))) % 1.0
    codes, units = {}, {}
    for each, place in zip(levels, places.T, strict=True):
        if each.numeric:
            codes[each.name], units[each.name] = _numbers(each, place)
        else:
            codes[each.name] = np.minimum(place * each.size, each.size - 1).astype(np.uint16)
    return Records(count, codes, units)


def _numbers(level: Levels, place: Floats) -> tuple[NDArray[np.uint16], Floats]:
    atoms = level.size - level.regular
    each = min(_ATOM, 0.5 / max(1, atoms))
    values = level.from_unit(np.clip((place - atoms * each) / (1 - atoms * each), 0.0, 1.0))
    decimals = level.column.digits
    if decimals is not None:
        values = np.clip(np.round(values, decimals), *level.bounds)
    regular = np.clip(np.searchsorted(level.edges, values, side="right") - 1, 0, level.regular - 1)
    atom = np.floor(place / each).astype(np.int64)
    codes = np.where(atom < atoms, level.regular + atom, regular)
    for number, special in enumerate(level.specials):
        codes[(codes < level.regular) & (values == special)] = level.regular + number
        values[codes == level.regular + number] = special
    if level.has_missing:
        values[codes == level.missing] = np.nan
    return codes.astype(np.uint16), level.to_unit(values)


def fingerprint(points: Records) -> str:
    """A hash of rows: which points a plan speaks of."""
    found = hashlib.sha256()
    for kind, columns in (("codes", points.codes), ("units", points.units)):
        for name in sorted(columns):
            values = np.asarray(columns[name])
            found.update(f"{kind} {name} {values.dtype.str} {len(values)}\n".encode())
            found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()
