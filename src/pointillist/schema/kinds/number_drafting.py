"""Number drafting: what the numbers of a private column seem to mean, from all that there are and how often each comes.

What is found is secret until the owner vouches for it. Bounds that a single row could hold are rounded outwards, and
numbers that few rows have are not listed.
"""

import math
from typing import NamedTuple

import numpy as np

from pointillist.schema.kinds.drafting import MOST_VALUES, Numbers, rounded_out
from pointillist.schema.scale import Scale, ScaleName

SHARED = 5
"""A number that at least so many rows have tells about none of them: it may be a bound or be listed as it is."""
_BEYOND, _NUMBERS = 1e-3, 64
"""Where there are so many numbers at most, such a part of all rows may lie beyond a bound: they count as the bound."""
_LISTED, _COVER, _ROWS_EACH, _GAPS = 100, 0.98, 10, 0.9
"""Up to so many numbers are listed if they are those of nearly all rows, of so many rows each, and if they fill less than
this part of all that lie between them; or if they lie in steps."""
_FEW, _ZERO, _OFTEN, _LEAST, _MOST_FREQUENT = 32, 0.02, 0.02, 20, 16
"""Of more than so many different values, zero and others that are over such a part of all, and so many rows, keep a level
of their own: up to so many of them."""
_SENTINELS = {sign * int(digit * length) for sign in (1, -1) for digit in "789" for length in range(1, 7)}
_TAIL, _FINEST, _BETTER = 30.0, 1 / 64, 3.0
"""A tail is long if it reaches so many times as far as half of the values. A scale is too coarse if a twentieth of the rows
lies in so small a part of it, and another is better if that part is so many times as large."""
_MOST_DECIMALS, _USUAL, _NEARLY_ALL, _MORE = 12, 0.85, 0.995, 2
"""Digits that are usual are enough, unless so many more are enough for nearly all and the numbers can then be listed: a tax
of 2.5 is not rounded off, and ages do not get a decimal because of one."""
_DOUBLE_NOISE, _FLOAT_NOISE = 4 * 2.0**-52, 4 * 2.0**-23
"""How far a number may lie from the one that was meant, relative to it: a few last places of its type."""
_CHANCE = 100
"""Digits of single precision are believed if the next shorter number could be so many times as far away."""


class Range(NamedTuple):
    """Where drafted numbers lie."""

    low: float
    high: float
    special: tuple[float, ...] = ()
    only: tuple[float, ...] = ()
    scale: ScaleName = "linear"
    clock: bool = False

    @property
    def found(self) -> tuple[str, ...]:
        """Which facts beside the bounds were read from the data."""
        facts = {
            "special": self.special,
            "only": self.only,
            "scale": self.scale != "linear",
            "clock": self.clock,
        }
        return tuple(name for name, fact in facts.items() if fact)


def range_of(numbers: Numbers, unit: float | None = None, *, listing: bool = True) -> Range:
    """What numbers seem to mean. `unit` is the step from one to the next, where there is one; `listing`: whether few of them
    can be listed.

    Else there are bounds, zero, sentinels and other frequent ones as atoms, a log scale for a long
    tail, and an asinh scale for a long tail that begins at zero or below.
    """
    if listing and (listed := _listed(numbers, unit)):
        return Range(listed[0], listed[-1], only=listed)
    special, rest = _set_apart(numbers, unit)
    clock = unit == 1.0 and is_clock(rest)
    scale: ScaleName = "linear" if clock else scale_of(rest, unit)
    low, high = hours_between(rest, 100, 59) if clock else _bounds(rest, scale, unit)
    return Range(low, high, special, (), scale, clock)


