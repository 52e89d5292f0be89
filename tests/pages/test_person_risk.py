"""Bounds for a person: every figure of a card against its closed form."""

import pytest
from scipy.special import ndtr, ndtri

from pointillist.pages.person_risk import PRIORS, PersonRisk, assumed, explained
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.trade_off import GaussianTradeOff

MU = 0.268


def test_every_figure_is_its_closed_form() -> None:
    people, most = 5_000, 5_200
    risk = PersonRisk.of(GaussianTradeOff(MU), people, most)
    assert risk.advantage == pytest.approx(2 * ndtr(MU / 2) - 1)
    assert risk.coin == pytest.approx(ndtr(MU / 2))
    for prior in PRIORS:
        outcome = ndtr(ndtri(0.01) - MU)  # how likely the one in a hundred is where it is not true
        assert risk.linkage[prior] == pytest.approx(prior * 0.01 / (prior * 0.01 + (1 - prior) * outcome))
        assert risk.inference[prior] == pytest.approx(ndtr(ndtri(prior) + MU))
    assert risk.rarity == pytest.approx(0.01 / people)
    assert risk.by_chance == pytest.approx(most * 0.01 / people * (1 - 0.01 / people) ** (most - 1))
    assert risk.singling_out == pytest.approx(most * ndtr(ndtri(0.01 / people) + MU))
    assert risk.one_in == "1 in 500,000"
    assert risk.to_json()["singling_out"]["people_at_most"] == most


def test_without_privacy_loss_nothing_is_learned() -> None:
    risk = PersonRisk.of(GaussianTradeOff(0.0), 100, 100)
    assert risk.advantage == 0
    assert list(risk.linkage.values()) == pytest.approx(PRIORS)
    assert list(risk.inference.values()) == pytest.approx(PRIORS)
    assert risk.singling_out == pytest.approx(0.01)


@pytest.mark.parametrize(("neighbours", "words"), [("add-remove", "row is used:"), ("replace-one", "in its place")])
def test_the_sentence_speaks_of_what_is_promised(neighbours: str, words: str) -> None:
    guarantee = Guarantee(1.0, 1e-5, Neighbours(neighbours), None, MU, 0.0, 0.0)
    sentence = PersonRisk.of(GaussianTradeOff(MU), 100, 100).sentence(guarantee)
    assert words in sentence
    assert "at most 55.4 %" in sentence  # Phi(0.134) = 0.5533
    assert "made from this release" in sentence  # there may be others


@pytest.mark.parametrize(
    ("neighbours", "words"), [("add-remove", "left out"), ("replace-one", "replaced by another’s")]
)
def test_what_without_means_follows_the_neighbours(neighbours: str, words: str) -> None:
    guarantee = Guarantee(1.0, 1e-5, Neighbours(neighbours), None, MU, 0.0, 0.0)
    said = explained(PersonRisk.of(GaussianTradeOff(MU), 100, 100), guarantee, "rows", bought=False)
    assert f"that row {words}" in said
    assert "10.7 %" in said  # 2 Phi(0.134) - 1
    assert "once in 100 releases" in said


def test_what_is_assumed_is_said() -> None:
    assert "independently of each other" in assumed("rows", exact=True)
    assert "99.9 %" not in assumed("rows", exact=True)
    assert "99.9 % confidence" in assumed("people", exact=False)
