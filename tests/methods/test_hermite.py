"""Hermite: single columns, products of columns and class counts in one release, bounded by 1, whatever the columns."""

import functools
import itertools
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator.releasing import embed
from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.features import FeatureMap, Labelled, OneHot, Product, Weighted
from pointillist.features import Hermite as Features
from pointillist.methods import METHODS, Hermite
from pointillist.plan import Plan
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.reading.opening import open_source
from pointillist.schema.levels import levels_of

People = Callable[..., pa.Table]
QUICK = Hermite(order=6, product_order=3, products=5)
FIT = pt.MixtureSettings(components=6, steps=10, grain=8)
TARGETS = [None, "sex", "grade", "member", "age", "income", "seen"]
"""None, each kind of category, each kind of number."""


def products_of(feature_map: FeatureMap, label: str | None) -> list[frozenset[str]]:
    """The columns of each product that a map measures, beside the label's."""
    columns = [block.code_columns | block.unit_columns for block, _ in feature_map.blocks()]
    return [each - {label} for each in columns if len(each - {label}) > 1]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_map_is_what_the_plan_says(schema: pt.Schema, target: str | None, neighbours: str) -> None:
    plan = pt.plan(schema, epsilon=1.0, target=target, neighbours=neighbours, method=QUICK)
    feature_map = QUICK.feature_map(plan, ())
    assert feature_map.dimension == plan.rounds[0].dimension
    assert feature_map.bound <= 1 + 1e-12
    assert feature_map.code_columns | feature_map.unit_columns == set(schema.measured)
    assert sum(block.count for block in plan.rounds[0].blocks) == len(feature_map.blocks())
    label = target if target in ("sex", "grade", "member") else None  # a numeric target is none
    assert len(products_of(feature_map, label)) == 5


@pytest.mark.parametrize("products", [0, 5])
@pytest.mark.parametrize("target", [None, "sex", "age"])
def test_no_record_is_longer_than_one_and_none_is_much_shorter(
    schema: pt.Schema, people: People, target: str | None, products: int
) -> None:
    method = Hermite(order=20, length_scale=0.1, product_order=8, product_length_scale=0.2, products=products)
    plan = pt.plan(schema, epsilon=1.0, target=target, method=method)
    lengths = np.linalg.norm(method.feature_map(plan, ())(read(people(500), schema).records), axis=1)
    assert lengths.max() <= 1 + 1e-9
    assert lengths.min() >= 0.95  # orders that carry the kernel waste little of the budget


WILD = pt.Schema(
    name="wild",
    columns={
        "a": pt.Categorical(categories=("p", "q", "r")),
        "b": pt.Integer(min=0, max=20, special=(-1,)),
        "x": pt.Real(min=-1, max=1),
        "y": pt.Boolean(),
    },
)
number = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -1.0, 1.0, 20.0, 1e300, np.inf, -np.inf, np.nan]))
record = st.tuples(
    st.sampled_from(["p", "q", "r", "unlisted", None]), number, number, st.sampled_from([True, False, None])
)
LARGE, TRIPLES = Hermite(order=200, length_scale=0.01, product_order=30), Hermite(product_columns=3, product_order=2)


def table(records: list[tuple[object, ...]]) -> pa.Table:
    kinds = (pa.string(), pa.float64(), pa.float64(), pa.bool_())
    columns = list(zip(*records, strict=True)) if records else [()] * 4
    return pa.table({n: pa.array(c, type=k) for n, c, k in zip(WILD.columns, columns, kinds, strict=True)})


@functools.cache
def planned(method: Hermite, target: str | None) -> tuple[Plan, FeatureMap]:
    plan = pt.plan(WILD.model_copy(update={"rows": 10**6}), epsilon=1.0, target=target, method=method)
    return plan, method.feature_map(plan, ())


@pytest.mark.parametrize("target", [None, "y", "x"])
@pytest.mark.parametrize(
    "method", [QUICK, LARGE, TRIPLES, Hermite(products=0)], ids=["some", "large", "triples", "none"]
)
@settings(max_examples=25)
@given(records=st.lists(record, min_size=1, max_size=6))
def test_no_record_whatever_it_holds_is_longer_than_one(
    method: Hermite, target: str | None, records: list[tuple[object, ...]]
) -> None:
    _, feature_map = planned(method, target)
    features = feature_map(read(table(records), WILD).records)
    assert np.isfinite(features).all()
    assert np.linalg.norm(features, axis=1).max() <= 1 + 1e-9


