from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.papers import output
from benchmarks.papers.discretised import DISCRETISED, Discretised, Rows
from benchmarks.papers.marginals import BINS, NAME, ORDERS, _made, app, contender, errors, page
from benchmarks.tables.datasets import datasets
from typer.testing import CliRunner

from pointillist import Integer, Schema
from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.schema.levels import levels_of

# What the authors' code lists as the largest number of every column, in their order.
ADULT = [90, 8, 10, 15, 15, 6, 14, 5, 4, 1, 10, 10, 9, 40, 1]
CENSUS = [10, 8, 10, 46, 16, 10, 2, 6, 23, 14, 4, 9, 1, 2, 5, 7, 10, 10, 10, 5,
          5, 50, 37, 7, 9, 8, 9, 2, 3, 6, 4, 42, 42, 42, 4, 2, 2, 2, 10, 1, 1]  # fmt: skip

SMALL = Discretised("adult", 400, DISCRETISED["adult"].cuts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files like those of Adult, with every kind of value that its schema knows, at random."""
    rng = np.random.default_rng(0)
    root = tmp_path_factory.mktemp("data")
    (root / "tables").mkdir()
    for part, rows in (("train", 600), ("test", 500)):
        made = {}
        for name, column in datasets()["adult"].schema.columns.items():
            if isinstance(column, Integer):
                made[name] = rng.integers(min(column.min, *column.special, column.max), column.max + 1, rows)
            else:
                made[name] = rng.choice([*column.categories, *("?" if column.missing else "")], rows)
        pq.write_table(pa.table(made), root / "tables" / f"adult_{part}.parquet")
    return root


def test_columns_have_as_many_values_as_in_the_authors_code() -> None:
    adult, census = ([each.size for each in levels_of(d.learnt.schema)] for d in DISCRETISED.values())
    # Ages begin at 17. One country has a single row in the whole file, which the authors' part of it lacks.
    assert adult == [74, *(most + 1 for most in ADULT[1:13]), 42, 2]
    assert census == [most + 1 for most in CENSUS]
    assert max(adult + census) <= BINS


def test_every_number_that_the_original_schema_allows_has_a_step() -> None:
    for each in DISCRETISED.values():
        for name, steps in each.cuts.items():
            original, column = datasets()[each.name].schema.columns[name], steps.column
            if isinstance(original, Integer) and isinstance(column, Integer):
                values = np.arange(min(original.min, *original.special, original.max), original.max + 1)
                cut = steps.cut(values)
                assert (np.diff(cut) >= 0).all()
                assert column.min <= cut[0] <= cut[-1] == column.max


@pytest.mark.parametrize(
    ("dataset", "column", "value", "step"),
    [
        ("adult", "fnlwgt", 49_999, 0),
        ("adult", "fnlwgt", 1_484_705, 10),
        ("adult", "capital_gain", 1_500, 1),
        ("adult", "capital_gain", 99_999, 10),
        ("adult", "hours_per_week", 40, 4),
        ("census", "age", 90, 10),
        ("census", "industry_code", 51, 10),
        ("census", "capital_losses", 4_608, 10),
        ("census", "weeks_worked", 52, 10),
    ],
)
def test_numbers_are_cut_as_the_authors_cut_them(dataset: str, column: str, value: int, step: int) -> None:
    assert DISCRETISED[dataset].cuts[column].cut(np.array([value])) == [step]


def test_a_table_is_cut_drawn_once_and_has_no_gaps(folder: Path) -> None:
    here = Rows(SMALL, folder)
    assert (here.train.rows, here.test.rows) == (400, 500)
    assert here.split.train.equals(Rows(SMALL, folder).split.train)
    assert not any(each.has_missing or each.has_other for each in here.train.levels)
    unknown = here.train.level("workclass").categories.index("?")
    assert (here.train.codes("workclass") == unknown).any()
    assert here.split.train["capital_gain"].to_numpy().max() <= 10


def test_a_file_with_too_few_rows_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="has 600 rows, but the papers learn from 22,561"):
        _ = Rows(DISCRETISED["adult"], folder).split


def test_the_error_counts_alpha_columns_and_all_of_their_values() -> None:
    sizes = (2, 3, 4, 3, 2)
    columns = {f"c{i}": Integer(min=0, max=k - 1, bins=k, missing=False) for i, k in enumerate(sizes)}
    schema = Schema(name="small", columns=columns)
    rng = np.random.default_rng(1)
    first, second = (np.stack([rng.integers(0, k, rows) for k in sizes], axis=1) for rows in (200, 300))

    def table(values):
        return read(pa.table(dict(zip(columns, values.T, strict=True))), schema)

    found = errors(table(first), table(second))
    for order in ORDERS:
        distances = []
        for chosen in combinations(range(5), order):
            bins = [np.arange(sizes[i] + 1) - 0.5 for i in chosen]
            one, two = (np.histogramdd(v[:, chosen], bins=bins)[0] / len(v) for v in (first, second))
            distances.append(np.abs(one - two).sum() / 2)
        assert found[f"error_{order}"] == pytest.approx(np.mean(distances))
        assert found[f"tables_{order}"] == len(distances)

    # The last value is not joined with the one before it.
    moved = first.copy()
    moved[:, 2] = np.where(first[:, 2] == 3, 2, first[:, 2])
    assert errors(table(first), table(moved))["error_2"] == pytest.approx(4 / 10 * np.mean(first[:, 2] == 3))


def _row(method: str, epsilon: float | None, seed: int, error: float | None, **facts: object) -> dict[str, object]:
    scores = {} if error is None else {f"error_{order}": error + order / 100 for order in ORDERS}
    cost = {"cpu_seconds": 5.0, "peak_mb": 100.0, "status": "done", "reason": "", "neighbours": "replace-one"}
    return {"dataset": "adult", "method": method, "epsilon": epsilon, "seed": seed, **cost, **scores, **facts}


def test_the_page_has_the_published_figures_beside_ours() -> None:
    rows = [
        _row("mosaic", 0.3, 0, 0.10),
        _row("mosaic", 0.3, 1, 0.12),
        _row("merf", 0.3, 0, 0.30),
        _row("privbayes", 0.3, 0, None, status="timeout", reason="stopped after 60 s"),
        _row("independent", None, 0, 0.2),
        _row("fresh", None, 0, 0.0),
    ]
    text = page(rows)
    lines = text.splitlines()
    assert "| 0.3 | 3 | 0.446 | 0.405 | 0.332 | timeout | 0.330 | 0.140 ± 0.014 | 0.230 | 0.030 |" in lines
    assert "| `mosaic` | 0.3 | 2 | replace-one | 5 ± 0 | 100 ± 0 |  |" in lines
    assert any(line.endswith("| stopped after 60 s |") for line in lines)
    assert "- ε = 0.3, DP-HP at α = 3: 0.332. Below it: `merf`, `mosaic`; even with 4 columns: `mosaic`." in lines
    for method, neighbours in (("privbayes", "add-remove"), ("mosaic", "replace-one")):
        assert contender(method).neighbours == neighbours
    assert contender("merf").method.settings == {"target": None, "neighbours": "replace-one"}


def test_what_is_done_or_did_not_end_is_not_run_again(folder: Path) -> None:
    here = Rows(SMALL, folder)
    references = [_row("independent", None, 0, 0.2), _row("fresh", None, 0, 0.0)]
    late = [*references, _row("mosaic", 0.3, 0, None, status="timeout")]
    assert list(_made(late, here, [contender("mosaic")], [0.3], range(3), folder, 60)) == []
    done = [*references, _row("mosaic", 0.3, 0, 0.1)]
    assert list(_made(done, here, [contender("mosaic")], [0.3], range(1), folder, 60)) == []
    assert [row["method"] for row in _made([], here, [], [0.3], range(1), folder, 60)] == ["independent", "fresh"]


def test_the_command_runs_and_goes_on_where_it_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DISCRETISED, "adult", SMALL)
    options = ["--data", str(folder), "--datasets", "adult", "--methods", "mosaic", "--epsilons", "0.3", "--seeds", "1"]
    first = CliRunner().invoke(app, [*options, "--out", str(tmp_path)])
    assert first.exit_code == 0, first.output
    assert "adult mosaic 0.3 0: 2-way 0." in first.output
    rows = output.read(NAME, tmp_path)
    assert [row["method"] for row in rows] == ["independent", "fresh", "mosaic"]
    assert rows[2]["status"] == "done"
    assert rows[2]["rows"] == 400
    assert 0 < rows[2]["error_2"] < rows[2]["error_3"] < 1
    assert rows[2]["tables_3"] == 455
    second = CliRunner().invoke(app, [*options, "--out", str(tmp_path)])
    assert "adult mosaic 0.3 0:" not in second.output
    assert output.read(NAME, tmp_path) == rows


def test_the_command_names_what_it_does_not_know(tmp_path: Path) -> None:
    for options, message in (
        (["--datasets", "isolet"], "data set 'isolet' is not known. Known: adult, census"),
        (["--methods", "magic"], "method 'magic' is not known"),
        (["--methods", "mosaic"], "POINTILLIST_DATA"),
    ):
        done = CliRunner().invoke(app, [*options, "--out", str(tmp_path)], env={"POINTILLIST_DATA": ""})
        assert done.exit_code == 2
        assert message in done.output
