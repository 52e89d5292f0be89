"""The exact embedding: the same bits however the work is cut, and a sensitivity that holds in integers."""

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator import embedding
from pointillist.curator.clipping import quantise
from pointillist.curator.embedding import Embedding
from pointillist.curator.releasing import embed
from pointillist.engines import Partial
from pointillist.features import (
    Concat,
    FeatureMap,
    Hermite,
    Labelled,
    OneHot,
    Product,
    Products,
    RandomFourier,
    Records,
    Score,
    ScoreProducts,
    Tiles,
    Weighted,
)
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.reading import batches as reading
from pointillist.reading.encoding import Encoder
from pointillist.reading.opening import open_source
from pointillist.schema.levels import levels_of

SCHEMA = pt.Schema(
    name="s",
    columns={
        "a": pt.Categorical(categories=("p", "q", "r")),
        "b": pt.Integer(min=0, max=20, special=(-1,)),
        "x": pt.Real(min=-1, max=1),
        "z": pt.Real(min=1, max=1000, scale="log", special=(0.0,)),
        "y": pt.Boolean(),
    },
)
SIZE = {each.name: each.size for each in levels_of(SCHEMA)}
A, B, Y = OneHot("a", SIZE["a"]), Tiles("b", tuple(i % 4 for i in range(SIZE["b"]))), OneHot("y", SIZE["y"])
X = Tiles("x", tuple(i // 40 for i in range(SIZE["x"])))
FOURIER = RandomFourier.draw(("x", "z"), 50, 0.3, seed=2)
COUNTING: dict[str, FeatureMap] = {
    "one-way": Concat((Weighted(A, 0.6), Weighted(B, 0.8))),
    "pairs and triples": Concat(
        (
            Weighted(Product((A, B)), 0.3),
            Weighted(Product((B, A)), 0.1),
            Weighted(Labelled.of(Product((A, B)), Y), 0.4),
            Weighted(Product((Y, A)), 0.2),
            Weighted(B, 0.1),
        )
    ),
    "four columns": Concat((Weighted(Product((A, B, X, Y)), 0.7), Weighted(Product((A, B)), 0.7))),
    "one": OneHot("a", SIZE["a"]),
}
SCORES = tuple(
    Score(name, tuple((-1, 1, 0, 1)[(level + shift) % 4] for level in range(SIZE[name])))
    for name, shift in (("a", 0), ("b", 1), ("x", 2))
)
SIGNED: dict[str, FeatureMap] = {
    "products of scores": Weighted(ScoreProducts(SCORES, ((0, 1), (0, 2), (1, 2))), 0.577),
    "scores by class beside counts": Concat(
        (
            Weighted(Labelled.of(ScoreProducts(SCORES, ((0,), (1,), (2,))), Y), 0.4),
            Weighted(ScoreProducts(SCORES, ((0, 1, 2),)), 0.3),
            Weighted(Product((A, B)), 0.6),
        )
    ),
}
COUNTING |= SIGNED
HX, HZ = Hermite.spread("x", 7, 0.1), Hermite("z", 4, 0.3)
DENSE: dict[str, FeatureMap] = {
    "fourier": FOURIER,
    "labelled fourier beside counts": Concat((Weighted(Labelled.of(FOURIER, Y), 0.6), Weighted(Product((A, B)), 0.8))),
    "plain blocks": Concat((Weighted(HX, 0.6), Weighted(HZ, 0.5), Weighted(Product((HX, HZ)), 0.6))),
    "categories in front": Concat((Weighted(Product((A, B, HZ)), 0.6), Weighted(Product((Y, HX)), 0.8))),
    "products by class": Concat(
        (
            Weighted(Labelled.of(Product((A, HZ)), Y), 0.5),
            Weighted(Labelled.of(Product((HX, HZ)), Y), 0.5),
            Weighted(Labelled.of(A, Y), 0.5),
            Weighted(Y, 0.5),
        )
    ),
}
ODD: dict[str, FeatureMap] = {
    "categories behind": Product((HX, A)),
    "categories between": Product((A, HX, B, HZ)),
    "a sum by class": Labelled.of(Concat((Weighted(HX, 0.6), Weighted(A, 0.8))), Y),
}
MAPS = {**COUNTING, **DENSE, **ODD}
COMMON = [*COUNTING, *DENSE]
"""Maps of the shapes that methods make."""

number = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -1.0, 1.0, 20.0, 1000.0, np.inf, -np.inf, np.nan]))
row = st.tuples(
    st.sampled_from(["p", "q", "r", "unlisted", "", None]), number, number, number, st.sampled_from([True, False, None])
)
rows = st.lists(row, max_size=30)


