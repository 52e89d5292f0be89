"""Choosing: one of several public tables, by how near it is to the private one. The exponential mechanism, exactly.

Balog, Tolstikhin & Schölkopf (2018), Section 3.4: release R with probability proportional to
exp(-epsilon / (2 Delta) * ||mu_D - mu_R||), where mu is a table's mean embedding.

The score here is ||S_D - |D| mu_R||, with S_D the sum of the private features: |D| times the distance above. The choice
is the same, and the score needs no public number of rows: `squared_sensitivity` of replace-one bounds it for both
relations (docs/explanation/privacy-choosing.md).
"""

import itertools
import math
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.curator.candidates import Candidates, Given, Multisets
from pointillist.curator.releasing import embed, finish
from pointillist.engines import Engine, opened
from pointillist.errors import UsageError, without_context
from pointillist.features import Concat, FeatureMap, Product, Records, Tiles, Weighted
from pointillist.features.base import is_own
from pointillist.features.serial import to_nodes
from pointillist.files.table_output import write_table
from pointillist.generators.points.points import Points
from pointillist.model import Model
from pointillist.privacy.budget import Budget
from pointillist.privacy.exponential import LARGEST_SCORE, draw, exponential_mu, integer_sensitivity, selection_scale
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.ledger import Ledger
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.reading.base import Source
from pointillist.reading.opening import open_schema
from pointillist.release import Release
from pointillist.sampling.table_decoder import FRAMES
from pointillist.schema import Person, Schema
from pointillist.schema.levels import Levels, coarse, levels_of

Integers = NDArray[np.int64]

FEATURES = ("columns", "pairs", "rows")
MOST_FEATURES = 1 << 20
_LIMB = 21
"""Bits of a part of an integer: products of two parts, a million of them added up, stay within 64 bits."""


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """One of the candidates. Public."""

    id: str
    created: str
    schema: Schema
    guarantee: Guarantee
    number: int
    """Which candidate it is, counted from 0."""
    candidates: int
    """Among how many."""
    features: str
    """What the tables were compared by."""
    rows: pa.Table
    """The candidate with the schema's columns and types."""
    records: Records
    """Its rows as levels and positions."""
    frame: str
    original: Any = field(default=None)
    """The very frame that the caller gave, if it was one."""

    @classmethod
    def among(cls, public: Candidates, number: int, source: Source, **facts: Any) -> Self:
        """One of the candidates, with its rows; in a frame of the kind that the private table came in."""
        facts["frame"] = source.frame if source.frame in FRAMES else "pyarrow"
        rows, records, original = public.table(number), public.records(number), public.original(number)
        return cls(number=number, candidates=public.count, rows=rows, records=records, original=original, **facts)

    def __repr__(self) -> str:
        return (
            f"<Choice {self.id[:8]} for {self.schema.name!r}: candidate {self.number} of {self.candidates:,}, "
            f"ε = {self.guarantee.epsilon:g}>"
        )

    @cached_property
    def table(self) -> Any:
        """The candidate: the caller's own frame, or else one of the kind that the private table came in."""
        return self.original if self.original is not None else self.model.to_frame(self.rows)

    @cached_property
    def model(self) -> Model:
        """The candidate's rows as equally weighted points, for whatever a model can do."""
        points = Points(self.records, np.full(self.records.rows, 1 / self.records.rows))
        return Model(self.schema, self.guarantee, self.id, self.frame, float(self.records.rows), points)

    def save(self, path: str | Path) -> None:
        """Write the candidate to a file, whole or not at all: CSV, Parquet or Arrow by the path's ending."""
        write_table(self.rows, path, self.schema)

    def to_json(self) -> dict[str, Any]:
        """All but the rows, as JSON values."""
        return {
            "kind": "choice",
            "id": self.id,
            "created": self.created,
            "number": self.number,
            "candidates": self.candidates,
            "rows": self.rows.num_rows,
            "features": self.features,
            "guarantee": self.guarantee.to_json(),
            "schema": self.schema.to_json(),
        }


