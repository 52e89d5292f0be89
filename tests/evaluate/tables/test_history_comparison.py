"""History comparison: no difference beyond chance between two samples of one kind; each spoiled table is found."""

import numpy as np
import pandas as pd
import pytest
from tests.fixtures.visits import visits, visits_schema

from pointillist.evaluate.tables import history_comparison as comparison
from pointillist.evaluate.tables.histories import Histories

SCHEMA = visits_schema()


def histories(frame: pd.DataFrame) -> Histories:
    return Histories.read(frame, SCHEMA)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return visits(600).to_pandas()


@pytest.fixture(scope="module")
def real(frame: pd.DataFrame) -> Histories:
    return histories(frame)


@pytest.fixture(scope="module")
def second() -> Histories:
    return histories(visits(600, seed=1).to_pandas())


@pytest.fixture(scope="module")
def shuffled(frame: pd.DataFrame) -> Histories:
    """The same rows, dealt out to persons at random: nothing follows from anything."""
    rng = np.random.default_rng(2)
    return histories(frame.assign(score=rng.permutation(frame["score"]), ward=rng.permutation(frame["ward"])))


def test_a_second_sample_differs_by_chance_alone(real: Histories, second: Histories) -> None:
    assert comparison.rows_per_person(real, second, 0).excess < 0.03
    gaps = comparison.gaps(real, second, 0)
    assert gaps is not None
    assert gaps.excess < 0.03
    for course in comparison.compared(real, second, 0):
        assert course.steps is not None
        assert course.steps.excess < 0.03
    assert comparison.told_apart(real, second, 0)[0] < 0.6
    assert max(comparison.facts_with_rows(real, second).values()) < 0.1


def test_steps_that_are_lost_are_seen(real: Histories, shuffled: Histories) -> None:
    score, ward = comparison.compared(real, shuffled, 0)
    assert score.lag is not None
    assert score.lag.real > 0.8
    assert abs(score.lag.synthetic) < 0.1
    assert score.between is not None
    assert score.between.real > 0.8
    assert score.between.synthetic < 0.1
    for course in (score, ward):
        assert course.steps is not None
        assert course.steps.excess > 0.2
        assert course.first < 0.1  # what is lost is what follows, not what is there
    assert comparison.told_apart(real, shuffled, 0)[0] > 0.9


def test_counts_and_gaps_that_are_off_are_seen(real: Histories, frame: pd.DataFrame) -> None:
    fewer = histories(frame.groupby("who").head(2))
    assert comparison.rows_per_person(real, fewer, 0).excess > 0.3
    days = pd.to_datetime(frame["day"])
    wider = days.groupby(frame["who"]).transform("min")
    gaps = comparison.gaps(real, histories(frame.assign(day=(wider + 2 * (days - wider)).dt.date)), 0)
    assert gaps is not None
    assert gaps.excess > 0.5


def test_what_is_learnt_from_histories(real: Histories, second: Histories, shuffled: Histories) -> None:
    """Men have more visits: counts tell the sex, also where the rest is shuffled."""
    scores = [comparison.learnt(each, real, "sex", 0) for each in (second, shuffled)]
    assert all(each is not None and each > 0.65 for each in scores)


@pytest.mark.parametrize("column", ["sex"])
def test_shares_of_facts_are_of_persons_and_not_of_rows(real: Histories, frame: pd.DataFrame, column: str) -> None:
    doubled = pd.concat([frame, frame[frame[column] == "m"]])  # men have twice as many rows, and are as many as before
    assert comparison.facts(real, histories(doubled))[column] == 0
    assert comparison.facts_with_rows(real, histories(doubled))[column, "score"] > 0.05
