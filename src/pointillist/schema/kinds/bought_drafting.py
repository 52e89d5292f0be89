"""Bought drafting: what a column seems to be, from noisy counts alone. Everything here is post-processing.

A first look gives rows by form and by cell of a public grid; from it follows what to ask in a second one. The noise is
known, so what could be chance is taken for nothing: rare categories count as `other`, and numbers far out are moved to the
bounds.
"""

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.boolean import Boolean
from pointillist.schema.kinds.categorical import Categorical
from pointillist.schema.kinds.datetime import Datetime
from pointillist.schema.kinds.drafting import MOST_VALUES, Numbers, rounded_out
from pointillist.schema.kinds.ignore import Ignore
from pointillist.schema.kinds.number import Integer, Real
from pointillist.schema.kinds.number_drafting import range_of, scale_of
from pointillist.schema.kinds.text_drafting import PATTERNS, reason
from pointillist.schema.kinds.text_forms import (
    DIGITS,
    DRESSES,
    FIRST_YEAR,
    FORMS,
    NUMBER_CELLS,
    ZERO,
    date_forms,
    edges_of,
    middles,
)  # fmt: skip
from pointillist.schema.scale import ScaleName

Floats = NDArray[np.float64]

_STANDS_OUT, _TAIL = 4.5, 4.0
"""A cell is not empty if its count is so many standard deviations of the noise above zero; nor are some together."""
_MOST, _USUAL, _WHOLE, _COVERED, _TEXTS = 0.9, 0.95, 0.99, 0.98, 0.5
"""Shares: of the form that is a column's; of numbers with so few digits; of whole ones; of values that are all there are; of
texts that must be seen for a column to be made of categories."""
_WIDER = 4
_ATOM, _MOST_ATOMS, _MOST_CATEGORIES = 0.02, 16, 1_000
BINS = 64
"""Parts of a range that a second look asks about."""
_PLACES = {name: place for place, name in enumerate(FORMS)}


@dataclass(frozen=True, eq=False)
class FirstLook:
    """Noisy numbers of rows of one column: by form (the last: without a value), and by cell of the public grid."""

    forms: Floats
    cells: Floats
    noise: float
    """Their standard deviation, in rows."""

    @property
    def rows(self) -> float:
        return float(self.forms.sum())

    @property
    def filled(self) -> float:
        return float(self.forms[:-1].sum())


@dataclass(frozen=True, eq=False)
class SecondLook:
    """Values that stand out and their noisy numbers of rows; and rows in parts of the range, where they were asked for."""

    values: list[Any]
    often: Floats
    seen_from: float
    """About how many rows must share a value for it to be seen."""
    bins: Floats | None
    noise: float
    """The standard deviation of `bins`, in rows."""


@dataclass(frozen=True)
class Guess:
    """What a column seems to be after a first look, and what is asked about it in a second."""

    kind: Literal["number", "text", "date", "boolean", "left out"]
    why: str = ""
    """Why it is left out."""
    decimals: int | None = None
    format: str | None = None
    seconds: bool = False
    """Whether dates have a time of day."""
    low: float = 0.0
    high: float = 0.0
    zero: bool = False
    """Whether zero is set apart."""
    scale: ScaleName = "linear"

    @property
    def asks_values(self) -> bool:
        return self.kind in ("number", "text")

    @property
    def asks_bins(self) -> bool:
        return self.kind == "number" and self.scale == "linear" and self.low < self.high

    @property
    def width(self) -> float:
        """Of a part of the range; of whole numbers a whole one."""
        width = (self.high - self.low) / BINS
        return float(max(1, math.ceil(width + 1 / BINS))) if self.decimals == 0 else width


