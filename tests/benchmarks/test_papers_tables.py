"""The papers' tables: the runner on a small simulated table, the published figures, the authors' choice of rows."""

import itertools
import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.papers import datasets as chosen
from benchmarks.papers import output, published
from benchmarks.papers.datasets import PAPERS, Experiment, experiments
from benchmarks.papers.tables import NAME, Protocol, Run, app, page, plan, tables
from benchmarks.tables.datasets import Dataset
from typer.testing import CliRunner

import pointillist as pt
from benchmarks import stamp
from pointillist.errors import UsageError
from pointillist.evaluate.research.papers_protocol import hard_scores
from pointillist.evaluate.research.undersampling import RATES, TRAIN_SHARES

FEW = ("Gaussian naive Bayes", "decision tree")
SMALL = Protocol(models=FEW)


@pytest.fixture
def small(tmp_path: Path) -> Experiment:
    """400 simulated people of whom the older are ill more often."""
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 400)
    store(tmp_path, pa.table({"age": age, "ill": np.where(rng.random(400) * 150 < age, "yes", "no")}))
    columns = {
        "age": pt.Integer(min=0, max=99, missing=False),
        "ill": pt.Categorical(categories=("no", "yes"), missing=False, out_of_domain="error"),
    }
    schema = pt.Schema(name="small", reviewed=True, columns=columns)
    dataset = Dataset("small", "ill", schema, ("small",), chosen._as_it_is)
    return Experiment(dataset, "small", 0.8, 0.75, "simulated")


def store(folder: Path, table: pa.Table, name: str = "small") -> None:
    (folder / "tables").mkdir(exist_ok=True)
    pq.write_table(table, folder / "tables" / f"{name}.parquet")


def test_every_classifier_of_every_run_is_a_row_and_the_page_shows_the_means(small: Experiment, tmp_path: Path) -> None:
    lines: list[str] = []
    tables(plan([small], ["mosaic", "real"], 2, SMALL), tmp_path, tmp_path, say=lines.append)
    rows = output.read(NAME, tmp_path)
    assert {(row["method"], row["seed"], row["model"]) for row in rows} == set(
        itertools.product(["mosaic", "real"], [0, 1], FEW)
    )
    for row in rows:
        assert row["status"] == "done"
        assert 0 <= row["hard_roc"] <= 1
        assert row["chance_hard_roc"] == 0.5
        assert 0 < row["chance_hard_prc"] < 0.5
        assert row["classifier_rows"] == row["train_rows"] == round(0.75 * (row["train_rows"] + row["test_rows"]))
        assert json.loads(row["versions"])["pointillist"] == pt.__version__
        private = row["method"] == "mosaic"
        assert (row["epsilon"], row["neighbours"]) == ((1.0, "replace-one") if private else (None, None))
        assert (row["cpu_seconds"] is not None) == private
        if private:
            stages = [row[name] for name in ("release_seconds", "fit_seconds", "sample_seconds")]
            assert row["cpu_seconds"] == pytest.approx(sum(stages))
            assert json.loads(row["options"])["components"] == pt.Mosaic().components
    means = [np.mean([r["hard_roc"] for r in rows if (r["method"], r["seed"]) == ("real", s)]) for s in (0, 1)]
    text = (tmp_path / "tables.md").read_text()
    assert "| small | ROC | 0.500 | " in text
    assert f" | {output.mean_and_spread(means, 3)} | " in text
    assert "**" not in text  # there is no published figure to be bold against
    assert lines[0] == "4 runs, 0 of them already there."
    assert len(lines) == 5


def test_runs_that_are_there_are_not_made_again(small: Experiment, tmp_path: Path) -> None:
    lines: list[str] = []
    one, two = plan([small], ["real"], 1, SMALL), plan([small], ["real"], 2, SMALL)
    tables(one, tmp_path, tmp_path)
    before = output.read(NAME, tmp_path)
    tables(two, tmp_path, tmp_path, say=lines.append)
    after = output.read(NAME, tmp_path)
    assert lines[0] == "2 runs, 1 of them already there."
    assert [row for row in after if row["seed"] == 0] == before
    assert len(after) == 4
    tables(two, tmp_path, tmp_path, again=True, say=lines.append)
    assert "2 runs, 0 of them already there." in lines
    assert len(output.read(NAME, tmp_path)) == 4


