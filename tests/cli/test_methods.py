"""The command line's settings: `--set` takes every field of a method or generator, and `methods` tells of them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import pointillist as pt
from pointillist.cli import main
from pointillist.methods import METHODS
from pointillist.settings import settings_of

SCHEMA = pt.Schema(
    name="people",
    rows=300,
    columns={
        "sex": pt.Categorical(categories=("F", "M"), missing=False, out_of_domain="error"),
        "age": pt.Integer(min=0, max=110, missing=False),
    },
)
Run = Callable[..., tuple[int, str]]
RELEASE = ("release", "people.csv", "--schema", "people.toml", "--epsilon", 2)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command beside people.csv and people.toml; its code, and what it printed on one line."""
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(SCHEMA.to_toml())
    rng = np.random.default_rng(0)
    pacsv.write_csv(pa.table({"sex": rng.choice(["F", "M"], 300), "age": rng.integers(20, 60, 300)}), "people.csv")

    def call(*args: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["pointillist", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return int(end.value.code or 0), " ".join((printed.out + printed.err).split())

    return call


def test_all_methods_and_generators_are_listed(run: Run) -> None:
    code, shown = run("methods")
    assert code == 0
    for name in (*METHODS, "mixture", "network", "points", "image-network"):
        assert name in shown
    facts = {(each["name"], each["what"]) for each in json.loads(run("methods", "--json")[1])}
    assert {each for each in facts if "default" in each[1]} == {
        ("mosaic", "method for tables, the default"),
        ("spectral", "method for images, the default"),
    }


def test_a_methods_settings_are_those_of_its_fields(run: Run) -> None:
    code, shown = run("methods", "merf", "--json")
    assert code == 0
    tables, images = json.loads(shown)
    assert (tables["what"], images["what"]) == ("method for tables", "method for images")
    for facts, kind in ((tables, pt.Merf), (images, pt.ImageMerf)):
        assert [each["name"] for each in facts["settings"]] == [each.name for each in settings_of(kind)]
    assert tables["settings"][0] == {
        "name": "features",
        "takes": "whole number or none",
        "default": "none",
        "meaning": settings_of(pt.Merf)[0].meaning,
    }
    code, shown = run("methods", "mosaic")
    assert code == 0
    assert "components" in shown
    assert "Can be set at the fit, too." in shown


def test_an_unknown_method_is_refused_with_those_that_are_known(run: Run) -> None:
    code, shown = run("methods", "tiles")
    assert code == 2
    assert "there is no method or generator 'tiles'. Known: mosaic, chronicle, merf, " in shown


def test_settings_end_in_the_plan(run: Run) -> None:
    code, shown = run(
        *RELEASE, "--method", "merf", "--set", "features=40", "--set", "length_scales=0.3,1", "--plan", "--json"
    )
    assert code == 0, shown
    options = json.loads(shown)["options"]
    assert options["features"] == 40
    assert options["length_scales"] == [0.3, 1]


def test_settings_of_a_release_and_of_its_fit(run: Run) -> None:
    assert run(*RELEASE, "--set", "most_tiles=8", "-o", "r", "-q") == (0, "")
    assert pt.Release.load("r").plan.options["most_tiles"] == 8
    assert run("fit", "r", "--set", "components=3", "-o", "m", "-q") == (0, "")
    assert len(pt.Model.load("m").generator.weights) == 3
    assert run("fit", "r", "--generator", "network", "--set", "steps=2", "--set", "hidden=5,6", "-o", "n", "-q") == (
        0,
        "",
    )
    assert pt.Model.load("n").generator.shape.hidden == (5, 6)


def test_synth_takes_settings_of_its_method(run: Run) -> None:
    code, shown = run("synth", *RELEASE[1:], "--set", "most_tiles=8", "-n", 20, "-o", "s.csv", "-q")
    assert (code, shown) == (0, "")
    assert pt.Release.load("s.release").plan.options["most_tiles"] == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RELEASE, "--set", "featurs=4", "--plan"), "mosaic has no setting 'featurs'. Its settings: one_way_share (number"),
        ((*RELEASE, "--set", "steps=0", "--plan"), "steps must be at least 1, not 0."),
        ((*RELEASE, "--set", "steps=few", "--plan"), "steps takes whole number, not 'few'. Steps of the fit."),
        ((*RELEASE, "--method", "landmarks", "--set", 'kernel={"a": 1}', "--plan"), "landmarks does not take these"),
        (("fit", "r", "-o", "m", "--set", "most_tiles=5"), "decides what is measured, and the release is made. Of"),
        (("fit", "r", "-o", "m", "--set", "steps=5", "--steps", 5), "--steps and --variety are settings, too"),
        (("fit", "r", "-o", "m", "--generator", "points", "--set", "point=5"), "points has no setting 'point'"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_message(words: tuple[object, ...], said: str, run: Run) -> None:
    if words[0] == "fit":
        assert run(*RELEASE, "-o", "r", "-q") == (0, "")
    code, shown = run(*words)
    assert 2 <= code <= 6
    assert said in shown


def test_an_option_and_a_setting_for_the_same(run: Run) -> None:
    pacsv.write_csv(pa.table({"sex": ["F", "M"], "age": [1, 2]}), "public.csv")
    code, shown = run(*RELEASE, "--method", "landmarks", "--public", "public.csv", "--set", "overlap=true", "--plan")
    assert code == 2
    assert "--set overlap: there is an option for it, which is given, too." in shown