def guess(look: FirstLook) -> Guess:
    """What a column seems to be."""
    if look.filled < _STANDS_OUT * look.noise * math.sqrt(len(look.forms)):
        return Guess("left out", "too few values stood out from the noise")
    groups = {
        "number": look.forms[: DIGITS + 1].sum(),
        **{f"dress {each}": look.forms[_PLACES[f"dress {each}"]] for each in DRESSES},
        "boolean": look.forms[_PLACES["boolean"]],
        "date": look.forms[_PLACES["date"]],
        "time": look.forms[_PLACES["time"]],
        **{name: look.forms[list(places)].sum() for name, (_, places) in date_forms().items()},
        **{name: look.forms[_PLACES[name]] for name in (*PATTERNS, "long number", "free text")},
    }
    best = max(groups, key=lambda name: groups[name])
    if groups[best] < _MOST * look.filled:
        return Guess("text")
    if best == "number" or best.startswith("dress "):
        return _number(look, None if best == "number" else best.removeprefix("dress "))
    if best == "boolean":
        return Guess("boolean")
    if best in PATTERNS:
        return Guess("left out", reason(best))
    if best == "long number":
        return Guess("left out", "numbers of 16 digits and more, an identifier")
    if best == "free text":
        return Guess("left out", 'free text; it is left out, and fake = "text" puts made-up sentences in its place')
    return _date(look, best)


def column(guessed: Guess, first: FirstLook, second: SecondLook) -> AnyColumn:
    """The column, with everything that was bought marked as such."""
    try:
        return _column(guessed, first, second)
    except ValidationError:  # such as bounds beyond what a kind can hold: it is paid for, so it must not end here
        return _left_out("what was seen of it fits no kind; set one by hand if it should be used")


def _column(guessed: Guess, first: FirstLook, second: SecondLook) -> AnyColumn:
    if guessed.kind == "number":
        return _number_column(guessed, first, second)
    if guessed.kind == "text":
        return _text_column(first, second)
    if guessed.kind == "boolean":
        return Boolean(bought=("kind",))
    if guessed.kind == "date":
        last = dt.datetime(int(guessed.high), 12, 31)
        return Datetime(
            min=dt.datetime(int(guessed.low), 1, 1),
            max=last + dt.timedelta(hours=23, minutes=59, seconds=59) if guessed.seconds else last,
            resolution="second" if guessed.seconds else "day",
            format=guessed.format,
            bought=("kind", "min", "max", "resolution", *(("format",) if guessed.format else ())),
        )
    return _left_out(guessed.why)


def _left_out(why: str) -> Ignore:
    return Ignore(description=why, bought=("kind",))


# Dates


def _date(look: FirstLook, best: str) -> Guess:
    ends = _ends(look.cells[NUMBER_CELLS:], look.noise)
    if ends is None:
        return Guess("left out", "dates, of which no year stood out from the noise")
    low, high = (float(FIRST_YEAR + end) for end in ends)
    if best in ("date", "time"):
        return Guess("date", seconds=best == "time", low=low, high=high)
    formats, places = date_forms()[best]
    # Of a day and a month that could be either, the texts that fit one alone decide.
    swapped = len(formats) == 2 and look.forms[places[1]] > look.forms[places[0]]
    return Guess("date", format=formats[int(swapped)], seconds=":" in best, low=low, high=high)


# Texts


def _text_column(first: FirstLook, second: SecondLook) -> AnyColumn:
    order = np.argsort(-second.often)[:_MOST_CATEGORIES]
    seen = [second.values[place] for place in order]
    covered = float(second.often[order].sum())
    few = f"{second.seen_from:,.0f}"
    if not seen:
        return _left_out(f"no text stood out: at this budget about {few} rows must share one to be seen")
    if covered < _TEXTS * first.filled:
        return _left_out(
            f"most rows have texts that too few share to be seen (about {few}); list its categories if it should be used"
        )
    label = "other"
    while label in seen:
        label = f"({label})"
    return Categorical(
        categories=tuple(sorted(seen)),
        other_label=label,
        description=f"texts that fewer than about {few} rows share count as {label}",
        bought=("kind", "categories", *(("other_label",) if label != "other" else ())),
    )


# Numbers


