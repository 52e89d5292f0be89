"""Charts: lines over two logarithmic scales, side by side, as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from benchmarks.tables.figure import Axis


@dataclass(frozen=True)
class Series:
    """One line of a chart."""

    label: str
    points: Sequence[tuple[float, float]]
    colour: str
    dots: bool = False


@dataclass(frozen=True)
class Panel:
    """A chart with two logarithmic scales; what falls below the lowest tick is not drawn."""

    title: str
    across: str
    series: Sequence[Series]
    x_ticks: tuple[float, ...]
    y_ticks: tuple[float, ...]

    def draw(self, left: float, top: float, width: float, height: float) -> list[str]:
        x, y = Axis(self.x_ticks, left + 52, left + width - 24), Axis(self.y_ticks, top + height - 46, top + 30)
        parts = [_text(left + 52, top + 18, self.title, size=13)]
        parts.append(_text((x.start + x.end) / 2, top + height - 10, self.across, anchor="middle"))
        for tick in self.x_ticks:
            parts.append(f'<path stroke="#e5e7eb" d="M{x(tick):.1f} {y.start:.1f}V{y.end:.1f}"/>')
            parts.append(_text(x(tick), y.start + 16, f"{tick:g}", anchor="middle"))
        for tick in self.y_ticks:
            parts.append(f'<path stroke="#e5e7eb" d="M{x.start:.1f} {y(tick):.1f}H{x.end:.1f}"/>')
            parts.append(_text(x.start - 6, y(tick) + 4, f"{tick:g}", anchor="end"))
        for number, each in enumerate(self.series):
            seen = [(x(a), y(b)) for a, b in each.points if b >= self.y_ticks[0]]
            if each.dots:
                line = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in seen)
            else:
                line = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in seen)
            style = f'stroke="{each.colour}" stroke-width="{4 if each.dots else 2}" stroke-linecap="round"'
            parts.append(f'<path fill="none" {style} d="{line}"/>')
            if each.label:
                parts.append(_text(x.start + 8, y.start - 8 - 15 * number, each.label, colour=each.colour))
        return parts


def _text(x: float, y: float, text: str, *, size: int = 11, anchor: str = "start", colour: str = "#111827") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
    )


def picture(title: str, panels: Sequence[Panel], *, columns: int = 2) -> str:
    """Charts side by side, as SVG."""
    width, height = 380, 290
    down = -(-len(panels) // columns)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * width} {down * height}" '
        f'font-family="sans-serif" role="img"><title>{escape(title)}</title>',
        f'<rect width="{columns * width}" height="{down * height}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        parts += panel.draw(number % columns * width, number // columns * height, width, height)
    return "\n".join([*parts, "</svg>"]) + "\n"
