"""The list of kinds: their names, and whose an Arrow type is."""

import inspect
from pathlib import Path

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.schema import kinds
from pointillist.schema.kinds import KINDS, NAMES, AnyColumn, kind_of_type, show_in


def test_names_in_order() -> None:
    assert NAMES == "categorical, ordinal, boolean, integer, real, datetime, duration, image, derived, ignore"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_is_public_and_says_what_it_is(kind: type[AnyColumn]) -> None:
    assert getattr(pt, kind.__name__) is kind
    assert kind.__name__ in kinds.__all__
    assert kind.model_fields["kind"].default == kind.__name__.lower()
    assert kind.__doc__


def test_every_kind_that_is_written_is_listed() -> None:
    """A new file with a kind in it, and no line in the list, would be a kind that no schema knows."""
    for path in Path(kinds.__file__).parent.glob("*.py"):
        module = (
            __import__(f"pointillist.schema.kinds.{path.stem}", fromlist=["x"]) if path.stem != "__init__" else kinds
        )
        found = [each for _, each in inspect.getmembers(module, inspect.isclass) if issubclass(each, AnyColumn)]
        assert {each for each in found if "kind" in each.model_fields} <= set(KINDS)


@pytest.mark.parametrize(
    ("stored", "kind"),
    [
        (pa.date32(), pt.Datetime),
        (pa.timestamp("ns", "UTC"), pt.Datetime),
        (pa.duration("s"), pt.Duration),
        (pa.int64(), AnyColumn),
        (pa.string(), AnyColumn),
    ],
)
def test_whose_an_arrow_type_is(stored: pa.DataType, kind: type[AnyColumn]) -> None:
    assert kind_of_type(stored) is kind


@pytest.mark.parametrize(
    ("unit", "text"),
    [("number", "7,000"), ("day", "1989-03-02"), ("second", "1970-01-01 01:56:40"), ("minutes", "4d 20h 40m")],
)
def test_statistics_in_words(unit: str, text: str) -> None:
    assert show_in(unit, 7000.0) == text
