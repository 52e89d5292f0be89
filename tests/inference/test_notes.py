"""Notes beside figures: why there is no interval, and that rows were capped."""

from dataclasses import replace

import pointillist as pt
from pointillist.inference.notes import note_of


def test_a_measured_figure_needs_none(counted: pt.Received) -> None:
    assert note_of(counted.release, "measured", ["x", "y"]) == ""


def test_why_there_is_no_interval(counted: pt.Received, received: pt.Received) -> None:
    assert "the noise hides it" in note_of(counted.release, "not measured", ["x", "y"])
    assert "no measurement holds" in note_of(received.release, "not measured", ["x", "kind"])


def test_a_cap_is_told_with_every_figure(counted: pt.Received) -> None:
    schema = counted.release.schema.model_copy(update={"person": pt.Person(column="id", max_rows=1_000)})
    assert "at most 1,000 rows" in note_of(replace(counted.release, schema=schema), "measured", ["x"])
