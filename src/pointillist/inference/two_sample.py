"""Two samples: were the private rows and a table of one's own drawn alike? By the distance of their mean embeddings.

The distance is that of the release's own features. What noise and chance add to it is known: noise has the same length in
every direction once features are counted in standard deviations, and how rows scatter is seen on the receiver's own
table. So the squared distance under "no difference" is a sum of independent squares of known sizes, and is simulated.
"""

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from pointillist.errors import DataError, UsageError
from pointillist.features import Records
from pointillist.features.serial import to_nodes
from pointillist.inference.noisy_embedding import Embedded, MeanEmbedding, Piece
from pointillist.reading.opening import open_source
from pointillist.reading.rows import read_records
from pointillist.schema import Schema
from pointillist.schema.levels import Levels

if TYPE_CHECKING:
    from pointillist.inference.received import Received

Floats = NDArray[np.float64]

_MOST_SCATTER = 1_000
"""Rows on which scatter is measured: their kernel is held in memory."""
_DRAWS = 10_000
_CELLS = 1 << 22


@dataclass(frozen=True)
class TwoSampleTest:
    """The outcome of one test."""

    mmd: float
    """Distance of the mean embeddings with what noise and chance add taken off; 0 where that leaves nothing."""
    mmd_squared: float
    """Its square without a bias; it may be negative."""
    p_value: float
    """How often the distance is as large or larger if both tables are drawn alike."""
    rows: tuple[float, float]
    """Private rows (as far as they are known) and rows of the other table."""
    dimension: int
    """Features that were compared."""

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "rows": list(self.rows)}


def compare(received: "Received", table: Any) -> TwoSampleTest:
    """The private rows beside a table of the receiver's own."""
    name, records = read(table, received.release.schema)
    if records.rows < 2:
        raise UsageError(f"{name}: has fewer than two rows, so there is nothing to compare.")
    embedding = received.embedding
    mean = embedding.of_rows(records, np.full(records.rows, 1 / records.rows))
    chance = 1 / embedding.rows + 1 / records.rows
    return _tested(embedding, embedding.target - mean, chance, records, received.seed, (embedding.rows, records.rows))


def compare_releases(first: "Received", second: "Received") -> TwoSampleTest:
    """The private rows of two releases, by the features that both measured."""
    if _columns(first.model.levels) != _columns(second.model.levels):
        raise UsageError("the two releases have different schemas, so their rows cannot be compared.")
    common = _common(first.embedding, second.embedding)
    if not common:
        raise UsageError("the two releases measured no features in common. Compare each with a sample instead.")
    # Both means in the first one's standard deviations; noise of the two adds up, block by block.
    pieces, gaps = [], []
    for one, other in common:
        ratio = one.scale / other.scale
        wider = math.sqrt(1 + ratio**2)
        pieces.append(replace(one, scale=one.scale / wider, target=one.target / wider))
        gaps.append((one.target - ratio * other.target) / wider)
    rows = first.embedding.rows, second.embedding.rows
    exact = first.embedding.exact and second.embedding.exact
    embedding = replace(first.embedding, pieces=tuple(pieces), exact=exact)
    shares = np.maximum(first.weights, 0.0)
    drawn = np.random.default_rng(first.seed).choice(len(shares), _MOST_SCATTER, p=shares / shares.sum())
    records = first.weighted.records.part(drawn)
    return _tested(embedding, Embedded(tuple(gaps)), 1 / rows[0] + 1 / rows[1], records, first.seed, rows)


def read(table: Any, schema: Schema) -> tuple[str, Records]:
    """The receiver's own table: how messages call it, and its rows as the schema sees them."""
    source = open_source(table)
    records = read_records(source, schema)
    if not records.rows:
        raise DataError(f"{source.name}: has no rows, so there is nothing to compare.")
    return source.name, records


def _tested(
    embedding: MeanEmbedding,
    gap: Embedded,
    chance: float,
    records: Records,
    seed: int,
    rows: tuple[float, float],
) -> TwoSampleTest:
    """Noise adds 1 to the squared gap in every direction, sampling `chance` times the scatter of rows."""
    some = _some(records, seed)
    kernel = embedding.products(some, some)
    statistic, dimension = gap.dot(gap), embedding.dimension
    if not embedding.exact:
        # The number of rows is noisy, too: leave the direction out in which that moves the mean.
        target = embedding.target
        length = target.dot(target)
        if length > 0:
            along = embedding.along(some, target)
            kernel -= np.outer(along, along) / length
            statistic -= gap.dot(target) ** 2 / length
            dimension -= 1
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1)[:, None]
    scatter = np.maximum(linalg.eigvalsh(kernel), 0.0)[-dimension:] / (some.rows - 1)
    draws = _null(1 + chance * scatter, dimension - len(scatter), seed)
    p_value = (1 + int(np.count_nonzero(draws >= statistic))) / (1 + len(draws))
    squared = _natural(embedding, gap, some, chance)
    return TwoSampleTest(math.sqrt(max(0.0, squared)), squared, p_value, rows, embedding.dimension)


def _natural(embedding: MeanEmbedding, gap: Embedded, records: Records, chance: float) -> float:
    """The squared distance in features as they are, less what noise and chance add."""
    found = 0.0
    equal = np.full(records.rows, 1 / records.rows)
    for piece, part in zip(embedding.pieces, gap.parts, strict=True):
        unit = (piece.weight / piece.scale) ** 2
        mean = piece.mean(records, equal)
        lengths = MeanEmbedding((piece,), embedding.rows, True).lengths(records)
        scatter = (float(lengths.mean()) - float(np.vdot(mean, mean))) * records.rows / (records.rows - 1)
        found += unit * (float(np.vdot(part, part)) - part.size - chance * scatter)
    return found


def _null(sizes: Floats, others: int, seed: int) -> Floats:
    """Draws of a sum of squares of independent normal variables: of these variances, and `others` of variance 1."""
    generator = np.random.default_rng(seed)
    found = generator.chisquare(others, _DRAWS) if others > 0 else np.zeros(_DRAWS)
    step = max(1, _CELLS // max(1, len(sizes)))
    for start in range(0, _DRAWS, step):
        part = slice(start, min(_DRAWS, start + step))
        found[part] += np.square(generator.standard_normal((part.stop - part.start, len(sizes)))) @ sizes
    return found


def _some(records: Records, seed: int) -> Records:
    if records.rows <= _MOST_SCATTER:
        return records
    return records.part(np.sort(np.random.default_rng(seed).choice(records.rows, _MOST_SCATTER, replace=False)))


def _columns(levels: tuple[Levels, ...]) -> list[tuple[str, Any]]:
    return [(each.name, each.column) for each in levels]


def _common(first: MeanEmbedding, second: MeanEmbedding) -> list[tuple[Piece, Piece]]:
    """Pieces of two releases with the same features."""
    mine: dict[str, list[Piece]] = {}
    for piece in second.pieces:
        mine.setdefault(_key(piece), []).append(piece)
    return [(piece, mine[key].pop()) for piece in first.pieces if mine.get(key := _key(piece))]


def _key(piece: Piece) -> str:
    """What tells features apart."""
    nodes, arrays = to_nodes(piece.map)
    found = hashlib.sha256(json.dumps(nodes, sort_keys=True, default=str).encode())
    for name in sorted(arrays):
        found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()
