"""The audit as a whole: what it runs, what it says, what it leaves alone."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import ArtefactError, SchemaError, UsageError
from pointillist.evaluate.audit import Audit, Finding, audit
from pointillist.evaluate.audit.facts import differences

QUICK = pt.Mosaic(components=10, steps=20)


@pytest.fixture
def whole(tiny: pt.Schema, crowd: Callable[..., pa.Table]) -> Audit:
    return audit(crowd(300), tiny, epsilon=2.0, runs=10, method=QUICK)


def test_all_attacks_are_run_and_saved(whole: Audit, own_ledger: Path) -> None:
    assert [each.attack for each in whole.findings] == ["facts", "white-box", "canaries", "membership"]
    assert whole.passed
    assert (whole.epsilon, whole.delta, whole.neighbours, whole.unit) == (2.0, 1e-5, "add-remove", "one row")
    assert whole.sentence().startswith("Passed")
    assert [each.private for each in whole.findings] == [False, False, True, True]
    assert not own_ledger.exists()  # nothing is spent
    table = whole.table()
    assert table.num_rows == 4
    assert table.column_names == ["attack", "promised", "epsilon", "confidence", "violated", "private", "sentence"]
    text = json.dumps(whole.to_json(), allow_nan=False)
    assert Audit.from_json(json.loads(text)) == whole


def test_an_infinite_bound_survives_json() -> None:
    finding = Finding("facts", math.inf, 1.0, True, "VIOLATED: so.", {"mu": math.inf}, False)
    made = Audit("d", "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.27, (finding,), ("note",))
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
        ("confidence", {"confidence": 1.0}),
        ("neighbours 'x'", {"neighbours": "x"}),
        ("method 'x'", {"method": "x"}),
        ("column", {"target": "nobody"}),
    ]:
        with pytest.raises((UsageError, SchemaError), match=match):
            audit(None, tiny, epsilon=1.0, **options)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="reviewed"):
        audit(None, tiny.model_copy(update={"reviewed": False}), epsilon=1.0)


def test_differences_name_their_place() -> None:
    one = {"a": [1, {"b": 2}], "c": 3}
    assert differences(one, one) == []
    assert differences(one, {"a": [1, {"b": 5}], "c": 3}) == ["a.1.b"]
    assert differences(one, {"a": [1], "c": 3, "d": 4}) == ["a", "d"]
    assert differences(1, 2) == ["everything"]
