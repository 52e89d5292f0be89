"""Forecast against measured, on real releases: right rows fit, other rows do not."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.metrics.forecast import Forecast, forecast
from pointillist.evaluate.tables.sample import read
from pointillist.features import RandomFourier
from pointillist.schema.levels import coarse_size

ROWS = 2_000


@pytest.fixture
def table(people: Callable[..., pa.Table]) -> pa.Table:
    return people(ROWS, 1)


@pytest.fixture
def release(table: pa.Table, schema: pt.Schema) -> pt.Release:
    return pt.release(table, schema, epsilon=1.0, target="grade")


def of(real: pa.Table, made: pa.Table, release: pt.Release, schema: pt.Schema) -> Forecast:
    return forecast(read(real, schema), read(made, schema), release)


def test_the_noise_is_as_forecast(
    table: pa.Table, release: pt.Release, schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    """Each block's mean over n cells is its expectation to six standard deviations.

    The mean of |noise| over n cells varies by 0.75 / sqrt(n) of itself: a false alarm has a chance below one in a million.
    """
    found = of(table, people(500, 2), release, schema)
    assert [each.name for each in found.blocks] == [
        block.name for round_ in release.plan.rounds for block in round_.blocks if block.counts
    ]
    for each in found.blocks:
        assert each.noisy == pytest.approx(each.forecast, rel=6 * 0.75 / np.sqrt(each.cells))
    assert max(each.cells for each in found.blocks) > 400


def test_the_forecast_is_what_the_plan_promised(table: pa.Table, release: pt.Release, schema: pt.Schema) -> None:
    """Before anything was spent, from public facts: the schema states the right number of rows."""
    first, levels = of(table, table, release, schema).blocks[0], read(table, schema).levels
    planned = release.plan.rounds[0].blocks[0]
    alone = [each for each in levels if coarse_size(each) == each.size]
    assert (first.tables, first.cells) == (len(alone), sum(each.size for each in alone))
    assert first.forecast == pytest.approx(planned.expected_error, rel=1e-3)
    cells = first.cells / first.tables
    assert first.forecast == pytest.approx(0.5 * cells * np.sqrt(2 / np.pi) * planned.noise_rows / ROWS, rel=1e-3)


def test_the_synthetic_error_is_that_of_the_rows(
    table: pa.Table, release: pt.Release, schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    same = of(table, table, release, schema)
    assert [each.synthetic for each in same.blocks] == [0.0] * len(same.blocks)
    other = of(table, people(300, 2), release, schema)
    assert all(0 < each.synthetic < 1 for each in other.blocks)
    real, made = read(table, schema), read(people(300, 2), schema)
    shares = [
        [
            np.bincount(s.codes(name), minlength=s.level(name).size) / s.rows
            for name in s.columns
            if coarse_size(s.level(name)) == s.level(name).size
        ]
        for s in (real, made)
    ]
    by_hand = np.mean([np.abs(one - two).sum() / 2 for one, two in zip(*shares, strict=True)])
    assert other.blocks[0].synthetic == pytest.approx(by_hand)


def test_right_rows_fit_and_other_rows_do_not(
    table: pa.Table, release: pt.Release, schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    """Eight standard deviations of a χ² with thousands of degrees of freedom: a false alarm in 10^14 releases."""
    assert of(table, table, release, schema).fits is True
    assert of(table.take(np.random.default_rng(0).permutation(ROWS)), table, release, schema).fits is True
    assert of(table.slice(0, 1_000), table, release, schema).fits is False
    assert of(people(ROWS, 2).slice(0, 1_500), table, release, schema).fits is False


def test_too_little_noise_does_not_fit(table: pa.Table, release: pt.Release, schema: pt.Schema) -> None:
    loud = replace(release, measurements=tuple(replace(each, sigma=3 * each.sigma) for each in release.measurements))
    assert of(table, table, loud, schema).fits is False
    quiet = replace(release, measurements=tuple(replace(each, sigma=each.sigma / 2) for each in release.measurements))
    assert of(table, table, quiet, schema).fits is False


def test_no_say_where_persons_are_capped(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    """The release may have left rows out, and nobody knows which."""
    owned = schema.model_copy(update={"person": pt.Person(column="who", max_rows=2)})
    table = people(600).append_column("who", pa.array(np.arange(600) // 3))
    found = of(table, table, pt.release(table, owned, epsilon=1.0), owned)
    assert found.fits is None
    assert found.blocks


def test_another_schema_is_refused(
    table: pa.Table, release: pt.Release, schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    columns = {**schema.columns, "age": pt.Integer(min=0, max=120, missing=False)}
    other = schema.model_copy(update={"columns": columns})
    with pytest.raises(UsageError, match="another schema"):
        of(table, table, release, other)


def test_measurements_that_are_no_tables_are_left_out(table: pa.Table, release: pt.Release, schema: pt.Schema) -> None:
    waves = RandomFourier.draw(("age",), 4, 0.5, seed=0)
    measurement = replace(release.measurements[0], feature_map=waves, values=np.zeros(4, dtype=np.int64))
    odd = replace(release, measurements=(measurement,), plan=replace(release.plan, rounds=release.plan.rounds[:1]))
    found = of(table, table, odd, schema)
    assert found.blocks == ()
    assert found.fits is None
    assert found.table().num_rows == 0


def test_as_json_and_as_a_table(table: pa.Table, release: pt.Release, schema: pt.Schema) -> None:
    found = of(table, table, release, schema)
    assert found.to_json()["fits"] is True
    assert found.table().num_rows == len(found.blocks)