def test_runs_of_other_code_are_told_and_made_again_on_request(small: Experiment, tmp_path: Path) -> None:
    lines: list[str] = []
    runs = plan([small], ["real"], 1, SMALL)
    tables(runs, tmp_path, tmp_path)
    code = output.read(NAME, tmp_path)[0]["code"]
    output.write([{**row, "code": "another"} for row in output.read(NAME, tmp_path)], NAME, tmp_path)
    tables(runs, tmp_path, tmp_path, say=lines.append)
    assert "1 of those were made by another state of the code" in lines[1]
    assert {row["code"] for row in output.read(NAME, tmp_path)} == {"another"}
    tables(runs, tmp_path, tmp_path, renew=True)
    assert {row["code"] for row in output.read(NAME, tmp_path)} == {code}


def test_what_fails_is_a_result_and_is_tried_once_more(small: Experiment, tmp_path: Path) -> None:
    good = pq.read_table(tmp_path / "tables" / "small.parquet")
    bad = good.set_column(1, "ill", pa.array(["perhaps", *good["ill"].to_pylist()[1:]]))
    store(tmp_path, bad)
    runs, other = plan([small], ["mosaic"], 1, SMALL), replace(small, dataset=replace(small.dataset, name="other"))
    tables(runs, tmp_path, tmp_path)
    (row,) = output.read(NAME, tmp_path)
    assert row["status"] == "failed"
    assert "'ill'" in row["reason"]
    assert "- small, mosaic: " in (tmp_path / "tables.md").read_text()
    store(tmp_path, good)
    tables(plan([other], ["real"], 1, SMALL), tmp_path, tmp_path)  # reads another table in between
    tables(runs, tmp_path, tmp_path)
    mine = [row for row in output.read(NAME, tmp_path) if row["dataset"] == "small"]
    assert [row["status"] for row in mine] == ["done", "done"]


def test_runs_that_differ_in_anything_that_matters_have_other_keys(small: Experiment) -> None:
    schema = small.dataset.schema
    finer = schema.model_copy(update={"columns": {**schema.columns, "age": pt.Integer(min=0, max=120, missing=False)}})
    runs = [
        Run(small, "mosaic", 0, SMALL),
        Run(small, "mosaic", 1, SMALL),
        Run(small, "merf", 0, SMALL),
        *(
            Run(small, "mosaic", 0, replace(SMALL, **change))
            for change in (
                {"epsilon": 2.0},
                {"delta": 1e-6},
                {"settings": "dp-hp"},
                {"most_rows": 99},
                {"models": FEW[:1]},
            )
        ),
        *(
            Run(replace(small, **change), "mosaic", 0, SMALL)
            for change in ({"rate": 0.5}, {"train_share": 0.5}, {"dataset": replace(small.dataset, schema=finer)})
        ),
    ]
    assert len({run.key for run in runs}) == len(runs)
    assert json.loads(runs[0].facts["options"])["components"] == pt.Mosaic().components
    # Real rows do not depend on the budget, so they serve every one.
    assert Run(small, "real", 0, SMALL).key == Run(small, "real", 0, replace(SMALL, epsilon=2.0)).key
    assert Run(small, "real", 0, SMALL).key != Run(small, "real", 0, replace(SMALL, most_rows=99)).key


def test_the_page_keeps_settings_apart_and_shows_the_newest_options_alone(small: Experiment, tmp_path: Path) -> None:
    runs = [*plan([small], ["real"], 1, SMALL), *plan([small], ["real"], 1, replace(SMALL, most_rows=200))]
    tables(runs, tmp_path, tmp_path)
    real, few = (output.read(NAME, tmp_path)[i : i + 2] for i in (0, 2))
    text = (tmp_path / "tables.md").read_text()
    assert text.count("## Classifiers as in dp-merf") == 2
    assert text.count("at most 200 rows") == 1
    assert {row["classifier_rows"] for row in few} == {200}

    def made(score: float, **facts: object) -> list[dict[str, object]]:
        start = {"method": "mosaic", "epsilon": 1.0, "delta": 1e-5, "neighbours": "replace-one", "options": "{}"}
        return [{**row, **start, "hard_roc": score, **facts} for row in real]

    old, new = made(0.111, made="2001"), made(0.777, made="2002", options='{"components": 1}')
    other, hp = made(0.555, made="2003", epsilon=9.0), made(0.333, made="2004", settings="dp-hp")
    text = page([*real, *old, *new, *other, *hp])
    sections = text.split("## ")[1:]
    assert [("ε = 1" in each, "ε = 9" in each, "dp-hp" in each) for each in sections] == [
        (True, False, False),
        (False, True, False),
        (True, False, True),
    ]
    assert "0.111" not in text
    assert ["0.777" in each for each in sections] == [True, False, False]
    assert [" | real | " in each for each in sections] == [True, True, False]  # no real rows in those settings


