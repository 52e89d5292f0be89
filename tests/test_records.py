"""Records: parts and wholes. What is cut apart and joined again is what it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.records import Records


def made(rows: int, seed: int = 0) -> Records:
    """Two columns of levels, one of positions, one of small images."""
    rng = np.random.default_rng(seed)
    return Records(
        rows,
        {name: rng.integers(0, 500, rows).astype(np.uint16) for name in ("a", "b")},
        {"b": rng.random(rows)},
        {"image": rng.integers(0, 256, (rows, 2, 3, 1)).astype(np.uint8)},
    )


def same(one: Records, other: Records) -> bool:
    """Whether two batches hold the same rows, in the same types."""
    kinds = ("codes", "units", "images")
    pairs = [(getattr(one, kind), getattr(other, kind)) for kind in kinds]
    return one.rows == other.rows and all(
        list(mine) == list(theirs)
        and all(mine[n].dtype == theirs[n].dtype and np.array_equal(mine[n], theirs[n]) for n in mine)
        for mine, theirs in pairs
    )


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_a_slice_of_the_whole_is_the_part(sizes: list[int]) -> None:
    parts = [made(size, seed) for seed, size in enumerate(sizes)]
    whole = Records.joined(parts)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    assert whole.rows == sum(sizes)
    for start, part in zip(starts, parts, strict=False):
        assert same(whole.part(slice(int(start), int(start) + part.rows)), part)


@given(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4))
def test_what_is_cut_apart_joins_to_the_whole(rows: int, cuts: list[int]) -> None:
    whole = made(rows)
    ends = sorted(min(cut, rows) for cut in cuts)
    pieces = [slice(start, end) for start, end in zip([0, *ends], [*ends, rows], strict=True)]
    assert same(Records.joined([whole.part(piece) for piece in pieces]), whole)


@given(st.integers(1, 12), st.data())
def test_rows_by_number_and_by_mask(rows: int, data: st.DataObject) -> None:
    whole = made(rows)
    numbers = data.draw(st.lists(st.integers(0, rows - 1), max_size=20))
    some = whole.part(np.array(numbers, dtype=np.intp))
    assert some.rows == len(numbers)
    assert some.codes["a"].tolist() == [whole.codes["a"][number] for number in numbers]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    assert same(whole.part(mask), whole.part(np.flatnonzero(mask)))


def test_a_part_beyond_the_end_is_what_there_is() -> None:
    assert made(5).part(slice(3, 100)).rows == 2
    assert made(5).part(slice(7, 100)).rows == 0


def test_parts_must_have_the_same_columns() -> None:
    with pytest.raises(KeyError, match="'b'"):
        Records.joined([made(2), Records(1, {"a": np.zeros(1, np.uint16)}, {})])


def test_a_batch_does_not_show_its_rows() -> None:
    assert "codes" not in repr(made(3))
