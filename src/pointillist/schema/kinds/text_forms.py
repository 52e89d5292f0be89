"""Text forms: what a text may be, and where on a public grid it lies. Nothing here depends on any table.

A draft by budget counts rows on these lists, with noise on every entry. The form of a text is that of the text alone: SQL
over `y`, a trimmed text that is not missing.
"""

import numpy as np
from numpy.typing import NDArray

from pointillist.schema.kinds.number_format import NumberFormat
from pointillist.schema.kinds.text_drafting import PATTERNS, WORDS

DIGITS = 7
"""Forms 0 to 6 are numbers with so many digits after the point, and form 7 is any with more."""
DRESSES = ("9,999", "$9", "$9,999", "€9", "€9,999", "£9", "£9,999", "9%", "9 %", "9 €")
"""Numbers with a sign before or after them, or between thousands."""
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_DATES = (("%d/%m/%Y", "%m/%d/%Y"), ("%d-%m-%Y", "%m-%d-%Y"), ("%d.%m.%Y",), ("%Y/%m/%d",))
"""Dates as people write them; of two that are easily mistaken for each other, texts may fit both."""

_WAYS = ("first", "second", "both")
"""Of two formats: texts that fit the first alone, the second alone, or both."""

FORMS: tuple[str, ...] = (
    *(f"number {digits}" for digits in range(DIGITS + 1)),
    *(f"dress {dress}" for dress in DRESSES),
    "boolean", "date", "time",
    *(f"{way} {pair[0]}{time}" for pair in _DATES for time in _TIMES for way in _WAYS[: 2 * len(pair) - 1]),
    *PATTERNS, "long number", "free text", "text",
)  # fmt: skip
"""Every form; the first that fits is a text's own."""

SMALLEST, LARGEST = -20, 52
"""Powers of two: numbers nearer to zero count with the first, and those beyond with the last."""
_OCTAVES = LARGEST - SMALLEST + 1
FIRST_YEAR, LAST_YEAR = 1850, 2150
ZERO = _OCTAVES
"""The cell of the number 0; below it are those of negative numbers, and above it those of positive ones."""
NUMBER_CELLS = 2 * _OCTAVES + 1
CELLS = NUMBER_CELLS + LAST_YEAR - FIRST_YEAR + 1
"""Octaves of numbers, and years."""

_NUMBER = r"^[+-]?(0|[1-9]\d{0,14})$|^[+-]?(0|[1-9]\d{0,17})\.\d*$|^[+-]?\.\d+$"
_EXPONENT = r"^[+-]?(\d{1,18}\.?\d{0,18}|\.\d{1,18})[eE][+-]?\d{1,3}$"
_DATE_LIKE = r"^\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}( \d|$)"
_ISO_DATE, _ISO_TIME = r"^\d{4}-\d{2}-\d{2}$", r"^\d{4}-\d{2}-\d{2}[ T]\d"


def form_sql() -> str:
    """The number of a text's form among `FORMS`."""
    places = {name: place for place, name in enumerate(FORMS)}
    digits = rf"least({DIGITS}, len(regexp_extract(y, '\.(\d*?)0*$', 1)))"
    cases = [(f"regexp_matches(y, '{_NUMBER}')", digits), (f"regexp_matches(y, '{_EXPONENT}')", str(DIGITS))]
    cases += [(_dressed(dress), str(places[f"dress {dress}"])) for dress in DRESSES]
    cases += [
        ("lower(y) IN ('true', 'false')", str(places["boolean"])),
        (f"regexp_matches(y, '{_ISO_DATE}') AND TRY_CAST(y AS DATE) IS NOT NULL", str(places["date"])),
        (f"regexp_matches(y, '{_ISO_TIME}') AND TRY_CAST(y AS TIMESTAMP) IS NOT NULL", str(places["time"])),
        (f"regexp_matches(y, '{_DATE_LIKE}')", _date_form(places)),
    ]
    cases += [(f"regexp_matches(y, '{pattern}')", str(places[name])) for name, (pattern, _) in PATTERNS.items()]
    cases += [
        (r"regexp_matches(y, '^[+-]?\d{16,}$')", str(places["long number"])),
        (rf"len(regexp_split_to_array(y, '\s+')) > {WORDS}", str(places["free text"])),
    ]
    whens = " ".join(f"WHEN {test} THEN {place}" for test, place in cases)
    return f"CASE {whens} ELSE {places['text']} END"


