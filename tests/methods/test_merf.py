"""Merf: one release of random features and class counts, bounded by 1, whatever the columns."""

import functools
import math
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator.releasing import embed
from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.features import FeatureMap, OneHot, RandomFourier
from pointillist.features.serial import to_nodes
from pointillist.methods import METHODS, Merf
from pointillist.methods.feature_count import best_features
from pointillist.methods.merf import MOST_FEATURES
from pointillist.plan import Plan
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.reading.opening import open_source
from pointillist.release import Measurement
from pointillist.schema.levels import levels_of

People = Callable[..., pa.Table]
QUICK = Merf(features=60)
MARGINALS = Merf(features=60, length_scales="marginals")
FIT = pt.MixtureSettings(components=6, steps=10, grain=8)
TARGETS = [None, "sex", "grade", "member", "age", "income", "seen"]
"""None, each kind of category, each kind of number."""


def fourier(feature_map: FeatureMap) -> RandomFourier:
    (found,) = {leaf for leaf in feature_map.leaves if isinstance(leaf, RandomFourier)}
    return found


def exactly(table: pa.Table, plan: Plan, method: Merf) -> list[Measurement]:
    """The first round as it would be without noise, but with its sigma."""
    feature_map, grid = method.feature_map(plan, ()), plan.rounds[0].grid
    sums, _ = embed(open_source(table), plan.request.schema, feature_map, grid)
    return [Measurement(feature_map, sums, grid, plan.sigma(0))]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_map_is_what_the_plan_says(schema: pt.Schema, target: str | None, neighbours: str) -> None:
    plan = pt.plan(schema, epsilon=1.0, target=target, neighbours=neighbours, method=QUICK)
    feature_map = QUICK.feature_map(plan, ())
    assert feature_map.dimension == plan.rounds[0].dimension
    assert feature_map.bound <= 1 + 1e-12
    assert feature_map.code_columns | feature_map.unit_columns == set(schema.measured)
    assert plan.expected_error(0, plan.rounds[0].blocks[0]) is None  # not a table
    assert plan.noise_rows(0, plan.rounds[0].blocks[0]) > 0


@pytest.mark.parametrize("target", TARGETS)
def test_no_record_is_longer_than_one_and_every_one_is_nearly_that(
    schema: pt.Schema, people: People, target: str | None
) -> None:
    plan = pt.plan(schema, epsilon=1.0, target=target, method=QUICK)
    features = QUICK.feature_map(plan, ())(read(people(500), schema).records)
    lengths = np.linalg.norm(features, axis=1)
    assert lengths.max() <= 1 + 1e-9
    assert lengths.min() >= 1 - 1e-9  # nothing of the budget is wasted


WILD = pt.Schema(
    name="wild",
    columns={
        "a": pt.Categorical(categories=("p", "q", "r")),
        "b": pt.Integer(min=0, max=20, special=(-1,)),
        "x": pt.Real(min=-1, max=1, missing=True),
        "y": pt.Boolean(),
    },
)
number = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -1.0, 1.0, 20.0, 1e300, np.inf, -np.inf, np.nan]))
record = st.tuples(
    st.sampled_from(["p", "q", "r", "unlisted", None]), number, number, st.sampled_from([True, False, None])
)


def table(records: list[tuple[object, ...]]) -> pa.Table:
    kinds = (pa.string(), pa.float64(), pa.float64(), pa.bool_())
    columns = list(zip(*records, strict=True)) if records else [()] * 4
    return pa.table({n: pa.array(c, type=k) for n, c, k in zip(WILD.columns, columns, kinds, strict=True)})


@functools.cache
def planned(method: Merf, target: str | None) -> Plan:
    return pt.plan(WILD, epsilon=1.0, target=target, method=method)


