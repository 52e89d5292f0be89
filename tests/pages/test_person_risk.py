"""Bounds for a person: every figure of a card against its closed form."""

import pytest
from scipy.special import ndtr, ndtri

from pointillist.pages.person_risk import PRIORS, PersonRisk
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.trade_off import GaussianTradeOff

MU = 0.268


def test_every_figure_is_its_closed_form() -> None:
    people = 5_000
    risk = PersonRisk.of(GaussianTradeOff(MU), people)
    assert risk.advantage == pytest.approx(2 * ndtr(MU / 2) - 1)
    assert risk.coin == pytest.approx(ndtr(MU / 2))
    for prior in PRIORS:
        outcome = ndtr(ndtri(0.01) - MU)  # how likely the one in a hundred is where it is not true
        assert risk.linkage[prior] == pytest.approx(prior * 0.01 / (prior * 0.01 + (1 - prior) * outcome))
        assert risk.inference[prior] == pytest.approx(ndtr(ndtri(prior) + MU))
    assert risk.rarity == pytest.approx(0.01 / people)
    assert risk.by_chance == pytest.approx(0.01 * (1 - 0.01 / people) ** (people - 1))
    assert risk.singling_out == pytest.approx(people * ndtr(ndtri(0.01 / people) + MU))


def test_without_privacy_loss_nothing_is_learned() -> None:
    risk = PersonRisk.of(GaussianTradeOff(0.0), 100)
    assert risk.advantage == 0
    assert list(risk.linkage.values()) == pytest.approx(PRIORS)
    assert list(risk.inference.values()) == pytest.approx(PRIORS)
    assert risk.singling_out == pytest.approx(0.01)


@pytest.mark.parametrize(("neighbours", "words"), [("add-remove", "row is used:"), ("replace-one", "in their place")])
def test_the_sentence_speaks_of_what_is_promised(neighbours: str, words: str) -> None:
    guarantee = Guarantee(1.0, 1e-5, Neighbours(neighbours), None, MU, 0.0, 0.0)
    sentence = PersonRisk.of(GaussianTradeOff(MU), 100).sentence(guarantee)
    assert words in sentence
    assert "at most 55.4 %" in sentence  # Phi(0.134) = 0.5533
