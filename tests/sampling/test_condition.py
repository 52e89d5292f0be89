"""Conditional sampling: every row meets the condition, and the distribution is the model's own, given the condition."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy import stats

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features import OneHot
from pointillist.generators.mixture.mixture import Mixture
from pointillist.generators.network.row_network import Head, Network, Shape
from pointillist.records import Records
from pointillist.sampling.condition import Condition, Cut
from pointillist.sampling.constrained_sampler import ConstrainedSampler
from pointillist.sampling.constraints import Rules
from pointillist.sampling.table_decoder import TableDecoder
from pointillist.schema.given_syntax import select
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels, levels_of

ModelOf = Callable[..., pt.Model]

SCHEMA = pt.Schema(
    name="people",
    columns={
        "sex": pt.Categorical(categories=("F", "M"), missing=False, out_of_domain="error"),
        "job": pt.Categorical(categories=("cook", "nurse", "smith")),
        "code": pt.Categorical(categories=(1, 2, 3)),
        "grade": pt.Ordinal(categories=("low", "middle", "high"), out_of_domain="error"),
        "member": pt.Boolean(),
        "age": pt.Integer(min=0, max=110, bins=20, missing=False),
        "pay": pt.Real(min=1, max=1000, special=(0.0,), scale="log", decimals=2, bins=32),
        "size": pt.Real(min=0, max=2, bins=16, missing=False),
        "seen": pt.Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2021, 12, 31), bins=24),
    },
)


@pytest.fixture(scope="module")
def model(random_model: ModelOf) -> pt.Model:
    return random_model(SCHEMA, seed=3)


def holds(table: pa.Table, name: str, written: Any) -> list[bool]:
    """Which rows have what is written, judged on the values themselves."""
    listed = written if isinstance(written, list) else [written]
    order = getattr(SCHEMA.columns[name], "categories", ())

    def place(value: Any) -> Any:
        return order.index(value) if SCHEMA.columns[name].kind == "ordinal" else value

    def one(value: Any, each: Any) -> bool:
        if each is None or value is None:
            return value is each
        if not isinstance(each, tuple):
            return bool(value == each)
        low, high = each
        return (low is None or place(low) <= place(value)) and (high is None or place(value) <= place(high))

    return [any(one(value, each) for each in listed) for value in table[name].to_pylist()]


WRITTEN: dict[str, st.SearchStrategy[Any]] = {
    "sex": st.sampled_from(["F", "M", ["F", "M"]]),
    "job": st.sampled_from(["cook", "other", None, ["nurse", None]]),
    "code": st.sampled_from([1, None, [2, 3]]),
    "grade": st.sampled_from(["low", ("middle", None), [None, "high"]]),
    "member": st.sampled_from([True, False, None]),
    "age": st.integers(0, 110) | st.tuples(st.integers(0, 50), st.integers(50, 110)) | st.just([3, (40, 44)]),
    "pay": st.sampled_from([0, (0, 20), (3.5, 17.25), [None, (900, None)], 12.34]),
    "size": st.tuples(st.floats(0, 0.9), st.floats(1, 2)),
    "seen": st.sampled_from([
        (dt.date(2020, 2, 3), dt.date(2020, 7, 9)), dt.date(2021, 5, 5), [None, (dt.date(2021, 12, 1), None)],
    ]),
}  # fmt: skip


@settings(max_examples=40)
@given(condition=st.fixed_dictionaries({}, optional=WRITTEN), seed=st.integers(0, 99))
def test_every_row_meets_the_condition(model: pt.Model, condition: dict[str, Any], seed: int) -> None:
    table = model.sample(60, given=condition, seed=seed)
    assert table.num_rows == 60
    assert table.schema == model.sample(1).schema
    for name, written in condition.items():
        assert all(holds(table, name, written)), (name, written)


def joint(mixture: Mixture) -> np.ndarray:
    """The distribution of three columns' levels, by brute force."""
    parts = [mixture.tables[n][:, mixture.tiles[n].table] * mixture.within[n] for n in ("sex", "age", "pay")]
    return np.einsum("k,ka,kb,kc->abc", mixture.weights, *parts)


