"""Records of runs: kept as files while a bench runs, then all of them in one Parquet file that says the same."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.images import results as images
from benchmarks.records import TABLE, Records, columns, kept
from benchmarks.tables import results as tables

RESULTS = Path(__file__).parents[2] / "benchmarks"


def collected(folder: Path) -> None:
    rows = [kept(*each) for each in Records(folder)]
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(columns())), folder / TABLE)


def test_files_win_over_the_table_and_the_table_is_enough_without_them(tmp_path: Path) -> None:
    Records(tmp_path).keep_run("b", {"status": "done", "reason": "\u00e9"})
    Records(tmp_path).keep_scores("b", {"tvd_1": 0.1 + 0.2})
    Records(tmp_path).keep_run("a", {"status": "failed", "reason": "no"})
    before = list(Records(tmp_path))
    assert before == [
        ("a", {"status": "failed", "reason": "no"}, {}),
        ("b", {"status": "done", "reason": "\u00e9"}, {"tvd_1": 0.1 + 0.2}),
    ]
    collected(tmp_path)
    for path in (tmp_path / "cache").rglob("*.json"):
        path.unlink()
    assert list(Records(tmp_path)) == before
    Records(tmp_path).keep_run("b", {"status": "done", "reason": "again"})
    assert Records(tmp_path).scores("b") is None, "the scores are those of the run before"
    assert Records(tmp_path).run("c") is None


@pytest.mark.parametrize(
    ("folder", "runs"), [("tables/results", 81), ("images/results", 22), ("images/results/twelve", 8)]
)
def test_what_is_in_the_repository_is_made_anew_from_its_own_table(folder: str, runs: int) -> None:
    """Nothing but the Parquet file is needed: it says word for word what the runs said."""
    place = RESULTS / folder
    table = pq.read_table(place / TABLE)
    again = tables.collect(place) if folder.startswith("tables") else images.table(images.collect(place))
    assert table.num_rows >= runs
    assert again.equals(table, check_metadata=True)
    page = (place / "results.md").read_text(encoding="utf-8")
    body = tables.markdown(again) if folder.startswith("tables") else images.page(images.collect(place))
    assert body.strip() in page
