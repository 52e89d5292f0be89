"""Bounded: a column whose values are numbers between public bounds, or can be counted as such."""

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.drafting import MOST_VALUES
from pointillist.schema.scale import Scale, ScaleName

Floats = NDArray[np.float64]
_EXACT = 2.0**53
"""Beyond this, doubles have no fractions."""
_BINS = 256
"""The levels of a column that does not say how many, and has more than `MOST_VALUES` values."""


class Bounded(AnyColumn):
    """A number with public bounds."""

    numeric: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    needs: ClassVar[str] = "numbers or texts"
    whole: ClassVar[bool] = False
    """Whether its numbers are whole."""

    scale: ScaleName = "linear"
    """How the range is cut into bins; "log" suits money and durations, and needs min > 0; "asinh" is a log scale with a
    sign, for long tails on both sides of zero."""
    bins: Annotated[int, Field(ge=2, le=4096)] | None = None
    """The finest resolution at which the column is measured, in equal parts of its scale. None given: one level for each
    value of a linear column that has at most 1,024 (whole numbers, or reals with so many decimals), and else 256."""
    out_of_domain: Literal["clip", "error"] = "clip"
    """What happens to a value outside the bounds: it is moved to the nearest bound, or the call stops."""

    # Its values as numbers

    @property
    def listed(self) -> Floats:
        """The only numbers that the column can have, in order, where the schema says which; else none."""
        return np.empty(0)

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest number."""
        low, high = self.ends
        return self.number_of(low), self.number_of(high)

    @property
    def ends(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        raise NotImplementedError

    @property
    def tick(self) -> int:
        """How many seconds one counts for, of dates and lengths of time; 1 of plain numbers."""
        return 1

    @property
    def atoms(self) -> tuple[Any, ...]:
        """Values that keep a level of their own, inside or outside the bounds."""
        return ()

    @property
    def specials(self) -> tuple[float, ...]:
        """The atoms as numbers."""
        return tuple(map(self.number_of, self.atoms))

    @property
    def extremes(self) -> tuple[float, float]:
        """The lowest and the highest number that a row can hold, atoms among them."""
        return min((self.bounds[0], *self.specials)), max((self.bounds[1], *self.specials))

    @property
    def digits(self) -> int | None:
        """Digits after the point in synthetic data; none: not rounded."""
        return 0 if self.whole else None

    def number_of(self, value: Any) -> float:
        """A value as a number."""
        return float(value)

    def from_arrow(self, array: pa.Array) -> NDArray[Any]:
        """The number of every value, NaN where it is missing. Each value is looked at by itself."""
        if isinstance(array, pa.DictionaryArray):
            array = array.dictionary_decode()
        empty = pa.types.is_null(array.type)  # a column without values, in a frame that knows no better
        array = array.cast(pa.float64()) if empty else self._numbers(array)
        if pa.types.is_float16(array.type):
            array = array.cast(pa.float32())
        return np.asarray(array.to_numpy(zero_copy_only=False))

    def _numbers(self, array: pa.Array) -> pa.Array:
        raise NotImplementedError

    def to_arrow(self, numbers: Floats, missing: NDArray[np.bool_]) -> pa.Array:
        """The values with these numbers."""
        raise NotImplementedError

    def in_terms_of(self, other: "Bounded", numbers: Floats) -> Floats:
        """Numbers of this column in terms in which those of another can be compared with them."""
        return numbers

    # Levels and positions

    @property
    def curve(self) -> Scale:
        """The scale with what it takes from the bounds."""
        return Scale.of(self.scale, *self.bounds)

    def edges(self) -> Floats:
        """Bin b holds the numbers v with edges[b] <= v < edges[b+1] (the last bin takes its edge)."""
        low, high = self.bounds
        values = self.values()
        if len(values) and (len(self.listed) or not self.whole):
            # A number belongs to the nearest that the column can have.
            between = (values[1:] + values[:-1]) / 2
            return np.concatenate([[low], np.ceil(between) if self.whole else between, [high + self.whole]])
        bins = len(values) or self.bins or _BINS
        if self.whole:
            high += 1.0  # whole numbers: each bin is a run of them, the last edge is one past the largest
            if self.scale == "linear":
                span = int(high) - int(low)
                bins = min(bins, span)
                # -(-a // b) is the ceiling, in integers: the first number of every bin
                return np.array([int(low) - (-number * span // bins) for number in range(bins + 1)], dtype=np.float64)
        first, last = self.curve.ends(low, high)
        edges = self.curve.unbend(first + np.arange(bins + 1) / bins * (last - first))
        if self.whole:
            edges = np.ceil(edges - 1e-9)
        edges[0], edges[-1] = low, high
        return np.unique(edges)  # on other scales neighbouring edges may round to the same whole number

    def values(self) -> Floats:
        """All numbers that the column can have, if each is a level of its own by default; else none."""
        if len(self.listed):
            return self.listed
        digits = self.digits
        if self.bins is not None or self.scale != "linear" or digits is None:
            return np.empty(0)
        low, high = on_grid(*self.bounds, digits)
        count = round((high - low) * 10**digits) + 1 if high - low <= MOST_VALUES else MOST_VALUES + 1
        if not 2 <= count <= MOST_VALUES or max(abs(low), abs(high)) * 10**digits >= _EXACT:
            return np.empty(0)
        return np.asarray((round(low * 10**digits) + np.arange(count)) / 10**digits)

    def to_unit(self, values: Floats) -> Floats:
        """Numbers as positions in [0, 1] on the column's scale; what is missing (NaN) sits in the middle."""
        low, high = self.bounds
        first, last = self.curve.ends(low, high)
        unit = (self.curve.bend(np.clip(values, low, high)) - first) / (last - first)
        return np.where(np.isnan(unit), 0.5, np.clip(unit, 0.0, 1.0))

    def from_unit(self, unit: Floats) -> Floats:
        """The inverse of `to_unit`, up to rounding."""
        first, last = self.curve.ends(*self.bounds)
        return np.asarray(self.curve.unbend(first + np.clip(unit, 0.0, 1.0) * (last - first)))

    # In words

    @property
    def unit(self) -> str:
        """What a statistic of its numbers counts."""
        return "number"

    def show(self, number: float, *, spread: bool = False) -> str:
        """A number as a person would write it; `spread`: the distance between two."""
        if abs(number) >= 999.5:  # from here on three digits would turn to 1e+03
            return f"{number:,.0f}"
        return f"{number:.3g}"

    def show_atom(self, number: float) -> str:
        """The number of an atom, in full."""
        return f"{number:.15g}"

    def show_bin(self, low: float, high: float) -> str:
        """The numbers from one edge to the next."""
        return f"{low:g}" if self.whole and high - low == 1 else f"[{low:g}, {high:g})"

    def show_ends(self) -> str:
        """The bounds."""
        low, high = self.ends
        return f"{low:,.12g} to {high:,.12g}"

    def brief(self) -> str:
        low, high = self.ends
        return (
            f"{low} … {high}"
            + "".join(f", {v:g}" for v in self.atoms)
            + ("" if self.scale == "linear" else f" ({self.scale})")
        )

    def describe(self) -> str:
        values = self.show_ends()
        if self.specials:
            values += f"; also {', '.join(map(self.show_atom, self.specials))} as a value of its own"
        if self.scale != "linear":
            values += f"; measured on {'a log' if self.scale == 'log' else 'an asinh'} scale"
        if self.out_of_domain == "clip":
            values += "; values outside were moved to the nearest bound"
        return values

    # For audits and for other people's protocols

    def beyond(self) -> Any:
        """A value far above the range."""
        low, high = self.bounds
        far = high + 1000 * (high - low) + 1e9
        return min(int(far), 2**60) if self.whole else min(far, 1e300)

    def raw(self, numbers: Floats) -> Floats:
        """Numbers as someone gives them to a model who knows nothing of this package."""
        return numbers


