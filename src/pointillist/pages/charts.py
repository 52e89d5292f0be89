"""Charts as SVG text. Real data are drawn as bars or grey dots, synthetic data as coloured dots, on every chart.

Colours are classes that the page's style sheet sets, for light, dark and print. Every chart carries its text
alternative. Widths are in the units of the view box, so text keeps its size when a card is narrow.
"""

import itertools
import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from markupsafe import Markup

WIDTH = 340
_ROW = 20
_LEFT, _RIGHT = 124, 226
"""Where bars and dots with a label before them and two figures behind them begin and end."""
_REAL, _MADE = 285, WIDTH - 1
"""Where those figures end: "100.0 %" needs 46 units in the widest of the usual typefaces."""


def histogram(
    edges: Sequence[float], real: Sequence[float], synthetic: Sequence[float], ends: tuple[str, str], text: str
) -> Markup:
    """Real shares as steps, synthetic ones, if any, as dots; areas are shares, so bars of unequal width compare."""
    span = (edges[-1] - edges[0]) or 1.0
    xs = [(WIDTH - 2) * (each - edges[0]) / span + 1 for each in edges]
    widths = [max(1e-9, right - left) for left, right in itertools.pairwise(xs)]
    heights = [
        [share / width for share, width in zip(shares, widths, strict=True)] if len(shares) else []
        for shares in (real, synthetic)
    ]
    top = max(max(heights[0], default=0), max(heights[1], default=0)) or 1.0
    height, base = 120, 104

    def y(value: float) -> float:
        return base - (base - 6) * value / top

    steps = "".join(
        f"M{x:.1f} {base}V{y(h):.1f}h{w:.1f}V{base}z" for x, w, h in zip(xs, widths, heights[0], strict=False) if h > 0
    )
    dots = _dots((x + w / 2, y(h)) for x, w, h in zip(xs, widths, heights[1], strict=False))
    parts = [
        f'<path class="real" d="{steps}"/>',
        f'<path class="axis" d="M0 {base + 0.5}H{WIDTH}"/>',
        f'<path class="synthetic-dots" d="{dots}"/>',
        _text(1, height - 3, _short(ends[0], WIDTH / 2 - 6)),
        _text(WIDTH - 1, height - 3, _short(ends[1], WIDTH / 2 - 6), anchor="end"),
    ]
    return _svg(WIDTH, height, text, parts)


def bars(
    rows: Sequence[tuple[str, float, float]],
    text: str,
    *,
    rest: tuple[str, float, float] | None = None,
    top: float = 0.0,
) -> Markup:
    """One row for each label: a bar for real, a dot for synthetic, both figures at the end.

    `rest` has figures only; `top` is the share at the end of the scale, by default the largest of all.
    """
    top = top or max((max(real, made) for _, real, made in rows), default=0) or 1.0
    left, right = _LEFT, _RIGHT
    parts = [f'<path class="axis" d="M{left - 0.5} 0V{len(rows) * _ROW}"/>']
    for number, (label, real, made) in enumerate([*rows, rest] if rest else rows):
        y = number * _ROW + _ROW / 2
        parts += [
            _text(left - 6, y + 4, _short(label, left - 8), anchor="end", title=label),
            _text(_REAL, y + 4, _figure(real), anchor="end", style="muted"),
            _text(_MADE, y + 4, _figure(made), anchor="end", style="accent"),
        ]
        if number < len(rows):
            x_real, x_made = (left + (right - left) * value / top for value in (real, made))
            parts += [
                f'<path class="real" d="M{left} {y - 5:.1f}H{max(left + 0.5, x_real):.1f}v10H{left}z"/>',
                f'<circle class="synthetic" cx="{x_made:.1f}" cy="{y:.1f}" r="3.6"/>',
            ]
    return _svg(WIDTH, max(1, len(rows) + (rest is not None)) * _ROW, text, parts)


def amounts(rows: Sequence[tuple[str, float]], text: str) -> Markup:
    """One bar for each label, with its figure."""
    top = max((value for _, value in rows), default=0) or 1.0
    left, right = 138, 284
    parts = []
    for number, (label, value) in enumerate(rows):
        y = number * _ROW + _ROW / 2
        x = left + (right - left) * value / top
        parts += [
            _text(left - 6, y + 4, _short(label, left - 8), anchor="end", title=label),
            f'<path class="synthetic" d="M{left} {y - 4:.1f}H{max(left + 0.5, x):.1f}v8H{left}z"/>',
            _text(WIDTH - 1, y + 4, f"{value:.3f}", anchor="end"),
        ]
    parts.append(f'<path class="axis" d="M{left - 0.5} 0V{len(rows) * _ROW}"/>')
    return _svg(WIDTH, max(1, len(rows)) * _ROW, text, parts)


