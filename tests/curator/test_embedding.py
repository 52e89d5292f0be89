"""The exact embedding: the same bits however the work is cut, and a sensitivity that holds in integers."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator import reading
from pointillist.curator.embedding import Embedding
from pointillist.curator.reading import open_source
from pointillist.curator.releasing import embed
from pointillist.features import Concat, FeatureMap, Labelled, OneHot, Product, RandomFourier, Records, Tiles, Weighted
from pointillist.levels import levels_of
from pointillist.privacy.budget import Neighbours
from pointillist.privacy.grid import Grid
from pointillist.privacy.sensitivity import squared_sensitivity

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
DENSE: dict[str, FeatureMap] = {
    "fourier": FOURIER,
    "labelled fourier beside counts": Concat((Weighted(Labelled.of(FOURIER, Y), 0.6), Weighted(Product((A, B)), 0.8))),
}
MAPS = {**COUNTING, **DENSE}

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


@pytest.mark.parametrize("name", MAPS)
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


@pytest.mark.parametrize("name", COUNTING)
@given(records=rows)
def test_counting_gives_the_integers_of_the_dense_path(name: str, records: list[tuple[object, ...]]) -> None:
    """The fast path is only a faster way to the very same sum of integer features."""
    counted = embed(open_source(table(records)), SCHEMA, MAPS[name], Grid(20))[0]
    dense = Embedding(MAPS[name], Grid(20))
    dense._counting = False
    from pointillist.curator.encoding import Encoder

    encoder = Encoder(levels_of(SCHEMA), MAPS[name].code_columns, MAPS[name].unit_columns, "t")
    for batch in table(records).to_batches():
        dense.add(encoder(batch))
    np.testing.assert_array_equal(counted, dense.sums())


def distance(first: np.ndarray, second: np.ndarray) -> int:
    return sum((int(a) - int(b)) ** 2 for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", MAPS)
@given(records=rows, extra=row)
def test_adding_or_removing_a_row_moves_the_sum_by_at_most_the_sensitivity(
    name: str, records: list[tuple[object, ...]], extra: tuple[object, ...]
) -> None:
    bound = squared_sensitivity(
        grid(name).squared_norm, Neighbours.ADD_REMOVE, None, nonnegative=MAPS[name].nonnegative
    )
    assert distance(sums(name, records), sums(name, [*records, extra])) <= bound


@pytest.mark.parametrize("name", MAPS)
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
    embedding = Embedding(A, Grid(26))
    with pytest.raises(IndexError):
        embedding.add(Records(1, {"a": np.array([SIZE["a"]], dtype=np.uint16)}, {}))


def test_too_many_rows_are_refused_rather_than_wrapped(people: Callable[..., pa.Table]) -> None:
    embedding = Embedding(A, Grid(26))
    embedding._counts[0] = 2**40
    with pytest.raises(OverflowError):
        embedding.sums()