@pytest.mark.parametrize("target", [None, "y", "x"])
@settings(max_examples=25)
@given(records=st.lists(record, max_size=6), old=record, new=record)
def test_one_row_moves_the_sum_by_no_more_than_is_promised(
    target: str | None, records: list[tuple[object, ...]], old: tuple[object, ...], new: tuple[object, ...]
) -> None:
    plan, feature_map = planned(QUICK, target)
    grid = plan.rounds[0].grid
    one, other, without = (
        embed(open_source(table([*records, *extra])), WILD, feature_map, grid)[0].astype(object)
        for extra in ([old], [new], [])
    )
    for neighbours, moved in ((Neighbours.ADD_REMOVE, one - without), (Neighbours.REPLACE_ONE, one - other)):
        bound = squared_sensitivity(grid.squared_norm, neighbours, None, nonnegative=plan.rounds[0].nonnegative)
        assert int((moved * moved).sum()) <= bound


class TestProducts:
    @pytest.mark.parametrize("target", ["sex", "grade"])
    def test_are_split_by_class(self, schema: pt.Schema, people: People, target: str) -> None:
        """The published code's product block ignores the class, and its sensitivity is too small for that.

        A record that changes its class takes all of its features along: none stays where it was, so the two vectors are
        orthogonal, and their distance is the root of 2, not more.
        """
        plan = pt.plan(schema, epsilon=1.0, target=target, method=QUICK)
        feature_map = QUICK.feature_map(plan, ())
        label = next(each for each in levels_of(schema) if each.name == target)
        for block, _ in feature_map.blocks():
            assert block == OneHot(target, label.size) or (isinstance(block, Labelled) and block.label.column == target)
        records = read(people(40), schema).records
        before = feature_map(records)
        moved = replace(records, codes={**records.codes, target: (records.codes[target] + 1) % label.size})
        after = feature_map(moved)
        assert np.abs(np.einsum("ij,ij->i", before, after)).max() < 1e-12
        assert np.linalg.norm(after - before, axis=1).max() <= np.sqrt(2) * (1 + 1e-9)

    def test_are_all_combinations_where_the_noise_supports_them(self, schema: pt.Schema) -> None:
        many = schema.model_copy(update={"rows": 10**7})
        for target, label in ((None, None), ("sex", "sex"), ("age", None)):
            plan = pt.plan(many, epsilon=1.0, target=target, method=Hermite())
            found = products_of(Hermite().feature_map(plan, ()), label)
            names = [name for name in schema.columns if name != label]
            assert sorted(map(sorted, found)) == sorted(map(sorted, itertools.combinations(names, 2)))

    def test_are_fewer_where_the_noise_does_not(self, schema: pt.Schema) -> None:
        """From public facts alone: rows and budget as they are stated."""

        def number(rows: int | None, epsilon: float) -> int:
            some = schema.model_copy(update={"rows": rows})
            return int(pt.plan(some, epsilon=epsilon, target="sex", method=Hermite()).options["products"])

        found = [number(rows, 1.0) for rows in (20, 200, 1_000, 3_000, 10_000, 10**6)]
        assert found == sorted(found)
        assert found[0] == 0
        assert found[-1] == 10
        assert number(2_000, 0.05) <= number(2_000, 0.5) <= number(2_000, 5.0)
        assert 0 <= number(None, 1.0) <= 10

    def test_few_rows_bear_none_and_the_plan_says_so(self, schema: pt.Schema, people: People) -> None:
        few = schema.model_copy(update={"rows": 20})
        plan = pt.plan(few, epsilon=0.5, target="sex", method=Hermite())
        assert any("too large for products" in note for note in plan.notes)
        assert not products_of(Hermite().feature_map(plan, ()), "sex")
        made = pt.fit(pt.release(people(20), few, epsilon=0.5, target="sex", method=Hermite()), generator=FIT)
        assert made.sample(10, seed=0).num_rows == 10

    @pytest.mark.parametrize("target", [None, "c"])
    def test_nothing_is_said_where_there_is_nothing_to_multiply(self, target: str | None) -> None:
        """Two columns are a product already; one is none."""

        def notes(*names: str) -> tuple[str, ...]:
            label = {target: pt.Boolean()} if target else {}
            some = pt.Schema(name="some", rows=5, columns={name: pt.Real(min=0, max=1) for name in names} | label)
            return pt.plan(some, epsilon=0.5, target=target, method=Hermite()).notes

        assert any("too large for products" in note for note in notes("a", "b"))
        assert not any("too large for products" in note for note in notes("a"))

    def test_none_if_none_are_wanted(self, schema: pt.Schema) -> None:
        method = Hermite(products=0)
        plan = pt.plan(schema.model_copy(update={"rows": 10**7}), epsilon=1.0, target="sex", method=method)
        feature_map = method.feature_map(plan, ())
        assert not products_of(feature_map, "sex")
        assert feature_map.bound == pytest.approx(1.0)  # their share goes to single columns
        assert not any("products" in note for note in plan.notes)
        assert not any(block.name.startswith("products") for block in plan.rounds[0].blocks)

    def test_as_many_as_are_wanted_but_no_more_than_there_are(self, schema: pt.Schema) -> None:
        for wanted, found in ((1, 1), (7, 7), (10, 10), (99, 10)):
            method = replace(QUICK, products=wanted)
            plan = pt.plan(schema, epsilon=0.1, target="sex", method=method)
            products = products_of(method.feature_map(plan, ()), "sex")
            assert len(products) == len(set(products)) == found == plan.options["products"]

    def test_of_three_columns(self, schema: pt.Schema, people: People) -> None:
        method = Hermite(order=4, product_order=2, product_columns=3, products=4)
        plan = pt.plan(schema, epsilon=1.0, target="sex", method=method)
        feature_map = method.feature_map(plan, ())
        assert [len(each) for each in products_of(feature_map, "sex")] == [3] * 4
        assert feature_map.bound <= 1 + 1e-12
        release = pt.release(people(300), schema, epsilon=3.0, target="sex", method=method)
        assert pt.fit(release, generator=FIT).sample(20, seed=0).num_rows == 20

    def test_are_drawn_by_a_public_seed(self, schema: pt.Schema) -> None:
        plan = pt.plan(schema, epsilon=1.0, method=QUICK)
        first, second = (products_of(QUICK.feature_map(plan, ()), None) for _ in range(2))
        others = [products_of(replace(QUICK, product_seed=seed).feature_map(plan, ()), None) for seed in range(1, 6)]
        assert first == second
        assert any(set(each) != set(first) for each in others)

    def test_are_kernels_of_their_columns_multiplied(self, schema: pt.Schema, people: People) -> None:
        """The inner product of two records in a block is the product of Gaussian kernels, or 0 for other categories."""
        method = Hermite(product_order=25, product_length_scale=0.2, products=15)
        plan = pt.plan(schema, epsilon=1.0, method=method)
        sample = read(people(12), schema)
        records = sample.records
        for part in method.feature_map(plan, ()).parts:
            assert isinstance(part, Weighted)
            if not (isinstance(part.map, Product) and len(part.map.maps) == 2):
                continue
            expected = np.ones((12, 12))
            for name in part.map.code_columns:
                expected *= records.codes[name][:, None] == records.codes[name]
            for name in part.map.unit_columns:
                expected *= np.exp(-((records.units[name][:, None] - records.units[name]) ** 2) / (2 * 0.2**2))
            features = part.map(records)
            assert features @ features.T == pytest.approx(expected, abs=1e-3)


