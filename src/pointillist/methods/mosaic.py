"""Mosaic: fine one-way marginals first, then all pairs of columns over tiles, and a mixture fitted to both.

Round 1 measures every column at its finest levels with a small part of the budget. From it, at no cost, come tiles
that hold enough rows for the noise. Round 2 measures every pair of columns over those tiles and, where a target is
named, every pair together with the target.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import Concat, FeatureMap, Labelled, Product, Weighted
from pointillist.generators.denoising import denoise_ordered, project_to_simplex
from pointillist.generators.evidence import Evidence, Table, estimated_rows, tables_of
from pointillist.generators.mixture import fit_mixture
from pointillist.generators.model import Model
from pointillist.levels import Levels, levels_of
from pointillist.methods.labelling import histograms, require_share
from pointillist.methods.tiling import coarsen, tile
from pointillist.plan import Block, Plan, Request, Round
from pointillist.progress import Progress
from pointillist.release import Measurement, Release

Floats = NDArray[np.float64]


_MOST_TILES_IN_ALL = 3000


class Pairs(NamedTuple):
    """Which tables round 2 measures."""

    plain: tuple[tuple[str, str], ...]
    labelled: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Mosaic:
    """The default method for tables."""

    one_way_share: float = 0.2
    """Part of the budget (of mu^2) for the one-way marginals."""
    label_share: float = 0.7
    """Part of the rest for pairs together with the target, where one is named."""
    most_tiles: int = 32
    """The most tiles of a column, beside its atoms."""
    most_label_tiles: int = 8
    """The most tiles of the target when pairs are split by it."""
    rows_per_tile: float = 5.0
    """A tile holds at least this many standard deviations of the noise on one cell."""
    most_cells: int = 400_000
    """The most cells that round 2 may measure; tiles become coarser, and pairs fewer, to keep to it."""
    components: int = 300
    """Components of the mixture."""
    steps: int = 1000
    """Steps of the fit."""

    def __post_init__(self) -> None:
        require_share("one_way_share", self.one_way_share)
        require_share("label_share", self.label_share)
        for name, least in (("most_tiles", 4), ("most_label_tiles", 2), ("components", 1), ("steps", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}, not {getattr(self, name)}.")

    @property
    def name(self) -> str:
        return "mosaic"

    def plan(self, request: Request) -> Plan:
        levels = levels_of(request.schema)
        first = Block("one-way marginals", len(levels), sum(each.size for each in levels), 1 / math.sqrt(len(levels)))
        pairs, most, notes = self._choose(levels, request.target)
        if not (pairs.plain or pairs.labelled):
            return Plan.make(self.name, self._options(most), request, (Round.of_counts(1.0, (first,)),), notes)
        sizes = self._sizes(levels, most)
        measured = []
        for name, chosen, share, factor in (
            ("pairs of columns", pairs.plain, 1 - self.label_share if pairs.labelled else 1.0, 1),
            (
                f"pairs of columns, by {request.target}",
                pairs.labelled,
                self.label_share,
                self._label(levels, request.target),
            ),
        ):
            if chosen:
                cells = sum(sizes[a] * sizes[b] for a, b in chosen) * factor
                measured.append(Block(name, len(chosen), cells, math.sqrt(share / len(chosen))))
        rounds = (
            Round.of_counts(self.one_way_share, (first,)),
            Round.of_counts(1 - self.one_way_share, tuple(measured)),
        )
        return Plan.make(self.name, self._options(most), request, rounds, notes)

    def _options(self, most: int) -> dict[str, float]:
        return {**asdict(self), "most_tiles": most}

    def _choose(self, levels: tuple[Levels, ...], target: str | None) -> tuple[Pairs, int, tuple[str, ...]]:
        """The most pairs, over the finest tiles, that stay within `most_cells`."""
        names = [each.name for each in levels]
        others = [name for name in names if name != target]
        label = self._label(levels, target)
        for most in range(self.most_tiles, 3, -1):
            sizes = self._sizes(levels, most)
            if _pair_cells(names, sizes) + (label * _pair_cells(others, sizes) if target else 0) <= self.most_cells:
                return Pairs(_pairs(names), _pairs(others) if target else ()), most, ()
        for most in range(self.most_tiles, 3, -1):
            if _pair_cells(names, self._sizes(levels, most)) <= self.most_cells:
                note = f"Pairs are not split by {target}: there are too many columns for that."
                return Pairs(_pairs(names), ()), most, (note,)
        for most in range(self.most_tiles, 3, -1) if target else ():
            sizes = self._sizes(levels, most)
            # The fit holds a matrix over all tiles of all columns, however few pairs of them were measured.
            if target and sum(sizes.values()) <= _MOST_TILES_IN_ALL:
                note = f"Only pairs with {target} are measured: there are too many columns for all pairs."
                return Pairs(tuple((name, target) for name in others), ()), most, (note,)
        note = (
            "Only one-way marginals are measured: there are too many columns for pairs. Columns will be independent in "
            "the synthetic data. Name a target, or set some columns to ignore."
        )
        return Pairs((), ()), self.most_tiles, (note,) if len(names) > 1 else ()

    def _most_label(self, each: Levels) -> int:
        return self.most_label_tiles + (each.size - each.regular if each.ordered else 0)

    def _label(self, levels: tuple[Levels, ...], target: str | None) -> int:
        """The most tiles that the target can have as a label."""
        return next((min(each.size, self._most_label(each)) for each in levels if each.name == target), 1)

    @staticmethod
    def _sizes(levels: tuple[Levels, ...], most: int) -> dict[str, int]:
        """The most tiles that each column can have: atoms of ordered columns come on top."""
        return {each.name: min(each.size, most + (each.size - each.regular if each.ordered else 0)) for each in levels}

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        levels = levels_of(plan.request.schema)
        if not measured:
            return histograms(levels)
        marginals = _marginals(measured[0], levels, None)
        most = int(plan.options["most_tiles"])
        noise = max(plan.noise_rows(1, block) for block in plan.rounds[1].blocks)
        tiles = {
            each.name: tile(each, marginals.counts[each.name], self.rows_per_tile * noise, most) for each in levels
        }
        pairs, _, _ = self._choose(levels, plan.request.target)
        label = next(
            (
                coarsen(tiles[each.name], each, marginals.counts[each.name], self.most_label_tiles)
                for each in levels
                if each.name == plan.request.target
            ),
            None,
        )
        maps: list[FeatureMap] = []
        for number, chosen in enumerate(p for p in pairs if p):
            weight = plan.rounds[1].blocks[number].weight
            for a, b in chosen:
                product: FeatureMap = Product((tiles[a], tiles[b]))
                if chosen is pairs.labelled and label is not None:
                    product = Labelled.of(product, label)
                maps.append(Weighted(product, weight))
        return Concat(tuple(maps))

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        levels = levels_of(release.schema)
        marginals = _marginals(release.measurements[0], levels, release.rows)
        evidence = Evidence(marginals.rows, tuple(t for each in release.measurements for t in tables_of(each)))
        mixture = fit_mixture(
            evidence, marginals.shares, components=self.components, steps=self.steps, seed=seed, progress=progress
        )
        return Model.of(release, rows=marginals.rows, generator=mixture)


def _pairs(names: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple(itertools.combinations(names, 2))


def _pair_cells(names: list[str], sizes: dict[str, int]) -> int:
    """Cells of all pairs of some columns: the sum of a * b over pairs, without going through them."""
    chosen = [sizes[name] for name in names]
    return (sum(chosen) ** 2 - sum(size**2 for size in chosen)) // 2


class Marginals(NamedTuple):
    """Denoised one-way marginals."""

    rows: float
    """The estimated number of rows, at least 1."""
    counts: dict[str, Floats]
    shares: dict[str, Floats]


def _marginals(first: Measurement, all_levels: tuple[Levels, ...], rows: int | None) -> Marginals:
    """Counts of every level, made possible: not negative, and with one total for all columns."""
    tables = tables_of(first)
    rows_estimate = estimated_rows(tables) if rows is None else max(1.0, float(rows))
    counts = {
        table.columns[0]: _possible(table, levels, rows_estimate)
        for table, levels in zip(tables, all_levels, strict=True)
    }
    return Marginals(rows_estimate, counts, {name: values / rows_estimate for name, values in counts.items()})


def _possible(table: Table, levels: Levels, rows: float) -> Floats:
    """The nearest possible counts: not negative, `rows` in all.

    Unlisted and missing values that the noise alone explains are set to none: a level that is allowed for safety's
    sake should not show up in the synthetic data because of noise.
    """
    ghosts = (np.arange(levels.size) >= levels.other) & (table.values < 3 * table.sigma)
    values = table.values.copy()
    if levels.numeric:
        values[: levels.regular] = denoise_ordered(values[: levels.regular], table.sigma)
    counts = np.zeros(levels.size)
    counts[~ghosts] = project_to_simplex(values[~ghosts], rows)
    return counts
