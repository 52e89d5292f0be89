"""History: which columns the records of persons have."""

import time

import numpy as np
import pytest
from tests.fixtures.visits import visits_schema

import pointillist as pt
from pointillist.errors import SchemaError
from pointillist.schema.history import COUNT, PLACE, Copy, History, Usual, before, first, gap, level_of, usually
from pointillist.schema.levels import Levels


def test_columns_are_by_whose_facts_they_are() -> None:
    history = History.of(visits_schema())
    assert [each.name for each in history.of_person] == ["sex", COUNT, usually("score"), usually("ward"), first("day")]
    others = ["score", "ward", "day", gap("day"), PLACE, before("score"), before("ward")]
    assert [each.name for each in history.levels[5:]] == others
    assert list(history.flat.measured) == [each.name for each in history.levels]
    assert history.flat.rows == 400
    assert history.flat.person is None


def test_without_an_order_nothing_is_measured_of_time() -> None:
    names = {each.name for each in History.of(visits_schema(order=None)).levels}
    assert names.isdisjoint({PLACE, gap("day"), first("day")})
    assert {"day", before("day")} <= names


def test_a_row_goes_with_everything_and_what_is_known_before_it_does_not() -> None:
    pairs = set(map(frozenset, History.of(visits_schema()).flat.pairs))
    assert {frozenset(("score", other)) for other in ("sex", before("ward"), gap("day"), "day", "ward")} <= pairs
    assert frozenset((before("score"), usually("score"))) in pairs  # two ways to know the same
    for other in (before("ward"), PLACE, gap("day")):
        assert frozenset((before("score"), other)) not in pairs


def test_many_columns_take_no_time_until_pairs_are_asked_for() -> None:
    """A release of histories makes its records when it is loaded, from a file that anyone may have written. With a look
    through all columns for every pair of them, this would take hours."""
    schema = visits_schema()
    many = {f"c{number}": schema.columns["score"] for number in range(2_000)}
    wide = schema.model_copy(update={"columns": {**schema.columns, **many}})
    start = time.process_time()
    assert len(History.of(wide).flat.measured) > 6_000
    assert time.process_time() - start < 20


def test_a_name_that_is_needed_is_refused() -> None:
    schema = visits_schema()
    taken = schema.model_copy(update={"columns": {**schema.columns, COUNT: schema.columns["score"]}})
    with pytest.raises(SchemaError, match="Rename it"):
        History.of(taken)


@pytest.mark.parametrize(
    "column",
    [
        pt.Integer(min=0, max=99, special=(-1, 200)),
        pt.Real(min=0, max=1),
        pt.Ordinal(categories=("low", "high", "top")),
        pt.Categorical(categories=("a", "b")),
        pt.Boolean(),
        pt.Datetime(min="2020-01-01", max="2020-12-31", missing=False),
    ],
)
def test_a_copy_has_a_level_for_each_and_one_for_none(column: object) -> None:
    source = Levels("x", column)
    copy = Copy.of("x before", source, 16)
    assert len(copy.table) == source.size
    assert copy.table.min() >= 0
    assert copy.table.max() <= copy.none == copy.levels.size - 1
    assert (np.diff(copy.table[: source.regular]) >= 0).all()
    usual = Usual.of(source)
    if usual.is_mean:
        ends = usual.from_sums(np.array([0, 3 * (source.regular - 1), 0]), np.array([3, 3, 0]))
        assert ends.tolist() == [0, usual.levels.regular - 1, usual.levels.missing]


def test_levels_of_counts_and_gaps() -> None:
    history = History.of(visits_schema())
    assert history.gap is not None
    assert level_of(history.gap, np.array([0]))[0] == history.gap.regular  # a level of its own
    counts = history.counts[0]
    found = level_of(counts, np.array([1, 2, 12, 99]))
    assert found.tolist() == [0, 1, counts.regular - 1, counts.regular - 1]
