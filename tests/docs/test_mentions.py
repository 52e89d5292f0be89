"""Mentions: files, tests and modules that pages name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TESTS = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py")))


def mentioned(pattern: str) -> list[tuple[str, str]]:
    return [
        (path.relative_to(ROOT).as_posix(), found)
        for path in PAGES
        for found in re.findall(pattern, path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("page", "file"), mentioned(r"`((?:[\w.-]+/)+[\w.-]*\.(?:py|toml|md|svg))`"))
def test_files_are_there(page: str, file: str) -> None:
    assert any((folder / file).exists() for folder in (ROOT, ROOT / "src" / "pointillist")) or file.startswith("demo/")


@pytest.mark.parametrize(("page", "name"), mentioned(r"`([tT]est_?\w+)`"))
def test_tests_are_there(page: str, name: str) -> None:
    assert re.search(rf"(?:def|class) {name}\b", TESTS)


@pytest.mark.parametrize(("page", "image"), mentioned(r"!\[[^\]]*\]\((?!https?:)([^)\s]+)\)"))
def test_images_are_there_and_small(page: str, image: str) -> None:
    path = ROOT / Path(page).parent / image
    assert path.is_file()
    assert not path.name.startswith("studio-") or path.stat().st_size < 150_000
