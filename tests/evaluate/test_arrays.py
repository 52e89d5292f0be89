"""The kinds of arrays are those that samples give."""

from collections.abc import Callable
from typing import get_args

import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.sample import read


def test_samples_give_them(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    sample = read(people(5), schema)
    for array, kind in ((sample.codes("sex"), Codes), (sample.values("age"), Floats)):
        assert array.dtype.type is get_args(get_args(kind)[1])[0]
