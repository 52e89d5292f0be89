"""What every kind has in common: the facts that a schema file says, and gaps."""

import pytest

from pointillist.schema import Categorical, Integer, Real
from pointillist.schema.selection import Selection


def test_facts_are_those_that_were_given_and_those_that_were_read() -> None:
    column = Real(min=0, max=1, bins=8, read_from_data=("scale", "decimals"))
    facts = column.facts()
    assert facts == {
        "kind": "real", "bins": 8, "min": 0.0, "max": 1.0, "scale": "linear", "missing": True,
        "read_from_data": ("scale", "decimals"),
    }  # fmt: skip
    assert (next(iter(facts)), list(facts)[-1]) == ("kind", "read_from_data")


def test_a_gap_can_be_meant_where_there_may_be_one() -> None:
    gap = {"missing": True}
    assert Integer(min=0, max=9).select(gap) == Selection(missing=True)
    with pytest.raises(ValueError, match="never missing"):
        Integer(min=0, max=9, missing=False).select(gap)
    assert Categorical(categories=(1, 2), missing=False).select(gap) == Selection(
        missing=True
    )  # unlisted ones are gaps
