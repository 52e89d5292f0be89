"""The layout of the house: tests mirror modules, files and functions stay short."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent
HOUSE = TESTS.parent / "src" / "pointillist"
MODULES = {path.relative_to(HOUSE).with_suffix("").as_posix(): path for path in sorted(HOUSE.rglob("*.py"))}
ROOMS = {name.split("/")[0] for name in MODULES if "/" in name}

ELSEWHERE = {
    "benchmarks": "mirrors benchmarks/, not src",
    "docs": "runs what the documentation says",
    "end_to_end": "walks through many rooms, as a user does",
    "fixtures": "set-ups, not tests",
    "fuzz": "hostile inputs, anywhere",
    "tools": "mirrors tools/, not src",
    "replay": "one release replayed, whichever the room",
}
"""Folders of tests that mirror no room."""

OF_THE_HOUSE = {
    "test_earlier_files": "files that an earlier version wrote",
    "test_layout": "this",
    "test_new_map": "a feature map that src does not know",
    "test_surface": "the public surface",
    "test_wall": "the wall",
}
"""Tests of the house as a whole."""

MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 60


def mirrored(place: Path) -> str | None:
    """The module that a test file mirrors: `a/test_b.py` and `a/test_b_of_something.py` mirror `a/b`."""
    stem = place.stem.removeprefix("test_")
    names = [place.with_name(stem).as_posix()]
    names += [place.with_name(stem[:at]).as_posix() for at in range(len(stem), 0, -1) if stem[at:].startswith("_")]
    if stem == place.parent.name:
        names.append(place.with_name("__init__").as_posix())
    return next((name for name in names if name in MODULES), None)


def files() -> list[Path]:
    """The test files that are to mirror modules."""
    places = [path.relative_to(TESTS) for path in sorted(TESTS.rglob("test_*.py"))]
    return [place for place in places if place.parts[0] not in ELSEWHERE and place.stem not in OF_THE_HOUSE]


def has_code(path: Path) -> bool:
    """Whether a module does more than to name and import."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in body)


def test_every_module_has_a_mirror() -> None:
    wanted = {name for name, path in MODULES.items() if not name.endswith("__init__") or has_code(path)}
    wanted -= {"__init__"}  # test_surface
    missing = wanted - {mirrored(place) for place in files()}
    assert sorted(missing) == [], "write tests/ROOM/test_MODULE.py"


def test_every_test_file_mirrors_a_module() -> None:
    stray = {place.as_posix() for place in files() if mirrored(place) is None}
    assert sorted(stray) == [], "name it after its module, or move it to tests/end_to_end"


def test_slow_tests_are_there() -> None:
    named = [line for line in (TESTS / "slow.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    assert [name for name in named if f"def {name}(" not in text] == [], (
        "python -m tools.slow_tests writes the list anew"
    )
    assert named == sorted(set(named))


def test_files_are_short() -> None:
    long = {name for name, path in MODULES.items() if len(path.read_text("utf-8").splitlines()) > MOST_LINES}
    assert long == set(), f"no file has more than {MOST_LINES} lines"


def test_functions_are_short() -> None:
    long = {
        f"{name}:{node.name}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MOST_LINES_OF_A_FUNCTION
    }
    assert long == set(), f"no function has more than {MOST_LINES_OF_A_FUNCTION} lines"
