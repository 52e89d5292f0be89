"""The audit as a whole: what it runs, what it says, what it leaves alone."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import ArtefactError, SchemaError, UsageError
from pointillist.evaluate.audit import Audit, Finding, audit
from pointillist.evaluate.audit.audited_pipeline import _Unkept
from pointillist.evaluate.audit.white_box import _most_by_threshold
from pointillist.privacy.ledger import Ledger

QUICK = pt.Mosaic(components=10, steps=20)


@pytest.fixture
def whole(tiny: pt.Schema, crowd: Callable[..., pa.Table]) -> Audit:
    return audit(crowd(300), tiny, epsilon=2.0, runs=10, method=QUICK)


def test_all_attacks_are_run_and_saved(whole: Audit, own_ledger: Path) -> None:
    assert not own_ledger.exists()  # nothing is spent, and nothing is created
    assert [each.attack for each in whole.findings] == ["facts", "white-box", "canaries", "membership"]
    assert whole.passed
    assert (whole.epsilon, whole.delta, whole.neighbours, whole.unit) == (2.0, 1e-5, "add-remove", "one row")
    assert whole.sentence().startswith("Passed")
    assert [each.private for each in whole.findings] == [False, False, True, True]
    table = whole.table()
    assert table.num_rows == 4
    assert table.column_names == ["attack", "promised", "epsilon", "confidence", "violated", "private", "sentence"]
    text = json.dumps(whole.to_json(), allow_nan=False)
    assert Audit.from_json(json.loads(text)) == whole
    assert json.loads(text)["private"] is True
    assert "installed now" in whole.notes[0]
    assert "no release file" in whole.notes[0]


def test_an_infinite_bound_survives_json() -> None:
    finding = Finding("facts", math.inf, 1.0, True, "VIOLATED: so.", {"mu": math.inf}, False)
    made = Audit("d", "", None, "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.27, (finding,), ("note",))
    text = json.dumps(made.to_json(), allow_nan=False)
    again = Audit.from_json(json.loads(text))
    assert again.findings[0].epsilon == math.inf
    assert not again.passed
    assert "VIOLATED" in again.sentence()
    with pytest.raises(ArtefactError, match=r"a\.json: not a saved audit"):
        Audit.from_json({"findings": [1]}, origin="a.json")


def test_without_a_table_the_schema_is_enough(tiny: pt.Schema, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(tiny.to_toml())
    steps: list[tuple[str, float]] = []
    found = audit(None, path, epsilon=20.0, runs=10, progress=lambda step, part: steps.append((step, part)))
    assert [each.attack for each in found.findings] == ["facts", "white-box", "canaries"]
    assert not found.private
    assert found.passed
    assert ("white-box releases", 1.0) in steps
    assert ("canaries", 1.0) in steps
    assert all(0 <= part <= 1 for _, part in steps)
    whole = [part for step, part in steps if step == "audit"]
    assert whole == sorted(whole)  # one bar for all attacks, so that it can say how long is left
    assert whole[-1] == 1.0


@pytest.mark.parametrize(("runs", "most"), [(10, 0.0), (30, 0.75), (200, 2.8)])
def test_the_white_box_says_how_much_so_many_runs_can_show(runs: int, most: float) -> None:
    """Eight tests share 5 %: half of the runs judge, and all of them are right."""
    assert _most_by_threshold(runs, 1e-5, 0.05 / 8) == pytest.approx(most, abs=0.06)


def test_findings_say_how_much_they_could_show_at_most(whole: Audit) -> None:
    boxed, members = (
        next(each for each in whole.findings if each.attack == name) for name in ("white-box", "membership")
    )
    assert "10 releases on each side" in boxed.sentence
    assert "so many releases can show ε ≥ 0 at most" in boxed.sentence
    assert members.measures["shadows"] == 6
    assert 1 < members.measures["epsilon_at_most"] < 10
    assert members.epsilon <= members.measures["epsilon_at_most"]


def test_a_csv_file_is_audited(tiny: pt.Schema, crowd: Callable[..., pa.Table], tmp_path: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(crowd(200), tmp_path / "t.csv")
    found = audit(tmp_path / "t.csv", tiny, epsilon=1.0, attacks=("canaries", "membership"), method=QUICK)
    assert found.passed


def test_mistakes_are_named(tiny: pt.Schema) -> None:
    for match, options in [
        ("'magic' is not known", {"attacks": ("magic",)}),
        ("needs a table", {"attacks": ("membership",)}),
        ("at least 10", {"runs": 3}),
        ("shadows", {"shadows": -1}),
        ("confidence", {"confidence": 1.0}),
        ("neighbours 'x'", {"neighbours": "x"}),
        ("method 'x'", {"method": "x"}),
        ("column", {"target": "nobody"}),
    ]:
        with pytest.raises((UsageError, SchemaError), match=match):
            audit(None, tiny, epsilon=1.0, **options)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="reviewed"):
        audit(None, tiny.model_copy(update={"reviewed": False}), epsilon=1.0)


def test_the_ledger_is_not_changed(tiny: pt.Schema, crowd: Callable[..., pa.Table], own_ledger: Path) -> None:
    pt.release(crowd(100), tiny, epsilon=1.0)
    before, changed = own_ledger.read_bytes(), own_ledger.stat().st_mtime_ns
    audit(crowd(100), tiny, epsilon=2.0, runs=10, method=QUICK)
    assert own_ledger.read_bytes() == before
    assert own_ledger.stat().st_mtime_ns == changed
    assert sorted(path.name for path in own_ledger.parent.iterdir()) == [own_ledger.name]


def test_the_ledger_of_an_audit_keeps_nothing() -> None:
    """Every public method is its own: a new one of `Ledger` cannot write through it unnoticed."""
    public = {name for name, each in vars(Ledger).items() if callable(each) and not name.startswith("_")}
    assert public
    assert public <= vars(_Unkept).keys()
    assert _Unkept().path == Path(os.devnull)


def test_an_audit_knows_its_release(tiny: pt.Schema, crowd: Callable[..., pa.Table], tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epsilon": 2.0, "target": "sex"}
    found = audit(None, tiny, attacks=("canaries",), **settings)
    path = tmp_path / "tiny.release"
    pt.release(crowd(50), tiny, output=path, **settings)
    assert found.matches(pt.Release.load(path))
    assert Audit.from_json(json.loads(json.dumps(found.to_json()))).matches(pt.Release.load(path))
    wider = tiny.columns | {"age": pt.Integer(min=0, max=98, bins=8, special=(-1,), missing=False)}
    others: tuple[dict[str, Any], ...] = (
        {"epsilon": 2.1},
        {"delta": 1e-6},
        {"target": None},
        {"neighbours": "replace-one"},
        {"schema": tiny.model_copy(update={"columns": wider})},
    )
    for number, other in enumerate(others):
        changed = {"schema": tiny, **settings, **other}
        assert not found.matches(pt.release(crowd(50), **changed, ledger=tmp_path / f"{number}.sqlite"))


def test_a_bound_near_the_promise_is_not_called_a_near_miss() -> None:
    def sentence(epsilon: float, *, violated: bool = False) -> str:
        finding = Finding("white-box", epsilon, 0.95, violated, "", {}, False)
        return Audit("d", "", None, "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.27, (finding,), ()).sentence()

    assert "no larger than the promise needs" in sentence(0.99)
    assert sentence(0.1) == "Passed: no attack showed more than ε = 0.1 where ε = 1 is promised."
    assert "within chance" in sentence(1.002)
    assert sentence(1.5, violated=True).startswith("VIOLATED")