def test_bold_is_what_reaches_the_best_published_score(small: Experiment, tmp_path: Path) -> None:
    tables(plan([small], ["real"], 1, SMALL), tmp_path, tmp_path)
    start = output.read(NAME, tmp_path)[0]
    all_models = json.dumps(Protocol().models)

    def line(dataset: str, score: float, **facts: object) -> str:
        row = {**start, "method": "merf", "dataset": dataset, "papers_name": dataset, "models": all_models}
        row |= {"epsilon": 1.0, "delta": 1e-5, "neighbours": "replace-one", "hard_roc": score, **facts}
        return next(line for line in page([row]).splitlines() if line.startswith(f"| {dataset} | ROC"))

    assert "**0.688**" in line("adult", 0.688)
    assert "**" not in line("adult", 0.687)
    assert "**" not in line("adult", 0.9, models=json.dumps(FEW))
    assert "**" not in line("isolet", 0.9)  # only a part of it is at hand
    assert "**" not in line("adult", 0.9, method="real")
    assert "0.688 (DP-HP) | 0.650 | 0.688 | 0.730 / 0.786" in line("adult", 0.9)


def test_a_seed_splits_all_rows_once_and_thins_the_largest_class(small: Experiment, tmp_path: Path) -> None:
    table = small.dataset.load(tmp_path).append_column("row", pa.array(range(400)))
    cut, same, other = small.split(table, 3), small.split(table, 3), small.split(table, 4)
    assert cut.train.equals(same.train)
    assert not cut.test.equals(other.test)
    rows = [*cut.train["row"].to_pylist(), *cut.test["row"].to_pylist()]
    assert len(set(rows)) == len(rows)
    ill = sum(label == "yes" for label in table["ill"].to_pylist())
    assert len(rows) == ill + int((400 - ill) * 0.8)
    assert cut.train.num_rows == round(len(rows) * 0.75)


def test_bad_requests_say_what_to_do(small: Experiment, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"method 'magic' is not known\. Known: merf, hermite, mosaic"):
        plan([small], ["magic"], 1, SMALL)
    with pytest.raises(UsageError, match="seeds must be at least 1"):
        plan([small], ["real"], 0, SMALL)
    with pytest.raises(UsageError, match="most_rows"):
        Protocol(most_rows=0)
    for options, message in (
        (["--datasets", "nowhere"], "data set 'nowhere' is not known. Known: adult, census"),
        (["--models", "oracle"], "model 'oracle' is not known"),
        (["--settings", "mine"], "settings 'mine' are not known"),
        (["--datasets", ","], "name at least one data set"),
        (["--datasets", "adult", "--methods", "real", "--seeds", "1"], "POINTILLIST_DATA"),
    ):
        done = CliRunner().invoke(app, [*options, "--out", str(tmp_path)], env={"POINTILLIST_DATA": ""})
        assert done.exit_code == 2
        assert message in done.output


def test_the_published_figures_are_whole() -> None:
    assert set(published.DATASETS) == set(PAPERS) == set(RATES)
    assert len(published.FIGURES) == 2 * 8 * 5
    for each in published.FIGURES:
        unread = (each.dataset, each.paper, each.method) == ("intrusion", published.DP_MERF, published.REAL)
        assert set(each.scores) == (set() if unread else set(published.measures_of(each.dataset)))
        assert all(0.1 < score < 1 for score in each.scores.values())
    for dataset, rival in itertools.product(PAPERS, ("DP-CGAN", "DP-GAN")):  # DP-HP took these over from DP-MERF
        first, second = (published.figure(dataset, paper, rival) for paper in (published.DP_MERF, published.DP_HP))
        assert first.scores == second.scores


def test_the_published_figures_agree_with_the_supplement() -> None:
    """DP-MERF's Tables 6 and 8: the classifiers one by one, whose mean Table 1 reports."""
    roc = [0.796, 0.729, 0.752, 0.742, 0.775, 0.725, 0.787, 0.811, 0.786, 0.807, 0.747, 0.812]
    prc = [0.665, 0.582, 0.586, 0.549, 0.650, 0.544, 0.689, 0.709, 0.686, 0.707, 0.570, 0.716]
    f1 = [0.928, 0.792, 0.508, 0.917, 0.907, 0.925, 0.592, 0.922, 0.923, 0.926, 0.941, 0.921]
    credit, intrusion = (published.figure(name, "DP-MERF", "DP-MERF").scores for name in ("credit", "intrusion"))
    assert credit == pytest.approx({"hard_roc": np.mean(roc), "hard_prc": np.mean(prc)}, abs=1.5e-3)
    assert intrusion == pytest.approx({"hard_f1": np.mean(f1)}, abs=1.5e-3)


