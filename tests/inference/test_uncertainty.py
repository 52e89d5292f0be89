"""Uncertainty: intervals that hold the private figure as often as they say, from the release alone."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import pointillist as pt
from pointillist.curator.releasing import embed
from pointillist.errors import UsageError
from pointillist.reading.opening import open_source
from pointillist.release import Measurement

People = Callable[..., pa.Table]

SMALL = pt.Mosaic(components=8, steps=40, most_tiles=10)
SCHEMA = pt.Schema(
    name="crowd",
    rows=3_000,
    columns={
        "kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
        "age": pt.Integer(min=0, max=39, missing=False),
        "score": pt.Real(min=-4, max=4, bins=32),
        "flag": pt.Boolean(missing=False),
    },
)


def crowd(rows: int = 3_000, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal(rows)
    age = np.clip(20 + 8 * factor + 3 * rng.standard_normal(rows), 0, 39).astype(np.int64)
    kind = np.clip((1.3 + factor + 0.5 * rng.standard_normal(rows)).astype(np.int64), 0, 2)
    score = np.clip(0.7 * factor + 0.7 * rng.standard_normal(rows), -4, 4)
    return pa.table({
        "kind": np.array(["a", "b", "c"])[kind],
        "age": age,
        "score": pa.array(score, mask=rng.random(rows) < 0.05),
        "flag": rng.random(rows) < np.array([0.2, 0.5, 0.8])[kind],
    })  # fmt: skip


TABLE = crowd()
AGE = np.asarray(TABLE["age"])
SCORE = TABLE["score"].to_numpy()
THERE = ~np.isnan(SCORE)
FLAG = np.asarray(TABLE["flag"])
KIND = np.array(TABLE["kind"].to_pylist())


def slope(table: pa.Table) -> float:
    age, score = table["age"].to_numpy(), table["score"].to_numpy()
    there = ~np.isnan(score)
    return float(np.polyfit(age[there], score[there], 1)[0])


def correlated(table: pa.Table) -> float:
    age, score = table["age"].to_numpy(), table["score"].to_numpy()
    there = ~np.isnan(score)
    return float(np.corrcoef(age[there], score[there])[0, 1])


MEASURED: dict[str, tuple[Callable[[pt.Uncertainty], pt.Estimate], float]] = {
    "share": (lambda u: u.share({"kind": "c"}), np.mean(KIND == "c")),
    "share of two": (lambda u: u.share({"kind": "c", "flag": True}), np.mean((KIND == "c") & FLAG)),
    "range": (lambda u: u.share({"age": (13, 22)}), np.mean((AGE >= 13) & (AGE <= 22))),
    "mean": (lambda u: u.mean("age"), AGE.mean()),
    "mean with gaps": (lambda u: u.mean("score"), SCORE[THERE].mean()),
    "median": (lambda u: u.quantile("age", 0.5), np.quantile(AGE, 0.5, method="inverted_cdf")),
    "tail": (lambda u: u.quantile("score", 0.9), np.quantile(SCORE[THERE], 0.9, method="inverted_cdf")),
}  # type: ignore[dict-item]
COUNTED: dict[str, tuple[Callable[[pt.Uncertainty], pt.Estimate], float]] = {
    "mean where": (lambda u: u.mean("age", {"flag": True}), AGE[FLAG].mean()),
    "correlation of columns": (lambda u: u.correlation("age", "score"), correlated(TABLE)),
}  # type: ignore[dict-item]
"""Told by tables of two columns, with a bound for what happens inside their cells."""
REFITTED: dict[str, tuple[Callable[[pt.Uncertainty], pt.Estimate], float]] = {
    "correlation": (lambda u: u.of(correlated, columns=["age", "score"]), correlated(TABLE)),
    "share of three": (
        lambda u: u.share({"kind": "c", "flag": True, "age": (None, 24)}),
        np.mean((KIND == "c") & FLAG & (AGE < 25)),
    ),
    "slope": (lambda u: u.of(slope, columns=["age", "score"]), slope(TABLE)),
}  # type: ignore[dict-item]


def seeded_release(epsilon: float, seed: int) -> pt.Release:
    """A release as it is planned, but with noise that a seed decides."""
    plan, rng = pt.plan(SCHEMA, epsilon=epsilon, method=SMALL), np.random.default_rng(seed)
    measured: list[Measurement] = []
    for number, each in enumerate(plan.rounds):
        feature_map, sigma = SMALL.feature_map(plan, measured), plan.sigma(number)
        sums, _ = embed(open_source(TABLE), SCHEMA, feature_map, each.grid)
        noise = np.rint(sigma * rng.standard_normal(len(sums))).astype(np.int64)
        measured.append(Measurement(feature_map, sums + noise, each.grid, sigma))
    facts = {"schema": SCHEMA, "guarantee": plan.guarantee, "target": None, "plan": plan.published(), "rows": None}
    return pt.Release(id="seeded", created="", frame="pyarrow", measurements=tuple(measured), **facts)  # type: ignore[arg-type]


def fewest(runs: int, chance: float, questions: int) -> int:
    """So many intervals hold at least, with a false-alarm rate below 1e-7 for all questions together."""
    return int(stats.binom.ppf(1e-7 / questions, runs, chance))


def test_measured_intervals_hold_as_often_as_they_say() -> None:
    """Noise is fresh in every release. The bound is that of a coin with the stated chance: 1e-7 for a false alarm.

    The model is always the same: it has no part in these intervals.
    """
    runs, held, model = 36, dict.fromkeys(MEASURED, 0), pt.fit(seeded_release(1.0, seed=0))
    for _ in range(runs):
        release = pt.release(TABLE, SCHEMA, epsilon=1.0, method=SMALL)
        bars = pt.uncertainty(release, model=replace(model, release=release.id), refits=0, rows=500)
        for name, (ask, truth) in MEASURED.items():
            estimate = ask(bars)
            assert estimate.basis == "measured"
            held[name] += estimate.low <= truth <= estimate.high
    assert min(held.values()) >= fewest(runs, 0.95, len(held)), held


def test_intervals_by_refits_hold_where_the_model_itself_is_far_off() -> None:
    """At this noise the model shows half of the correlation or less. Without the adjustment hardly one in ten would hold.

    The noise has seeds here, so there are no false alarms: intervals of refits are not proved to hold with 95 %.
    """
    runs, held, off, widths = 8, dict.fromkeys([*REFITTED, *COUNTED], 0), [], []
    for seed in range(runs):
        bars = pt.uncertainty(seeded_release(0.7, seed), refits=5, rows=2_000, seed=seed)
        for name, (ask, truth) in {**REFITTED, **COUNTED}.items():
            estimate = ask(bars)
            if name != "share of three":  # mosaic may have measured a table of these three
                assert (estimate.basis == "refits") == (name in REFITTED)
            held[name] += estimate.low <= truth <= estimate.high
            if name == "correlation":
                off.append(truth - estimate.value)
                widths.append(estimate.high - estimate.low)
    assert min(held.values()) >= 6, held
    assert np.mean(off) > 0.05
    assert np.mean(widths) < 1.6  # not so wide that holding means nothing


def test_more_budget_makes_narrower_intervals() -> None:
    bars = [pt.uncertainty(seeded_release(epsilon, seed=1), refits=4, rows=2_000) for epsilon in (0.5, 8.0)]
    wide, narrow = (each.quantile("score", 0.25) for each in bars)
    assert narrow.high - narrow.low <= wide.high - wide.low  # both end at edges of bins, perhaps at the same ones
    for ask in (
        lambda u: u.share({"kind": "b"}),
        lambda u: u.mean("age"),
        lambda u: u.correlation("age", "score"),
    ):
        wide, narrow = (ask(each) for each in bars)
        assert narrow.high - narrow.low < wide.high - wide.low
        assert narrow.standard_error < wide.standard_error


@pytest.fixture(scope="module")
def bars(tmp_path_factory: pytest.TempPathFactory) -> pt.Uncertainty:
    ledger = tmp_path_factory.mktemp("bars") / "ledger.sqlite"
    release = pt.release(TABLE, SCHEMA, epsilon=3.0, method=SMALL, neighbours="replace-one", ledger=ledger)
    return pt.uncertainty(release, refits=3, rows=3_000)


def test_shares_of_all_values_are_one(bars: pt.Uncertainty) -> None:
    whole = bars.share({"kind": ["a", "b", "c"]})
    assert (whole.value, whole.low, whole.high) == pytest.approx((1, 1, 1), abs=1e-6)
    assert sum(each.value for each in bars.marginal("kind")) == pytest.approx(1)
    assert [each.name for each in bars.marginal("score")] == ["share of score = missing"]


def test_an_estimate_says_what_it_is(bars: pt.Uncertainty) -> None:
    estimate = bars.mean("age")
    assert estimate.error == pytest.approx(max(estimate.high - estimate.value, estimate.value - estimate.low))
    assert "mean of age" in str(estimate)
    assert "95% confidence" in str(estimate)
    assert estimate.to_json()["error"] == estimate.error
    assert bars.quantile("age", 0.0).low == 0
    assert bars.quantile("age", 1.0).high == 39
    assert str(bars.share({"kind": "a"})).count("%") == 4


def test_dates_are_shown_as_dates(schema: pt.Schema, people: People) -> None:
    made = pt.release(people(500), schema, epsilon=5.0, method=SMALL)
    found = pt.uncertainty(made, refits=0, rows=500).quantile("seen", 0.5)
    assert found.unit == "day"
    assert found.shown(found.low).startswith("202")
    assert found.shown(math.inf) == "unknown"


def test_a_description_covers_every_column(bars: pt.Uncertainty) -> None:
    names = [each.name for each in bars.describe()]
    assert {"mean of age", "median of score", "share of flag = True", "share of score = missing"} <= set(names)
    assert [each.name for each in bars.correlations()] == ["correlation of age and score"]


def test_the_columns_that_a_statistic_reads_are_found(bars: pt.Uncertainty) -> None:
    named, found = bars.of(slope, columns=["age", "score"]), bars.of(slope)
    assert (named.low, named.high) == (found.low, found.high)
    alone = bars.of(lambda table: np.asarray(table["age"]).std())
    assert alone == bars.of(lambda table: np.asarray(table["age"]).std(), columns=["age"])
    constant = bars.of(lambda table: table.num_rows)
    assert constant.low == constant.value == constant.high == 3_000


def test_of_columns_that_were_never_measured_together_nothing_is_known(bars: pt.Uncertainty) -> None:
    alone = replace(bars, release=replace(bars.release, measurements=bars.release.measurements[:1]))
    for estimate in (alone.correlation("age", "score"), alone.share({"kind": "c", "flag": True})):
        assert (estimate.low, estimate.high) == ((-1, 1) if "correlation" in estimate.name else (0, 1))
    assert alone.mean("age").high < 39


def test_a_statistic_of_too_many_columns_is_refused(bars: pt.Uncertainty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointillist.inference.refitted_intervals._MOST_COLUMNS", 1)
    with pytest.raises(UsageError, match="reads 2 columns"):
        bars.of(slope)


def test_a_statistic_gets_the_frame_it_asks_for(bars: pt.Uncertainty) -> None:
    estimate = bars.of(lambda frame: frame["age"].mean(), columns=["age"], frame="pandas", name="mean by pandas")
    assert estimate.name == "mean by pandas"
    assert estimate.low < AGE.mean() + 5
    assert estimate.low <= estimate.high


def test_the_same_seed_gives_the_same_intervals(bars: pt.Uncertainty) -> None:
    again = pt.uncertainty(bars.release, refits=3, rows=3_000)
    other = pt.uncertainty(bars.release, refits=3, rows=3_000, seed=1)
    assert again.correlation("age", "score") == bars.correlation("age", "score")
    assert other.correlation("age", "score") != bars.correlation("age", "score")


def test_a_statistic_that_some_rows_cannot_give_is_unknown(bars: pt.Uncertainty) -> None:
    estimate = bars.of(lambda table: math.nan, columns=["age"])
    assert (estimate.low, estimate.high) == (-math.inf, math.inf)
    assert estimate.shown(estimate.low) == "unknown"


def test_a_model_that_was_fitted_before_is_used(bars: pt.Uncertainty) -> None:
    model = pt.fit(bars.release, seed=9)
    assert pt.uncertainty(bars.release, model=model, refits=0).model is model
    with pytest.raises(UsageError, match="another release"):
        pt.uncertainty(bars.release, model=replace(model, release="other"), refits=0)


@pytest.mark.parametrize("method", [pt.Merf(features=20), pt.Hermite(order=4, product_order=2, products=2)])
def test_other_methods_have_error_bars_too(method: pt.Merf | pt.Hermite) -> None:
    release = pt.release(crowd(500), SCHEMA, epsilon=3.0, target="flag", method=method)
    settings = pt.MixtureSettings(components=3, steps=4, grain=8)
    bars = pt.uncertainty(release, generator=settings, refits=2, rows=500)
    assert bars.share({"flag": True}).basis == "measured"  # its classes were counted
    for estimate in (bars.mean("age"), bars.correlation("age", "score"), bars.quantile("score", 0.5)):
        assert estimate.basis in (
            "refits",
            "not measured",
        )  # not measured: where refits leave all open that is possible
        assert estimate.low <= estimate.high


def test_progress_is_told(bars: pt.Uncertainty) -> None:
    told: list[tuple[str, float]] = []
    pt.uncertainty(bars.release, refits=2, rows=100, progress=lambda step, fraction: told.append((step, fraction)))
    fractions = [fraction for step, fraction in told if step == "refits"]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda u: u.mean("kind"), "'kind' is categorical, not a number"),
        (lambda u: u.mean("wage"), "'wage' is not a column"),
        (lambda u: u.share({}), "name a column"),
        (lambda u: u.share({"wage": 1}), "'wage' is not a column"),
        (lambda u: u.quantile("age", 1.5), "between 0 and 1"),
        (lambda u: u.correlation("age", "flag"), "'flag' is boolean"),
        (lambda u: u.of(lambda table: "many", columns=["age"]), "must return one number"),
        (lambda u: u.of(slope, columns=["wage"]), "'wage' is not a column"),
        (lambda u: replace(u, refits=()).of(slope), "refits are needed"),
        (lambda u: pt.uncertainty(u.release, refits=1), "refits must be 0"),
        (lambda u: pt.uncertainty(u.release, confidence=1.0), "confidence"),
        (lambda u: pt.uncertainty(u.release, rows=0), "rows"),
        (lambda u: pt.uncertainty("people.release"), "takes a Release"),
    ],
)
def test_mistakes_are_named(ask: Callable[[pt.Uncertainty], Any], message: str, bars: pt.Uncertainty) -> None:
    with pytest.raises(UsageError, match=message):
        ask(bars)
