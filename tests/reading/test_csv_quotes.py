"""Quotes of CSV files: in order or not, however the file is cut into blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.reading.csv_quotes import BROKEN, FIELD_START, QUOTED, follow_quotes


def followed(text: str, cuts: tuple[int, ...] = ()) -> int:
    state, content = FIELD_START, text.encode()
    ends = sorted(min(cut, len(content)) for cut in cuts)
    for start, end in zip((0, *ends), (*ends, len(content)), strict=True):
        state = follow_quotes(np.frombuffer(content[start:end], dtype=np.uint8), state, ord(","))
    return state


@pytest.mark.parametrize("text", ['a,"b"\n', '"a\nb",c\r\n', '"say ""no""",x\n', '"",""\n'])
def test_in_order(text: str) -> None:
    assert followed(text) == FIELD_START


@pytest.mark.parametrize("text", ['a"b', '"a"b', 'x,y"\n', '"a" ,b'])
def test_out_of_order(text: str) -> None:
    assert followed(text) == BROKEN


def test_never_closed() -> None:
    assert followed('a,"b\n' * 1) == QUOTED


@given(st.text('a",\n', max_size=30), st.lists(st.integers(0, 30), max_size=4))
def test_blocks_do_not_matter(text: str, cuts: list[int]) -> None:
    assert followed(text, tuple(cuts)) == followed(text)
