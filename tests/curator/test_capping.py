"""Capping: which rows of a person stay follows from that person's rows alone."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.fixtures.sources import (
    KINDS,
    SCHEMA,
    SECRET,
    SOME,
    encoded,
    every_kind,
    make_table,
    refusal,
    texts,
    write_csv,
)

import pointillist as pt
from pointillist.curator.capping import capped, owned
from pointillist.errors import DataError
from pointillist.reading.encoding import Encoder
from pointillist.reading.opening import open_source
from pointillist.schema import (
    MISSING_TEXTS,
    Categorical,
    Integer,
    Person,
    Schema,
)

PERSON = pt.Person(column="who", max_rows=2)
NUMBERED = pt.Schema(name="s", columns={"n": pt.Integer(min=0, max=50, missing=False)}, person=PERSON)
ROWS = st.lists(st.tuples(st.sampled_from(["ann", "bo", "cy", None]), st.integers(0, 50)), max_size=30)


def numbers_kept(rows: list[tuple[str | None, int]], key: bytes = b"key", workers: int = 1) -> list[int]:
    """Numbers of the rows that stay, sorted; each worker has the rows of some persons."""
    encoder = Encoder.of_schema(NUMBERED, "t")
    found: list[int] = []
    for worker in range(workers):
        mine = [row for row in rows if len(row[0] or "") % workers == worker]
        who, n = ([row[k] for row in mine] for k in (0, 1))
        batch = pa.record_batch({"who": pa.array(who, pa.string()), "n": pa.array(n, pa.int64())})
        for part in capped(owned([batch], encoder, PERSON, key, "t"), encoder, PERSON, "t"):
            found += part.codes["n"].tolist()
    return sorted(found)


@settings(max_examples=25)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_key_and_machine_do_not_matter(
    rows: list[tuple[str | None, int]], shuffle: "np.random.Generator"
) -> None:
    mixed = list(rows)
    shuffle.shuffle(mixed)
    assert numbers_kept(rows) == numbers_kept(mixed) == numbers_kept(mixed, b"other") == numbers_kept(mixed, workers=2)


@settings(max_examples=25)
@given(ROWS)
def test_no_person_has_more_and_none_loses_rows_to_another(rows: list[tuple[str | None, int]]) -> None:
    alone = [number for name in ("ann", "bo", "cy") for number in numbers_kept([row for row in rows if row[0] == name])]
    assert sorted(alone) == numbers_kept(rows)
    assert len(alone) == sum(min(2, sum(row[0] == name for row in rows)) for name in ("ann", "bo", "cy"))


def test_an_error_of_the_stream_comes_through() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"who": ["ann"], "n": [1]})
        raise DataError("the disk is gone")

    encoder = Encoder.of_schema(NUMBERED, "t")
    with pytest.raises(DataError, match=r"^the disk is gone$"):
        list(capped(owned(broken(), encoder, PERSON, b"key", "t"), encoder, PERSON, "t"))


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return make_table()


@pytest.fixture(scope="module")
def expected(table: pa.Table) -> Counter[tuple[int, ...]]:
    return encoded(table, SCHEMA)


def kept(rows: list[tuple[Any, Any]], cap: int) -> dict[Any, Counter[Any]]:
    """The values that are kept of each person."""
    owners = [owner for owner, _ in rows]
    values = pa.array([value for _, value in rows], pa.int64())
    table = pa.table({"id": pa.array(owners, pa.string()), "who": pa.array(owners, pa.string()), "x": values})
    columns = {"who": Categorical(categories=("p", "q", "r")), "x": Integer(min=-3, max=3)}
    found: dict[Any, Counter[Any]] = {}
    for (who, x), count in encoded(
        table, Schema(name="s", person=Person(column="id", max_rows=cap), columns=columns)
    ).items():
        found.setdefault("pqr"[who], Counter())[None if x == 7 else x - 3] += count
    return found


owned_rows = st.lists(
    st.tuples(st.none() | st.sampled_from(["p", "q", "r"]), st.none() | st.integers(-3, 3)), max_size=12
)


class TestPersons:
    @every_kind
    def test_no_person_has_more_rows_than_the_cap(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        schema = SCHEMA.model_copy(update={"person": Person(column="person", max_rows=3)})
        owners = Counter(owner for owner in table["person"].to_pylist() if owner is not None)
        rows = encoded(KINDS[kind](tmp_path, table), schema)
        assert rows.total() == sum(min(3, count) for count in owners.values())
        assert rows <= encoded(table, SCHEMA)

    @every_kind
    def test_the_cap_holds_for_each_person(self, kind: str, tmp_path: Path) -> None:
        owners = ["p"] * 5 + ["q"] * 2 + ["r"] + [None] * 4
        table = pa.table({"id": owners, "who": owners, "x": [str(n) for n in range(12)]})
        person = Person(column="id", max_rows=2)
        found = Counter(who for who, _ in texts(KINDS[kind](tmp_path, table), ["who", "x"], person))
        assert found == {"p": 2, "q": 2, "r": 1}

    @every_kind
    def test_kept_rows_are_the_same_again(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        source = open_source(KINDS[kind](tmp_path, table))
        schema = SCHEMA.model_copy(update={"person": Person(column="person", max_rows=2)})
        assert encoded(source, schema) == encoded(source, schema)

    @SOME
    @given(owned_rows, st.integers(1, 4))
    def test_the_cap_holds_for_any_rows(self, rows: list[tuple[Any, Any]], cap: int) -> None:
        owners = Counter(owner for owner, _ in rows if owner is not None)
        found = kept(rows, cap)
        assert {owner: values.total() for owner, values in found.items()} == {o: min(cap, n) for o, n in owners.items()}
        for owner, values in found.items():
            assert values <= Counter(value for other, value in rows if other == owner)

    @SOME
    @given(owned_rows, st.integers(1, 4), st.randoms(use_true_random=False))
    def test_kept_rows_do_not_depend_on_order(self, rows: list[tuple[Any, Any]], cap: int, random: Any) -> None:
        assert kept(random.sample(rows, len(rows)), cap) == kept(rows, cap)

    @SOME
    @given(owned_rows, st.integers(1, 4))
    def test_kept_rows_do_not_depend_on_other_persons(self, rows: list[tuple[Any, Any]], cap: int) -> None:
        found = kept(rows, cap)
        for person in found:
            assert kept([row for row in rows if row[0] == person], cap) == {person: found[person]}

    def test_kept_rows_do_not_depend_on_the_gaps_of_others(self) -> None:
        """pandas makes a column of whole numbers one of floats when another person's value is missing."""
        mine = pd.DataFrame({"id": ["p"] * 20, "x": range(20)})
        both = pd.concat([mine, pd.DataFrame({"id": ["q"], "x": [None]}, dtype=object)]).infer_objects()
        both["x"] = pd.to_numeric(both["x"])
        schema = Schema(name="s", person=Person(column="id", max_rows=4), columns={"x": Integer(min=0, max=19)})
        alone, together = encoded(mine, schema), encoded(both, schema)
        assert together - Counter({(20,): 1}) == alone

    @pytest.mark.parametrize("missing", [text for text in MISSING_TEXTS if text])
    def test_a_missing_text_names_no_person(self, tmp_path: Path, missing: str) -> None:
        path = tmp_path / "t.csv"
        path.write_text(f"id,x\n{missing},a\n{missing},b\n,c\np,d\n")
        assert texts(path, ["x"], Person(column="id", max_rows=1)) == [("d",)]

    def test_nan_names_no_person(self) -> None:
        frame = pl.DataFrame({"id": [float("nan"), float("nan"), 1.0], "x": ["a", "b", "c"]})
        assert texts(frame, ["x"], Person(column="id", max_rows=1)) == [("c",)]

    @pytest.mark.parametrize("name", ["_owner", "owner", "source", "rowid", "ID", "a b", 'say "x"', "select"])
    @pytest.mark.parametrize("kind", ["csv", "table", "parquet"])
    def test_the_cap_holds_whatever_the_columns_are_called(self, kind: str, name: str, tmp_path: Path) -> None:
        table = pa.table({"person": ["p", "p", "q"], name: ["a", "b", "c"]})
        rows = texts(KINDS[kind](tmp_path, table), [name], Person(column="person", max_rows=1))
        assert len(rows) == 2
        assert ("c",) in rows

    @pytest.mark.parametrize("kind", ["csv", "table", "parquet", "pandas", "polars"])
    def test_names_that_differ_in_case_alone(self, kind: str, tmp_path: Path) -> None:
        table = pa.table({"person": ["p", "q"], "x": ["a", "b"], "X": ["c", "d"]})
        rows = texts(KINDS[kind](tmp_path, table), ["X", "x"], Person(column="person", max_rows=1))
        assert rows == [("c", "a"), ("d", "b")]

    def test_a_column_that_is_not_read_may_hold_anything(self) -> None:
        frame = pd.DataFrame({"id": ["p", "q"], "x": ["a", "b"], "junk": [SECRET, 1]})
        assert texts(frame, ["x"], Person(column="id", max_rows=1)) == [("a",), ("b",)]

    def test_the_column_of_persons_must_be_there(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", pa.table({"x": ["a"]}))
        person = Person(column="id", max_rows=1)
        assert "column 'id' of the schema is not in the table" in refusal(lambda: texts(path, ["x"], person))

    def test_no_files_are_left_behind(self, tmp_path: Path, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(scratch))
        schema = SCHEMA.model_copy(update={"person": Person(column="person", max_rows=2)})
        assert encoded(table, schema)
        assert list(scratch.iterdir()) == []


class TestOneRowDoesNotChangeTheOthers:
    """One person's value must not decide how another's is read: neither quotes, nor types, nor names."""

    def test_one_person_under_two_spellings_is_one_person(self, tmp_path: Path) -> None:
        folder = tmp_path / "t"
        folder.mkdir()
        parquet.write_table(pa.table({"id": [800_000_000_001], "x": ["a"]}), folder / "1.parquet")
        parquet.write_table(pa.table({"id": [800_000_000_001.0], "x": ["b"]}), folder / "2.parquet")
        assert len(texts(folder, ["x"], Person(column="id", max_rows=1))) == 1

    def test_persons_with_fractions_are_refused(self) -> None:
        table = pa.table({"id": [0.5], "x": ["a"]})
        assert "'id'" in refusal(lambda: texts(table, ["x"], Person(column="id", max_rows=1)))
