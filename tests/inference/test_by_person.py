"""By person: what a release of histories tells of persons, with intervals, against what is true of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.fixtures.visits import visits, visits_schema

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.inference.by_person import NOTE, by_person
from pointillist.inference.query_language import answer
from pointillist.progress import silent


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return visits(900).to_pandas()


@pytest.fixture(scope="module")
def release(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> pt.Release:
    ledger = tmp_path_factory.mktemp("by_person") / "ledger.db"
    return pt.release(frame, visits_schema(persons=900), epsilon=9, ledger=ledger)


@pytest.fixture(scope="module")
def model(release: pt.Release) -> pt.Model:
    return pt.fit(release, method=pt.Chronicle(components=30, steps=80))


def test_figures_are_of_persons(release: pt.Release, model: pt.Model, frame: pd.DataFrame) -> None:
    """Seven intervals at 99.9 %: all hold but in one run of a hundred and forty."""
    persons = frame.groupby("who")
    counts, women = persons.size(), persons["sex"].first() == "f"
    truth = {
        "count()": len(counts),
        'share() where "rows of a person" >= 2': (counts >= 2).mean(),
        'mean("rows of a person")': counts.mean(),
        "share() where sex = 'f'": women.mean(),
        "mean(score)": persons["score"].mean().mean(),
        "share() where ward = 'a'": (frame["ward"] == "a").groupby(frame["who"]).mean().mean(),
        "share() where \"rows of a person\" >= 5 and sex = 'f'": ((counts >= 5) & women).mean(),
    }
    received = pt.receive(release, model=model, confidence=0.999)
    for question, value in truth.items():
        ((estimate,),) = (group.estimates for group in answer(received, question).groups)
        assert estimate.low <= value <= estimate.high, question
        assert estimate.note == NOTE


def test_gaps_between_rows_are_a_column(release: pt.Release, model: pt.Model) -> None:
    received = pt.receive(release, model=model)
    assert {"day, gap", "day, first", "score, row before", "score, usually"} <= set(received.columns)
    median = received.quantile('"day, gap"', 0.5)
    assert 20 <= median.value <= 40


def test_error_bars_without_refits(release: pt.Release, model: pt.Model) -> None:
    found = pt.uncertainty(release, model=model, refits=0).mean("rows of a person")
    assert found.low < found.high
    with pytest.raises(UsageError, match="--refits 0"):
        pt.uncertainty(release, model=model)
    with pytest.raises(UsageError, match="refits=0"):
        pt.receive(release, model=model, refits=4)


def test_a_model_of_another_release_is_refused(release: pt.Release, model: pt.Model, tmp_path: Path) -> None:
    other = pt.release(visits(50), visits_schema(), epsilon=1, ledger=tmp_path / "ledger.db")
    with pytest.raises(UsageError, match="fitted to another release"):
        pt.receive(other, model=model)


def test_releases_of_rows_are_as_they_were(people: object, schema: pt.Schema, tmp_path: Path) -> None:
    rows = people(50)  # type: ignore[operator]
    made = pt.release(rows, schema, epsilon=1, ledger=tmp_path / "ledger.db")
    assert by_person(made, None, refits=3, seed=0, progress=silent) == (made, None)


def test_asked_twice_it_is_the_same(release: pt.Release, model: pt.Model) -> None:
    flat, _ = by_person(release, model, refits=0, seed=0, progress=silent)
    assert flat.recorded is flat.schema
    assert np.array_equal(flat.measurements[0].values, release.measurements[0].values)