def table(records: list[tuple[object, ...]]) -> pa.Table:
    kinds = (pa.string(), pa.float64(), pa.float64(), pa.float64(), pa.bool_())
    columns = list(zip(*records, strict=True)) if records else [()] * 5
    return pa.table({n: pa.array(c, type=k) for n, c, k in zip(SCHEMA.columns, columns, kinds, strict=True)})


def sums(name: str, records: list[tuple[object, ...]], threads: int = 1) -> np.ndarray:
    return embed(open_source(table(records)), SCHEMA, MAPS[name], grid(name), threads)[0]


def grid(name: str) -> Grid:
    return Grid.counting() if name in COUNTING else Grid.dense(MAPS[name].dimension)


@pytest.mark.parametrize("name", COMMON)
@given(records=rows, size=st.integers(1, 40), threads=st.integers(1, 3), shuffle=st.randoms(use_true_random=False))
def test_same_bits_whatever_the_batches_threads_and_order(
    name: str, records: list[tuple[object, ...]], size: int, threads: int, shuffle: "np.random.Generator"
) -> None:
    whole = sums(name, records)
    mixed = list(records)
    shuffle.shuffle(mixed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BATCH_ROWS", size)
        np.testing.assert_array_equal(sums(name, mixed, threads), whole)


def encoded(name: str, records: list[tuple[object, ...]]) -> Records:
    """The records of a table, as the map reads them."""
    encoder = Encoder(levels_of(SCHEMA), MAPS[name].code_columns, MAPS[name].unit_columns, "t")
    (batch,) = table(records).combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table([]).schema)]
    return encoder(batch)


@pytest.mark.parametrize("name", MAPS)
@settings(max_examples=30)
@given(records=rows, bits=st.sampled_from([4, 20, 24]))
def test_every_path_gives_the_sum_of_integer_features(name: str, records: list[tuple[object, ...]], bits: int) -> None:
    """Counting and adding up by cell are only faster ways to the very same sum."""
    expected = quantise(MAPS[name](encoded(name, records)), Grid(bits)).sum(axis=0)
    found, count = embed(open_source(table(records)), SCHEMA, MAPS[name], Grid(bits))
    assert count == len(records)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", [*DENSE, *ODD])
