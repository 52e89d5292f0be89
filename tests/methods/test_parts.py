"""Labelling: parts by class with the counts beside them, in one vector whose length is 1 at most, whatever the columns."""

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.features import Hermite, Labelled, OneHot, Product, RandomFourier, Tiles
from pointillist.methods.parts import (
    Part,
    by_class,
    categories_of,
    counts,
    joined,
    label_of,
    require_rows,
    require_share,
    round_of,
)
from pointillist.plan import Request
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.schema.levels import levels_of

SCHEMA = pt.Schema(
    name="s",
    columns={
        "x": pt.Real(min=0, max=1, bins=4, missing=False),
        "a": pt.Categorical(categories=("p", "q")),
        "z": pt.Integer(min=0, max=9, special=(-1, 99)),
        "y": pt.Boolean(missing=False),
    },
)
LEVELS = levels_of(SCHEMA)
X, A, Z, Y = LEVELS


def test_a_numeric_target_is_no_label() -> None:
    assert label_of(LEVELS, "y") is Y
    assert label_of(LEVELS, "a") is A
    assert label_of(LEVELS, "x") is None
    assert label_of(LEVELS, None) is None


def test_categories_are_levels_and_what_of_a_number_is_no_number() -> None:
    assert categories_of(A) == OneHot("a", 4)
    assert categories_of(X) is None
    assert categories_of(Z) == Tiles("z", (0,) * 10 + (1, 2, 3))  # a number; -1, 99 or missing


def test_parts_are_split_by_class() -> None:
    parts = [Part("numbers", Hermite("x", 2, 0.1), 0.5), Part("categories", OneHot("a", 4), 0.25)]
    assert by_class(parts, None) == parts
    split = by_class(parts, Y)
    assert [part.map for part in split] == [Labelled.of(part.map, OneHot("y", 2)) for part in parts]
    assert [part.share for part in split] == [0.5, 0.25]
    assert [part.name for part in split] == ["numbers by class", "categories by class"]


def test_counts_are_of_classes_or_of_rows(people: Callable[..., pa.Table], schema: pt.Schema) -> None:
    assert counts(LEVELS, Y, 0.1) == [Part("class counts", OneHot("y", 2), 0.1)]
    (everyone,) = counts(levels_of(schema), None, 0.1)
    records = read(people(30), schema).records
    assert everyone.map(records).tolist() == [[1.0]] * 30
    assert counts(LEVELS, Y, 0.0) == counts(LEVELS, None, 0.0) == []


def parts(shares: list[float], label: bool) -> list[Part]:
    """As many parts as shares, of every kind."""
    numbers = RandomFourier.draw(("x", "z"), 6, 0.2, seed=0)
    maps = [numbers, Hermite.spread("x", 5, 0.1), OneHot("a", 4), Product((OneHot("a", 4), Hermite("z", 3, 0.2)))]
    made = [Part(f"part {number % 4}", maps[number % 4], share) for number, share in enumerate(shares[:-1])]
    return [*by_class(made, Y if label else None), *counts(LEVELS, Y if label else None, shares[-1])]


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=2, max_size=9),
    label=st.booleans(),
    rows=st.lists(
        st.tuples(
            st.floats(0, 1),
            st.sampled_from(["p", "q", "other", None]),
            st.sampled_from([0, 4, 9, -1, 99, None]),
            st.booleans(),
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_no_record_is_longer_than_one(weights: list[float], label: bool, rows: list[tuple[object, ...]]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    whole = joined(parts(shares, label))
    assert whole.bound == pytest.approx(1.0)  # all of the length is used, and no more
    kinds = (pa.float64(), pa.string(), pa.int64(), pa.bool_())
    table = pa.table({
        name: pa.array(values, type=kind)
        for name, values, kind in zip(SCHEMA.columns, zip(*rows, strict=True), kinds, strict=True)
    })  # fmt: skip
    features = whole(read(table, SCHEMA).records)
    assert np.linalg.norm(features, axis=1).max() <= 1 + 1e-9


@pytest.mark.parametrize("label", [True, False])
def test_a_round_says_what_its_map_is(label: bool) -> None:
    shares = [0.1, 0.2, 0.15, 0.1, 0.1, 0.2, 0.15]  # the first part and the fifth have one name
    planned, whole = round_of(parts(shares, label), 0.7), joined(parts(shares, label))
    assert planned.share == 0.7
    assert planned.dimension == whole.dimension
    assert sum(block.count for block in planned.blocks) == len(whole.blocks()) == 7
    assert [block.count for block in planned.blocks] == [2, 2, 1, 1, 1]
    assert math.fsum(block.count * block.weight**2 for block in planned.blocks) == pytest.approx(1.0)
    assert [block.counts for block in planned.blocks] == [False, False, True, False, True]
    assert (planned.counting, planned.nonnegative) == (False, False)
    assert planned.grid == Grid.dense(whole.dimension)


def test_a_round_of_categories_alone_only_counts() -> None:
    some = [*by_class([Part("categories", OneHot("a", 4), 0.9)], Y), *counts(LEVELS, Y, 0.1)]
    planned = round_of(some, 1.0)
    assert (planned.counting, planned.nonnegative, planned.grid) == (True, True, Grid.counting())


def test_shares_lie_between_0_and_1() -> None:
    require_share("share", 0.5)
    require_share("share", 0.0, zero=True)
    for wrong in (0.0, 1.0, -0.1, math.nan):
        with pytest.raises(UsageError, match="share must lie between 0 and 1"):
            require_share("share", wrong)
    for wrong in (1.0, -0.1, math.nan):
        with pytest.raises(UsageError, match="share must lie between 0 and 1"):
            require_share("share", wrong, zero=True)


@pytest.mark.parametrize(
    ("neighbours", "rows", "person", "public"),
    [
        ("add-remove", None, False, False),
        ("add-remove", 100, False, False),  # what a schema states is rough
        ("replace-one", None, False, True),
        ("replace-one", None, True, False),  # who has how many rows is nobody's business
        ("replace-one", 100, True, False),
    ],
)
def test_without_counts_the_number_of_rows_must_be_public(
    neighbours: str, rows: int | None, person: bool, public: bool
) -> None:
    who = pt.Person(column="id", max_rows=2) if person else None
    schema = SCHEMA.model_copy(update={"rows": rows, "person": who})
    request = Request(schema, pt.Budget(1.0, 1e-5), Neighbours.parse(neighbours))
    require_rows(request, 0.1)
    if public:
        require_rows(request, 0.0)
    else:
        with pytest.raises(UsageError, match="the number of rows must be public"):
            require_rows(request, 0.0)
