"""What was measured, as a card states it. tests/pages/test_card.py holds it against a release."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from pointillist.pages.measured import Measured, most_units
from pointillist.privacy.grid import Grid
from pointillist.schema import Person

PAIRS = Measured("pairs", 3, 90, 0.5, 4.3, 0.2)


def test_counts_below_three_deviations_are_lost() -> None:
    assert PAIRS.smallest == 13
    assert PAIRS.error_said == "0.200"


def test_it_survives_a_round_trip_and_refuses_what_it_is_not() -> None:
    assert Measured.from_json(PAIRS.to_json()) == PAIRS
    with pytest.raises(ValueError, match="noise"):
        Measured.from_json({**PAIRS.to_json(), "noise": -1.0})


def _release(shared: int, person: Person | None) -> Any:
    """All that is asked of a release here."""
    return SimpleNamespace(
        of_histories=shared > 0,
        schema=SimpleNamespace(person=person),
        measurements=[SimpleNamespace(grid=Grid(20, shared))],
    )


def test_people_are_no_more_than_their_rows() -> None:
    person = Person(column="id", max_rows=3)
    assert most_units(_release(0, person), 100, 0.0) == most_units(_release(0, None), 100, 0.0) == 100
    assert most_units(_release(0, None), 100, 10.0) == 131


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 60, 1_000, 33_000])
def test_rows_that_share_a_weight_may_add_up_to_less_than_a_person(rows: int) -> None:
    """1,000 people, each with as many rows as make the whole parts fall short most: none of them is lost."""
    parts, people = Grid(20, 16).parts, 1_000
    counted = people * min(each * (parts // each) / parts for each in range(1, rows + 1))
    found = most_units(_release(16, Person(column="id", max_rows=rows)), counted, 0.0)
    assert people <= found <= math.ceil(counted / max(0.5, 1 - (rows - 1) / parts))