def _number(look: FirstLook, dress: str | None) -> Guess:
    cells = look.cells[:NUMBER_CELLS]
    ends = _ends(cells, look.noise)
    if ends is None:
        return Guess("left out", "numbers, of which none stood out from the noise")
    decimals = 2 if dress is not None else _decimals(look)
    first, last = ends
    unit = None if decimals is None else 10.0**-decimals
    low, high = _edges(first, last, decimals)
    others = [cell for cell in range(first, last + 1) if cell != ZERO]
    many = high - low >= MOST_VALUES * (unit or 0)
    zero = bool(first <= ZERO <= last and others and many and cells[ZERO] > _ATOM * look.filled)
    zero = zero and bool(cells[ZERO] > _STANDS_OUT * look.noise)
    kept = [cell for cell in others if not zero or cells[cell] > 0] if zero else list(range(first, last + 1))
    if zero:
        first, last = _shrunk(others, cells, look.noise)
        low, high = _edges(first, last, decimals)
        kept = [cell for cell in others if first <= cell <= last]
    counts = np.maximum(cells[kept], 0.0).round().astype(np.int64)
    scale: ScaleName = "linear"
    if len(kept) > 1 and counts.sum() > 0:
        seen = Numbers(np.clip(middles()[kept], low, high), counts).kept(counts > 0)
        scale = scale_of(seen, unit)
    if scale == "log" and low <= 0:
        low = min(edges_of(cell)[1] for cell in kept) / 2
    if (scale == "log" and not 0 < low < high) or (scale == "asinh" and not low <= 0 <= high):
        scale = "linear"
    return Guess("number", decimals=decimals, format=dress, low=low, high=high, zero=zero, scale=scale)


def _shrunk(cells: list[int], counts: Floats, noise: float) -> tuple[int, int]:
    """The first and the last of some cells once zero is set apart."""
    ends = _ends(counts[cells], noise)
    return (cells[0], cells[-1]) if ends is None else (cells[ends[0]], cells[ends[1]])


def _edges(first: int, last: int, decimals: int | None) -> tuple[float, float]:
    low, high = edges_of(first)[0], edges_of(last)[1]
    if decimals == 0:  # the end of a cell is not in it
        return float(math.ceil(low + (1 if first < ZERO else 0))), float(math.floor(high - (1 if last > ZERO else 0)))
    return low, high


def _decimals(look: FirstLook) -> int | None:
    numbers = look.forms[: DIGITS + 1]
    total = float(numbers.sum())
    if (
        numbers[0] >= _WHOLE * total - 3 * look.noise * math.sqrt(DIGITS)
        and numbers[1:].max() < _STANDS_OUT * look.noise
    ):
        return 0
    for digits in range(1, DIGITS):
        rest = numbers[digits + 1 :]
        if rest.sum() <= max((1 - _USUAL) * total, 3 * look.noise * math.sqrt(len(rest))):
            return digits
    return None


def _number_column(guessed: Guess, first: FirstLook, second: SecondLook) -> AnyColumn:
    values, often = np.array(second.values, dtype=np.float64), second.often
    whole, unit = guessed.decimals == 0, None if guessed.decimals is None else 10.0**-guessed.decimals
    low, high = _refined(guessed, second)
    numbers = float(max(1.0, first.filled))
    unseen = numbers - float(often.sum())
    blur = first.noise * math.sqrt(len(FORMS)) + second.noise * math.sqrt(len(values))
    if len(values) and unseen <= max((1 - _COVERED) * numbers, 2 * blur) and not _beyond(guessed, second, low, high):
        if whole and len(values) <= 2:
            codes = tuple(int(each) for each in np.sort(values))
            return Categorical(categories=codes, bought=("kind", "categories"))
        if len(values) > 2:
            seen = range_of(Numbers(values, np.maximum(1, often.round()).astype(np.int64)), unit)
            low, high = (seen.low, seen.high) if unseen <= 2 * blur or seen.only else _widened(seen.low, seen.high)
            return _made(guessed, low, high, seen.special, seen.only, seen.scale)
    if whole and _running(guessed, first, second, low, high):
        return _left_out(
            'whole numbers in a row without repetition, perhaps an identifier; fake = "id" puts others in place'
        )
    few = unit is not None and guessed.scale == "linear" and high - low < MOST_VALUES * unit
    atoms = [0.0] if guessed.zero else []
    ranked = values[np.argsort(-often)] if len(values) else values
    shares = dict(zip(values.tolist(), (often / numbers).tolist(), strict=True))
    atoms += [each for each in ranked.tolist() if not few and shares[each] > _ATOM and each not in atoms]
    low, high = (low / 2, high * 2) if guessed.scale == "log" else _widened(low, high)
    return _made(guessed, low, high, tuple(atoms[:_MOST_ATOMS]), (), guessed.scale)


def _beyond(guessed: Guess, second: SecondLook, low: float, high: float) -> bool:
    """Whether numbers reach farther than those that stand out one by one."""
    return second.bins is not None and (
        low < min(second.values) - guessed.width or high > max(second.values) + guessed.width
    )