@given(seed=st.integers(0, 50), shares=st.integers(0, 2**32))
def test_conditioning_a_mixture_is_exact(random_model: ModelOf, seed: int, shares: int) -> None:
    """Against the joint table, cut and scaled: equal to the last digits, for any share of any level."""
    mixture = random_model(SCHEMA, seed=seed).generator
    assert isinstance(mixture, Mixture)
    rng = np.random.default_rng(shares)
    inside = {
        n: rng.random(len(mixture.within[n])) * (rng.random(len(mixture.within[n])) < 0.6) for n in ("sex", "age")
    }
    cut = joint(mixture) * inside["sex"][:, None, None] * inside["age"][None, :, None]
    probability, conditioned = mixture.given(inside)
    assert probability == pytest.approx(cut.sum(), abs=1e-12)
    if cut.sum() > 0:
        np.testing.assert_allclose(joint(conditioned), cut / cut.sum(), atol=1e-12)


def test_a_condition_without_probability_is_said_to_have_none(model: pt.Model) -> None:
    assert isinstance(model.generator, Mixture)
    assert model.generator.given({"sex": np.zeros(2)})[0] == 0.0


CONDITION = {"job": ["cook", None], "age": (31, 47), "pay": (0, 333.33)}


def test_the_conditional_distribution_is_that_of_filtered_rows(model: pt.Model) -> None:
    """In every column beside the condition's, as far as pairs go: more than two columns are tied by the mixture when
    rows are asked for, and by pairs alone when they are filtered.

    Chi^2 of two samples, column by column, at a level of 1e-8 each: a false alarm below 1e-6 in all, and one seed.
    """
    condition = {"age": (31, 47)}
    filtered = model.sample(250_000, seed=1)
    kept = np.logical_and.reduce([holds(filtered, name, written) for name, written in condition.items()])
    filtered = filtered.filter(pa.array(kept))
    assert filtered.num_rows > 5_000
    conditional = model.sample(filtered.num_rows, given=condition, seed=2)
    for each in levels_of(SCHEMA):
        one, two = (table[each.name].to_pylist() for table in (filtered, conditional))
        if each.numeric:
            values = sorted(v for v in one if v is not None)
            edges = sorted({values[len(values) * part // 25] for part in range(25)})
            one, two = ([None if v is None else int(np.searchsorted(edges, v, "right")) for v in c] for c in (one, two))
        cells = sorted(set(one) | set(two), key=str)
        counts = np.array([[column.count(cell) for cell in cells] for column in (one, two)])
        counts = counts[:, counts.sum(axis=0) >= 10]
        if counts.shape[1] > 1:
            assert stats.chi2_contingency(counts).pvalue > 1e-8, each.name


@st.composite
def cut_columns(draw: st.DrawFn) -> tuple[Levels, Any]:
    """A numeric column with special values in its bounds, and a range."""
    kind = draw(st.sampled_from(["integer", "real", "rounded"]))
    scale = draw(st.sampled_from(["linear", "log", "asinh"]))
    low, width = draw(st.integers(-4, 0) if scale == "asinh" else st.integers(1, 30)), draw(st.integers(4, 60))
    special = tuple(draw(st.lists(st.integers(low, low + width), max_size=3, unique=True)))
    facts: dict[str, Any] = {
        "min": low, "max": low + width, "bins": draw(st.integers(2, 12) | st.none()), "missing": False,
        "scale": scale, "special": special,
    }  # fmt: skip
    if kind == "integer":
        column: Any = pt.Integer(**facts)
    else:
        facts["special"] = tuple(map(float, special))
        column = pt.Real(**facts, decimals=draw(st.integers(0, 1)) if kind == "rounded" else None)
    number = st.floats(low, low + width) | st.integers(low, low + width).map(float)
    ends = sorted(draw(st.tuples(number, number)))
    try:
        select("x", column, (ends[0], ends[1]))
    except ValueError:
        reject()  # no value lies in so narrow a range
    return Levels("x", column), (ends[0], ends[1])


@settings(max_examples=100)
@given(cut_columns())
def test_the_share_of_a_level_is_what_the_decoder_makes_of_it(case: tuple[Levels, Any]) -> None:
    """Every bin decoded at 4,000 even positions: what falls in the range is the share, to within a few positions."""
    levels, written = case
    cut = Cut(levels, select("x", levels.column, written))
    spread = (np.arange(4_000) + 0.5) / 4_000
    for level in range(0, levels.regular, max(1, levels.regular // 20)):
        codes = np.full(len(spread), level, dtype=np.uint16)
        values = numbers(levels, codes, spread)
        inside = (values >= written[0]) & (values <= written[1])
        assert inside.mean() == pytest.approx(cut.shares[level], abs=4 / 4_000)
        if cut.shares[level] > 1e-3:
            drawn = cut.numbers(codes[:200], np.random.default_rng(level))
            assert ((drawn >= written[0]) & (drawn <= written[1])).all()
    for number, special in enumerate(levels.specials):
        assert cut.shares[levels.regular + number] == float(written[0] <= special <= written[1])


def test_numbers_are_even_inside_the_part_of_a_bin_that_is_asked_for() -> None:
    levels = Levels("x", pt.Real(min=0, max=10, bins=2, missing=False))
    cut = Cut(levels, select("x", levels.column, [(1.0, 2.0), (4.0, 7.0)]))
    np.testing.assert_allclose(cut.shares, [0.4, 0.4])
    values = cut.numbers(np.zeros(20_000, dtype=np.uint16), np.random.default_rng(0))
    # Half of the numbers in each part; quartiles within 0.03 of theirs: over six standard errors.
    assert np.quantile(values, [0.25, 0.75]) == pytest.approx([1.5, 4.5], abs=0.03)
    assert np.mean(values <= 2) == pytest.approx(0.5, abs=0.03)


def test_the_same_seed_gives_the_same_rows(model: pt.Model) -> None:
    one, two, other = (model.sample(50, given=CONDITION, balance="sex", seed=seed) for seed in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(other)


def test_no_condition_changes_nothing(model: pt.Model) -> None:
    assert model.sample(50, seed=4).equals(model.sample(50, given={}, seed=4))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"weight": 3}, ("'weight' is not a column of the model", "Columns: sex, job")),
        ({"sex": "female"}, ("column 'sex'", "'female' is not one of its values: 'F', 'M'")),
        ({"age": (40, 30)}, ("column 'age'", "is reversed")),
        ({"age": (200, 300)}, ("column 'age'", "outside its bounds 0 to 110")),
        ({"age": "30"}, ("column 'age'", "not a number")),
        ({"size": 1.0}, ("column 'size'", "has no probability", "give a range")),
        (["sex"], ("given must map columns to values", "list")),
    ],
)
def test_a_condition_without_sense_is_refused(model: pt.Model, condition: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        model.sample(5, given=condition)
    for word in words:
        assert word in str(caught.value)


def two_groups() -> pt.Model:
    """Women are under 55 and never smiths; nobody is missing."""
    schema = pt.Schema(name="groups", columns={name: SCHEMA.columns[name] for name in ("sex", "job", "age")})
    young = np.repeat([1.0, 0.0], 10) / 10
    tables = {
        "sex": np.array([[1.0, 0.0], [0.0, 1.0]]),
        "job": np.array([[0.9, 0.1, 0.0, 0.0, 0.0], [0.2, 0.2, 0.6, 0.0, 0.0]]),
        "age": np.array([young, young[::-1]]),
    }
    tiles = {each.name: OneHot(each.name, each.size) for each in levels_of(schema)}
    mixture = Mixture(np.array([0.7, 0.3]), tiles, tables, {name: np.ones(t.dimension) for name, t in tiles.items()})
    return pt.Model(schema, pt.plan(schema, epsilon=1.0).guarantee, "none", "pyarrow", 100.0, mixture)


@pytest.mark.parametrize("condition", [{"sex": "F", "job": "smith"}, {"sex": "F", "age": (90, 100)}, {"job": "other"}])
def test_what_the_model_rules_out_is_refused_and_named(condition: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="no probability") as caught:
        two_groups().sample(5, given=condition)
    for name in condition:
        assert name in str(caught.value)


class TestBalance:
    @pytest.mark.parametrize("count", [0, 1, 2, 60, 61, 1000])
    def test_every_class_gets_the_same_number_to_within_one(self, model: pt.Model, count: int) -> None:
        table = model.sample(count, balance="job", seed=count)
        counted = {each["values"]: each["counts"] for each in table["job"].value_counts().to_pylist()}
        assert table.num_rows == count == sum(counted.values())
        if count >= 4:
            assert set(counted) == {"cook", "nurse", "smith", "other"}
            assert max(counted.values()) - min(counted.values()) <= 1

    def test_only_classes_with_probability_count(self) -> None:
        assert set(two_groups().sample(90, balance="job")["job"].to_pylist()) == {"cook", "nurse", "smith"}
        women = two_groups().sample(90, balance="job", given={"sex": "F"})
        assert sorted(women["job"].to_pylist()) == ["cook"] * 45 + ["nurse"] * 45
        assert set(women["sex"].to_pylist()) == {"F"}

    def test_a_condition_on_the_balanced_column_narrows_the_classes(self, model: pt.Model) -> None:
        table = model.sample(30, balance="grade", given={"grade": ("middle", "high")})
        assert sorted(table["grade"].to_pylist()) == ["high"] * 15 + ["middle"] * 15

    def test_whole_numbers_and_truths_are_classes(self, random_model: ModelOf) -> None:
        schema = pt.Schema(
            name="few", columns={"n": pt.Integer(min=1, max=3, special=(0,)), "b": pt.Boolean(missing=False)}
        )
        model = random_model(schema)
        assert sorted(model.sample(40, balance="n")["n"].to_pylist()) == [0] * 10 + [1] * 10 + [2] * 10 + [3] * 10
        assert sum(model.sample(40, balance="b")["b"].to_pylist()) == 20

    def test_classes_are_drawn_from_their_own_distribution(self, model: pt.Model) -> None:
        """Given the class, other columns are as in rows filtered by it: chi^2 at 1e-8 for each class, and one seed."""
        balanced, plain = model.sample(40_000, balance="member", seed=5), model.sample(80_000, seed=6)
        for value in (True, False):
            counts = []
            for table in (balanced, plain):
                of_class = table.filter(pc.equal(table["member"], value))
                column = of_class["grade"].to_pylist()
                counts.append([column.count(grade) for grade in ("low", "middle", "high", None)])
            assert stats.chi2_contingency(np.array(counts)).pvalue > 1e-8

    def test_a_column_without_classes_is_refused(self, model: pt.Model) -> None:
        for name in ("size", "pay", "seen"):
            with pytest.raises(UsageError, match=f"balance: column '{name}' is .* no classes"):
                model.sample(5, balance=name)
        with pytest.raises(UsageError, match="balance: 'weight' is not a column of the model"):
            model.sample(5, balance="weight")

    def test_no_class_left_is_refused(self) -> None:
        with pytest.raises(UsageError, match="no class of column 'job'"):
            two_groups().sample(5, balance="job", given={"job": "other"})


@pytest.fixture(scope="module")
def network() -> pt.Model:
    """A network as it is before it learns anything: it knows no conditional distributions, and makes every level."""
    schema = pt.Schema(name="net", columns={name: SCHEMA.columns[name] for name in ("sex", "job", "age")})
    heads = tuple(Head(each.name, OneHot(each.name, each.size), False) for each in levels_of(schema))
    torch.manual_seed(0)
    shape = Shape(heads, "sex", (0.9, 0.1), hidden=(20,))
    return pt.Model(
        schema, pt.plan(schema, epsilon=1.0).guarantee, "none", "pyarrow", 100.0, Network(shape, shape.module())
    )


class TestRejection:
    """Generators without a closed form."""

    def test_every_row_meets_the_condition(self, network: pt.Model) -> None:
        table = network.sample(500, given={"sex": "M", "age": (31, 36)}, seed=1)
        assert table.num_rows == 500
        assert set(table["sex"].to_pylist()) == {"M"}
        assert set(table["age"].to_pylist()) == {31, 32, 33, 34, 35, 36}

    def test_the_distribution_is_that_of_filtered_rows(self, network: pt.Model) -> None:
        plain, drawn = network.sample(100_000, seed=2), network.sample(8_000, given={"sex": "M"}, seed=3)
        plain = plain.filter(pc.equal(plain["sex"], "M"))
        counts = [
            [t["job"].to_pylist().count(v) for v in ("cook", "nurse", "smith", "other", None)] for t in (plain, drawn)
        ]
        assert stats.chi2_contingency(np.array(counts)).pvalue > 1e-8  # one seed; the level is far below 1e-6

    def test_classes_are_balanced(self, network: pt.Model) -> None:
        assert network.sample(101, balance="sex")["sex"].to_pylist().count("M") in (50, 51)

    def test_what_no_trial_finds_is_refused(self, network: pt.Model) -> None:
        never = pt.Model(
            network.schema, network.guarantee, "none", "pyarrow", 1.0,
            Network(Shape(network.generator.shape.heads, "sex", (1.0, 0.0), hidden=(20,)), network.generator.module),
        )  # fmt: skip
        with pytest.raises(UsageError, match=r"sex = 'M' no probability"):
            never.sample(5, given={"sex": "M"})
        assert set(never.sample(20, balance="sex")["sex"].to_pylist()) == {"F"}


class Careless:
    """A mixture that now and then forgets the condition."""

    def __init__(self, told: Mixture, careless: Mixture):
        self.told, self.careless = told, careless

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        told, others = self.told.sample(count, rng), self.careless.sample(count, rng)
        forgets = rng.random(count) < 0.3
        codes = {name: np.where(forgets, others.codes[name], values) for name, values in told.codes.items()}
        return Records(count, codes, {})


def test_no_row_slips_through_whatever_the_sampler_does(model: pt.Model) -> None:
    condition = Condition.of(model.levels, CONDITION)
    assert isinstance(model.generator, Mixture)
    careless = Careless(model.generator.given(condition.shares)[1], model.generator)
    rng = np.random.default_rng(0)
    sampler = ConstrainedSampler(model.levels, careless, condition, Rules.of((), model.levels))
    table = TableDecoder(model.schema, "pyarrow").decode(sampler.sample(500, rng), rng)
    for name, written in CONDITION.items():
        assert all(holds(table, name, written))


def test_a_condition_says_what_it_is() -> None:
    condition = Condition.of(levels_of(SCHEMA), {"sex": "F", "age": (30, 40)})
    assert str(condition) == "sex = 'F', age = 30 to 40"


def test_the_facade_passes_conditions_on(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    fitted = pt.Synthesizer(schema, epsilon=5.0, method=pt.Mosaic(components=10, steps=20)).fit(people(2_000))
    table = fitted.sample(30, given={"age": (30, 40)}, balance="sex", seed=1)
    assert sorted(table["sex"].to_pylist()) == ["female"] * 15 + ["male"] * 15
    assert all(30 <= age <= 40 for age in table["age"].to_pylist())
