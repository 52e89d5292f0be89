"""Owners: whom they trust, and what noise each of them adds."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.errors import UsageError
from pointillist.privacy.owners import MOST_OWNERS, Owners, Trust

COUNTS = st.integers(2, MOST_OWNERS)


@given(count=COUNTS, sigma=st.floats(1e3, 1e12))
def test_with_trust_in_nobody_every_part_carries_the_noise_that_is_counted_on(count: int, sigma: float) -> None:
    owners = Owners(count)
    whole = sigma * owners.spread
    assert owners.part_sigma(whole) == pytest.approx(sigma, rel=1e-9)
    assert owners.part_sigma(whole) >= sigma * (1 - 1e-15)


@given(count=COUNTS, data=st.data(), sigma=st.floats(1e3, 1e12))
def test_with_trust_in_the_sum_honest_shares_add_up_to_the_noise_that_is_counted_on(
    count: int, data: Any, sigma: float
) -> None:
    owners = Owners(count, Trust.SUM, data.draw(st.integers(0, count - 1)))
    share = owners.part_sigma(sigma * owners.spread)
    honest = share * math.sqrt(count - owners.colluding)
    assert honest == pytest.approx(sigma, rel=1e-9)
    assert honest >= sigma * (1 - 1e-15)


def test_no_owner_colludes_and_there_is_no_more_noise_than_in_pooled_rows() -> None:
    assert Owners(3, Trust.SUM).spread == 1.0
    assert Owners(3, Trust.SUM, 1).spread == pytest.approx(math.sqrt(1.5))
    assert Owners(3, Trust.SUM, 2).spread == Owners(3).spread == pytest.approx(math.sqrt(3))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((1,), "owners must be"),
        ((True,), "owners must be"),
        ((2.0,), "owners must be"),
        ((MOST_OWNERS + 1,), "owners must be"),
        ((3, Trust.SUM, 3), "colluding must be"),
        ((3, Trust.SUM, -1), "colluding must be"),
        ((3, Trust.NOBODY, 1), "colluding must be"),
    ],
)
def test_what_owners_cannot_be(arguments: tuple[Any, ...], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        Owners(*arguments)


def test_an_unknown_trust_is_refused() -> None:
    with pytest.raises(UsageError, match="Choose nobody or sum"):
        Trust.parse("everybody")


@pytest.mark.parametrize("owners", [Owners(3), Owners(4, Trust.SUM), Owners(4, Trust.SUM, 1), Owners(5, Trust.SUM, 3)])
def test_the_round_trip_of_facts(owners: Owners) -> None:
    assert Owners.from_json(owners.to_json()) == owners


@pytest.mark.parametrize("wrong", [{"count": 1}, {"trust": "all"}, {"colluding": 3}, {"colluding": True}])
def test_facts_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Owners.from_json(Owners(3, Trust.SUM, 1).to_json() | wrong)


def test_sentences_say_whom_the_promise_holds_against() -> None:
    assert "trust nobody" in Owners(3).sentence()
    assert "not against one of the owners" in Owners(3, Trust.SUM).sentence()
    assert "any one of the owners" in Owners(3, Trust.SUM, 1).sentence()
    assert "any 2 of the owners" in Owners(4, Trust.SUM, 2).sentence()
    assert Owners(3).unless == ""
    assert [Owners(4, Trust.SUM, each).unless for each in range(3)] == [
        ", but for the noise that any owner added",
        ", but for the noise that more than one owner added",
        ", but for the noise that more than 2 owners added",
    ]
