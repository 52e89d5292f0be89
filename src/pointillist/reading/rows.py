"""Rows: all rows of a table, or all images of a set, at once, as Records.

Whoever needs a whole table reads it here: public points, candidates, receivers and the evaluator. The pass over a private
table, which may not fit into memory, takes it batch by batch instead.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from pointillist.reading.base import Report
from pointillist.reading.encoding import Encoder
from pointillist.reading.opening import open_source
from pointillist.records import Records
from pointillist.schema import Schema

Watch = Callable[[pa.RecordBatch, Records], None]
"""Shown every batch, as it came and as it was read."""


def read_records(
    table: Any,
    schema: Schema,
    *,
    report: Report = lambda fraction: None,
    watch: Watch = lambda batch, records: None,
) -> Records:
    """Every column that the schema measures: level numbers, positions of numbers, pixels of images.

    `table` is anything that `open_source` takes. What is there may be nothing: whoever needs rows says so.
    """
    source = open_source(table)
    encoder = Encoder.of_schema(schema, source.name)
    parts = []
    for batch in source.batches(encoder.columns, schema, report):
        parts.append(encoder(batch))
        watch(batch, parts[-1])
    return Records.joined(parts) if parts else encoder.nothing()
