"""The method of a release, from a file that may be a stranger's: its own settings, of their types, and no endless work."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.methods.planned_method import planned_method


@pytest.fixture(scope="module")
def release(shapes: Callable[..., pa.Table], shapes_schema: pt.Schema, seeded_release: Any) -> pt.Release:
    made: pt.Release = seeded_release(shapes(200), shapes_schema, method=pt.Mosaic(steps=7, most_tiles=9))
    return made


def with_options(release: pt.Release, **options: Any) -> pt.Release:
    return replace(release, plan=replace(release.plan, options={**release.plan.options, **options}))


def test_it_has_the_settings_that_were_planned_with(release: pt.Release) -> None:
    method = planned_method(release)
    assert isinstance(method, pt.Mosaic)
    assert (method.steps, method.most_tiles) == (7, 9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stepz": 3}, "'stepz' is none of its settings"),
        ({"steps": "3"}, "steps is not of the right type"),
        ({"steps": True}, "steps is not of the right type"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"steps": 10**9}, "more work than a release may ask for"),
    ],
)
def test_settings_that_it_does_not_take(release: pt.Release, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArtefactError, match=words):
        planned_method(with_options(release, **options))


def test_an_unknown_method(release: pt.Release) -> None:
    with pytest.raises(UsageError, match="method 'tiles' is not known for tables"):
        planned_method(replace(release, plan=replace(release.plan, method="tiles")))