def check_range(low: float, high: float, scale: str) -> None:
    """Refuse bounds between which no bins can be cut."""
    if not low < high:
        raise ValueError(f"min {low} is not below max {high}")
    if not math.isfinite(high - low):
        raise ValueError("the range from min to max is too wide for a number")
    if scale == "log" and low <= 0:
        raise ValueError(f'scale = "log" needs min > 0, but min is {low}: list 0 under special, and raise min')
    if scale == "log" and math.log(high / low) < 1e-6:
        raise ValueError('scale = "log" is of no use for so narrow a range: set scale = "linear"')
    if scale == "asinh" and not low <= 0 <= high:
        other = "log" if low > 0 else "linear"
        raise ValueError(f'scale = "asinh" is for numbers around zero, from {low} to {high} set scale = "{other}"')


def on_grid(low: float, high: float, digits: int) -> tuple[float, float]:
    """The lowest and the highest number with so many digits in a range; the first is above the last if there is none."""
    scale = 10**digits
    if max(abs(low), abs(high)) * scale >= _EXACT:
        return low, high  # so large a number has no such digits to lose
    first, last = math.floor(low * scale) - 1, math.ceil(high * scale) + 1
    while first / scale < low:  # a product in floating point may be a little off: 0.7 * 10 is over 7
        first += 1
    while last / scale > high:
        last -= 1
    return first / scale, last / scale