def shares(rows: Sequence[tuple[str, float]], text: str) -> Markup:
    """One bar for each label of a real table, with its share."""
    top = max((value for _, value in rows), default=0) or 1.0
    left, right = 138, 284
    parts = [f'<path class="axis" d="M{left - 0.5} 0V{len(rows) * _ROW}"/>']
    for number, (label, value) in enumerate(rows):
        y, x = number * _ROW + _ROW / 2, left + (right - left) * value / top
        parts += [
            _text(left - 6, y + 4, _short(label, left - 8), anchor="end", title=label),
            f'<path class="real" d="M{left} {y - 5:.1f}H{max(left + 0.5, x):.1f}v10H{left}z"/>',
            _text(WIDTH - 1, y + 4, _figure(value), anchor="end", style="muted"),
        ]
    return _svg(WIDTH, max(1, len(rows)) * _ROW, text, parts)


def intervals(rows: Sequence[tuple[str, float, float, float]], text: str) -> Markup:
    """One row for each label: a dot for the synthetic figure, and a bar from low to high where the private one lies."""
    if not rows:
        return Markup()
    left, right, height = _LEFT, WIDTH - 12, len(rows) * 24
    low, high = min(min(each[1:]) for each in rows), max(max(each[1:]) for each in rows)
    low, high = (min(low, 0.0), max(high, 0.0)) if low > 0 and low < 0.5 * high else (low, high)
    span = (high - low) or 1.0
    parts = _grid(low, high, left, right, height)
    for number, (label, value, lowest, highest) in enumerate(rows):
        y = number * 24 + 12
        x, a, b = (left + (right - left) * (each - low) / span for each in (value, lowest, highest))
        parts += [
            _text(left - 10, y + 4, _short(label, left - 12), anchor="end", title=label),
            f'<path class="gap" d="M{a:.1f} {y}H{b:.1f}M{a:.1f} {y - 5}v10M{b:.1f} {y - 5}v10"/>',
            f'<circle class="synthetic" cx="{x:.1f}" cy="{y}" r="4.5"/>',
        ]
    return _svg(WIDTH, height + 18, text, parts)


def dumbbells(rows: Sequence[tuple[str, float, float]], text: str, *, low: float, high: float) -> Markup:
    """One row for each label: a grey dot for real, a coloured one for synthetic, the gap between them as a line."""
    left, right, height = _LEFT, _RIGHT, len(rows) * 24
    span = (high - low) or 1.0
    parts = _grid(low, high, left, right, height)
    for number, (label, real, made) in enumerate(rows):
        y = number * 24 + 12
        a, b = (left + (right - left) * (min(high, max(low, value)) - low) / span for value in (real, made))
        parts += [
            _text(left - 10, y + 4, _short(label, left - 12), anchor="end", title=label),
            f'<path class="gap" d="M{a:.1f} {y}H{b:.1f}"/>',
            f'<circle class="real" cx="{a:.1f}" cy="{y}" r="4.5"/>',
            f'<circle class="synthetic" cx="{b:.1f}" cy="{y}" r="4.5"/>',
            _text(_REAL, y + 4, _score(real), anchor="end", style="muted"),
            _text(_MADE, y + 4, _score(made), anchor="end", style="accent"),
        ]
    return _svg(WIDTH, height + 18, text, parts)


def scores(rows: Sequence[tuple[str, float, float]], what: str, *, least: float = 0.0) -> Markup:
    """Scores of models trained on either table, as dumbbells up to 1; `least` is where the scale begins at the lowest."""
    if not rows:
        return Markup()
    lowest = min(value for _, *pair in rows for value in pair)
    low = max(least, math.floor(10 * lowest - 0.3) / 10)
    text = "; ".join(f"{name} {real:.3f} trained on real, {made:.3f} on synthetic" for name, real, made in rows)
    return dumbbells(rows, f"{what}: {text}", low=low, high=1.0)


def heat_map(matrix: Sequence[Sequence[float]], names: Sequence[str], text: str, *, signed: bool = False) -> Markup:
    """A square of cells; darker is more. Signed values take two colours. Rows are named, columns numbered alike."""
    size, left, top = 15, 122, 16
    count = len(names)
    steps: dict[tuple[str, int], list[str]] = {}
    for i in range(count):
        for j in range(count):
            value = matrix[i][j]
            if i == j:
                continue
            level = min(10, round(10 * abs(value) * (2.5 if signed else 1)))
            kind = "more" if signed and value > 0 else "less" if signed else "heat"
            if level:
                steps.setdefault((kind, level), []).append(f"M{left + j * size} {top + i * size}h14v14h-14z")
    parts = [f'<path class="empty" d="M{left} {top}h{count * size}v{count * size}h-{count * size}z"/>']
    parts += [
        f'<path class="{kind}" fill-opacity="{level / 10:g}" d="{"".join(cells)}"/>'
        for (kind, level), cells in steps.items()
    ]
    for i, name in enumerate(names):
        number = f" {i + 1}"
        label = _short(name, left - 8 - _width(number)) + number
        parts.append(_text(left - 6, top + i * size + 11, label, anchor="end", title=name))
        parts.append(_text(left + i * size + 7, top - 5, str(i + 1), anchor="middle", style="small"))
    return _svg(
        left + count * size + 2, top + count * size + 2, text, parts, least=min(0.9 * (left + count * size), 620)
    )


