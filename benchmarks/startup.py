"""What it costs to start: CPU seconds of an import, and of the help of every command.

    python -m benchmarks.startup [REPEATS]

The least of some repeats, in seconds and as a multiple of Python's own start. Ends with code 1 if an import or the first
help page takes longer than the limit; run it on a quiet machine. The help of a single command takes a little more: typer
loads pydantic to check options with.
"""

import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.main import get_command

import pointillist.cli  # noqa: F401  registers the commands
from pointillist.cli.app import NAME, app

LIMIT = 0.3
"""CPU seconds that each of these may take."""
CLAIMED = ("import pointillist", f"{NAME} --version", f"{NAME} --help")
_RUN = "from pointillist.cli import main; main()"


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names of a command's parts, however deep."""
    for name, part in getattr(command, "commands", {}).items():
        yield (*path, name)
        yield from commands(part, (*path, name))


def cases() -> dict[str, list[str]]:
    """What is started, by the words that a user would type."""
    helps = [("--version",), ("--help",), *((*path, "--help") for path in commands(get_command(app)))]
    return {"import pointillist": ["import pointillist"]} | {
        " ".join((NAME, *words)): [_RUN, *words] for words in helps
    }


def cpu_seconds(script: list[str], repeats: int) -> float:
    """The least CPU time of a fresh Python that runs a script."""
    spent = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", *script], check=True, stdout=subprocess.DEVNULL, timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def main(repeats: Annotated[int, typer.Argument(min=1, help="The least of how many.")] = 5) -> None:
    """Every case, as a Markdown table."""
    alone = cpu_seconds(["pass"], repeats)
    print(f"| start | CPU-s | × `python -c pass` |\n|---|---|---|\n| `python -c pass` | {alone:.3f} | 1 |", flush=True)
    late = []
    for name, script in cases().items():
        spent = cpu_seconds(script, repeats)
        print(f"| `{name}` | {spent:.3f} | {spent / alone:.1f} |", flush=True)
        late += [name] if name in CLAIMED and spent > LIMIT else []
    if late:
        raise SystemExit(f"Over {LIMIT} CPU-seconds: {', '.join(late)}.")


if __name__ == "__main__":
    typer.run(main)
