"""Overlap: whether rows that are said to be public are a copy of the private ones, or of a part of them.

Public rows are copied into the release, so a private table taken for a public one would be published whole. But a public
table may well have rows in common with the private one by chance, and with few columns it must. So agreement is judged by
what chance explains. For each distinct row it is counted how often it is in either table; all else follows from that.

- *Rows that only one private record has.* How often an independent row would hit one of these can be told from the
  private table alone (Good and Turing): about twice as often as there are pairs of equal records, divided by all. Where
  public rows hit them more often, they were taken from the table.
- *How often each row is there.* Two samples of one population differ by chance; where they differ far less than that,
  one was made from the other. This finds copies of tables with few columns, whose rows are all common.

Rows are compared as levels, which copies with small changes share, and as levels with exact positions. The outcome stops the
call or does nothing: no number from here goes any further.
"""

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import special

from pointillist.curator.image_overlap import require_no_private_image
from pointillist.errors import DataError, UsageError
from pointillist.features import Records
from pointillist.reading.base import Source
from pointillist.reading.connection import connect, noted
from pointillist.reading.encoding import Encoder
from pointillist.schema import Schema

Counts = NDArray[np.int64]

CHANCE = 1e-3
"""How seldom rows that are independent of the private table may be refused, for each of the tests."""
_EXPECTED = 5
"""A cell is used to compare frequencies if so many rows are expected in it in either table."""
_KEY_BYTES = 32


@dataclass(frozen=True)
class Profile:
    """For distinct rows: how often each is in the private table, how often in the public one, how many such there are."""

    private: Counts
    public: Counts
    number: Counts

    @property
    def copied(self) -> bool:
        """Whether the public rows agree with the private ones more than chance explains."""
        rows, points = int(self.private @ self.number), int(self.public @ self.number)
        if not rows or not points:
            return False
        return self._same(rows, points) or self._hits(rows, points) < CHANCE or self._closeness(rows, points) < CHANCE

    def _same(self, rows: int, points: int) -> bool:
        """Whether it is the private table itself, or several times that."""
        return points % rows == 0 and bool(np.all(self.public == points // rows * self.private))

    def _hits(self, rows: int, points: int) -> float:
        """The chance of as many hits of rows that one private record has.

        With q the probability of such a row, hits are Poisson with mean `points` q at most, pairs with mean `rows` q / 2.
        Given their sum, the hits are binomial, whatever q is.
        """
        hits = int(self.number[(self.private == 1) & (self.public > 0)].sum())
        pairs = int(self.number[self.private == 2].sum())
        return float(special.bdtrc(hits - 1, hits + pairs, points / (points + rows / 2)))

    def _closeness(self, rows: int, points: int) -> float:
        """The chance that frequencies differ as little as they do: the lower tail of the test of homogeneity."""
        share = (self.private + self.public) / (rows + points)
        enough = share * min(rows, points) >= _EXPECTED
        cells = int(self.number[enough].sum())
        if cells < _EXPECTED:
            return 1.0
        apart = (self.private / rows - self.public / points) ** 2 / share
        found = rows * points / (rows + points) * float(apart[enough] @ self.number[enough])
        return float(special.chdtr(cells - 1, found))


def require_no_copy(points: Records, source: Source, schema: Schema) -> None:
    """Refuse public rows, or images, that seem to come from the private ones; before anything is spent."""
    if points.images:
        (images,) = points.images.values()
        require_no_private_image(images, source, schema)
        return
    hashes = _RowHashes(schema, source.name)
    kinds = pa.schema([("levels", pa.uint64()), ("exact", pa.uint64())])
    stream = source.batches(hashes.encoder.columns, schema, lambda fraction: None)
    hashed = (hashes.of(hashes.encoder(batch)) for batch in stream)
    failures: list[BaseException] = []
    try:
        with connect() as db:
            db.register("private", pa.RecordBatchReader.from_batches(kinds, noted(hashed, failures)))
            db.register("public", pa.Table.from_batches([hashes.of(points)]))
            db.execute("CREATE TABLE rows AS SELECT *, 1 AS ours, 0 AS theirs FROM private")
            db.execute("INSERT INTO rows SELECT *, 0, 1 FROM public")
            copied = any(_profile(db, column).copied for column in kinds.names)
    except (duckdb.Error, pa.ArrowException, ValueError):
        if failures:
            raise failures[0] from None
        raise DataError(
            f"{source.name}: could not be compared with the public rows. Is there space for temporary files?"
        ) from None
    if copied:
        raise UsageError(
            "the public rows agree with rows of the private table more than chance explains: they seem to be a copy of it, "
            "or of a part of it, and public rows are copied into the release as they are. Name rows that were public "
            "before. If these were, although they are in the private table, too, say so: --public-overlap, or "
            "Landmarks(overlap=True)."
        )


def _profile(db: duckdb.DuckDBPyConnection, column: str) -> Profile:
    found = db.execute(
        "SELECT ours, theirs, count(*) AS number FROM "
        f"(SELECT sum(ours)::BIGINT AS ours, sum(theirs)::BIGINT AS theirs FROM rows GROUP BY {column}) GROUP BY ALL"
    ).fetchnumpy()
    return Profile(*(np.asarray(found[name], dtype=np.int64) for name in ("ours", "theirs", "number")))


class _RowHashes:
    """Rows as keyed hashes of 64 bits, under a key that is forgotten when this call ends.

    DuckDB may write them to disk. Without the key they say which rows are equal and nothing else, even to somebody who
    knows some of the rows and tries others.
    """

    def __init__(self, schema: Schema, origin: str):
        self.encoder = Encoder.of_schema(schema, origin)
        self._keyed = hashlib.blake2b(key=secrets.token_bytes(_KEY_BYTES), digest_size=8)

    def of(self, records: Records) -> pa.RecordBatch:
        """By levels alone, and by levels with exact positions."""
        codes = _packed([records.codes[name] for name in self.encoder.code_names], np.uint16, records.rows)
        units = _packed([records.units[name] for name in self.encoder.unit_names], np.float64, records.rows)
        found = bytearray()
        for levels, exact in zip(codes, units, strict=True):
            hashed = self._keyed.copy()
            hashed.update(levels)
            found += hashed.digest()
            hashed.update(exact)
            found += hashed.digest()
        hashes = np.frombuffer(found, dtype=np.uint64).reshape(-1, 2)
        return pa.RecordBatch.from_arrays([pa.array(hashes[:, 0]), pa.array(hashes[:, 1])], names=["levels", "exact"])


def _packed(columns: list[NDArray[Any]], kind: type[np.generic], rows: int) -> Iterator[bytes]:
    """The bytes of each row; every row has as many, so different rows have different bytes."""
    packed = np.empty((rows, len(columns)), dtype=kind)
    for place, column in enumerate(columns):
        packed[:, place] = column
    return (row.tobytes() for row in packed)
