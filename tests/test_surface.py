"""The public surface: every name is there, and nothing is loaded before it is asked for."""

import ast
import json
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import pointillist as pt

HEAVY = {
    "duckdb", "dp_accounting", "jinja2", "narwhals", "numba", "numpy", "opendp", "pandas", "polars", "pyarrow", "scipy",
    "sklearn", "torch",
}  # fmt: skip
"""Libraries that take their time to load."""
SAME_NAME = ("evaluate", "plan", "release")
"""Functions of the surface that are called like a module of the package."""


def loaded(script: str) -> set[str]:
    """The top-level modules that a fresh Python has loaded after a script."""
    ended = subprocess.run(
        [sys.executable, "-c", f"{script}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return {name.split(".")[0] for name in json.loads(ended.stdout.splitlines()[-1])}


def test_importing_the_package_loads_no_library() -> None:
    assert not HEAVY & loaded("import pointillist; dir(pointillist); pointillist.__version__")


@pytest.mark.parametrize("command", [["--help"], ["--version"], ["release", "--help"], ["schema", "draft", "-h"]])
def test_asking_for_help_loads_no_library(command: list[str]) -> None:
    script = f"""
import contextlib, sys
from pointillist.cli import main
sys.argv = ["pointillist", *{command!r}]
with contextlib.suppress(SystemExit):
    main()
"""
    assert not HEAVY & loaded(script)


def test_what_type_checkers_read_is_what_python_finds() -> None:
    tree = ast.parse(Path(str(pt.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    read = {
        name.name: str(node.module).removeprefix("pointillist.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert read == pt._HOMES
    assert sorted(read) == sorted(pt.__all__)


def test_every_public_name_can_be_fetched_and_is_listed() -> None:
    namespace: dict[str, object] = {}
    exec("from pointillist import *", namespace)
    for name in pt.__all__:
        assert namespace[name] is getattr(pt, name)
    assert {*pt.__all__, "__version__", "__doc__"} <= set(dir(pt))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = pt.nonsense
    with pytest.raises(ImportError, match="nonsense"):
        exec("from pointillist import nonsense")


def test_a_function_is_not_hidden_by_the_module_of_its_name() -> None:
    modules = ", ".join(f"pointillist.{name}" for name in SAME_NAME)
    functions = ", ".join(f"pointillist.{name}" for name in SAME_NAME)
    loaded(f"import {modules}\nassert all(type(each).__name__ == 'function' for each in ({functions}))")


def test_rooms_of_the_package_can_be_entered_without_an_import() -> None:
    loaded("import pointillist\nassert pointillist.inference.answer and pointillist.privacy.budget.Budget")


def test_help_describes_the_surface() -> None:
    shown = pydoc.plain(pydoc.render_doc(pt))
    assert "class Synthesizer" in shown
    assert "    release(table: " in shown