@pytest.mark.parametrize("target", [None, "y", "x"])
@pytest.mark.parametrize("method", [QUICK, MARGINALS], ids=["fixed", "marginals"])
@settings(max_examples=25)
@given(records=st.lists(record, max_size=6), old=record, new=record)
def test_one_row_moves_no_sum_by_more_than_is_promised(
    method: Merf,
    target: str | None,
    records: list[tuple[object, ...]],
    old: tuple[object, ...],
    new: tuple[object, ...],
) -> None:
    """In every round: scales that come from the rows are paid for like everything else."""
    plan = planned(method, target)
    measured: list[Measurement] = []
    for each in plan.rounds:
        feature_map = method.feature_map(plan, measured)
        one, other, without = (
            embed(open_source(table([*records, *extra])), WILD, feature_map, each.grid)[0].astype(object)
            for extra in ([old], [new], [])
        )
        for neighbours, moved in ((Neighbours.ADD_REMOVE, one - without), (Neighbours.REPLACE_ONE, one - other)):
            bound = squared_sensitivity(each.grid.squared_norm, neighbours, None, nonnegative=each.nonnegative)
            assert int((moved * moved).sum()) <= bound
        measured.append(Measurement(feature_map, one.astype(np.int64), each.grid, plan.sigma(0)))


@pytest.mark.parametrize("target", [None, "sex", "income"])
@pytest.mark.parametrize("method", [QUICK, MARGINALS], ids=["fixed", "marginals"])
def test_the_whole_way(schema: pt.Schema, people: People, method: Merf, target: str | None) -> None:
    release = pt.release(people(1_000), schema, epsilon=3.0, target=target, method=method)
    model = pt.fit(release, generator=FIT)
    made = model.sample(700, seed=1)
    assert made.num_rows == 700
    assert read(made, schema).rows == 700  # every value is one of the schema's
    assert abs(model.rows - 1_000) < 300  # over ten standard deviations of the noisy counts


@pytest.mark.parametrize("kept", [("sex", "grade", "member"), ("age", "income", "seen"), ("age",), ("sex",)])
@pytest.mark.parametrize("method", [QUICK, MARGINALS, Merf()], ids=["fixed", "marginals", "plain"])
def test_tables_of_one_kind_of_column(schema: pt.Schema, people: People, kept: tuple[str, ...], method: Merf) -> None:
    some = schema.model_copy(update={"columns": {name: schema.columns[name] for name in kept}})
    model = pt.fit(pt.release(people(300).select(kept), some, epsilon=3.0, method=method), generator=FIT)
    assert model.sample(50, seed=0).column_names == list(kept)


class TestFeatures:
    """How many, if nobody says."""

    @pytest.mark.parametrize("target", [None, "sex"])
    def test_the_bound_decides(self, schema: pt.Schema, target: str | None) -> None:
        plan = pt.plan(schema, epsilon=1.0, target=target, method=Merf())
        number = plan.options["features"]
        # The noise does not depend on the number, but for the grid that is made for it.
        sigma = plan.noise_rows(0, plan.rounds[0].blocks[0])
        classes = 1 if target is None else levels_of(schema)[0].size
        wanted = best_features(sigma, 2_000, classes=classes, most=MOST_FEATURES)
        assert wanted == pytest.approx(number, rel=0.01)
        feature_map = Merf().feature_map(plan, ())
        assert fourier(feature_map).dimension == number
        assert feature_map.dimension == plan.rounds[0].dimension

    def test_the_plan_shows_the_trade_off(self, schema: pt.Schema) -> None:
        plan = pt.plan(schema, epsilon=1.0, target="sex", method=Merf())
        (note,) = (note for note in plan.notes if "random features" in note)
        assert note.startswith(f"{plan.options['features']:,} random features for each class")
        shown = re.findall(r"([\d,]+): (\S+) \+ (\S+) = ([^;)]+)", note)
        assert len(shown) >= 3
        for _, noise, approximation, total in shown:
            assert float(noise) + float(approximation) == pytest.approx(float(total), rel=0.1)
        best = min(shown, key=lambda each: float(each[3]))
        totals = {int(count.replace(",", "")): float(total) for count, _, _, total in shown}
        assert totals[plan.options["features"]] <= float(best[3])
        assert [int(each[0].replace(",", "")) for each in shown] == sorted(totals)

    def test_more_rows_or_a_larger_epsilon_bear_more(self, schema: pt.Schema) -> None:
        def chosen(rows: int, epsilon: float) -> int:
            some = schema.model_copy(update={"rows": rows})
            return int(pt.plan(some, epsilon=epsilon, target="sex", method=Merf()).options["features"])

        assert chosen(200, 0.5) < chosen(1_000, 0.5) < chosen(1_000, 2.0)
        assert chosen(10**7, 10.0) <= MOST_FEATURES

    def test_rows_that_are_not_stated_are_assumed_in_so_many_words(self, schema: pt.Schema) -> None:
        silent = schema.model_copy(update={"rows": None})
        plan = pt.plan(silent, epsilon=1.0, method=Merf())
        assert any("as the schema does not state them" in note for note in plan.notes)
        assert not any("does not state" in note for note in pt.plan(schema, epsilon=1.0, method=Merf()).notes)

    def test_what_is_asked_for_is_taken_and_not_explained(self, schema: pt.Schema) -> None:
        plan = pt.plan(schema, epsilon=1.0, method=QUICK)
        assert plan.options["features"] == 60
        assert not any("random features" in note for note in plan.notes)

    def test_categories_alone_need_none(self, schema: pt.Schema) -> None:
        some = schema.model_copy(update={"columns": {name: schema.columns[name] for name in ("sex", "grade")}})
        plan = pt.plan(some, epsilon=1.0, method=Merf())
        assert plan.rounds[0].counting
        assert not any("random features" in note for note in plan.notes)