@pytest.mark.parametrize("limit", [1, 40, 1000])
def test_however_many_features_are_held_at_a_time(name: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    records: list[tuple[object, ...]] = [
        (str(rng.choice(["p", "q"])), float(rng.integers(0, 21)), float(rng.normal(0, 0.5)), float(rng.random()), True)
        for _ in range(100)
    ]
    expected = quantise(MAPS[name](encoded(name, records)), grid(name)).sum(axis=0)
    monkeypatch.setattr(embedding, "_DENSE_CELLS", limit)
    np.testing.assert_array_equal(sums(name, records), expected)


def distance(first: np.ndarray, second: np.ndarray) -> int:
    return sum((int(a) - int(b)) ** 2 for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", COMMON)
@given(records=rows, extra=row)
def test_adding_or_removing_a_row_moves_the_sum_by_at_most_the_sensitivity(
    name: str, records: list[tuple[object, ...]], extra: tuple[object, ...]
) -> None:
    bound = squared_sensitivity(
        grid(name).squared_norm, Neighbours.ADD_REMOVE, None, nonnegative=MAPS[name].nonnegative
    )
    assert distance(sums(name, records), sums(name, [*records, extra])) <= bound


@pytest.mark.parametrize("name", COMMON)
@given(records=rows, old=row, new=row)
def test_replacing_a_row_moves_the_sum_by_at_most_the_sensitivity(
    name: str, records: list[tuple[object, ...]], old: tuple[object, ...], new: tuple[object, ...]
) -> None:
    bound = squared_sensitivity(
        grid(name).squared_norm, Neighbours.REPLACE_ONE, None, nonnegative=MAPS[name].nonnegative
    )
    assert distance(sums(name, [*records, old]), sums(name, [*records, new])) <= bound


def test_the_sensitivity_is_reached_by_worst_case_neighbours() -> None:
    """A bound that is never reached would waste budget: opposite cells reach it for counts, but for the grid."""
    old, new = ("p", 0.0, 0.0, 1.0, True), ("q", 1.0, 0.9, 900.0, False)
    name = "pairs and triples"
    weights = sum(int(w * 2**26) ** 2 for w in (0.3, 0.1, 0.4, 0.2, 0.1))
    assert distance(sums(name, [old]), sums(name, [])) == weights
    assert distance(sums(name, [old]), sums(name, [new])) == 2 * weights


@given(
    counts=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    cap=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_person_moves_the_sum_by_at_most_the_cap(counts: list[int], cap: int, seed: int) -> None:
    """Person 0 may have any number of rows: only `cap` of them count, whatever the others have."""
    rng = np.random.default_rng(seed)
    schema = pt.Schema(
        name="s",
        columns={"a": SCHEMA.columns["a"], "b": SCHEMA.columns["b"]},
        person=pt.Person(column="id", max_rows=cap),
    )
    person = np.repeat(np.arange(len(counts)), counts)
    order = rng.permutation(len(person))
    data = pa.table(
        {
            "id": person[order],
            "a": rng.choice(["p", "q", "r"], len(person)),
            "b": rng.integers(0, 21, len(person)).astype(float),
        }
    )
    others = data.filter(pa.compute.not_equal(data["id"], 0))
    feature_map = COUNTING["one-way"]
    everyone, _ = embed(open_source(data), schema, feature_map, Grid(26))
    without, _ = embed(open_source(others), schema, feature_map, Grid(26))
    bound = squared_sensitivity(4**26, Neighbours.ADD_REMOVE, schema.person, nonnegative=True)
    assert distance(everyone, without) <= bound


@pytest.mark.parametrize(
    ("neighbours", "rows_each", "nonnegative", "factor"),
    [
        (Neighbours.ADD_REMOVE, None, True, 1),
        (Neighbours.ADD_REMOVE, None, False, 1),
        (Neighbours.REPLACE_ONE, None, True, 2),
        (Neighbours.REPLACE_ONE, None, False, 4),
        (Neighbours.ADD_REMOVE, 3, True, 9),
        (Neighbours.REPLACE_ONE, 3, False, 36),
    ],
)
def test_squared_sensitivities(neighbours: Neighbours, rows_each: int | None, nonnegative: bool, factor: int) -> None:
    person = None if rows_each is None else pt.Person(column="id", max_rows=rows_each)
    assert squared_sensitivity(4**26, neighbours, person, nonnegative=nonnegative) == factor * 4**26


def test_weights_that_exceed_the_bound_are_refused() -> None:
    with pytest.raises(ValueError, match="norm bound"):
        Embedding(Concat((A, B)), Grid(26))


def test_a_code_out_of_range_stops_the_pass() -> None:
    """No record can reach another block's cells, even if an encoder were wrong."""
    beyond = Records(1, {"a": np.array([SIZE["a"]], dtype=np.uint16)}, {"x": np.zeros(1)})
    for feature_map in (A, Product((A, HX)), Concat((Weighted(A, 0.5), Weighted(HX, 0.5)))):
        with pytest.raises(IndexError):
            Embedding(feature_map, Grid(24)).add(beyond)


def test_too_many_rows_are_refused_rather_than_wrapped(people: Callable[..., pa.Table]) -> None:
    counted = Embedding(A, Grid(26))
    counted._counts[0] = 2**40
    with pytest.raises(OverflowError):
        counted.sums()
    added = Embedding(HX, Grid(24))
    added.rows = 2**40
    with pytest.raises(OverflowError):
        added.sums()


@dataclass(frozen=True)
class Liar(FeatureMap):
    """A map that breaks its promise: its features are whatever a record says, and not within the bound."""

    dimension = 2
    bound = 1.0
    nonnegative = False
    parts = ()

    @property
    def unit_columns(self) -> frozenset[str]:
        return frozenset(["u", "v"])

    def __call__(self, records: Records) -> np.ndarray:
        return np.stack([records.units["u"], records.units["v"]], axis=1)

    def expectation(self, products: Products) -> np.ndarray:
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        return {}


LIES: dict[str, FeatureMap] = {
    "alone": Liar(),
    "by class": Labelled.of(Liar(), Y),
    "beside counts": Concat((Weighted(Labelled.of(Liar(), Y), 0.6), Weighted(Product((A, Y)), 0.8))),
    "in a product": Concat((Weighted(Product((A, Liar())), 0.7), Weighted(Liar(), 0.7))),
}
wild = st.one_of(
    st.floats(-1e100, 1e100), st.floats(-1.5, 1.5), st.sampled_from([np.nan, np.inf, -np.inf, 1.0, -1.0, 1 + 2**-52])
)
wild_record = st.tuples(st.integers(0, SIZE["a"] - 1), st.integers(0, SIZE["y"] - 1), wild, wild)


def lying(records: list[tuple[int, int, float, float]]) -> Records:
    a, y, u, v = (np.array(values) for values in zip(*records, strict=True)) if records else (np.zeros(0),) * 4
    codes = {"a": a.astype(np.uint16), "y": y.astype(np.uint16)}
    return Records(len(records), codes, {"u": u.astype(np.float64), "v": v.astype(np.float64)})


def sum_of_lies(name: str, records: list[tuple[int, int, float, float]]) -> np.ndarray:
    whole = Embedding(LIES[name], Grid(20))
    with np.errstate(invalid="ignore"):  # 0 times infinity
        whole.add(lying(records))
    return whole.sums()


@pytest.mark.parametrize("name", LIES)
@given(records=st.lists(wild_record, max_size=8))
def test_features_that_break_their_promise_are_clipped(name: str, records: list[tuple[int, int, float, float]]) -> None:
    """Not a number, infinite, too long: as `quantise` has them, beside records that keep the promise."""
    with np.errstate(invalid="ignore"):
        expected = quantise(LIES[name](lying(records)), Grid(20)).sum(axis=0)
    np.testing.assert_array_equal(sum_of_lies(name, records), expected)


@pytest.mark.parametrize("name", LIES)
@given(records=st.lists(wild_record, max_size=4), old=wild_record, new=wild_record)
def test_no_lie_moves_the_sum_by_more_than_the_sensitivity(
    name: str,
    records: list[tuple[int, int, float, float]],
    old: tuple[int, int, float, float],
    new: tuple[int, int, float, float],
) -> None:
    before, after = sum_of_lies(name, [*records, old]), sum_of_lies(name, [*records, new])
    assert distance(before, sum_of_lies(name, records)) <= 4**20
    assert distance(before, after) <= 4 * 4**20


def test_a_lie_is_clipped_to_the_very_limit() -> None:
    """Nearly all of the sensitivity is used: the test above has something to find."""
    moved = sum_of_lies("alone", [(0, 0, 3.0, 4.0)])
    assert distance(moved, np.zeros(2)) > 0.9999 * 4**20
    np.testing.assert_allclose(moved / 2**20, [0.6, 0.8], atol=0.2)  # clipped to a box first, then to the ball


@pytest.mark.parametrize("bits", [27, 30])
def test_a_grid_on_which_floats_are_not_exact_is_refused(bits: int) -> None:
    with pytest.raises(OverflowError, match=f"a grid of {bits} bits is too fine"):
        Embedding(HX, Grid(bits))
    with pytest.raises(OverflowError, match="too fine"):
        Embedding(RandomFourier.draw(("x",), 1 << 16, 0.5, seed=0), Grid(24))


@given(seed=st.integers(0, 99), bits=st.sampled_from([20, 26]))
def test_sums_of_many_records_are_exact(seed: int, bits: int) -> None:
    """Integers in floats: nothing is rounded, on the finest grid that is allowed."""
    rng = np.random.default_rng(seed)
    records = Records(3_000, {"y": rng.integers(0, 3, 3_000).astype(np.uint16)}, {"x": rng.random(3_000)})
    feature_map = Labelled.of(HX, Y)
    whole = Embedding(feature_map, Grid(bits))
    whole.add(records)
    expected = sum((row.astype(object) for row in quantise(feature_map(records), Grid(bits))), start=0)
    assert whole.sums().tolist() == list(expected)  # Python's own integers


def test_memory_does_not_grow_with_rows_times_cells() -> None:
    """20,000 rows by 5,000 categories are 800 MB as floats."""
    rng = np.random.default_rng(0)
    feature_map = Product((OneHot("a", 5_000), Hermite("x", 1, 0.3)))
    records = Records(20_000, {"a": rng.integers(0, 5_000, 20_000).astype(np.uint16)}, {"x": rng.random(20_000)})
    whole = Embedding(feature_map, Grid(24))
    tracemalloc.start()
    whole.add(records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    part = Records(500, {"a": records.codes["a"][:500]}, {"x": records.units["x"][:500]})
    some = Embedding(feature_map, Grid(24))
    some.add(part)
    np.testing.assert_array_equal(some.sums(), quantise(feature_map(part), Grid(24)).sum(axis=0))


class Astray(Tiles):
    """A map from elsewhere whose lookup sends records beyond its own features."""

    @property
    def lookup(self) -> tuple[str, np.ndarray]:
        return self.column, np.array([0, 5], dtype=np.uint16)


def test_a_lookup_beyond_the_maps_features_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves its dimension"):
        Embedding(Astray("kind", (0, 1)), Grid(8))


def test_a_sum_of_another_length_is_refused() -> None:

    with pytest.raises(ValueError, match="another length"):
        Embedding(OneHot("kind", 2), Grid(8), Partial(np.zeros(3, dtype=np.int64), 1))