def test_orders_as_high_as_200_do_not_overflow(schema: pt.Schema, people: People) -> None:
    method = Hermite(order=200, product_order=20, products=2, length_scale=0.02)
    release = pt.release(people(100), schema, epsilon=3.0, target="sex", method=method)
    (measured,) = release.measurements
    assert measured.feature_map.dimension > 3 * 3 * 201
    features = measured.feature_map(read(people(100), schema).records)
    assert np.isfinite(features).all()
    assert np.linalg.norm(features, axis=1).max() <= 1 + 1e-9
    assert pt.fit(release, generator=FIT).sample(20, seed=0).num_rows == 20


def test_single_columns_stand_for_their_kernel(schema: pt.Schema, people: People) -> None:
    method = Hermite(products=0, length_scale=0.1)
    plan = pt.plan(schema, epsilon=1.0, method=method)
    records = read(people(30), schema).records
    leaves = [leaf for leaf in method.feature_map(plan, ()).leaves if isinstance(leaf, Features)]
    assert [leaf.column for leaf in leaves] == ["age", "income", "seen"]
    for leaf in leaves:
        places, features = records.units[leaf.column], leaf(records)
        expected = np.exp(-((places[:, None] - places) ** 2) / (2 * 0.1**2))
        assert features @ features.T == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("target", [None, "sex", "income"])
