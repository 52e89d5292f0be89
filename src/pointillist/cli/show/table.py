"""Console table: a table for the terminal that keeps words whole."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from pointillist.visible import visible


class Table(RichTable):
    """A table whose cells are shown as they are, and whose words are kept whole wherever the terminal has room for them."""

    def __init__(self, title: str):
        super().__init__(title=Text(visible(title)), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
        self.pad_edge, self.padding = False, (0, 1, 0, 0)

    def add_column(self, header: Any = "", *arguments: Any, **options: Any) -> None:
        super().add_column(Text(visible(str(header))), *arguments, **options)

    def add_row(self, *cells: Any, **options: Any) -> None:
        # Written out now, and not only when it is printed, so that the columns are wide enough.
        super().add_row(*(Text(visible(str(cell))) for cell in cells), **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - 2 * (len(self.columns) - 1)  # a gap of two between columns
        widths = _shared_out(room, [_extent(column) for column in self.columns])
        for column, width in zip(self.columns, widths, strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)


_WIDEST_WORD, _LEAST_CUT = 32, 10


def _extent(column: Column) -> tuple[int, int]:
    """The least and the most room that a column can use: its longest word, and its longest line."""
    lines = [line for cell in (column.header, *column.cells) for line in str(cell).splitlines()]
    longest = max((cell_len(line) for line in lines), default=0)
    if column.no_wrap:
        return min(longest, _LEAST_CUT), longest
    return min(max((cell_len(word) for line in lines for word in line.split()), default=0), _WIDEST_WORD), longest


def _shared_out(room: int, extents: Sequence[tuple[int, int]]) -> list[int | None]:
    """The width of each column: what it needs, and of the rest a part of what it would like. None where it cannot be."""
    spare = room - sum(least for least, _ in extents)
    wished = sum(most - least for least, most in extents)
    if spare < 0:
        return [None] * len(extents)
    return [least + ((most - least) * min(spare, wished) // wished if wished else 0) for least, most in extents]
