"""Candidates: public tables, given one by one or all that there can be, each with the sums of its own rows."""

import math

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.curator.candidates import Candidates, Given, Multisets
from pointillist.curator.clipping import quantise
from pointillist.errors import DataError, UsageError
from pointillist.features import Concat, OneHot, Weighted
from pointillist.privacy.grid import Grid

SCHEMA = pt.Schema(
    name="s", columns={"a": pt.Boolean(missing=False), "n": pt.Integer(min=0, max=2, special=(-1,), missing=False)}
)
FEATURES = Concat((Weighted(OneHot("a", 2), 0.6), Weighted(OneHot("n", 4), 0.6)))
GIVEN = [pa.table({"a": [True, False], "n": [0, 99]}), pa.table({"n": [-1], "a": [True]})]


@pytest.mark.parametrize("public", [Given.of(GIVEN, SCHEMA), Multisets.of(2, SCHEMA)], ids=["given", "all"])
def test_sums_are_those_of_the_records_and_tables_come_back_as_records(public: Candidates) -> None:
    sums = [row for part, _ in public.sums(FEATURES, Grid(20)) for row in part]
    assert len(sums) == public.count
    for number, found in enumerate(sums):
        records = public.records(number)
        np.testing.assert_array_equal(found, quantise(FEATURES(records), Grid(20)).sum(axis=0))
        again = Given.of([public.table(number)], SCHEMA).records(0)
        assert {name: codes.tolist() for name, codes in again.codes.items()} == {
            name: codes.tolist() for name, codes in records.codes.items()
        }


def test_all_tables_are_counted_and_none_is_there_twice() -> None:
    public = Multisets.of(2, SCHEMA)
    assert public.count == math.comb(2 * 4 + 1, 2)
    tables = {tuple(sorted(map(str, public.table(number).to_pylist()))) for number in range(public.count)}
    assert len(tables) == public.count


def test_numbers_follow_the_rules_of_their_column() -> None:
    assert Given.of(GIVEN, SCHEMA).table(0)["n"].to_pylist() == [0, 2]
    assert Given.of(GIVEN, SCHEMA).table(1)["n"].to_pylist() == [-1]


def test_the_callers_own_frame_is_kept() -> None:
    assert Given.of(GIVEN, SCHEMA).original(1) is GIVEN[1]
    assert Multisets.of(1, SCHEMA).original(0) is None


def test_messages_say_which_candidate() -> None:
    with pytest.raises(DataError, match="candidate 1: the frame: column 'a'"):
        Given.of([GIVEN[0], pa.table({"n": [1]})], SCHEMA)
    none = Given.of([GIVEN[0].slice(0, 0)], SCHEMA)
    with pytest.raises(DataError, match="candidate 0 has no rows"):
        list(none.sums(FEATURES, Grid(20)))
    with pytest.raises(UsageError, match="at least 1 row"):
        Multisets.of(0, SCHEMA)
