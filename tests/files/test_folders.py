"""Folders: put in their place when they are whole."""

from pathlib import Path

import pytest

from pointillist.errors import ArtefactError
from pointillist.files.folders import beside, replace


def test_a_folder_is_made_beside_its_place_and_put_there(tmp_path: Path) -> None:
    for content in ("one", "two"):
        with beside(tmp_path / "there") as aside:
            assert aside.parent == tmp_path
            (aside / "new").mkdir()
            (aside / "new" / "file").write_text(content)
            replace(tmp_path / "there", aside / "new", aside)
        assert (tmp_path / "there" / "file").read_text() == content
    assert [each.name for each in tmp_path.iterdir()] == ["there"]


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a file")
    with pytest.raises(ArtefactError, match="is a file"), beside(tmp_path / "there"):
        pass
