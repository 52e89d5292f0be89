"""A whole release: the promise measured from outside, nothing leaked, nothing lost in a crash."""

import inspect
import json
import math
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy import stats
from tests.fixtures.killed import VICTIMS, release_and_die

import pointillist as pt
from pointillist.curator import releasing
from pointillist.curator.releasing import embed
from pointillist.errors import BudgetError, DataError, SchemaError
from pointillist.features import RandomFourier
from pointillist.methods.parts import Part, round_of
from pointillist.plan import Plan, Request
from pointillist.reading.opening import open_source

People = Callable[..., pa.Table]

TINY = pt.Schema(name="tiny", columns={"a": pt.Boolean(missing=False), "b": pt.Integer(min=0, max=3, missing=False)})
EMPTY = pa.table({"a": pa.array([], pa.bool_()), "b": pa.array([], pa.int64())})
ONE = pa.table({"a": [True], "b": [2]})


def score(release: pt.Release, added: pa.Table) -> float:
    """The most powerful statistic for "was the row added to the empty table?": standard normal if not, mean mu if so."""
    total, mu_squared = 0.0, 0.0
    for measurement in release.measurements:
        moved, _ = embed(open_source(added), TINY, measurement.feature_map, measurement.grid)
        total += float(measurement.values @ (moved / measurement.sigma)) / measurement.sigma
        mu_squared += float((moved / measurement.sigma) @ (moved / measurement.sigma))
    return total / math.sqrt(mu_squared)


def audit(tmp_path: Path, runs: int, epsilon: float) -> tuple[float, float]:
    """An estimate of mu from white-box attacks on worst-case neighbours, and its standard error."""
    scores = []
    for table in (EMPTY, ONE):
        scores.append([
            score(
                pt.release(table, TINY, epsilon=epsilon, target="a", ledger=tmp_path / f"{table.num_rows}-{run}", threads=1),
                ONE,
            )
            for run in range(runs)
        ])  # fmt: skip
    out, inside = (np.array(s) for s in scores)
    mu = float(inside.mean() - out.mean()) / math.sqrt((inside.var(ddof=1) + out.var(ddof=1)) / 2)
    return mu, math.sqrt(2 / runs + mu**2 / (4 * runs))


def test_a_white_box_audit_recovers_mu_and_never_beats_it(tmp_path: Path) -> None:
    """150 releases on each side; z of 5 either way: fewer than one false alarm in a million runs."""
    promised = pt.plan(TINY, epsilon=6.0, target="a").guarantee.mu
    estimate, error = audit(tmp_path, 150, 6.0)
    assert abs(estimate - promised) < 5 * error
    assert error < 0.15 * promised  # the audit has power: half the noise would show as twice mu


def test_the_audit_catches_noise_that_is_too_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the noise shows as three times mu, 10.8 errors above the promise: 4 are missed once in 10^11 runs."""
    honest = releasing.add_noise
    monkeypatch.setattr(releasing, "add_noise", lambda sums, sigma: honest(sums, sigma / 3))
    promised = pt.plan(TINY, epsilon=6.0, target="a").guarantee.mu
    estimate, error = audit(tmp_path, 100, 6.0)
    assert (estimate - promised) / error > 4


def test_noise_of_a_release_is_what_its_plan_states(schema: pt.Schema, people: People) -> None:
    """All coordinates of both rounds against the exact sums: chi^2 at 1e-6 on each side."""
    table = people(500)
    release = pt.release(table, schema, epsilon=1.0)
    for measurement in release.measurements:
        exact, _ = embed(open_source(table), schema, measurement.feature_map, measurement.grid)
        noise = (measurement.values - exact) / measurement.sigma
        low, high = stats.chi2.ppf([1e-6, 1 - 1e-6], len(noise))
        assert low < float(noise @ noise) < high


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("target", [None, "sex"])
def test_the_plan_spends_all_of_the_budget_and_no_more(schema: pt.Schema, neighbours: str, target: str | None) -> None:
    """Nothing is eaten quietly: the rounds' (sensitivity / sigma)^2 add up to mu^2, within 1 % of the analytic Gaussian."""
    plan = pt.plan(schema, epsilon=1.0, delta=1e-5, target=target, neighbours=neighbours)
    relation = plan.request.neighbours
    spent = sum((each.sensitivity(relation, schema) / plan.sigma(i)) ** 2 for i, each in enumerate(plan.rounds))
    assert math.sqrt(spent) <= plan.guarantee.mu
    assert 1 / math.sqrt(spent) == pytest.approx(3.7306316, rel=0.01)


