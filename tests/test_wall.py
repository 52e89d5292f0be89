"""The wall, as far as source text can show it: what the private side may not use, and nobody may."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "src" / "pointillist"
SOURCES = sorted(HOUSE.rglob("*.py"))
PRIVATE = [
    p
    for p in SOURCES
    if p.relative_to(HOUSE).parts[0] in ("curator", "engines", "privacy", "reading")
    or p.relative_to(HOUSE).parts[:2] == ("schema", "kinds")  # a kind reads private values, too
]


def names(path: Path) -> set[str]:
    """Every module that a file imports and every dotted name that it uses."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
        elif isinstance(node, ast.Attribute):
            found.add(ast.unparse(node))
    return found


def test_there_is_a_private_side() -> None:
    assert {p.name for p in PRIVATE} >= {"releasing.py", "embedding.py", "noise.py", "ledger.py"}


@pytest.mark.parametrize("path", PRIVATE, ids=lambda p: p.name)
def test_no_ordinary_random_generator_on_the_private_side(path: Path) -> None:
    used = names(path)
    assert not {name for name in used if name == "random" or name.startswith(("random.", "np.random", "numpy.random"))}
    assert not {name for name in used if name.startswith("torch") or name.endswith("default_rng")}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_nothing_that_runs_code_from_a_file(path: Path) -> None:
    used = names(path)
    banned = ("pickle", "cloudpickle", "joblib", "dill", "shelve", "marshal")
    assert not {name for name in used if name.split(".")[0] in banned or "allow_pickle" in name}


@pytest.mark.parametrize("path", PRIVATE, ids=lambda p: p.name)
def test_the_private_side_neither_logs_nor_prints(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    assert not {name for name in called if name == "print" or name.startswith(("logging", "logger", "warnings.warn"))}


def test_dependencies_have_lower_bounds_only() -> None:
    """Pins so tight that nobody can install the package are a known way to lose users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [d for group in project["optional-dependencies"].values() for d in group]
    for dependency in [*project["dependencies"], *extras]:
        assert "==" not in dependency
        assert "<" not in dependency