def is_clock(numbers: Numbers) -> bool:
    """Whether whole numbers are times of day, written as hours and minutes: 1359 is followed by 1400."""
    values = numbers.values
    if not (len(values) > 60 and values[0] >= 0 and 1000 <= values[-1] <= 2400 and (values % 100 < 60).all()):
        return False
    late = numbers.often[values % 100 >= 40].sum() / numbers.filled
    return bool(len(np.unique(values // 100)) >= 6 and late >= 0.05)


def hours_between(numbers: Numbers, hour: int, last: int) -> tuple[float, float]:
    """The first and the last time of whole hours that several rows share, where hardly a row lies beyond; `last` is the last
    time of an hour."""
    hours, places = np.unique(np.floor(numbers.values / hour), return_inverse=True)
    kept = _without_ends(Numbers(hours, np.bincount(places, weights=numbers.often).astype(np.int64)))
    first, final = float(kept.values[0]), float(kept.values[-1])
    return first * hour, final * hour + (0.0 if final >= 24 else last)


def decimals_of(numbers: Numbers, *, single: bool) -> int | None:
    """Digits after the point that are enough for 17 in 20 numbers, or a few more where nearly all have them and can be
    listed; none if more are usual than can be kept.

    What lies nearer to a short number than its type can tell apart is that number: 0.1 + 0.2 has one decimal. Numbers that
    once were of single precision are known by it: 4.5999999 has one, too.
    """
    numbers = numbers.kept(numbers.values != 0)
    values = numbers.values
    if len(values) == 0:
        return 0
    found = _digits(numbers, _FLOAT_NOISE if single else _DOUBLE_NOISE)
    if single or (found is not None and found <= 4):
        return found
    shorter = _digits(numbers, _FLOAT_NOISE)
    believed = shorter is not None and 10.0**-shorter >= _CHANCE * _FLOAT_NOISE * float(np.median(np.abs(values)))
    return shorter if believed else found


def _digits(numbers: Numbers, noise: float) -> int | None:
    usual = next((each for each in range(_MOST_DECIMALS + 1) if _enough(numbers, each, noise) >= _USUAL), None)
    if usual is None:
        return None
    more = range(usual, min(usual + _MORE, _MOST_DECIMALS) + 1)
    enough = next((each for each in more if _enough(numbers, each, noise) >= _NEARLY_ALL), usual)
    return enough if enough == usual or _listed(numbers.rounded(enough), 10.0**-enough) else usual


def _enough(numbers: Numbers, digits: int, noise: float) -> float:
    """The share of rows whose number has no more digits."""
    values = numbers.values
    with np.errstate(over="ignore", invalid="ignore"):  # so large a number has no digits to lose
        near = np.abs(np.round(values, digits) - values) <= noise * np.abs(values)
    return float(numbers.often[near].sum() / numbers.filled)


def _listed(numbers: Numbers, unit: float | None) -> tuple[float, ...]:
    """The numbers that there can be, if they are few and leave gaps; else none.

    These are all in steps, such as 10, 15, 20, …; or those that are more than a few rows' own.
    """
    if grid := _steps(numbers, unit):
        return grid
    shared = numbers.kept(numbers.often >= SHARED)
    values = shared.values
    if not 3 <= len(values) <= _LISTED or shared.filled < _COVER * numbers.filled:
        return ()
    if numbers.filled < _ROWS_EACH * len(values):
        return ()
    span = float(values[-1] - values[0])
    beyond = max(float(values[0] - numbers.values[0]), float(numbers.values[-1] - values[-1]))
    dense = unit is not None and len(values) >= _GAPS * (span / unit + 1)
    lost = beyond > span / 20 and _few(
        float(numbers.values[0]), float(numbers.values[-1]), unit
    )  # levels would keep it
    return () if dense or lost else tuple(values.tolist())


def _steps(numbers: Numbers, unit: float | None) -> tuple[float, ...]:
    """All numbers in equal steps, wider than the unit, from the lowest to the highest, if these are few; else none."""
    if unit is None or not 4 <= len(numbers.values) <= _LISTED or numbers.filled < _ROWS_EACH * len(numbers.values):
        return ()
    counted = np.round(numbers.values / unit)
    if not (np.abs(counted) < 2.0**53).all():
        return ()
    step = int(np.gcd.reduce(np.diff(counted).astype(np.int64)))
    size = int((counted[-1] - counted[0]) // step) + 1
    if step < 2 or size > min(_LISTED, 2 * len(counted)):
        return ()
    per = round(1 / unit) if unit < 1 else 1
    return tuple(((counted[0] + step * np.arange(size)) / per).tolist())


def _few(low: float, high: float, unit: float | None) -> bool:
    """Whether so few numbers lie between two that each has a level of its own."""
    return unit is not None and high - low < MOST_VALUES * unit


def _set_apart(numbers: Numbers, unit: float | None) -> tuple[tuple[float, ...], Numbers]:
    """Values that stand for something else, or that a bin would blur, such as a ceiling on pay; and all other values.

    Where every value has a level of its own, only sentinels and zero are set apart; and nothing where there are few values.
    """
    special: tuple[float, ...] = ()
    if len(numbers.values) <= _FEW:
        return special, numbers
    filled = numbers.filled
    special, numbers = _sentinels(numbers)
    few = _few(float(numbers.values[0]), float(numbers.values[-1]), unit)
    zero = numbers.values == 0
    if (
        numbers.often[zero].sum() >= max(_ZERO * filled, _LEAST)
        and not zero.all()
        and not (few and numbers.values[0] == 0)
    ):
        special, numbers = (*special, 0.0), numbers.kept(~zero)
    while len(special) < _MOST_FREQUENT and not few and len(numbers.values) > 2:
        most = int(np.argmax(numbers.often))
        if numbers.often[most] <= max(_OFTEN * filled, _LEAST):
            break
        special = (*special, float(numbers.values[most]))
        numbers = numbers.kept(np.arange(len(numbers.values)) != most)
    return special, numbers


def _sentinels(numbers: Numbers) -> tuple[tuple[float, ...], Numbers]:
    """Numbers such as -999, far from all others, that stand for no number; and the others."""
    special: tuple[float, ...] = ()
    for _ in range(4):
        values = numbers.values
        if len(values) < 4:
            break
        ends = {0: (values[0], values[1] - values[0], values[-1] - values[1])}
        ends[len(values) - 1] = (values[-1], values[-1] - values[-2], values[-2] - values[0])
        far = [
            at
            for at, (value, gap, rest) in ends.items()
            if value in _SENTINELS and gap > rest and numbers.often[at] >= SHARED
        ]
        if not far:
            break
        special = (*special, float(values[far[0]]))
        numbers = numbers.kept(np.arange(len(values)) != far[0])
    return special, numbers


def scale_of(numbers: Numbers, unit: float | None) -> ScaleName:
    """The scale on which the rows are spread best, if a linear one would put too many of them close together."""
    low, high = float(numbers.values[0]), float(numbers.values[-1])
    other: ScaleName = "log" if low > 0 else "asinh"
    if not low < high or not math.isfinite(high - low) or (low > 0 and math.log(high / low) < 1e-6) or high < 0:
        return "linear"
    if _few(low, high, unit) and other == "asinh":
        return "linear"
    middle = float(numbers.quantiles(np.array([0.5]))[0]) if low > 0 else _middle(numbers)
    if max(-low, high) > _TAIL * middle > 0:
        return other
    straight, bent = (_finest(numbers, Scale.of(name, low, high)) for name in ("linear", other))
    return other if straight < _FINEST and bent > _BETTER * straight else "linear"


def _middle(numbers: Numbers) -> float:
    """The median distance from zero."""
    order = np.argsort(np.abs(numbers.values))
    return abs(float(Numbers(np.abs(numbers.values)[order], numbers.often[order]).quantiles(np.array([0.5]))[0]))


def _finest(numbers: Numbers, scale: Scale) -> float:
    """A small part of a scale in which a twentieth of the rows lies: a quarter of them lie closer together, atoms apart."""
    bent = scale.bend(numbers.quantiles(np.arange(21) / 20))
    widths = np.diff(bent) / (bent[-1] - bent[0])
    return float(np.quantile(widths[widths > 0], 0.25))


def _without_ends(numbers: Numbers) -> Numbers:
    """Without the lowest and the highest that few rows have, where hardly a row lies beyond a number that more share."""
    shared = np.flatnonzero(numbers.often >= SHARED)
    if len(shared) == 0:
        return numbers
    first, last = shared[0], shared[-1] + 1
    most = _BEYOND * numbers.filled
    first = first if numbers.often[:first].sum() <= most else 0
    last = last if numbers.often[last:].sum() <= most else len(numbers.values)
    places = np.arange(len(numbers.values))
    return numbers.kept((places >= first) & (places < last))


def _bounds(numbers: Numbers, scale: ScaleName, unit: float | None) -> tuple[float, float]:
    """A round number below and one above; of few numbers the lowest and the highest that several rows share, where hardly
    a row lies beyond."""
    few = _few(float(numbers.values[0]), float(numbers.values[-1]), unit)
    if few and len(numbers.values) <= _NUMBERS:
        numbers = _without_ends(numbers)
    low, high = float(numbers.values[0]), float(numbers.values[-1])
    if low == high and numbers.often[0] >= SHARED:
        return low, low + (unit or max(1e-6 * abs(low), 1e-9))  # always the same: no room for much else
    span = max(high - low, 100 * (unit or 0.0))  # a bound is rounded to two units at least
    if few and numbers.often[0] >= SHARED:
        bottom = low
    elif scale == "log":
        bottom = max(10.0 ** math.floor(math.log10(low)), 5e-324)
    else:
        bottom = rounded_out(low, up=False, span=span)
    top = high if few and numbers.often[-1] >= SHARED else rounded_out(high, up=True, span=span)
    if not bottom < top:
        bottom, top = bottom - max(1.0, abs(bottom) / 10), top + max(1.0, abs(top) / 10)
    return bottom, top