def test_a_release_has_no_seed() -> None:
    parameters = set(inspect.signature(pt.release).parameters)
    assert not {name for name in parameters if "seed" in name or "random" in name}


def test_two_releases_of_one_table_differ_in_every_round(schema: pt.Schema, people: People) -> None:
    first, second = (pt.release(people(50), schema, epsilon=0.5) for _ in range(2))
    assert first.id != second.id
    assert not np.array_equal(first.measurements[0].values, second.measurements[0].values)


def facts(release: pt.Release) -> dict[str, object]:
    return {
        "schema": release.schema.to_json(),
        "guarantee": release.guarantee.to_json(),
        "plan": release.plan.to_json(),
        "rows": release.rows,
        "target": release.target,
        "frame": release.frame,
        "map": len(release.measurements[0].values),
    }


def without_choice(found: dict[str, Any]) -> dict[str, Any]:
    """Facts without the blocks after the first round: which tables are measured follows from what noisy sums showed."""
    rounds = [each | ({"blocks": None} if number else {}) for number, each in enumerate(found["plan"]["rounds"])]
    return found | {"plan": found["plan"] | {"rounds": rounds}}


def test_metadata_do_not_depend_on_the_rows(schema: pt.Schema, people: People) -> None:
    """Bounds, categories, counts of odd values: two utterly different tables give the same facts."""
    odd = pa.table(
        {
            "sex": ["SECRETVALUE"] * 3,
            "grade": pa.array([None] * 3, pa.string()),
            "member": pa.array([None] * 3, pa.bool_()),
            "age": [10**6] * 3,
            "income": [-5.0, math.inf, math.nan],
            "seen": pa.array([0, 0, 0], pa.int32()).cast(pa.date32()),
        }
    )
    found, other = (facts(pt.release(each, schema, epsilon=0.5)) for each in (odd, people(700)))
    assert without_choice(found) == without_choice(other)


def test_values_outside_the_schema_never_leave(tmp_path: Path, schema: pt.Schema, people: People) -> None:
    table = people(300)
    marked = table.set_column(0, "sex", pa.array(["SECRETVALUE"] * 300)).set_column(3, "age", pa.array([987_654] * 300))
    release = pt.release(marked, schema, epsilon=5.0, output=tmp_path / "r")
    model = pt.fit(release)
    model.save(tmp_path / "m")
    synthetic = model.sample(2_000, seed=1)
    for text in ("SECRETVALUE", "987654"):
        for content in (json.dumps(facts(release)), str(synthetic.to_pydict())):
            assert text not in content
        for file in ("r", "m"):
            import zipfile

            with zipfile.ZipFile(tmp_path / file) as archive:
                assert not any(text.encode() in archive.read(name) for name in archive.namelist())
    assert set(synthetic["sex"].to_pylist()) <= {"female", "male", "other"}
    assert max(synthetic["age"].to_pylist()) <= 110


def test_the_row_count_is_kept_only_where_it_is_public(schema: pt.Schema, people: People, tmp_path: Path) -> None:
    assert pt.release(people(77), schema, epsilon=1.0).rows is None
    public = pt.release(people(77), schema, epsilon=1.0, neighbours="replace-one", ledger=tmp_path / "other")
    assert public.rows == 77
    several = schema.model_copy(update={"person": pt.Person(column="id", max_rows=2)})
    owned = people(77).append_column("id", pa.array(range(77)))
    with_people = pt.release(owned, several, epsilon=1.0, neighbours="replace-one", ledger=tmp_path / "third")
    assert with_people.rows is None


def test_an_empty_table_and_one_row_are_data_sets_like_any_other(schema: pt.Schema, people: People) -> None:
    for rows in (0, 1):
        release = pt.release(people(rows), schema, epsilon=1.0)
        assert pt.fit(release).sample(10, seed=0).num_rows == 10


def test_a_draft_is_refused(schema: pt.Schema, people: People, own_ledger: Path) -> None:
    with pytest.raises(SchemaError, match="reviewed = true"):
        pt.release(people(10), schema.model_copy(update={"reviewed": False}), epsilon=1.0)
    assert not own_ledger.exists()