def test_the_best_private_score_is_the_highest_of_both_papers() -> None:
    best = {name: published.best_private(name, published.measures_of(name)[-1]) for name in PAPERS}
    assert (best["census"].method, best["census"].scores["hard_prc"]) == ("DP-MERF", 0.358)
    assert (best["intrusion"].paper, best["intrusion"].method) == ("DP-HP", "DP-MERF")
    assert best["covtype"].scores["hard_f1"] == 0.537
    assert all(each.private for each in best.values())


def test_no_hard_prediction_goes_beyond_the_attainable_prc() -> None:
    rng = np.random.default_rng(0)
    for positives in (5, 20, 60):
        truth = np.arange(100) < positives
        for _ in range(60):
            said = np.where(truth, rng.random(100) < rng.random(), rng.random(100) < rng.random() / 2).astype(np.int64)
            scores = hard_scores(truth.astype(np.int64), said, 1)
            if scores["hard_roc"] >= 0.5:
                assert scores["hard_prc"] <= published.attainable_prc(scores["hard_roc"], positives / 100) + 1e-9
        said = (np.arange(100) < positives // 2).astype(np.int64)  # half of them found, and nothing else
        scores = hard_scores(truth.astype(np.int64), said, 1)
        assert scores["hard_prc"] == pytest.approx(published.attainable_prc(scores["hard_roc"], positives / 100))


@pytest.mark.parametrize("experiment", experiments().values(), ids=lambda each: each.name)
def test_experiments_are_ready_to_run(experiment: Experiment) -> None:
    schema = experiment.dataset.schema
    schema.require_reviewed()
    schema.require_column(experiment.dataset.target, role="target")
    assert schema.rows is None
    assert experiment.papers_name in PAPERS
    assert experiment.train_share == TRAIN_SHARES[experiment.papers_name]
    again = pickle.loads(pickle.dumps(experiment))  # noqa: S301  runs travel to other processes
    assert again.facts == experiment.facts


def test_the_authors_rows(tmp_path: Path) -> None:
    known = experiments()
    assert tuple(known)[: len(PAPERS)] == PAPERS
    assert "Time" not in known["credit"].dataset.schema.columns
    assert "year" not in known["census"].dataset.schema.columns
    labels, kinds = [1] * 4 + [0] * 5_000, ["fraud"] * 4 + ["random"] * 3_000 + ["prefix"] * 2_000
    store(tmp_path, pa.table({"Class": labels, "kind": kinds}), "credit_partial")
    for name, negatives in (("credit", 2_843), ("credit-half", 1_421)):
        table = known[name].dataset.load(tmp_path)
        assert (table.num_rows, sum(table["Class"].to_pylist())) == (4 + negatives, 4)
        assert "prefix" not in table["kind"].to_pylist()
    store(tmp_path, pa.table({"y": [1, 2, 3, 4, 5, 1]}), "epileptic_rebuilt")
    assert known["epileptic"].dataset.load(tmp_path)["y"].to_pylist() == [1, 0, 0, 0, 0, 1]
    marks = {f"{prefix}1": [1] * 30_000 for prefix in ("Wilderness_Area", "Soil_Type")}
    store(tmp_path, pa.table({"row": range(30_000), **marks}), "covtype")
    first, shuffled = (
        known[name].dataset.load(tmp_path)["row"].to_pylist() for name in ("covtype", "covtype-shuffled")
    )
    assert first == list(range(20_000))
    assert len(set(shuffled)) == 20_000
    assert max(shuffled) > 29_000


def test_rows_with_other_columns_and_nested_values_are_written(tmp_path: Path) -> None:
    output.write([{"a": 1, "b": {"c": [1]}}, {"a": 2.5, "d": "x"}], "rows", tmp_path)
    assert output.read("rows", tmp_path) == [
        {"commit": stamp.now(), "a": 1.0, "b": '{"c": [1]}', "d": None},
        {"commit": stamp.now(), "a": 2.5, "b": None, "d": "x"},
    ]
    assert output.read("nothing", tmp_path) == []
    assert output.markdown(["a", "b"], [[1, None], ["x|y\nz", 2.5]]).splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| 1 |  |",
        "| x/y z | 2.5 |",
    ]
    output.write_page("text", "page", tmp_path)
    assert (tmp_path / "page.md").read_text() == "text\n"
    assert not list(tmp_path.glob("*.part"))