def _date_form(places: dict[str, int]) -> str:
    """Which of the usual dates a text is, that looks like one."""
    cases = []
    for pair in _DATES:
        for time in _TIMES:
            fits = [f"try_strptime(y, '{form}{time}') IS NOT NULL" for form in pair]
            name = f"{pair[0]}{time}"
            if len(pair) == 2:
                cases += [
                    (f"{fits[0]} AND {fits[1]}", places[f"both {name}"]),
                    (fits[1], places[f"second {name}"]),
                ]
            cases.append((fits[0], places[f"first {name}"]))
    whens = " ".join(f"WHEN {test} THEN {place}" for test, place in cases)
    return f"CASE {whens} ELSE {places['text']} END"


def _dressed(dress: str) -> str:
    form = NumberFormat.of(dress)
    before, after = (each.replace("$", r"\$") for each in (form.before, form.after))
    digits = r"\d{1,3}(,\d{3})+" if form.between else r"\d+"
    return rf"regexp_matches(y, '^[+-]?{before}[+-]?{digits}(\.\d+)?{after}$')"


def number_sql() -> str:
    """A text's number, or null."""
    bare = "TRY_CAST(regexp_replace(y, '[^0-9.+-]', '', 'g') AS DOUBLE)"
    plain = f"regexp_matches(y, '{_NUMBER}') OR regexp_matches(y, '{_EXPONENT}')"
    dressed = " OR ".join(_dressed(each) for each in DRESSES)
    number = f"CASE WHEN {plain} THEN TRY_CAST(y AS DOUBLE) WHEN {dressed} THEN {bare} END"
    return f"list_filter([({number}) + 0.0], lambda each: isfinite(each))[1]"  # minus zero becomes zero


def cell_sql() -> str:
    """The number of a text's cell on the public grid, or null; `v` is its number."""
    octave = f"(greatest({SMALLEST}, least({LARGEST}, floor(log2(abs(v)))))::INTEGER - {SMALLEST} + 1)"
    forms = [form + time for pair in _DATES for form in pair for time in _TIMES]
    listed = ", ".join(f"'{form}'" for form in forms)
    year = (
        f"CASE WHEN regexp_matches(y, '{_ISO_DATE}') OR regexp_matches(y, '{_ISO_TIME}') "
        f"THEN year(TRY_CAST(y AS TIMESTAMP)) "
        f"WHEN regexp_matches(y, '{_DATE_LIKE}') THEN year(try_strptime(y, [{listed}])) END"
    )
    return (
        f"CASE WHEN v = 0 THEN {ZERO} WHEN v > 0 THEN {ZERO} + {octave} WHEN v < 0 THEN {ZERO} - {octave} "
        f"WHEN ({year}) IS NOT NULL THEN {NUMBER_CELLS} + greatest({FIRST_YEAR}, least({LAST_YEAR}, {year}))::INTEGER "
        f"- {FIRST_YEAR} END"
    )


def edges_of(cell: int) -> tuple[float, float]:
    """The numbers of a cell lie between these two."""
    if cell == ZERO:
        return 0.0, 0.0
    power = abs(cell - ZERO) - 1 + SMALLEST
    near, far = (0.0 if power == SMALLEST else 2.0**power), 2.0 ** (power + 1)
    return (near, far) if cell > ZERO else (-far, -near)


def middles() -> NDArray[np.float64]:
    """A number of every cell."""
    return np.array([sum(edges_of(cell)) / 2 for cell in range(NUMBER_CELLS)])


def date_forms() -> dict[str, tuple[tuple[str, ...], tuple[int, ...]]]:
    """How dates may be written: the formats, and the places of those forms that speak for them."""
    places = {name: place for place, name in enumerate(FORMS)}
    found = {}
    for pair in _DATES:
        for time in _TIMES:
            ways = [f"{way} {pair[0]}{time}" for way in _WAYS]
            found[f"{pair[0]}{time}"] = (
                tuple(form + time for form in pair),
                tuple(places[way] for way in ways if way in places),
            )
    return found