def test_a_failed_pass_spends_nothing(schema: pt.Schema, people: People, own_ledger: Path) -> None:
    strict = schema.model_copy(
        update={"columns": {**schema.columns, "age": pt.Integer(min=0, max=5, out_of_domain="error")}}
    )
    with pytest.raises(DataError, match="'age'"):
        pt.release(people(100), strict, epsilon=1.0)
    assert not any(account.spends for account in pt.Ledger(own_ledger).accounts())


def test_a_second_pass_that_fails_keeps_its_spend_and_says_so(
    schema: pt.Schema, people: People, own_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    honest = releasing.embed

    def flaky(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise DataError("the file is gone.")
        return honest(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(releasing, "embed", flaky)
    with pytest.raises(DataError, match=r"the file is gone\. The spend was already recorded, and counts"):
        pt.release(people(100), schema, epsilon=1.0)
    (account,) = pt.Ledger(own_ledger).accounts()
    assert [s.state.value for s in account.spends] == ["open"]
    assert account.spent == pytest.approx(1.0, rel=1e-4)


def test_a_cap_is_enforced_before_the_data_are_read(schema: pt.Schema, own_ledger: Path, tmp_path: Path) -> None:
    pt.Ledger(own_ledger).set_cap("people", pt.Budget(0.5, 1e-5))
    (tmp_path / "t.csv").write_text("sex,grade,member,age,income,seen\n")
    with pytest.raises(BudgetError, match="cap"):
        pt.release(tmp_path / "t.csv", schema, epsilon=1.0)


STEPS = [
    "pass 1 of 3", "spend", "noise 1 of 3", "pass 2 of 3", "noise 2 of 3", "pass 3 of 3", "noise 3 of 3", "write", "close"
]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "place"), [*((s, "-") for s in STEPS), ("-", "replace"), ("-", "fsync"), ("-", "new ledger"), ("-", "-")]
)
def test_killed_at_any_step_it_never_undercounts_and_leaves_no_half_file(
    step: str, place: str, tmp_path: Path, schema: pt.Schema, people: People, own_ledger: Path
) -> None:
    import pyarrow.parquet as pq

    data, facts_file, output = tmp_path / "t.parquet", tmp_path / "t.toml", tmp_path / "t.release"
    pq.write_table(people(200), data)
    facts_file.write_text(schema.to_toml())
    if place == "fsync":  # the file's: a new ledger would come first
        pt.Ledger(own_ledger).set_cap(schema.name, pt.Budget(10.0, 1e-5))
    victim = VICTIMS.Process(target=release_and_die, args=(step, place, data, facts_file, output, own_ledger))
    victim.start()
    victim.join(120)
    assert victim.exitcode == (0 if (step, place) == ("-", "-") else -signal.SIGKILL)
    accounts = pt.Ledger(own_ledger).accounts()
    counted = [s for account in accounts for s in account.spends]
    noise_drawn = step not in ("pass 1 of 3", "spend") and place != "new ledger"
    assert len(counted) == int(noise_drawn)
    finished = step == "close" or (step, place) == ("-", "-")
    assert output.exists() == finished
    if finished:
        assert pt.Release.load(output).id == counted[0].release
    # and the next call works as if nothing had happened
    assert pt.release(data, schema, epsilon=1.0, output=output).id == pt.Release.load(output).id


def test_the_plan_is_made_without_data(schema: pt.Schema) -> None:
    plan = pt.plan(schema, epsilon=1.0)
    assert isinstance(plan, Plan)
    assert "table" not in inspect.signature(pt.plan).parameters
    assert all((plan.expected_error(i, b) is not None) == b.counts for i, r in enumerate(plan.rounds) for b in r.blocks)
    unsized = pt.plan(schema.model_copy(update={"rows": None}), epsilon=1.0)
    assert unsized.expected_error(0, unsized.rounds[0].blocks[0]) is None
    assert unsized.guarantee.epsilon == plan.guarantee.epsilon
    assert unsized.guarantee.mu == pytest.approx(plan.guarantee.mu, rel=1e-6)


def test_a_plan_cannot_share_out_more_than_its_budget(schema: pt.Schema) -> None:
    plan = pt.plan(schema, epsilon=1.0)
    with pytest.raises(ValueError, match="shares"):
        Plan.make("m", {}, plan.request, (plan.rounds[0], plan.rounds[-1], plan.rounds[-1]), ())


def test_a_method_cannot_pass_features_off_as_nonnegative(schema: pt.Schema, people: People, own_ledger: Path) -> None:
    """The sqrt 2 of replace-one holds only where no feature is negative: the map itself is asked."""

    class Fourier(pt.Mosaic):
        def feature_map(self, plan: Plan, measured: object) -> RandomFourier:  # type: ignore[override]
            return RandomFourier.draw(("age",), 10, 0.5, seed=0)

    with pytest.raises(RuntimeError, match="not what its plan says"):
        pt.release(people(10), schema, epsilon=1.0, method=Fourier())
    assert not any(account.spends for account in pt.Ledger(own_ledger).accounts())


def test_no_plan_counts_on_the_signs_of_a_map_from_elsewhere(
    schema: pt.Schema, people: People, own_ledger: Path
) -> None:
    """A map that says it is never negative, and is, would break the sqrt 2 of replace-one."""

    class Liar(RandomFourier):
        @property
        def nonnegative(self) -> bool:
            return True

    liar = Liar.draw(("age",), 10, 0.5, seed=0)

    class Lies(pt.Mosaic):
        def feature_map(self, plan: Plan, measured: object) -> RandomFourier:  # type: ignore[override]
            return liar

        def plan(self, request: Request) -> Plan:
            dense = round_of([Part("lies", liar, 1.0)], 1.0)
            assert not dense.nonnegative
            assert not dense.positive
            return Plan.make(self.name, {}, request, (replace(dense, nonnegative=True),), ())

    with pytest.raises(RuntimeError, match="signs of features from elsewhere"):
        pt.release(people(10), schema, epsilon=1.0, neighbours="replace-one", method=Lies())
    assert not any(account.spends for account in pt.Ledger(own_ledger).accounts())


def test_the_error_that_quoted_a_value_does_not_travel_with_ours(schema: pt.Schema, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,grade,member,age,income,seen\nfemale,low,yes,SECRETVALUE,1,2020-01-01\n")
    with pytest.raises(DataError, match="'age'") as caught:
        pt.release(tmp_path / "t.csv", schema, epsilon=1.0)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


class TestLastLook:
    """Python cannot ask, so it warns: once a call, by name and not by value."""

    @pytest.fixture
    def vouched(self, schema: pt.Schema) -> pt.Schema:
        age = schema.columns["age"].model_copy(update={"read_from_data": ("min", "max")})
        return schema.model_copy(update={"columns": {**schema.columns, "age": age}})

    def test_a_release_warns(self, vouched: pt.Schema, people: People) -> None:
        with pytest.warns(pt.FactsFromDataWarning, match="age: min, max") as caught:
            pt.release(people(20), vouched, epsilon=1.0)
        assert [each.filename for each in caught] == [__file__]
        assert "110" not in str(caught[0].message)

    def test_a_choice_warns(self, vouched: pt.Schema, people: People) -> None:
        with pytest.warns(pt.FactsFromDataWarning, match="age: min, max"):
            pt.choose(people(20), vouched, [people(5, 1), people(5, 2)], epsilon=1.0)

    def test_a_refused_call_publishes_nothing_and_is_silent(self, vouched: pt.Schema, people: People) -> None:
        with pytest.raises(SchemaError, match="reviewed"):
            pt.release(people(20), vouched.model_copy(update={"reviewed": False}), epsilon=1.0)


def test_the_ledger_is_never_written_over(schema: pt.Schema, people: People, own_ledger: Path) -> None:
    release = pt.release(people(10), schema, epsilon=1.0)
    for write in (release.save, lambda path: pt.release(people(10), schema, epsilon=1.0, output=path)):
        with pytest.raises(pt.PointillistError, match="perhaps the ledger"):
            write(own_ledger)
    assert len(pt.Ledger(own_ledger).accounts()[0].spends) == 1


def test_the_row_count_of_a_selection_is_never_published(schema: pt.Schema, people: People, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(people(90), path)
    selections = [
        pt.sql("SELECT * FROM source WHERE sex = 'female'", path),
        pl.scan_parquet(path).filter(pl.col("sex") == "female"),
        ds.dataset(path).filter(ds.field("sex") == "female"),
        duckdb.from_parquet(str(path)).filter("sex = 'female'"),
    ]
    for chosen in selections:
        assert pt.release(chosen, schema, epsilon=1.0, neighbours="replace-one").rows is None
