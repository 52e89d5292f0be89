import stat
from pathlib import Path

import pytest

from pointillist.errors import UsageError
from pointillist.studio.workspace import Workspace


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_the_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    workspace = Workspace.at(tmp_path / "a" / "studio", tmp_path / "scratch")
    project = workspace.new(name="people")
    assert [mode(each) for each in (workspace.folder, project.folder, project.scratch)] == [0o700] * 3
    assert mode(project.folder / "project.json") == 0o600


def test_a_project_is_found_again_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    workspace = Workspace.at(tmp_path / "studio", tmp_path / "scratch")
    first, second = workspace.new(name="a", opened=1.0), workspace.new(name="b", opened=2.0)
    assert [each.name for each in workspace.projects()] == ["b", "a"]
    assert workspace.project(first.id) == first
    for name in ("..", "../studio", first.id.upper() + "x", "0" * 12, ""):
        assert workspace.project(name) is None
    assert second.id not in ("a", "b")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "studio").touch()
    with pytest.raises(UsageError, match="is a file"):
        Workspace.at(tmp_path / "studio", tmp_path)
