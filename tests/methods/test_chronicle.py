"""Chronicle: persons with their rows, from release to sample."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.fixtures.visits import visits, visits_schema

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.methods import kind_for
from pointillist.release import Release


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(700)


@pytest.fixture(scope="module")
def release(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> pt.Release:
    ledger = tmp_path_factory.mktemp("chronicle") / "ledger.db"
    return pt.release(table, visits_schema(persons=700), epsilon=9, ledger=ledger)


@pytest.fixture(scope="module")
def model(release: pt.Release) -> pt.Model:
    return pt.fit(release, method=pt.Chronicle(components=30, steps=80))


@pytest.fixture(scope="module")
def sample(model: pt.Model) -> pd.DataFrame:
    return model.sample(persons=600, seed=1, frame="pandas")


def test_it_is_the_default_where_the_schema_says_more_of_persons_than_whose_a_row_is() -> None:
    schema = visits_schema()
    assert kind_for(schema, None) is pt.Chronicle
    columns = {name: column.model_copy(update={"of": "row"}) for name, column in schema.columns.items()}
    plain = pt.Schema(name="s", person=schema.person.unit if schema.person else None, columns=columns)
    assert kind_for(plain, None) is pt.Mosaic
    assert kind_for(plain, "chronicle") is pt.Chronicle
    assert kind_for(schema, "mosaic") is pt.Mosaic
    with pytest.raises(UsageError, match="not known"):
        kind_for(pt.Schema(name="s", columns=columns), "chronicle")


def test_the_noise_does_not_grow_with_the_rows_of_a_person() -> None:
    plans = [pt.plan(visits_schema(most=most), epsilon=1) for most in (2, 1000)]
    noises = [each.noise_rows(0, each.rounds[0].blocks[0]) for each in plans]
    assert noises[0] == pytest.approx(noises[1], rel=1e-6)
    assert plans[1].guarantee.unit == "one person (column 'who', at most 1000 rows each)"
    assert plans[0].expected_error(0, plans[0].rounds[0].blocks[0]) is not None


def test_a_release_comes_back_from_its_file(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "v.release")
    again = Release.load(tmp_path / "v.release")
    assert again.of_histories
    assert again.method == "chronicle"
    assert [each.grid for each in again.measurements] == [each.grid for each in release.measurements]


def test_a_file_that_counts_persons_as_rows_is_refused(release: pt.Release, tmp_path: Path) -> None:
    """Without a person column no records can share a weight."""
    from dataclasses import replace

    forged = replace(
        release,
        schema=release.schema.model_copy(update={"person": None}),
        guarantee=replace(release.guarantee, person=None),
    )
    forged.save(tmp_path / "forged.release")
    with pytest.raises(ArtefactError):
        Release.load(tmp_path / "forged.release")


def test_facts_are_constant_rows_in_order_and_names_new(sample: pd.DataFrame) -> None:
    persons = sample.groupby("who")
    assert sorted(persons.groups) == list(range(1, 601))
    assert (persons["sex"].nunique() == 1).all()
    assert persons["day"].apply(lambda days: days.is_monotonic_increasing).all()
    assert (persons.size() <= 12).all()


def test_synthetic_persons_are_like_the_real_ones(table: pa.Table, sample: pd.DataFrame) -> None:
    """At a large budget. In five runs counts were off by 0.18 on average (spread 0.13), steps by 0.08 (0.03), and the lag
    correlation by 0.04 (0.03): the bars are seven spreads away or more, so noise alone breaks them less than once in a
    million runs. Rows that belong to nobody would be off by 1, 0.5 and 0.9."""
    real = table.to_pandas()
    for each in (real, sample):
        persons = each.groupby("who")
        each["before"], each["earlier"] = persons["score"].shift(), persons["ward"].shift()
        each["gap"] = pd.to_datetime(each["day"]).groupby(each["who"]).diff().dt.days
    rows = [each.groupby(["who", "sex"]).size().groupby("sex").mean() for each in (real, sample)]
    assert np.abs(rows[0] - rows[1]).max() < 1.2
    steps = [pd.crosstab(each["earlier"], each["ward"], normalize=True) for each in (real, sample)]
    assert 0.5 * np.abs(steps[0] - steps[1]).to_numpy().sum() < 0.3
    kept = [each[["score", "before"]].astype(float).dropna().corr().iloc[0, 1] for each in (real, sample)]
    assert kept[1] > kept[0] - 0.25
    assert sample["gap"].median() == pytest.approx(real["gap"].median(), abs=8)


def test_other_generators_and_methods_are_refused(release: pt.Release) -> None:
    with pytest.raises(UsageError, match="only its own method"):
        pt.fit(release, generator="mixture")
    with pytest.raises(UsageError, match="chronicle"):
        pt.fit(release, method="mosaic")


def test_a_release_of_rows_is_refused(table: pa.Table, tmp_path: Path) -> None:
    made = pt.release(table, visits_schema(), epsilon=1, method="mosaic", ledger=tmp_path / "l.db")
    with pytest.raises(UsageError, match="knows rows"):
        pt.fit(made, method="chronicle")
