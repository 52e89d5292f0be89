"""Console: the terminal that commands speak to, line by line."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from pointillist.visible import visible


class _Console(Console):
    """A console that obeys no name. All that is printed, by whichever way, is rendered to segments here."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


# Names and paths are the user's own: square brackets in them are not markup.
out = _Console(markup=False)
err = _Console(stderr=True, markup=False)


def say(text: str, style: str | None = None) -> None:
    """A line of text, broken only where the terminal breaks it, so that paths can be copied."""
    out.print(text, style=style, soft_wrap=True)
