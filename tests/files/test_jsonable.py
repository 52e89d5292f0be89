"""What is written as JSON has no infinity in it."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from pointillist.files.jsonable import finite

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=10,
)


@given(VALUES)
def test_anything_can_be_written(value: object) -> None:
    text = json.dumps(finite(value), allow_nan=False)
    assert json.loads(text) == finite(value)


def test_what_is_beyond_all_bounds_is_null() -> None:
    assert finite({"a": (1.5, math.inf), "b": [math.nan, {"c": -math.inf}]}) == {
        "a": [1.5, None],
        "b": [None, {"c": None}],
    }
