"""A release in a terminal: what is in it, and what it promises."""

from collections.abc import Callable

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.cli.show.release import show_release

Shown = Callable[[], list[str]]


def test_a_release_of_a_table(people: Callable[..., pa.Table], schema: pt.Schema, shown: Shown) -> None:
    release = pt.release(people(100), schema, epsilon=1.0, target="sex", neighbours="replace-one")
    show_release(release)
    text = " ".join(" ".join(shown()).split())
    assert f"Release {release.id} of people, made {release.created} by mosaic" in text
    assert release.guarantee.sentence() in text
    assert "Target: sex" in text
    assert "Rows: 100 (public, because neighbours replace one row)" in text
    for each in release.plan.rounds:
        for block in each.blocks:
            assert f"± {block.noise_rows:,.1f}" in text
    assert "Facts first read from the data" not in text


def test_facts_that_were_read_from_the_data_are_named(shown: Shown) -> None:
    schema = pt.Schema(name="t", columns={"a": pt.Integer(min=0, max=3, read_from_data=("min", "max"))})
    with pytest.warns(pt.FactsFromDataWarning):
        release = pt.release(pa.table({"a": [0, 1, 2, 3]}), schema, epsilon=1.0)
    show_release(release)
    assert "declared public: a: min, max." in " ".join(" ".join(shown()).split())
