"""Engines: a job and partial sums that can be sent, and an engine that is one class. It gives the bits of the local one."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator.job import EmbeddingJob
from pointillist.curator.releasing import embed
from pointillist.engines import ENGINES, Engine, Job, Partial, engine_for
from pointillist.engines.local import Local
from pointillist.errors import ArtefactError, DataError, UsageError
from pointillist.features import Concat, Hermite, Product, Tiles, Weighted
from pointillist.privacy.grid import Grid
from pointillist.reading.base import Report, Source
from pointillist.reading.opening import open_source
from pointillist.schema.levels import levels_of

SCHEMA = pt.Schema(
    name="s",
    columns={"a": pt.Categorical(categories=("p", "q", "r"), missing=False), "x": pt.Real(min=0, max=1, missing=False)},
)
PEOPLE = SCHEMA.model_copy(update={"person": pt.Person(column="who", max_rows=2)})
A = Tiles("a", (0, 1, 2, 2))
HALVES = Tiles("x", tuple(int(level >= 100) for level in range(levels_of(SCHEMA)[1].size)))
COUNTS = Concat((Weighted(A, 0.6), Weighted(Product((A, HALVES)), 0.6)))
DENSE = Concat((Weighted(A, 0.6), Weighted(Hermite("x", 4, 0.3, 2.0), 0.6)))
MAPS = {"counts": (COUNTS, Grid(26)), "features": (DENSE, Grid(24))}


def table(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    who = [None if n == 9 else f"Person {n}" for n in rng.integers(0, 10, rows)]
    return pa.table(
        {"a": rng.choice(["p", "q", "r", "z"], rows), "x": rng.random(rows), "who": pa.array(who, pa.string())}
    )


class Backwards(Engine):
    """Workers that are sent bytes: each has a few partitions, last first, and sends bytes back."""

    @property
    def partitions(self) -> int:
        return 7

    def run(self, partitions: Sequence[Source], job: Job, report: Report) -> Partial:
        content, kind = job.to_bytes(), type(job)
        prepared = [
            batch
            for each in reversed(partitions)
            for batch in kind.prepare(content, each.batches(job.columns, job.schema, lambda fraction: None))
        ]
        parts = [kind.work(content, batches) for batches in _shuffled(prepared, job.together, self.workers or 3)]
        report(1.0)
        return Partial.merged(map(Partial.from_bytes, reversed(parts)))


def _shuffled(batches: list[pa.RecordBatch], together: tuple[str, ...], workers: int) -> list[list[pa.RecordBatch]]:
    """Batches dealt out; or, where rows must meet, each row by a hash of what they must agree in."""
    if not together:
        return [batches[number::workers] for number in range(workers)]
    found: list[list[pa.RecordBatch]] = [[] for _ in range(workers)]
    for batch in batches:
        owner = np.array([hash(tuple(row.values())) % workers for row in batch.select(together).to_pylist()])
        for number, mine in enumerate(found):
            mine.append(batch.filter(pa.array(owner == number)))
    return found


class Elsewhere(Engine):
    """Workers in processes of their own, which read the partitions themselves."""

    SCRIPT = """