class TestLengthScales:
    def test_some_numbers_are_a_mixture_for_all_columns(self, schema: pt.Schema) -> None:
        """Frequencies times the length scale are standard normal, whatever the column."""
        method = Merf(features=6_000, length_scales=(0.1, 0.4))
        frequencies = fourier(method.feature_map(pt.plan(schema, epsilon=1.0, method=method), ())).frequencies
        assert frequencies.shape == (3_000, 3)
        for part, length in ((frequencies[0::2], 0.1), (frequencies[1::2], 0.4)):
            spread = (part * length * math.sqrt(3)).std(axis=0)
            np.testing.assert_allclose(spread, 1.0, atol=0.1)  # six standard errors; the seed is the method's own

    def test_a_number_for_each_column_is_taken_as_it_stands(self, schema: pt.Schema) -> None:
        lengths = {"age": 0.05, "income": 0.2, "seen": 2.0}
        method = Merf(features=6_000, length_scales=lengths)
        found = fourier(method.feature_map(pt.plan(schema, epsilon=1.0, method=method), ()))
        spread = found.frequencies.std(axis=0) * [lengths[name] for name in found.columns]
        np.testing.assert_allclose(spread, 1.0, atol=0.1)

    def test_a_column_without_a_number_is_named(self, schema: pt.Schema) -> None:
        method = Merf(features=60, length_scales={"age": 0.1, "seen": 0.1})
        with pytest.raises(UsageError, match="length_scales: no number for column 'income'"):
            pt.plan(schema, epsilon=1.0, method=method)

    def test_columns_that_are_no_numbers_need_none(self, schema: pt.Schema) -> None:
        method = Merf(features=60, length_scales={"age": 0.1, "income": 0.1, "seen": 0.1})
        assert pt.plan(schema, epsilon=1.0, target="sex", method=method).rounds[0].dimension > 60

    @pytest.mark.parametrize("target", TARGETS)
    def test_from_marginals_in_two_rounds(self, schema: pt.Schema, people: People, target: str | None) -> None:
        plan = pt.plan(schema, epsilon=1.0, target=target, method=MARGINALS)
        first, second = plan.rounds
        assert first.share + second.share == pytest.approx(1.0)
        assert first.share == pytest.approx(MARGINALS.marginal_share)
        assert (first.counting, second.counting) == (True, False)
        measured: list[Measurement] = []
        for each in plan.rounds:
            feature_map = MARGINALS.feature_map(plan, measured)
            assert feature_map.dimension == each.dimension
            assert feature_map.bound <= 1 + 1e-12
            measured = measured or exactly(people(300), plan, MARGINALS)
        histograms = MARGINALS.feature_map(plan, ())
        assert histograms.leaves == tuple(OneHot(each.name, each.size) for each in levels_of(schema))

    def test_marginal_scales_follow_the_spread_of_the_data(self) -> None:
        """Half the distances of a normal column are below 0.95 standard deviations."""
        schema = pt.Schema(
            name="two",
            rows=20_000,
            columns={name: pt.Real(min=0, max=1, missing=False, special=(-1.0,)) for name in ("narrow", "wide")},
        )
        rng = np.random.default_rng(0)
        rows = {
            "narrow": np.where(rng.random(20_000) < 0.3, -1.0, rng.normal(0.5, 0.02, 20_000)),  # an atom far away
            "wide": rng.normal(0.5, 0.1, 20_000).clip(0, 1),
        }
        method = replace(MARGINALS, features=6_000)
        plan = pt.plan(schema, epsilon=5.0, method=method)
        frequencies = fourier(method.feature_map(plan, exactly(pa.table(rows), plan, method))).frequencies
        lengths = 1 / frequencies.std(axis=0) / math.sqrt(2)
        np.testing.assert_allclose(lengths, [0.95 * 0.02, 0.95 * 0.1], rtol=0.2)

    def test_marginals_of_an_empty_table_give_scales_of_some_size(self, schema: pt.Schema, people: People) -> None:
        plan = pt.plan(schema, epsilon=1.0, method=MARGINALS)
        (measured,) = exactly(people(0), plan, MARGINALS)
        rng = np.random.default_rng(0)
        for seed in range(5):
            noise = np.rint(measured.sigma * rng.standard_normal(len(measured.values))).astype(np.int64)
            found = fourier(MARGINALS.feature_map(plan, [replace(measured, values=noise * (seed > 0))]))
            assert np.isfinite(found.frequencies).all()
            assert np.abs(found.frequencies).max() < 1e4  # no scale below a bin's width

    def test_the_histograms_help_the_fit(self, schema: pt.Schema, people: People) -> None:
        """They are part of the release, so any generator uses them."""
        release = pt.release(people(500), schema, epsilon=3.0, method=MARGINALS)
        assert len(release.measurements) == 2
        assert pt.Card.of(release).measured[0].name == "histograms"


