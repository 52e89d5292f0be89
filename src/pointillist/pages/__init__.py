"""Pages: HTML and Markdown for people to read, each complete in itself: no script, no font, no image from elsewhere."""

import math
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from pointillist.visible import visible

_environment = Environment(
    loader=PackageLoader("pointillist.pages", "templates"),
    autoescape=select_autoescape(["html"], default_for_string=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def share(value: float) -> str:
    """A part of a whole as a percentage with the digits that matter."""
    if value == 0:
        return "0 %"
    if value < 0.0005:
        return "< 0.1 %"
    return f"{100 * value:.1f} %" if value < 0.0995 else f"{100 * value:.0f} %"


def number(value: float | None, digits: int = 3) -> str:
    """A figure with fixed decimals; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if math.isfinite(value) else "∞"


def count(value: float) -> str:
    """A number of things."""
    return f"{value:,.0f}"


def cell(value: str) -> str:
    """A text in a Markdown table: no column, line or tag of its own."""
    return " ".join(value.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def at_most(value: float) -> str:
    """A bound as a percentage, rounded up: what is printed is never less than what holds."""
    # What a float adds by itself is no reason to round up: 0.5 is 50 %.
    return f"{max(1, math.ceil(1000 * value * (1 - 1e-8))) / 10:g} %"


_environment.filters |= {
    "at_most": at_most,
    "share": share,
    "number": number,
    "count": count,
    "cell": cell,
}


def render(template: str, **facts: Any) -> str:
    """Fill a template; everything but our own charts is escaped, and what a reader could not see is written out."""
    style = Markup(_environment.get_template("style.css").render())
    return visible(_environment.get_template(template).render(style=style, version=version("pointillist"), **facts))


def part(template: str, macro: str, *arguments: Any) -> Markup:
    """A part of a page, by a macro of a template."""
    return Markup(getattr(_environment.get_template(template).module, macro)(*arguments))
