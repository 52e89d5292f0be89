"""Table decoder: rows of the schema's types in the frame that is asked for."""

from collections.abc import Callable

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.sampling.sample import Sample
from pointillist.sampling.table_decoder import FRAMES, TableDecoder


@pytest.fixture
def drawn(schema: pt.Schema, random_model: Callable[..., pt.Model]) -> Sample:
    return Sample(random_model(schema).generator.sample(40, np.random.default_rng(0)), {})


def test_settled_numbers_leave_nothing_to_chance(schema: pt.Schema, drawn: Sample) -> None:
    decoder = TableDecoder(schema, "pyarrow")
    settled = drawn.settled(decoder.levels, np.random.default_rng(1))
    first, again = (decoder.decode(settled, np.random.default_rng(seed)) for seed in (2, 3))
    assert first.equals(again)
    assert first.column_names == list(schema.columns)
    assert first.equals(decoder.decode(drawn, np.random.default_rng(1)))  # the same draws, made later


@pytest.mark.parametrize("frame", FRAMES)
def test_frames(schema: pt.Schema, drawn: Sample, frame: str) -> None:
    decoder = TableDecoder(schema, frame)
    table = decoder.decode(drawn, np.random.default_rng(0))
    assert type(decoder.to_frame(table, None)).__module__.startswith(frame)
    with pytest.raises(UsageError, match="frame 'cudf' is not known"):
        decoder.require_frame("cudf")


def test_columns_to_balance(schema: pt.Schema) -> None:
    assert TableDecoder(schema, "pyarrow").balanced_column("sex").name == "sex"
    with pytest.raises(UsageError, match="balance: 'height' is not a column"):
        TableDecoder(schema, "pyarrow").balanced_column("height")