@pytest.mark.parametrize(
    "method",
    [
        QUICK,
        Merf(),
        MARGINALS,
        Merf(features=20, length_scales={"age": 0.1, "income": 0.3, "seen": 1.0}, frequency_seed=5),
        Merf(features=20, length_scales=[0.2], count_share=0.1, category_share=0.3),  # type: ignore[arg-type]
    ],
    ids=["fixed", "plain", "marginals", "by column", "others"],
)
def test_a_release_knows_its_settings(schema: pt.Schema, people: People, tmp_path: Path, method: Merf) -> None:
    """What is read from the file makes the same map once more."""
    path = tmp_path / "r"
    pt.release(people(200), schema, epsilon=3.0, target="sex", method=method, output=path)
    loaded = pt.Release.load(path)
    again = METHODS[loaded.method](**loaded.plan.options)
    assert isinstance(again, Merf)
    assert replace(again, features=method.features) == method
    plan = pt.plan(schema, epsilon=3.0, target="sex", method=again)
    measured: list[Measurement] = []
    for each in loaded.measurements:
        nodes, arrays = to_nodes(again.feature_map(plan, measured))
        kept_nodes, kept_arrays = to_nodes(each.feature_map)
        assert nodes == kept_nodes
        assert arrays.keys() == kept_arrays.keys()
        assert all(np.array_equal(arrays[name], kept_arrays[name]) for name in arrays)
        measured.append(each)


def test_a_card_shows_what_was_counted(schema: pt.Schema, people: People) -> None:
    release = pt.release(people(200), schema, epsilon=3.0, target="sex", method=QUICK)
    assert pt.fit(release, generator=FIT).sample(10, seed=0).num_rows == 10
    card = pt.Card.of(release)
    assert "class counts" in [each.name for each in card.measured]
    assert "random features by class" not in [each.name for each in card.measured]
    assert abs(card.rows - 200) < 6 * card.rows_error  # one false alarm in 500 million
    assert "class counts (below about" in card.to_markdown()


def test_a_merf_release_has_a_fit_of_its_own(schema: pt.Schema, people: People) -> None:
    class Begun(Exception):
        pass

    def progress(step: str, fraction: float) -> None:
        raise Begun

    with pytest.raises(Begun):
        pt.fit(pt.release(people(50), schema, epsilon=3.0, method=QUICK), progress=progress)


