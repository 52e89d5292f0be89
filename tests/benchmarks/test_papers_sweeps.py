"""The sweeps: which runs share a release, the runner on a small simulated table, the page."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.papers import datasets as chosen_rows
from benchmarks.papers import output, sweeps
from benchmarks.papers.datasets import Experiment
from benchmarks.papers.recipe import Recipe
from benchmarks.papers.sweeps import EVEN, JOINT, NAME, REFERENCE, SWEEPS, TURN, Setting, app, made, page, settings
from benchmarks.tables.datasets import Dataset
from typer.testing import CliRunner

import pointillist as pt

PRODUCTS = pt.Hermite(order=2, product_order=2)


def tiny(**options: object) -> pt.NetworkSettings:
    return pt.NetworkSettings(hidden=(4,), steps=2, batch=20, loss="distance", **options)


SETTINGS = (
    Setting("products", TURN, Recipe(PRODUCTS, tiny(products_in_turn=True))),
    Setting("products", JOINT, Recipe(PRODUCTS, tiny())),
    Setting("features", "10", Recipe(pt.Merf(features=10), tiny())),
)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    """400 simulated people of whom the older are ill more often, and one quick classifier."""
    monkeypatch.setattr(sweeps, "MODELS", ("Gaussian naive Bayes",))
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 400)
    table = pa.table(
        {
            "age": age,
            "height": rng.integers(150, 200, 400),
            "sex": rng.choice(["f", "m"], 400),
            "ill": np.where(rng.random(400) * 150 < age, "yes", "no"),
        }
    )
    (tmp_path / "tables").mkdir()
    pq.write_table(table, tmp_path / "tables" / "small.parquet")
    columns = {
        "age": pt.Integer(min=0, max=99, missing=False),
        "height": pt.Integer(min=150, max=199, missing=False),
        "sex": pt.Categorical(categories=("f", "m"), missing=False, out_of_domain="error"),
        "ill": pt.Categorical(categories=("no", "yes"), missing=False, out_of_domain="error"),
    }
    schema = pt.Schema(name="small", reviewed=True, columns=columns)
    dataset = Dataset("small", "ill", schema, ("small",), chosen_rows._as_it_is)
    return Experiment(dataset, "small", 0.8, 0.75, "simulated")


def test_runs_of_one_seed_share_a_release_where_only_the_generator_differs(small: Experiment, tmp_path: Path) -> None:
    table = small.dataset.load(tmp_path)
    rows = list(made(small, table, SETTINGS, 2, ()))
    assert [row["sweep"] for row in rows] == 2 * [REFERENCE, REFERENCE, "products", "products", "features"]
    for first in (0, 5):
        turn, joint, features = rows[first + 2 : first + 5]
        assert turn["release"] == joint["release"] != features["release"]
    assert rows[2]["release"] != rows[7]["release"]
    for row in rows:
        assert 0 <= row["tvd_2"] <= row["tvd_3"] <= 1
        if row["sweep"] != REFERENCE:
            assert 0 <= row["hard_roc"] <= 1
            assert row["rows"] == small.split(table, row["seed"]).train.num_rows
            assert row["fit_seconds"] > 0
    assert rows[1]["hard_roc"] > 0.5  # age tells, and there is no noise in real rows
    assert rows[0]["tvd_2"] > rows[1]["tvd_2"] == 0
    assert list(made(small, table, SETTINGS, 2, rows)) == []
    missing = [row for row in rows if row["setting"] != JOINT]
    assert [row["setting"] for row in made(small, table, SETTINGS, 2, missing)] == [JOINT, JOINT]


def test_the_sweeps_change_what_they_say() -> None:
    found = settings(steps=7)
    assert tuple(dict.fromkeys(each.sweep for each in found)) == SWEEPS
    assert len({(each.sweep, each.name) for each in found}) == len(found)
    by_name = {each.name: each for each in found if each.sweep == "products"}
    assert by_name[TURN].method == by_name[EVEN].method == by_name[JOINT].method
    generators = [by_name[name].recipe.generator for name in (TURN, EVEN, JOINT)]
    assert [getattr(each, "products_in_turn", None) for each in generators] == [True, False, False]
    assert [getattr(each, "gamma", None) for each in generators] == [1, 1 / 20, 1]
    for sweep, values in (("order", "order"), ("product_columns", "product_columns"), ("features", "features")):
        mine = [each for each in found if each.sweep == sweep]
        assert [getattr(each.recipe.method, values) for each in mine] == [
            int(each.name.replace(",", "")) for each in mine
        ]
    gammas = [each for each in found if each.sweep == "gamma"]
    assert len({each.method for each in gammas}) == 1
    assert [getattr(each.recipe.generator, "gamma", None) for each in gammas] == [float(each.name) for each in gammas]
    assert {each.recipe.generator.steps for each in found if isinstance(each.recipe.generator, pt.NetworkSettings)} == {
        7
    }


def test_twenty_products_side_by_side_have_the_noise_of_twenty_releases_of_a_twentieth(small: Experiment) -> None:
    schema = small.dataset.schema.model_copy(update={"rows": 300})

    def noise(products: int) -> float:
        method = pt.Hermite(product_columns=2, products=products)
        plan = pt.plan(schema, epsilon=1, target="ill", neighbours="replace-one", method=method)
        (block,) = (each for each in plan.rounds[0].blocks if each.name.startswith("products"))
        return plan.noise_rows(0, block)

    # A release of one product with a third of mu^2 has the square root of 3 times the noise of one with all of it.
    assert noise(3) == pytest.approx(math.sqrt(3) * noise(1), rel=1e-6)


def _row(sweep: str, setting: str, seed: int, tvd: float, **facts: object) -> dict[str, object]:
    scores = {"tvd_2": tvd, "tvd_3": 2 * tvd, "hard_roc": 0.9 - tvd, "hard_prc": 0.8, "numbers": 1_234}
    cost = {"release_seconds": 1.0, "fit_seconds": 2.0, "release": f"release {seed}"}
    return {"sweep": sweep, "setting": setting, "seed": seed, "options": "{}", "code": "a", **scores, **cost, **facts}


def test_the_page_compares_on_the_same_release_and_shows_the_newest_options_alone() -> None:
    rows = [
        _row("products", JOINT, 0, 0.10),
        _row("products", JOINT, 1, 0.12),
        _row("products", TURN, 0, 0.13),
        _row("products", TURN, 1, 0.16),
        _row("products", EVEN, 0, 0.11, release="another"),
        _row("order", "50", 0, 0.555, options='{"old": 1}'),
        _row("order", "50", 0, 0.2),
        _row("order", "5", 0, 0.3),
        _row(REFERENCE, "real rows", 0, 0.0, options=None, code="b"),
    ]
    text = page(rows)
    text_lines = text.splitlines()
    assert (
        f"- {JOINT}, against in turn: TVD of pairs -0.0350 ± 0.0071, of triples -0.0700 ± 0.0141, "
        "ROC +0.0350 ± 0.0071; releases: 2." in text_lines
    )
    assert f"- {EVEN}" not in text
    assert "| 50 | 1 | 1,234 | 0.2000 | 0.4000 | 0.700 | 0.800 | 1.0 | 2.0 |" in text_lines
    assert "0.555" not in text
    assert text.index("| 5 | 1 ") < text.index("| 50 | 1 ") < text.index(f"| {TURN} | 2 ")
    assert "states of the code" not in text
    assert "## γ" not in text


def test_the_command_writes_and_goes_on_where_it_stopped(
    small: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "experiments", lambda: {"adult": small})
    monkeypatch.setattr(sweeps, "settings", lambda steps=600: SETTINGS)
    options = ["--data", str(tmp_path), "--sweeps", "features", "--seeds", "1", "--out", str(tmp_path)]
    first = CliRunner().invoke(app, options)
    assert first.exit_code == 0, first.output
    rows = output.read(NAME, tmp_path)
    assert [row["sweep"] for row in rows] == [REFERENCE, REFERENCE, "features"]
    assert "## Number of random features" in (tmp_path / "sweeps.md").read_text()
    second = CliRunner().invoke(app, options)
    assert "features 10 0:" not in second.output
    assert output.read(NAME, tmp_path) == rows
    third = CliRunner().invoke(app, [*options, "--again"])
    assert "features 10 0:" in third.output
    assert len(output.read(NAME, tmp_path)) == 3


def test_the_command_names_what_it_does_not_know(tmp_path: Path) -> None:
    for options, message in (
        (["--sweeps", "luck"], "sweep 'luck' is not known. Known: gamma, order"),
        (["--sweeps", "gamma"], "POINTILLIST_DATA"),
    ):
        done = CliRunner().invoke(app, [*options, "--out", str(tmp_path)], env={"POINTILLIST_DATA": ""})
        assert done.exit_code == 2
        assert message in done.output
