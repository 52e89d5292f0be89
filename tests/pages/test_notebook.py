"""Notebook boxes: small, themed, escaped, and silent about private values."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.boxes import HOSTILE, hostile_schema, sound

import pointillist as pt
from pointillist.evaluate.audit.finding import PRIVATE, Finding
from pointillist.inference.query_language import Query
from pointillist.pages.notebook import ROWS, Box, Rows, interval


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> pt.Ledger:
    return pt.Ledger(tmp_path_factory.mktemp("ledger") / "<b>.sqlite")


@pytest.fixture(scope="module")
def release(ledger: pt.Ledger) -> pt.Release:
    rng = np.random.default_rng(0)
    table = pa.table({HOSTILE: rng.choice(["a", f"b {HOSTILE}"], 300), "age": rng.integers(0, 100, 300)})
    return pt.release(table, hostile_schema(), epsilon=4.0, ledger=ledger)


def test_names_are_escaped_wherever_they_stand(release: pt.Release, random_model: Callable[..., pt.Model]) -> None:
    assert "\\u202e" in sound(release._repr_html_())
    assert release.id[:8] in release._repr_html_()
    sound(random_model(release.schema)._repr_html_())


def test_a_ledger_shows_its_accounts(release: pt.Release, ledger: pt.Ledger) -> None:
    book = sound(ledger._repr_html_())
    assert "&lt;b&gt;.sqlite" in book
    assert "ε = 4 of 10" in book
    assert release.id[:8] in book


def test_answers_and_estimates(release: pt.Release, random_model: Callable[..., pt.Model]) -> None:
    model = replace(random_model(release.schema), release=release.id)
    received = pt.receive(release, model=model, rows=200)
    one = received.mean("age")
    assert one.shown(one.value) in sound(one._repr_html_())
    assert 'class="range"' in one._repr_html_()
    assert "no interval" in sound(replace(one, basis="not measured", note=HOSTILE)._repr_html_())
    asked = Query.parse(f"mean(age), count() group by `{HOSTILE}`", received.columns)
    answers = asked.answer(received)
    assert sound(answers._repr_html_()).count("<tr>") == 1 + 2 * len(answers.groups)


def test_what_was_computed_from_private_rows_says_so() -> None:
    judged = pt.Evaluation("<i>people</i>", {}, None, None, _verdict(), ("a note",), {"real": 1, "synthetic": 1})
    box = sound(judged._repr_html_())
    assert "Clear this output" in box
    assert '<td class="poor">poor</td>' in box
    assert "41.5" in box
    assert "a town of 3 people" not in box


def _verdict() -> Any:
    from pointillist.evaluate.verdict import Point, Verdict

    return Verdict((Point("single columns", "poor", "41.5 %", "a town of 3 people", "rule"),))


def test_an_audit_names_whom_its_findings_are_for() -> None:
    finding = Finding("membership <b>", float("inf"), 0.95, True, "broken", {}, private=True)
    found = pt.Audit("d", "h", None, "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.3, (finding,), ())
    box = sound(found._repr_html_())
    assert "∞" in box
    assert "VIOLATED" in box
    assert PRIVATE in box
    assert PRIVATE not in replace(found, findings=(replace(finding, private=False),))._repr_html_()


def test_images_are_drawn_within_the_page() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (50, 8, 8, 1), dtype=np.uint8)
    box = sound(pt.Images(pixels)._repr_html_())
    assert box.count('src="data:image/png;base64,') == 1
    assert "32 of them" in box
    assert "<img" not in pt.Images(pixels[:0])._repr_html_()


def test_boxes_know_the_themes_of_notebooks() -> None:
    box = Box("x").to_html()
    for theme in ("prefers-color-scheme: dark", 'data-jp-theme-light="true"', "vscode-dark", 'html[theme="dark"]'):
        assert theme in box


def test_intervals_share_a_scale() -> None:
    own, shared = interval(1.0, 0.0, 2.0), interval(1.0, 0.0, 2.0, 4.0)
    assert 'cx="80.0"' in own
    assert 'cx="42.0"' in shared
    assert interval(1.0, 1.0, 1.0)


def test_a_long_table_is_a_screenful() -> None:
    assert sound(Box("long", tables=[Rows(("x",), [("y" * 10_000,)] * (ROWS + 1))]).to_html()).count("<td>") == ROWS
