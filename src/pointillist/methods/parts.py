"""Parts: measuring features by class of the target, with the class counts beside them, in one vector of length 1."""

import math
from dataclasses import dataclass

from pointillist.errors import UsageError
from pointillist.features import Concat, FeatureMap, Labelled, OneHot, Tiles, Weighted
from pointillist.features.base import is_own
from pointillist.plan import Block, Request, Round
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.schema.levels import Levels


@dataclass(frozen=True)
class Part:
    """One map, and its share of a record's squared length."""

    name: str
    """What it is called in a plan; parts of one name are counted together."""
    map: FeatureMap
    share: float


def label_of(levels: tuple[Levels, ...], target: str | None) -> Levels | None:
    """The target as a label: a numeric one is none."""
    return next((each for each in levels if each.name == target and not each.numeric), None)


def categories_of(level: Levels) -> Tiles | None:
    """What of a column is a category: all of it, or a number's special values and gaps; none if it has neither."""
    if not level.numeric:
        return OneHot(level.name, level.size)
    atoms = level.size - level.regular
    return Tiles(level.name, (0,) * level.regular + tuple(range(1, atoms + 1))) if atoms else None


def by_class(parts: list[Part], label: Levels | None) -> list[Part]:
    """Every part times the one-hot label; as they are where there is none."""
    if label is None:
        return parts
    return [Part(f"{part.name} by class", Labelled.of(part.map, _one_hot(label)), part.share) for part in parts]


def counts(levels: tuple[Levels, ...], label: Levels | None, share: float) -> list[Part]:
    """How many rows each class has, or how many there are; nothing for a share of 0."""
    if share == 0:
        return []
    if label is not None:
        return [Part("class counts", _one_hot(label), share)]
    return [Part("row count", Tiles(levels[0].name, (0,) * levels[0].size), share)]  # one tile: every row counts 1


def require_share(name: str, share: float, *, zero: bool = False) -> None:
    """Part of a budget lies between 0 and 1."""
    if not (0 < share < 1 or (zero and share == 0)):
        raise UsageError(f"{name} must lie between 0 and 1, not {share}.")


def require_one_target(request: Request, method: str) -> None:
    """For methods that measure everything by class of one label."""
    if len(request.targets) > 1:
        raise UsageError(f"{method} takes one target, not {len(request.targets)}. Name one, or choose mosaic.")


def require_rows(request: Request, count_share: float) -> None:
    """Without counts, the exact number of rows must be public."""
    public = request.neighbours is Neighbours.REPLACE_ONE and request.schema.person is None
    if count_share == 0 and not public:
        raise UsageError(
            "count_share is 0, so the number of rows must be public: choose neighbours = replace-one, without a person "
            "column; or a count_share above 0."
        )


def histograms(levels: tuple[Levels, ...]) -> Concat:
    """Every column by itself, level by level, with the same weight."""
    return joined([Part("histograms", _one_hot(each), 1 / len(levels)) for each in levels])


def joined(parts: list[Part]) -> Concat:
    """All parts as one map of length 1 at most."""
    return Concat(tuple(Weighted(part.map, math.sqrt(part.share)) for part in parts))


def round_of(parts: list[Part], share: float) -> Round:
    """The parts as a round of a plan; parts of one name are one block."""
    names = list(dict.fromkeys(part.name for part in parts))
    blocks = tuple(_block([part for part in parts if part.name == name]) for name in names)
    if all(block.counts for block in blocks):
        return Round.of_counts(share, blocks)
    if all(part.map.most_ones is not None for part in parts):
        return Round(share, blocks, Grid.counting(), counting=True)
    own = all(is_own(part.map) for part in parts)  # of maps from elsewhere no sign is relied on
    return Round(
        share,
        blocks,
        Grid.dense(sum(block.cells for block in blocks)),
        nonnegative=own and all(part.map.nonnegative for part in parts),
        positive=own and all(part.map.positive for part in parts),
    )


def _block(parts: list[Part]) -> Block:
    counted = all(part.map.indicator for part in parts)
    cells = sum(part.map.dimension for part in parts)
    ones = 1 if counted else parts[0].map.most_ones or 1
    return Block(parts[0].name, len(parts), cells, math.sqrt(parts[0].share), counts=counted, ones=ones)


def _one_hot(level: Levels) -> OneHot:
    return OneHot(level.name, level.size)
