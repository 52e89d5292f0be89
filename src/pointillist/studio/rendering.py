"""Rendering: templates as answers. Texts are escaped, and what a reader could not see is written out."""

import re
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pointillist import pages
from pointillist.privacy.guarantee import short
from pointillist.studio.studio import Studio
from pointillist.visible import visible

_environment = Environment(
    loader=ChoiceLoader([PackageLoader("pointillist.studio"), PackageLoader("pointillist.pages")]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def drawn(chart: Markup) -> Markup:
    """A chart without its inline style, which the studio's policy does not allow: the style sheet says it instead."""
    return Markup(re.sub(r' style="[^"]*"', "", chart))


_environment.filters |= {
    "share": pages.share,
    "at_most": pages.at_most, "number": pages.number, "count": pages.count, "short": short, "drawn": drawn,
}  # fmt: skip

STEPS = (
    ("review", "Review"),
    ("plan", "Plan"),
    ("release", "Release"),
    ("make", "Make"),
    ("judge", "Judge"),
    ("share", "Share"),
)
"""The steps of a project in their order, as the page names them."""


def page(request: Request, template: str, status: int = 200, **facts: Any) -> Response:
    """A page, or a part of one."""
    studio = Studio.of(request)
    known = {
        "csrf": studio.security.csrf,
        "steps": STEPS,
        "step": "",
        "project": None,
        "done": (),
        "error": "",
        "job": None,
    }
    text = _environment.get_template(template).render({**known, **facts})
    return HTMLResponse(visible(text), status)


def style() -> str:
    """The style sheet of all pages, the report's among them, and what the studio adds to it."""
    return "\n".join(_environment.get_template(name).render() for name in ("style.css", "studio.css"))
