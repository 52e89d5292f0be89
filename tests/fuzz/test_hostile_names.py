"""Names that would steer a terminal or turn a page's text around, through every command that shows them."""

import io
from pathlib import Path

import pytest
from benchmarks.fuzz.command import run
from benchmarks.fuzz.kind import Refused
from rich.progress import Progress

import pointillist as pt
from pointillist.cli import console
from pointillist.cli.show.table import Table
from pointillist.visible import visible

RED, TURNED, CLEAR = "\x1b[31mred", "\u202eturned", "\x9b2J\x07clear"
ROWS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, its schema, a release and a model, with hostile names wherever there are names."""
    found = tmp_path_factory.mktemp(f"x{TURNED}")
    schema = pt.Schema(
        name=f"data {RED}",
        rows=ROWS,
        columns={
            f"col {RED}": pt.Categorical(categories=(f"a {TURNED}", f"b {CLEAR}"), description=CLEAR),
            f"n {TURNED}": pt.Integer(min=0, max=9, read_from_data=("min",)),
            f"left out {CLEAR}": pt.Ignore(description=RED),
        },
    )
    (found / "t.toml").write_text(schema.to_toml())
    lines = [f"col {RED},n {TURNED},left out {CLEAR}"]
    lines += [f"{(f'a {TURNED}', f'b {CLEAR}')[n % 2]},{n % 10},x{n} {RED}" for n in range(ROWS)]
    (found / "t.csv").write_text("\n".join(lines) + "\n")
    target = f"col {RED}"
    run(
        ["release", "t.csv", "--schema", "t.toml", "--epsilon", "5", "--yes", "--target", target, "-o", "t.release"],
        found,
    )
    run(["fit", "t.release", "-o", "t.model"], found)
    return found


COMMANDS: dict[str, tuple[str, ...]] = {
    "draft": ("schema", "draft", "t.csv", "-o", f"{RED}.toml", "--name", TURNED, "--overwrite"),
    "plan": ("release", "t.csv", "--schema", "t.toml", "--epsilon", "1", "--plan"),
    "plan as JSON": ("release", "t.csv", "--schema", "t.toml", "--epsilon", "1", "--plan", "--json"),
    "schema": ("inspect", "t.toml"),
    "schema as JSON": ("inspect", "t.toml", "--json"),
    "release": ("inspect", "t.release"),
    "release as JSON": ("inspect", "t.release", "--json"),
    "model": ("inspect", "t.model"),
    "sample": ("sample", "t.model", "-n", "10", "-o", f"{TURNED}.csv", "--overwrite"),
    "query": ("query", "t.release", f'count() group by "col {RED}"', "--model", "t.model"),
    "query as JSON": ("query", "t.release", f'count() group by "col {RED}"', "--model", "t.model", "--json"),
    "ledger": ("ledger",),
    "ledger as JSON": ("ledger", "--json"),
    "cap": ("ledger", "cap", CLEAR, "--epsilon", "3"),
    "card": ("card", "t.release", "-o", "card.html", "--overwrite"),
    "card in Markdown": ("card", "t.release", "-o", "card.md", "--overwrite"),
}
MISTAKES: dict[str, tuple[str, ...]] = {
    "no such command": (f"in{TURNED}spect",),
    "no such option": ("inspect", f"--{RED}"),
    "no number": ("sample", "t.model", "-n", CLEAR, "-o", "x.csv"),
    "no such file": ("inspect", f"no {RED}.toml"),
    "no such column": ("query", "t.release", f"mean({CLEAR})", "--model", "t.model"),
    "did you mean": ("query", "t.release", f'mean("n {TURNED}x")', "--model", "t.model"),
    "no such target": (
        "release",
        "t.csv",
        "--schema",
        "t.toml",
        "--epsilon",
        "1",
        "--target",
        TURNED,
        "-o",
        "x.release",
    ),
    "no such value": ("sample", "t.model", "--given", f"col {RED}={CLEAR}", "-o", "x.csv"),
    "no such folder": ("sample", "t.model", "-o", f"{RED}/x.csv"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_show_names_written_out(command: str, folder: Path) -> None:
    run(list(COMMANDS[command]), folder)  # fails if a name reaches the terminal as it is
    if "card" in command:
        page = (folder / COMMANDS[command][3]).read_text()
        assert visible(page) == page
        assert "\\u202eturned" in page


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_show_names_written_out(mistake: str, folder: Path) -> None:
    with pytest.raises(Refused, match=r"\\u001b|\\u009b|\\u202e|Error"):
        run(list(MISTAKES[mistake]), folder)


def test_nothing_that_a_console_prints_is_obeyed() -> None:
    """Texts, tables and bars: all of them end in the same place, whoever prints them."""
    for make in (type(console.out), type(console.err)):
        stream = io.StringIO()
        screen = make(file=stream, force_terminal=False, width=300)
        table = Table(title=RED)
        table.add_column(CLEAR)
        table.add_row(TURNED)
        screen.print(RED, table, [CLEAR], {TURNED: RED})
        with Progress(console=screen) as bar:
            bar.add_task(CLEAR)
        said = stream.getvalue()
        assert visible(said) == said
        assert said.count("\\u001b[31mred") >= 2
