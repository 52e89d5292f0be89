"""Notebooks: each runs from top to bottom in a kernel of its own, shows boxes, and is kept without outputs."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def outputs(book: Any) -> list[Any]:
    return [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("PYTHONWARNINGS", "error::FutureWarning")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    book = nbformat.read(path, as_version=4)
    (tmp_path / "here").mkdir()
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path / "here")}}
    ).execute()
    shown = outputs(book)
    texts = [str(output.data.get("text/html", "")) for output in shown if "data" in output]
    assert sum("pointillist-box" in text for text in texts) >= 4
    assert [output.text for output in shown if output.get("name") == "stderr"] == []
    assert not any("<progress" in text for text in texts)  # bars are gone at the end


def test_there_are_three_and_none_has_outputs() -> None:
    """Outputs would pass on what a notebook has shown to its owner."""
    assert {path.stem for path in NOTEBOOKS} == {"images", "receiver", "ten-minutes"}
    assert [path.stem for path in NOTEBOOKS if outputs(nbformat.read(path, as_version=4))] == []