@without_context
def choose(
    table: Any,
    schema: Schema | str | Path,
    candidates: list[Any] | tuple[Any, ...] | int,
    *,
    epsilon: float,
    neighbours: str | Neighbours = Neighbours.REPLACE_ONE,
    features: str | FeatureMap = "pairs",
    ledger: Ledger | str | Path | None = None,
    threads: int | None = None,
    engine: Engine | str | None = None,
) -> Choice:
    """Release the candidate that is probably nearest to a private table, with pure epsilon-differential privacy.

    Arguments:
        table: the private table, as for `release`.
        schema: the public facts about it, reviewed; or the path of its TOML file.
        candidates: public tables, as frames or paths: written by hand, or made from releases, but never from private
            rows directly. Or a number M: then all tables of M rows that the schema allows (at most 100,000 tables).
        epsilon: the promise; delta is 0.
        neighbours: "replace-one" (default, as in the paper) or "add-remove".
        features: by what tables are compared: "columns" (the share of each value), "pairs" (of each pair of values of
            two columns), "rows" (of each whole row), numbers in 16 parts of their range; or a feature map.
        ledger: where the spend is recorded; by default the user's own ledger.
        engine: what runs the pass over the rows, as for `release`.

    Nothing is spent by a call that fails before the draw; by then every row has been read and checked once.
    """
    schema = open_schema(schema)
    schema.require_table("choose")
    schema.require_reviewed()
    schema.warn_of_vouched()
    relation = Neighbours.parse(neighbours)
    budget = _budget(epsilon)
    unit = None if schema.person is None else schema.person.unit
    guarantee = Guarantee(budget.epsilon, 0.0, relation, unit, exponential_mu(budget.epsilon), 0.0, 0.0)
    feature_map = _feature_map(features, schema)
    grid = Grid.dense(feature_map.dimension)
    scale = selection_scale(budget.epsilon, sensitivity(feature_map, grid, schema.person))
    public = _candidates(candidates, table, schema)
    opening, chosen = opened(table, engine, threads)
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    with opening.held() as source:
        source.require([*schema.measured, *([schema.person.column] if schema.person else [])])
        seen = book.check(schema.name, guarantee)
        sums, rows = embed(source, schema, feature_map, grid, None, chosen)
    scores = [each for tables, size in public.sums(feature_map, grid) for each in distances(sums, rows, tables, size)]
    choice_id = str(uuid.uuid4())
    name = features if isinstance(features, str) else type(features).__name__
    purpose = f"choose 1 of {public.count}, {name}"
    book.record(schema.name, guarantee, release=choice_id, purpose=purpose, seen=seen)
    number = draw(np.array(scores, dtype=np.int64), scale)
    facts = {"id": choice_id, "created": Release.now(), "schema": schema, "guarantee": guarantee, "features": name}
    made = Choice.among(public, number, source, **facts)
    finish(book, made, "choice")
    return made


def sensitivity(feature_map: FeatureMap, grid: Grid, person: Person | None) -> int:
    """How far one privacy unit moves any score, rounding included, whichever the neighbouring relation.

    Adding a row moves S_D - |D| mu_R by q(x) - mu_R, and replacing one moves it by q(x) - q(x'): both are differences
    of two vectors within the norm bound. docs/explanation/privacy-choosing.md has the proof for people with several rows.
    """
    squared = squared_sensitivity(
        grid.squared_norm, Neighbours.REPLACE_ONE, person, nonnegative=feature_map.nonnegative
    )
    return integer_sensitivity(squared)


