"""One-run audits: honest releases pass, a release without noise does not."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.curator import releasing
from pointillist.evaluate.audit import audit


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("max_rows", [None, 2])
def test_an_honest_release_passes(
    tiny: pt.Schema, crowd: Callable[..., pa.Table], neighbours: str, max_rows: int | None
) -> None:
    """An alarm is false once in a million."""
    table = crowd(500)
    if max_rows is not None:
        tiny = tiny.model_copy(update={"person": pt.Person(column="who", max_rows=max_rows)})
        table = table.append_column("who", pa.array([f"p{i % 200}" for i in range(500)]))
    found = audit(table, tiny, epsilon=1.0, neighbours=neighbours, attacks=("canaries",))
    (finding,) = found.findings
    assert found.passed
    assert finding.private
    assert "keep them to yourself" in " ".join(found.notes)
    assert finding.measures["canaries"] == 50
    assert finding.measures["best_achievable"] < 1.0 < finding.measures["without_noise"]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("with_rows", [False, True])
def test_a_release_with_hardly_any_noise_is_caught(
    schema: pt.Schema,
    people: Callable[..., pa.Table],
    neighbours: str,
    with_rows: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = releasing.add_noise
    monkeypatch.setattr(releasing, "add_noise", lambda sums, sigma: honest(sums, sigma / 100))
    table: Any = people(500) if with_rows else None
    found = audit(table, schema, epsilon=1.0, neighbours=neighbours, attacks=("canaries",))
    (finding,) = found.findings
    assert finding.violated
    assert finding.private == with_rows
    assert finding.epsilon > 1.0
    assert finding.measures["correct"] > 0.9 * finding.measures["guesses"]
