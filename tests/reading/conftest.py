"""The table of the sources, and what is read from it."""

from collections import Counter

import pyarrow as pa
import pytest
from tests.fixtures.sources import (
    SCHEMA,
    encoded,
    make_table,
)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return make_table()


@pytest.fixture(scope="module")
def expected(table: pa.Table) -> Counter[tuple[int, ...]]:
    return encoded(table, SCHEMA)