import sys
from pathlib import Path
from pointillist.curator.job import EmbeddingJob
import json
content, address = Path(sys.argv[1]).read_bytes(), json.loads(sys.argv[2])
sys.stdout.buffer.write(EmbeddingJob.work(content, EmbeddingJob.prepare(content, EmbeddingJob.read(content, address))))
"""

    def __init__(self, folder: Path):
        super().__init__(2)
        self.folder = folder

    @property
    def partitions(self) -> int:
        return 2

    def run(self, partitions: Sequence[Source], job: Job, report: Report) -> Partial:
        (self.folder / "job").write_bytes(job.to_bytes())
        workers = [
            subprocess.run(
                [sys.executable, "-c", self.SCRIPT, self.folder / "job", json.dumps(each.address())],
                capture_output=True, check=True, timeout=300,
            )
            for each in partitions
        ]  # fmt: skip
        return Partial.merged(Partial.from_bytes(each.stdout) for each in workers)


@pytest.fixture
def backwards() -> Iterator[None]:
    """The whole of what it takes to make an engine known."""
    ENGINES.register("backwards")(Backwards)
    yield
    ENGINES._entries[:] = [each for each in ENGINES._entries if each.name != "backwards"]


@pytest.mark.parametrize("schema", [SCHEMA, PEOPLE], ids=["rows", "persons"])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.usefixtures("backwards")
def test_an_engine_that_sends_everything_gives_the_same_bits(name: str, schema: pt.Schema) -> None:
    feature_map, grid = MAPS[name]
    source = open_source(table(500))
    expected, rows = embed(source, schema, feature_map, grid, 1)
    for workers in (1, 4):
        found, count = embed(source, schema, feature_map, grid, workers, "backwards")
        np.testing.assert_array_equal(found, expected)
        assert count == rows


@pytest.mark.usefixtures("backwards")
def test_a_release_is_run_by_the_engine_that_is_asked_for() -> None:
    told: list[str] = []
    made = pt.release(
        table(300), SCHEMA, epsilon=1, engine="backwards", progress=lambda step, share: told.append(f"{step} {share:g}")
    )
    assert "pass 1 of 2 1" in told
    assert made.measurements


def test_partitions_are_read_by_other_processes_at_their_addresses(tmp_path: Path) -> None:
    whole = table(400)
    (tmp_path / "t").mkdir()
    pq.write_table(whole.slice(0, 250), tmp_path / "t" / "a.parquet", row_group_size=60)
    pq.write_table(whole.slice(250), tmp_path / "t" / "b.parquet", row_group_size=60)
    feature_map, grid = MAPS["features"]
    expected, _ = embed(open_source(whole), SCHEMA, feature_map, grid, 1)
    found, rows = embed(open_source(tmp_path / "t"), SCHEMA, feature_map, grid, None, Elsewhere(tmp_path))
    np.testing.assert_array_equal(found, expected)
    assert rows == 400


@pytest.mark.parametrize("name", MAPS)
@given(st.integers(0, 60), st.lists(st.integers(0, 60), max_size=5), st.randoms(use_true_random=False))
def test_any_split_of_the_rows_and_any_order_of_merging_give_the_same_bits(
    name: str, rows: int, cuts: list[int], shuffle: Any
) -> None:
    feature_map, grid = MAPS[name]
    job = EmbeddingJob(SCHEMA, feature_map, grid, "t")
    whole = table(rows)
    ends = sorted(min(cut, rows) for cut in cuts)
    order = list(range(rows))
    shuffle.shuffle(order)
    mixed = whole.take(pa.array(order, pa.int64()))
    content = job.to_bytes()
    parts = [
        Partial.from_bytes(EmbeddingJob.work(content, mixed.slice(start, end - start).to_batches()))
        for start, end in zip([0, *ends], [*ends, rows], strict=True)
    ]
    expected = Partial.from_bytes(EmbeddingJob.work(content, whole.to_batches()))
    while len(parts) > 1:  # in pairs, as a tree would
        shuffle.shuffle(parts)
        parts.append(Partial.merged([parts.pop(), parts.pop()]))
    assert parts[0].rows == expected.rows == rows
    np.testing.assert_array_equal(job.sums(parts[0]), job.sums(expected))


def test_merging_leaves_the_parts_as_they_are() -> None:
    one, other = Partial(np.array([1, 2]), 3), Partial(np.array([10, 20]), 4)
    both = Partial.merged([one, other])
    assert (both.values.tolist(), both.rows) == ([11, 22], 7)
    assert (one.values.tolist(), one.rows) == ([1, 2], 3)
    with pytest.raises(ValueError, match="different sums"):
        Partial.merged([one, Partial(np.array([1]), 1)])


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30), st.integers(0, 2**62))
def test_a_partial_sum_comes_back_from_its_bytes(values: list[int], rows: int) -> None:
    sent = Partial(np.array(values, dtype=np.int64), rows)
    back = Partial.from_bytes(sent.to_bytes())
    assert back.rows == rows
    assert back.values.dtype == np.int64
    np.testing.assert_array_equal(back.values, sent.values)


@pytest.mark.parametrize("content", [b"", b"nonsense", Partial(np.zeros((2, 2), dtype=np.int64), 1).to_bytes()])
def test_other_bytes_are_no_partial_sum(content: bytes) -> None:
    with pytest.raises(ArtefactError, match="the partial"):
        Partial.from_bytes(content)


def test_neither_shows_what_it_holds() -> None:
    job = EmbeddingJob(PEOPLE, *MAPS["counts"], "t")
    for each in (Partial(np.array([123456]), 1), job):
        assert "123456" not in repr(each)
        assert "key" not in repr(each)


def test_engines_are_found_by_name_and_local_is_the_default() -> None:
    source = open_source(table(3))
    assert isinstance(engine_for(source), Local)
    assert isinstance(engine_for(source, "local", 2), Local)
    assert engine_for(source, "local", 2).workers == 2
    own = Backwards(2)
    assert engine_for(source, own, 5) is own
    with pytest.raises(UsageError, match="engine 'abacus' is not known"):
        pt.release(table(3), SCHEMA, epsilon=1, engine="abacus")


def test_an_engine_that_suits_a_source_and_stands_first_is_taken() -> None:
    class Owned(Local):
        @classmethod
        def suits(cls, source: Source) -> bool:
            return source.name == "mine"

    ENGINES.register("owned", place=1)(Owned)
    try:
        source = open_source(table(3))
        assert type(engine_for(source)) is Local
        source.name = "mine"
        assert type(engine_for(source)) is Owned
    finally:
        ENGINES._entries[:] = [each for each in ENGINES._entries if each.name != "owned"]


def test_a_worker_is_told_what_is_wrong_with_the_rows() -> None:
    content = EmbeddingJob(SCHEMA, *MAPS["counts"], "the table").to_bytes()
    batches: Iterable[pa.RecordBatch] = pa.table({"a": ["p"], "x": pa.array([None], pa.float64())}).to_batches()
    with pytest.raises(DataError, match="column 'x' has missing values"):
        EmbeddingJob.work(content, batches)
