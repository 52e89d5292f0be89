"""An evaluation in a terminal: the verdict point by point, then the figures and the notes."""

from collections.abc import Callable

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.cli.show.evaluation import show_evaluation

Shown = Callable[[], list[str]]


@pytest.mark.parametrize("target", [None, "sex"])
def test_every_point_figure_and_note_is_shown(
    target: str | None, people: Callable[..., pa.Table], schema: pt.Schema, shown: Shown
) -> None:
    result = pt.evaluate(people(200, 1), people(200, 2), schema=schema, target=target)
    show_evaluation(result)
    text = " ".join(" ".join(shown()).split())
    assert text.startswith("Synthetic against real: people")
    for point in result.verdict.points:
        assert point.grade in text
    assert "Mean total variation distance: 1 column 0." in text
    assert text.count("Note: ") == len(result.notes) > 0