def test_the_whole_way(schema: pt.Schema, people: People, target: str | None) -> None:
    release = pt.release(people(1_000), schema, epsilon=3.0, target=target, method=QUICK)
    model = pt.fit(release, generator=FIT)
    made = model.sample(700, seed=1)
    assert read(made, schema).rows == 700  # every value is one of the schema's
    assert abs(model.rows - 1_000) < 300  # over ten standard deviations of the noisy counts


@pytest.mark.parametrize("kept", [("sex", "grade", "member"), ("age", "income", "seen"), ("age",), ("sex",)])
def test_tables_of_one_kind_of_column(schema: pt.Schema, people: People, kept: tuple[str, ...]) -> None:
    some = schema.model_copy(update={"columns": {name: schema.columns[name] for name in kept}})
    for method in (QUICK, Hermite()):
        release = pt.release(people(300).select(kept), some, epsilon=3.0, method=method)
        assert pt.fit(release, generator=FIT).sample(50, seed=0).column_names == list(kept)


@pytest.mark.parametrize(
    "method", [QUICK, Hermite(), Hermite(order=3, product_columns=3, product_seed=7, count_share=0.2)]
)
def test_a_release_knows_its_settings(schema: pt.Schema, people: People, tmp_path: Path, method: Hermite) -> None:
    """What is read from the file makes the same map once more."""
    path = tmp_path / "r"
    pt.release(people(200), schema, epsilon=3.0, target="sex", method=method, output=path)
    loaded = pt.Release.load(path)
    again = METHODS[loaded.method](**loaded.plan.options)
    assert isinstance(again, Hermite)
    assert replace(again, products=method.products) == method
    plan = pt.plan(schema, epsilon=3.0, target="sex", method=again)
    (measured,) = loaded.measurements
    assert again.feature_map(plan, ()) == measured.feature_map


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": -1},
        {"product_order": -1},
        {"length_scale": 0.0},
        {"product_length_scale": float("nan")},
        {"count_share": -0.1},
        {"product_share": 1.0},
        {"product_columns": 1},
        {"products": -1},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Hermite(**{**asdict(QUICK), **wrong})


def test_a_target_alone_is_refused() -> None:
    schema = pt.Schema(name="one", columns={"a": pt.Boolean()})
    for method in (QUICK, Hermite()):
        with pytest.raises(UsageError, match="a column beside the target"):
            pt.plan(schema, epsilon=1.0, target="a", method=method)


def test_an_honest_hermite_release_passes_its_audit() -> None:
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


def test_products_with_too_many_features_are_left_out() -> None:
    """Two columns of 200 categories would make a table of 40,000 cells; with a number of nine features each fits."""
    many = pt.Categorical(categories=tuple(map(str, range(200))), missing=False, out_of_domain="error")
    columns = {"first": many, "second": many, "number": pt.Real(min=0, max=1, missing=False)}
    plan = pt.plan(pt.Schema(name="wide", rows=10**6, columns=columns), epsilon=1.0, method=Hermite())
    (products,) = (block for block in plan.rounds[0].blocks if block.name == "products")
    assert (products.count, products.cells) == (2, 2 * 200 * 9)
    drawn = Hermite(products=1, product_seed=3)
    feature_map = drawn.feature_map(pt.plan(plan.request.schema, epsilon=1.0, method=drawn), ())
    (product,) = (block for block, _ in feature_map.blocks() if isinstance(block, Product))
    assert "number" in product.unit_columns
