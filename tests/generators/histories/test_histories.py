"""Histories: persons from a mixture of records, to and from a file."""

import numpy as np
import pytest
from tests.fixtures.visits import visits_schema
from tests.generators.histories.test_steps import HISTORY, mixture

from pointillist.generators import generator_class
from pointillist.generators.base import OfPersons
from pointillist.generators.histories.histories import Histories


def test_it_comes_back_from_its_facts() -> None:
    made = Histories.of(HISTORY, mixture())
    facts, arrays = made.to_facts()
    again = generator_class("histories").from_facts(facts, arrays, visits_schema())
    assert isinstance(again, Histories)
    assert isinstance(again, OfPersons)
    assert again.fits(visits_schema())
    assert not again.fits(visits_schema(order=None))
    assert again.mean_rows == pytest.approx(made.mean_rows)
    assert "3 components" in again.describe()


def test_a_sample_has_as_many_rows_as_are_asked_for() -> None:
    made = Histories.of(HISTORY, mixture())
    assert made.sample(100, np.random.default_rng(0)).rows == 100
    assert made.mean_rows == pytest.approx(6.5, abs=0.2)  # from 1 to 12, all alike


def test_a_condition_is_met_by_persons() -> None:
    made = Histories.of(HISTORY, mixture())
    share, women = made.given({"sex": np.array([1.0, 0.0])})
    assert share == pytest.approx(0.5)
    assert not women.sample(50, np.random.default_rng(0)).codes["sex"].any()
