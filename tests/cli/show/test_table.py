"""Tables of the terminal: words stay whole where there is room, and no cell steers the terminal."""

import io

import pytest
from rich.console import Console

from pointillist.cli.show.table import Table


def printed(table: Table, width: int) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=True).print(table)
    return stream.getvalue().splitlines()


@pytest.fixture
def table() -> Table:
    table = Table("Some words")
    for heading in ("name", "a sentence"):
        table.add_column(heading)
    table.add_row("marital_status", "never married, married, divorced or separated, widowed")
    table.add_row("age", 7)
    return table


@pytest.mark.parametrize("width", [40, 60, 200])
def test_words_are_whole_and_lines_fit(table: Table, width: int) -> None:
    lines = printed(table, width)
    assert max(map(len, lines)) <= width
    words = set(" ".join(lines).split())
    assert {"marital_status", "divorced", "separated,", "7"} <= words


def test_a_terminal_that_is_too_narrow_still_shows_all_letters(table: Table) -> None:
    lines = printed(table, 12)
    assert max(map(len, lines)) <= 12


def test_a_column_that_may_not_wrap_is_cut(table: Table) -> None:
    table.add_column("values", no_wrap=True)
    table.add_row("x", "y", "long " * 30)
    lines = printed(table, 70)
    assert max(map(len, lines)) <= 70
    assert "long" in " ".join(lines)


def test_nothing_is_markup_and_nothing_is_obeyed() -> None:
    table = Table("a\x1b[31m [bold]b[/bold]")
    table.add_column("[red]head")
    table.add_row("\x1b[2J[link]")
    text = "\n".join(printed(table, 80))
    assert "\x1b" not in text
    assert all(words in text for words in ("[bold]b[/bold]", "[red]head", "\\u001b[2J[link]"))
