"""The promise: its sentence says all of it, and facts that are none are refused."""

from dataclasses import replace

import pytest

from pointillist.errors import UsageError
from pointillist.privacy.guarantee import Guarantee, Neighbours, short
from pointillist.privacy.owners import Owners, Trust
from pointillist.schema import Person

ROW = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, None, 0.27, 1e-9, 1e-12)
PERSON = Guarantee(0.5, 1e-6, Neighbours.REPLACE_ONE, Person(column="p", max_rows=3), 0.14, 1e-9, 1e-12)
TOGETHER = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, PERSON.person, 0.27, 1e-9, 1e-12, owners=Owners(3, Trust.SUM, 1))
IMAGE = Guarantee(2.0, 0.0, Neighbours.ADD_REMOVE, None, 0.5, 0.0, 0.0, "image")


def test_the_sentence_names_the_unit_the_relation_and_the_numbers() -> None:
    assert ROW.sentence() == (
        "This release is (ε = 1, δ = 1e-5)-differentially private: if one row were added or removed, the probability of "
        "any outcome would change by a factor of at most e^1, but for an additive 1e-5."
    )
    assert "if one person (column 'p', at most 3 rows each) were replaced by any other" in PERSON.sentence()
    assert "one image" in IMAGE.sentence()
    assert "additive" not in IMAGE.sentence()


def test_of_several_owners_it_says_whom_it_holds_against() -> None:
    assert "(column 'p', at most 3 rows each) at one owner were added" in TOGETHER.sentence()
    assert "also together with any one of the owners" in TOGETHER.sentence()


def test_it_is_for_a_unit_whatever_else_is_known_of_the_person() -> None:
    """Promises for the same person must be equal, or they cannot be added up."""
    known = replace(PERSON, person=Person(column="p", max_rows=3, order="t", persons=40))
    assert known == PERSON
    assert known.to_json()["person"] == {"column": "p", "max_rows": 3}


@pytest.mark.parametrize("guarantee", [ROW, PERSON, IMAGE, TOGETHER])
def test_it_comes_back_from_json_as_it_was(guarantee: Guarantee) -> None:
    assert Guarantee.from_json(guarantee.to_json()) == guarantee
    assert ("record" in guarantee.to_json()) == (guarantee.record != "row")  # as files always were
    assert ("owners" in guarantee.to_json()) == (guarantee.owners is not None)


@pytest.mark.parametrize(
    ("name", "value"),
    [("epsilon", -1), ("epsilon", True), ("epsilon", "1"), ("epsilon", 1e9), ("delta", -1e-9), ("delta", 1), ("mu", -1),
     ("mu", float("nan")), ("epsilon_slack", -1), ("delta_slack", None), ("neighbours", "both"), ("neighbours", 1),
     ("person", {"column": "p", "max_rows": 0}), ("person", {"column": "p", "max_rows": True}), ("person", []),
     ("record", "person"), ("more", 1), ("owners", None), ("owners", {"count": 3})],
)  # fmt: skip
def test_facts_that_are_no_guarantee(name: str, value: object) -> None:
    facts = {**ROW.to_json(), name: value}
    with pytest.raises(Exception, match=r"."):
        Guarantee.from_json(facts)


def test_relations_that_are_not_known_are_refused() -> None:
    assert Neighbours.parse("add-remove") is Neighbours.ADD_REMOVE
    with pytest.raises(UsageError, match="Choose add-remove or replace-one"):
        Neighbours.parse("both")


@pytest.mark.parametrize(("value", "text"), [(1e-5, "1e-5"), (1e-12, "1e-12"), (0.25, "0.25"), (0.0, "0")])
def test_small_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert short(value) == text
