"""Blocks: what a section of a page is made of. Text, legends, tables, cards: pure data that knows its HTML.

Whatever has `__html__` can stand among them, a chart for one. Plain text is escaped, wherever it stands.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from markupsafe import Markup, escape


class Block(Protocol):
    """Anything that can be put on a page."""

    def __html__(self) -> Markup: ...


def html(text: str, *values: object) -> Markup:
    """Our own HTML with values filled in for {}; they are escaped."""
    return Markup(text).format(*values)


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str | Block
    style: str = ""
    """A class of the style sheet: lead, soft, note, caption."""

    def __html__(self) -> Markup:
        return html("<p{}>{}</p>", _class(self.style), self.text)


_KEYS = {
    "real": Markup('<i class="key"></i>'),
    "real dot": Markup('<i class="key" style="border-radius:50%;width:10px;height:10px"></i>'),
    "synthetic": Markup('<i class="key dot"></i>'),
    "noisy": Markup('<i class="key ring"></i>'),
    "forecast": Markup('<i class="key tick"></i>'),
    "less": Markup('<i class="key less"></i>'),
    "more": Markup('<i class="key more"></i>'),
    "": Markup(),
}


@dataclass(frozen=True)
class Legend:
    """What the marks of charts mean: pairs of a mark and words. A mark may be empty."""

    marks: tuple[tuple[str, str], ...]

    def __html__(self) -> Markup:
        spans = (html("<span>{}{}</span>", _KEYS[mark], words) for mark, words in self.marks)
        return html('<p class="legend">{}</p>', _joined(spans))


TRAINED_ON = Legend((("real dot", "trained on real"), ("synthetic", "trained on synthetic")))
REAL_AND_SYNTHETIC = (("real", "real"), ("synthetic", "synthetic"))


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    kind: str = "text"
    """text, number, or synthetic: a number in the colour of synthetic data."""

    @property
    def style(self) -> str:
        return {"text": "", "number": "n", "synthetic": "n synth"}[self.kind]


@dataclass(frozen=True)
class Table:
    """Rows under headings; the first cell of a row names it, and the last of a short row takes the room that is left."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Block, ...], ...]
    label: str = ""
    """What the table shows, for those who hear the page. With one, a wide table can be scrolled."""

    @classmethod
    def of(cls, columns: str, rows: Sequence[Sequence[str | Block]], label: str = "") -> Self:
        """Headings in one line, split by |; a heading that starts with # is over numbers, with * over synthetic ones."""
        kinds = {"#": "number", "*": "synthetic"}
        named = [each.strip() for each in columns.split("|")]
        heads = tuple(Column(each.lstrip("#*"), kinds.get(each[:1], "text")) for each in named)
        return cls(heads, tuple(tuple(row) for row in rows), label)

    def __html__(self) -> Markup:
        heads = _joined(
            html('<th scope="col"{}>{}</th>', _class("n" if each.style else ""), each.heading) for each in self.columns
        )
        body = _joined(html("<tr>{}</tr>\n", self._row(row)) for row in self.rows)
        table = html("<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>", heads, body)
        if not self.label:
            return table
        return scrolled(table, self.label)

    def _row(self, row: tuple[str | Block, ...]) -> Markup:
        first, *rest = row
        cells = [html('<th scope="row">{}</th>', first)]
        for number, (cell, column) in enumerate(zip(rest, self.columns[1:], strict=False), start=1):
            wide = len(self.columns) - number if cell is rest[-1] and number == len(rest) else 1
            span = Markup(f' colspan="{wide}"') if wide > 1 else Markup()
            style = "n" if wide > 1 else column.style
            cells.append(html("<td{}{}>{}</td>", _class(style), span, cell))
        return _joined(cells)


@dataclass(frozen=True)
class Details:
    """Something that opens when it is asked for."""

    summary: str
    block: Block

    def __html__(self) -> Markup:
        return html("<details><summary>{}</summary>{}</details>", self.summary, self.block)


@dataclass(frozen=True)
class Code:
    """Something to paste: a command, or lines of a file."""

    text: str

    def __html__(self) -> Markup:
        return html("<pre><code>{}</code></pre>", self.text)


@dataclass(frozen=True)
class Titled:
    """A block under a small heading of its own, within a card."""

    title: str
    block: Block

    def __html__(self) -> Markup:
        return html("{}{}", html("<h4>{}</h4>", self.title) if self.title else "", self.block)


@dataclass(frozen=True)
class Card:
    """A framed part of a section: a chart or a table, with its title."""

    title: str
    blocks: tuple[Block, ...]
    figure: str | Block = ""
    """A figure beside the title."""
    hint: str = ""
    """What that figure is."""
    big: bool = False
    """As wide as the page."""

    def __html__(self) -> Markup:
        hint = html(' title="{}"', self.hint) if self.hint else ""
        figure = html('<span class="figure"{}>{}</span>', hint, self.figure) if self.figure else ""
        head = html("<header><h3>{}</h3>{}</header>\n", self.title, figure) if self.title else ""
        style = "card big" if self.big else "card"
        return html('<figure class="{}">{}{}</figure>', style, head, _joined(self.blocks))


@dataclass(frozen=True)
class Grade:
    """An answer to one question: a grade, a figure, a sentence, and how the grade was given."""

    question: str
    grade: str
    figure: str
    sentence: str
    rule: str

    def __html__(self) -> Markup:
        head = html("<header><h3>{}</h3>{}</header>", self.question.capitalize(), badge(self.grade))
        body = html('<span class="figure">{}</span><p>{}</p>', self.figure, self.sentence)
        rule = Details("How it is graded", Text(f"Rule: {self.rule}.", "rule"))
        return html('<div class="card point">{}{}{}</div>', head, body, rule)


@dataclass(frozen=True)
class Action:
    """Something to do: for what, how bad that is, what, and something to paste."""

    question: str
    grade: str
    text: str
    code: str = ""

    def __html__(self) -> Markup:
        paste = Code(self.code) if self.code else ""
        return html("<li>{} <strong>{}</strong>: {}{}</li>", badge(self.grade), self.question, self.text, paste)


@dataclass(frozen=True)
class Actions:
    """What to do, the most urgent first."""

    actions: tuple[Action, ...]

    def __html__(self) -> Markup:
        return html('<ol class="actions">\n{}</ol>', _joined(html("{}\n", each) for each in self.actions))


@dataclass(frozen=True)
class Cards:
    """Cards side by side, as many in a row as there is room for."""

    cards: tuple[Card | Grade, ...]
    style: str = "cards"
    """A class of the style sheet: cards, wide-cards, verdict."""

    def __html__(self) -> Markup:
        return html('<div class="{}">\n{}</div>', self.style, _joined(html("{}\n", each) for each in self.cards))


@dataclass(frozen=True)
class Items:
    """A list of points: each a term, which may be empty, and what is said of it."""

    items: tuple[tuple[str, str], ...]

    def __html__(self) -> Markup:
        said = (html("<strong>{}</strong>: {}", term, text) if term else escape(text) for term, text in self.items)
        return html("<ul>\n{}</ul>", _joined(html("<li>{}</li>\n", each) for each in said))


def badge(grade: str) -> Markup:
    """A grade in its colour."""
    return html('<span class="grade {}">{}</span>', grade, grade)


def scrolled(block: Block, label: str) -> Markup:
    """A block that may be wider than the page, which then can be scrolled, also by keyboard."""
    return html('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>', label, block)


def _class(name: str) -> Markup:
    return html(' class="{}"', name) if name else Markup()


def _joined(parts: Iterable[Any]) -> Markup:
    return Markup().join(parts)
