"""Report: a page for the data owner, made of sections. It knows nothing of what was evaluated, or how.

Several metrics may write into one section: parts with the same anchor become one.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from markupsafe import Markup

from pointillist.pages import render
from pointillist.pages.blocks import Block, Cards, Items, Text

LAST = 1000
"""The place of a section that names none: behind all others."""


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading, or what one writer has to say in it."""

    anchor: str
    heading: str = ""
    contents: str = ""
    """How the list of contents calls it."""
    place: int = LAST
    lead: tuple[str | Block, ...] = ()
    """Sentences that open the section; those of all writers make one paragraph."""
    blocks: tuple[Block, ...] = ()

    def saying(self, *lead: str | Block, blocks: Sequence[Block] = ()) -> Self:
        """The same section, with something in it."""
        return replace(self, lead=lead, blocks=tuple(blocks))

    def __add__(self, other: "Section") -> "Section":
        """One after the other; cards that meet stand side by side, and lists that meet are one."""
        blocks = list(self.blocks)
        for block in other.blocks:
            met = _met(blocks[-1], block) if blocks else None
            blocks[len(blocks) - (met is not None) :] = [block if met is None else met]
        return Section(
            self.anchor,
            self.heading or other.heading,
            self.contents or other.contents,
            min(self.place, other.place),
            (*self.lead, *other.lead),
            tuple(blocks),
        )

    def __html__(self) -> Markup:
        opening = (Text(Markup(" ").join(self.lead)),) if self.lead else ()
        return Markup("\n").join((*opening, *self.blocks))


def _met(first: Block, second: Block) -> Block | None:
    if isinstance(first, Cards) and isinstance(second, Cards) and first.style == second.style:
        return Cards((*first.cards, *second.cards), first.style)
    if isinstance(first, Items) and isinstance(second, Items):
        return Items((*first.items, *second.items))
    return None


def arranged(opening: Iterable[Section], found: Iterable[Section], closing: Iterable[Section]) -> tuple[Section, ...]:
    """All sections in their order: those that open and close the page as they are given, all others by their places."""
    first, middle, last = ({each.anchor: None for each in part} for part in (opening, _by_place(found), closing))
    whole: dict[str, Section] = {}
    for part in (*opening, *_by_place(found), *closing):
        whole[part.anchor] = whole[part.anchor] + part if part.anchor in whole else part
    order = [*first, *(anchor for anchor in middle if anchor not in first | last), *last]
    return tuple(whole[anchor] for anchor in order)


def _by_place(sections: Iterable[Section]) -> list[Section]:
    return sorted(sections, key=lambda each: each.place)


@dataclass(frozen=True)
class Report:
    """A whole page, for the data owner's eyes."""

    name: str
    warning: Block
    """Why the page is private."""
    heading: str
    summary: str
    """What was compared, in a line."""
    sections: tuple[Section, ...]
    foot: str

    def to_html(self) -> str:
        """The page, complete in itself."""
        return render("report.html", report=self, today=dt.date.today().isoformat())