def scatter(
    points: Sequence[tuple[float, float]], frame: tuple[float, float, float, float], kind: str, text: str
) -> Markup:
    """A cloud of dots within a frame (x from, x to, y from, y to) that several charts share."""
    low, high, bottom, top = frame
    height = 280
    placed = (
        (
            8 + (WIDTH - 16) * (x - low) / ((high - low) or 1),
            height - 8 - (height - 16) * (y - bottom) / ((top - bottom) or 1),
        )
        for x, y in points
    )
    parts = [
        f'<rect class="empty" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="4"/>',
        f'<path class="{kind}-cloud" d="{_dots(placed)}"/>',
    ]
    return _svg(WIDTH, height, text, parts)


def lines(
    courses: Sequence[Sequence[tuple[float, float]]], frame: tuple[float, float, float, float], kind: str, text: str
) -> Markup:
    """Several lines within a frame (x from, x to, y from, y to) that several charts share; one point is a dot."""
    low, high, bottom, top = frame
    height = 280

    def placed(point: tuple[float, float]) -> str:
        x = 8 + (WIDTH - 16) * (point[0] - low) / ((high - low) or 1)
        y = height - 8 - (height - 16) * (point[1] - bottom) / ((top - bottom) or 1)
        return f"{x:.1f} {y:.1f}"

    drawn = "".join(f"M{placed(each[0])}" + "".join(f"L{placed(point)}" for point in each) + "h0" for each in courses)
    parts = [
        f'<rect class="empty" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="4"/>',
        f'<path class="{kind}-lines" d="{drawn}"/>',
    ]
    return _svg(WIDTH, height, text, parts)


def marks(rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], text: str) -> Markup:
    """Several named marks on one line for each row, from 0: kinds are classes of the style sheet."""
    left, right, height = 8, WIDTH - 12, len(rows) * 42
    top = max((value for _, values in rows for _, value in values), default=0) or 1.0
    parts = _grid(0, top, left, right, height)
    for number, (label, values) in enumerate(rows):
        y = number * 42 + 28
        parts.append(_text(left, y - 13, _short(label, right - left), title=label))
        parts.append(f'<path class="axis" d="M{left} {y}H{right}"/>')
        for kind, value in values:
            x = left + (right - left) * value / top
            if kind == "forecast":
                parts.append(f'<path class="forecast" d="M{x:.1f} {y - 8}v16"/>')
            else:
                parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y}" r="4.5"/>')
    return _svg(WIDTH, height + 18, text, parts)


def _grid(low: float, high: float, left: float, right: float, height: float) -> list[str]:
    """Upright lines at round numbers, with the numbers below where there is room for them."""
    parts, end = [], -math.inf
    for tick in _ticks(low, high):
        x = left + (right - left) * (tick - low) / ((high - low) or 1.0)
        parts.append(f'<path class="grid" d="M{x:.1f} 0V{height}"/>')
        label = f"{tick:g}"
        if x - _width(label) / 2 > end + 3:
            parts.append(_text(x, height + 13, label, anchor="middle", style="muted"))
            end = x + _width(label) / 2
    return parts


def _svg(width: float, height: float, text: str, parts: Iterable[str], *, least: float = 0) -> Markup:
    """As wide as the page allows, within reason: text should neither shout nor shrink away (`least`, in pixels)."""
    return Markup(
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(text, quote=True)}" '
        f'style="max-width:{1.25 * width:g}px;min-width:{least:g}px">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", style: str = "label", title: str = "") -> str:
    hint = f"<title>{escape(title)}</title>" if title and title != text else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}"{place}>{hint}{escape(text)}</text>'


def _dots(points: Iterable[tuple[float, float]]) -> str:
    """A path of points that a round line cap turns into dots: far shorter than as many circles."""
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)


def _short(text: str, room: float) -> str:
    """A text within so many units. Names that share a beginning often differ at the end: leave out the middle."""
    shown, kept = text, len(text)
    while kept > 1 and _width(shown) > room:
        kept -= 1
        shown = text[: kept - kept // 3].rstrip() + "…" + text[len(text) - kept // 3 :].lstrip()
    return shown


def _width(text: str) -> float:
    """Roughly how wide a label is, in units: by the widest of the typefaces that browsers choose."""
    return sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF" or letter in "%@mwMW…":
        return 11.0
    return 4.4 if letter in " .,:;'|!()[]/ijlIftr" else 8.4 if letter.isupper() else 7.2


def _score(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.2g}"


def _figure(value: float) -> str:
    if value == 0:
        return "0"
    return "<0.1 %" if value < 0.0005 else f"{100 * value:.1f} %"


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends, three to six of them."""
    span = high - low
    if span <= 0:
        return [low]
    step = 10.0 ** math.floor(math.log10(span))
    step = next(each for each in (step / 5, step / 2, step, 2 * step) if span / each <= 6)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]