def _widened(low: float, high: float) -> tuple[float, float]:
    """Bounds a quarter of the range farther out, on round numbers and not across zero: noise hides the thin ends."""
    span = high - low
    bottom, top = low - span / _WIDER, high + span / _WIDER
    bottom = 0.0 if low >= 0 > bottom else bottom
    top = 0.0 if high <= 0 < top else top
    return float(rounded_out(bottom, up=False, span=span)), float(rounded_out(top, up=True, span=span))


def _made(
    guessed: Guess, low: float, high: float, special: tuple[float, ...], only: tuple[float, ...], scale: ScaleName
) -> AnyColumn:
    """The column of a range and its atoms."""
    if not low < high:
        low, high = low - max(1.0, abs(low) / 10), high + max(1.0, abs(high) / 10)
    facts = {"special": special, "only": only, "scale": scale != "linear", "format": guessed.format}
    bought = ("kind", "min", "max", *(name for name, fact in facts.items() if fact))
    kept: dict[str, Any] = {"scale": scale, "format": guessed.format}
    if guessed.decimals == 0:
        return Integer(
            min=math.floor(low), max=math.ceil(high), special=tuple(map(int, special)), only=tuple(map(int, only)),
            bought=bought, **kept,
        )  # fmt: skip
    if guessed.decimals is not None:
        bought = (*bought, "decimals")
    return Real(
        min=float(low), max=float(high), special=special, only=only, decimals=guessed.decimals, bought=bought, **kept
    )


def _refined(guessed: Guess, second: SecondLook) -> tuple[float, float]:
    """The bounds without the empty parts at their ends."""
    if second.bins is None:
        return guessed.low, guessed.high
    ends = _ends(second.bins, second.noise)
    if ends is None:
        return guessed.low, guessed.high
    low = guessed.low + ends[0] * guessed.width
    high = guessed.low + (ends[1] + 1) * guessed.width - (guessed.decimals == 0)
    return max(guessed.low, _clean(low)), min(guessed.high, _clean(high))


def _clean(number: float) -> float:
    return float(f"{number:.12g}")


def _running(guessed: Guess, first: FirstLook, second: SecondLook, low: float, high: float) -> bool:
    """Whether whole numbers seem to be a row's own number: evenly spread over about as many as there are rows."""
    if second.bins is None or second.values or high - low < 0.8 * first.filled or high - low > 1.25 * first.filled:
        return False
    ends = _ends(second.bins, second.noise)
    inner = second.bins[ends[0] + 1 : ends[1]] if ends is not None else np.empty(0)
    return len(inner) > 2 and bool(
        (np.abs(inner - inner.mean()) < _STANDS_OUT * second.noise + 0.1 * inner.mean()).all()
    )


def _ends(counts: Floats, noise: float) -> tuple[int, int] | None:
    """The first and the last count that are no chance, alone or with those farther out; none if all may be.

    Then counts outside are looked at two, four, eight and sixteen at a time: thin tails are seen by their sum.
    """
    found: tuple[int, int] | None = None
    for size in (1, 2, 4, 8, 16):
        if found is None:
            whole = len(counts) // size * size
            together = counts[:whole].reshape(-1, size).sum(axis=1)
            first, last = _empty(together, noise * math.sqrt(size)), _empty(together[::-1], noise * math.sqrt(size))
            if first < len(together):
                found = first * size, (len(together) - last) * size - 1
        else:
            low = _extended(counts[: found[0]][::-1], noise, size)
            found = found[0] - low, found[1] + _extended(counts[found[1] + 1 :], noise, size)
    return found


def _extended(counts: Floats, noise: float, size: int) -> int:
    """How far counts that stand out together reach, so many at a time."""
    together = counts[: len(counts) // size * size].reshape(-1, size).sum(axis=1)
    found = np.flatnonzero(together > _STANDS_OUT * noise * math.sqrt(size))
    return (int(found[-1]) + 1) * size if len(found) else 0


def _empty(counts: Floats, noise: float) -> int:
    """How many counts at the beginning may all be zero."""
    together = np.cumsum(counts) > _TAIL * noise * np.sqrt(np.arange(1, len(counts) + 1))
    found = np.flatnonzero(together | (counts > _STANDS_OUT * noise))
    return int(found[0]) if len(found) else len(counts)