def distances(sums: Integers, rows: int, candidates: Integers, size: int) -> list[int]:
    """floor ||S - n T / M|| in grid units for every candidate: S the private sum over n rows, T a candidate's over M.

    Exact: it is isqrt(floor(||M S - n T||^2 / M^2)), in integers.
    """
    largest = size * _largest(sums) + rows * _largest(candidates)
    if largest < 1 << (3 * _LIMB - 1) and sums.size <= MOST_FEATURES:
        squared = _squared_norms(size * sums[None, :] - rows * candidates)
    else:  # Python's integers have no end, and are slow
        apart = size * sums.astype(object)[None, :] - rows * candidates.astype(object)
        squared = (apart * apart).sum(axis=1).tolist()
    return [min(math.isqrt(each // size**2), LARGEST_SCORE) for each in squared]


def _squared_norms(vectors: Integers) -> list[int]:
    """Exact squared norms of rows of integers below 2^62, in three parts of 21 bits each: v = a 2^42 + b 2^21 + c."""
    mask = (1 << _LIMB) - 1
    parts = (vectors & mask, (vectors >> _LIMB) & mask, vectors >> (2 * _LIMB))
    found = [0] * len(vectors)
    for (low, first), (high, second) in itertools.combinations_with_replacement(enumerate(parts), 2):
        products = np.einsum("ij,ij->i", first, second).tolist()
        times = (1 if low == high else 2) << (_LIMB * (low + high))
        found = [total + times * product for total, product in zip(found, products, strict=True)]
    return found


def _largest(values: Integers) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))


def _budget(epsilon: float) -> Budget:
    try:
        return Budget(float(epsilon))  # its delta is not used
    except (TypeError, ValueError):
        raise UsageError(f"epsilon must be a number, not {epsilon!r}.") from None


def _candidates(candidates: Any, table: Any, schema: Schema) -> Candidates:
    if isinstance(candidates, int) and not isinstance(candidates, bool):
        return _several(Multisets.of(candidates, schema))
    if not isinstance(candidates, list | tuple):
        raise UsageError(f"candidates must be a list of tables, or a number of rows, not {type(candidates).__name__}.")
    for number, each in enumerate(candidates):
        if each is table or (isinstance(each, str | Path) and isinstance(table, str | Path) and _same(each, table)):
            raise UsageError(f"candidate {number} is the private table itself. Candidates must be public.")
    return _several(Given.of(candidates, schema))


def _several(candidates: Candidates) -> Candidates:
    if candidates.count < 2:
        raise UsageError("candidates: a choice needs at least 2 tables: with fewer there is nothing to spend on.")
    return candidates


def _same(one: str | Path, other: str | Path) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _feature_map(features: str | FeatureMap, schema: Schema) -> FeatureMap:
    """The map by its name, or the caller's own, checked: its bound must be one that this library has proved."""
    if isinstance(features, str):
        feature_map = _named_map(features, levels_of(schema))
    elif isinstance(features, FeatureMap):
        feature_map = features
        _require_known(feature_map, schema)
    else:
        raise UsageError(f"features must be one of {', '.join(FEATURES)}, or a feature map.")
    if feature_map.dimension > MOST_FEATURES:
        raise UsageError(
            f"features: {feature_map.dimension:,} features are over the limit of {MOST_FEATURES:,}. Compare by "
            '"columns" or "pairs", or ignore some columns.'
        )
    return feature_map


def _require_known(feature_map: FeatureMap, schema: Schema) -> None:
    if not is_own(feature_map):
        raise UsageError(
            f"features: {type(feature_map).__name__} is not a feature map of this library, whose bounds are proved."
        )
    to_nodes(feature_map)  # refuses what is too large
    if not feature_map.bound <= 1 + 1e-12:
        raise UsageError(
            f"features: the map's norm goes up to {feature_map.bound:g}, and must not be above 1. Weight its parts so "
            "that the squares of their weights add up to 1."
        )
    levels = {each.name: each for each in levels_of(schema)}
    for name in sorted(feature_map.code_columns | feature_map.unit_columns):
        schema.require_column(name, role="features: column")
        if name in feature_map.unit_columns and not levels[name].numeric:
            raise UsageError(f"features: column {name!r} is not a number, and the map takes it for one.")
    for leaf in feature_map.leaves:
        if isinstance(leaf, Tiles) and len(leaf.tile_of) != levels[leaf.column].size:
            raise UsageError(f"features: the tiles of column {leaf.column!r} do not fit its levels in the schema.")


def _named_map(name: str, levels: tuple[Levels, ...]) -> FeatureMap:
    tiles = [Tiles(each.name, tuple(coarse(each).tolist())) for each in levels]
    if name == "columns" or (name == "pairs" and len(tiles) == 1):
        return _side_by_side(tiles)
    if name == "pairs":
        return _side_by_side([Product(pair) for pair in itertools.combinations(tiles, 2)])
    if name == "rows":
        return Product(tuple(tiles))
    raise UsageError(f"features {name!r} is not known. Choose one of {', '.join(FEATURES)}, or pass a feature map.")


def _side_by_side(maps: Iterable[FeatureMap]) -> FeatureMap:
    """Maps of equal weight, of norm 1 together."""
    every = tuple(maps)
    return Concat(tuple(Weighted(each, 1 / math.sqrt(len(every))) for each in every))
