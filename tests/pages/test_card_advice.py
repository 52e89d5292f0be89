"""What a card advises: it follows from the noise, the unit and what was vouched for."""

from pointillist.pages.card_advice import limits, remaining_risks, uses
from pointillist.pages.measured import Measured
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.schema import Person

CLEAR, DROWNED = Measured("pairs", 3, 90, 0.5, 4.3, 0.2), Measured("singles", 3, 90, 0.5, 40.0, 2.0)
ROW = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, None, 0.27, 0.0, 0.0)
PERSON = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, Person(column="id", max_rows=2), 0.27, 0.0, 0.0)


def test_uses_follow_the_noise() -> None:
    assert "two-way tables" in uses(False, [CLEAR, DROWNED])[1]
    assert "orders of magnitude" in uses(False, [DROWNED])[1]
    assert "classifiers" in uses(True, [])[1]


def test_limits_name_the_smallest_groups() -> None:
    assert "singles (below about 120 rows) and pairs (below about 13 rows)" in limits(False, [DROWNED, CLEAR])[1]
    assert not any("rows" in each for each in limits(True, [CLEAR]))


def test_risks_follow_the_unit_and_what_was_vouched_for() -> None:
    assert "vouched for" in remaining_risks(ROW, True)[0]
    assert "vouched for" not in remaining_risks(ROW, False)[0]
    assert "several rows" in remaining_risks(ROW, False)[1]
    assert "several rows" not in remaining_risks(PERSON, False)[1]
