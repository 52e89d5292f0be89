"""What was measured, as a card states it. tests/pages/test_card.py holds it against a release."""

import pytest

from pointillist.pages.measured import Measured

PAIRS = Measured("pairs", 3, 90, 0.5, 4.3, 0.2)


def test_counts_below_three_deviations_are_lost() -> None:
    assert PAIRS.smallest == 13
    assert PAIRS.error_said == "0.200"


def test_it_survives_a_round_trip_and_refuses_what_it_is_not() -> None:
    assert Measured.from_json(PAIRS.to_json()) == PAIRS
    with pytest.raises(ValueError, match="noise"):
        Measured.from_json({**PAIRS.to_json(), "noise": -1.0})