def test_frequencies_depend_on_the_public_seed_alone(schema: pt.Schema) -> None:
    plan = pt.plan(schema, epsilon=1.0, method=QUICK)
    first, second = (QUICK.feature_map(plan, ()) for _ in range(2))
    other = replace(QUICK, frequency_seed=1).feature_map(plan, ())
    waves = [fourier(each).frequencies for each in (first, second, other)]
    assert np.array_equal(waves[0], waves[1])
    assert not np.array_equal(waves[0], waves[2])


@pytest.mark.parametrize(
    "wrong",
    [
        {"features": 7},
        {"features": 0},
        {"count_share": -0.1},
        {"category_share": 1.0},
        {"marginal_share": 1.0},
        {"length_scales": ()},
        {"length_scales": {}},
        {"length_scales": (0.1, 0.0)},
        {"length_scales": (0.1, math.nan)},
        {"length_scales": (math.inf,)},
        {"length_scales": {"age": -1.0}},
        {"length_scales": "median"},
        {"length_scales": 0.2},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Merf(**{**asdict(QUICK), **wrong})


@pytest.mark.parametrize(
    ("kept", "target"),
    [(("sex", "grade", "age"), "sex"), (("sex", "age"), "sex"), (("sex", "age"), None), (("age",), None)],
)
def test_classes_may_stay_uncounted(
    schema: pt.Schema, people: People, kept: tuple[str, ...], target: str | None
) -> None:
    """Then all of the budget goes to the features, which tell how frequent they are, or at least which there are."""
    method = replace(QUICK, count_share=0.0)
    some = schema.model_copy(update={"columns": {name: schema.columns[name] for name in kept}})
    release = pt.release(
        people(300).select(kept), some, epsilon=3.0, target=target, neighbours="replace-one", method=method
    )
    (measured,) = release.measurements
    assert measured.feature_map.bound == pytest.approx(1.0)
    assert pt.fit(release, generator=FIT).sample(50, seed=0).num_rows == 50
    model = pt.fit(release, generator=pt.NetworkSettings(hidden=(4,), steps=2, batch=10))
    if target is not None:
        kinds = model.sample(900, seed=0)[target].to_pylist()
        # Nobody is "other". Noise puts both figures past these ends less than once in a million runs.
        assert kinds.count("other") <= (200 if "grade" in kept else 0)
        assert abs(kinds.count("female") - kinds.count("male")) <= (400 if "grade" in kept else 1)
    with pytest.raises(UsageError, match="the number of rows must be public"):
        pt.plan(some, epsilon=3.0, target=target, method=method)


def test_a_query_whose_rows_nobody_counts_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    schema = pt.Schema(name="one", columns={"x": pt.Real(min=0, max=1, missing=False)})
    rows = duckdb.from_arrow(pa.table({"x": [0.1, 0.2, 0.7]})).filter("x < 0.5")
    ledger = pt.Ledger(tmp_path / "ledger")
    with pytest.raises(UsageError, match="the plan counts nothing"):
        pt.release(
            rows, schema, epsilon=1.0, neighbours="replace-one", method=replace(QUICK, count_share=0.0), ledger=ledger
        )
    assert not ledger.accounts()


def test_a_target_alone_is_refused() -> None:
    schema = pt.Schema(name="one", columns={"a": pt.Boolean()})
    with pytest.raises(UsageError, match="a column beside the target"):
        pt.plan(schema, epsilon=1.0, target="a", method=QUICK)


def test_an_honest_merf_release_passes_its_audit() -> None:
    """False alarms once in a million."""
    schema = pt.Schema(
        name="small",
        columns={
            "a": pt.Categorical(categories=("x", "y", "z")),
            "b": pt.Real(min=0, max=1, special=(-1.0,)),
            "c": pt.Boolean(missing=False),
        },
    )
    found = pt.audit(None, schema, epsilon=1.0, target="c", method=QUICK, attacks=["white-box"], runs=15)
    assert found.passed
    assert max(each.epsilon for each in found.findings) > 0.5
