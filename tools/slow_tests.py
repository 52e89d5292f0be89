"""Which tests are slow: measures the CPU seconds of each, and writes the names of those over the limit to tests/slow.txt.

    python -m tools.slow_tests [TESTS...]

What counts is a test with all its parameters, with the fixtures that it is the first to need and the processes that it
starts. Folders that tests/conftest.py calls slow are not measured. Run it on a quiet machine; it takes some minutes. Names
of tests that were not run, or are in files that were not named, stay as they are.
"""

import resource
import time
from collections import defaultdict
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Annotated

import pytest
import typer

LIST = Path(__file__).parents[1] / "tests" / "slow.txt"
LIMIT = 0.3
"""CPU seconds of a test with all its parameters."""


def read(path: Path = LIST) -> set[str]:
    """The names of slow tests."""
    return {line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}


class Measure:
    """A plugin of pytest that adds up what tests cost."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = _cpu()
        result = yield
        self.spent[item.nodeid.split("[")[0]] += _cpu() - before
        return result


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def merged(known: set[str], spent: dict[str, float]) -> set[str]:
    """The names that are slow now: of tests that were measured those over the limit, of others those that were."""
    measured = {node.split("::")[-1] for node in spent}
    return {node.split("::")[-1] for node, seconds in spent.items() if seconds > LIMIT} | (known - measured)


def write(names: set[str], path: Path = LIST) -> None:
    """One name a line."""
    head = f"# Tests that take more than {LIMIT:g} CPU-seconds, by name. Made by python -m tools.slow_tests\n"
    path.write_text(head + "".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


def main(tests: Annotated[list[str] | None, typer.Argument(help="Files or folders; all by default.")] = None) -> None:
    """Measure and write."""
    folders = [f"--ignore=tests/{folder}" for folder in import_module("tests.conftest").SLOW]
    measure = Measure()
    pytest.main(["-p", "no:xdist", *(tests or ["tests"]), *folders], plugins=[measure])
    write(merged(read(), measure.spent))


if __name__ == "__main__":
    typer.run(main)
