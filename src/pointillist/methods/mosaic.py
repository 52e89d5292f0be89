"""Mosaic: fine one-way marginals first, then all pairs of columns over tiles, and a mixture fitted to both.

Round 1 measures every column by itself: at its finest levels, and numbers also in public bins, in which people count.
From it, at no cost, come tiles that hold enough rows for the noise. Round 2 measures every pair of columns over those
tiles and, where a target is named, every pair together with the target over coarser ones.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from pointillist.errors import UsageError
from pointillist.features import Concat, FeatureMap, Labelled, OneHot, Product, Tiles, Weighted
from pointillist.fitting.evidence import Evidence, raw_error, tables_of
from pointillist.fitting.marginals import Marginals
from pointillist.generators.mixture.fit_to_counts import fit_mixture
from pointillist.methods.base import METHODS, TableMethod
from pointillist.methods.parts import Part, joined, require_share, round_of
from pointillist.methods.tiling import coarsen, tile
from pointillist.model import Model
from pointillist.plan import Block, Expectation, Plan, Request, Round
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema.levels import BINS, Levels, coarse, coarse_size, levels_of
from pointillist.settings import of_fit

_MOST_TILES_IN_ALL = 3000
_MOST_ONE_WAY = 0.85
"""The most that the one-way marginals get of the budget, where there are pairs too."""
_ONE_WAY_OF_FEW, _MOST_TILES_OF_FEW = 0.6, 16
"""Where only pairs with the target are measured: the one-way marginals' share, and the most tiles of a column."""
_LEAST_ROWS = 50
"""How many times the noise on a cell a table must have rows for its pairs to be worth measuring."""


Pair = tuple[str, str]


class Pairs(NamedTuple):
    """Which tables round 2 measures."""

    plain: tuple[Pair, ...]
    by_target: Mapping[str, tuple[Pair, ...]] = MappingProxyType({})
    """Pairs that are split by a target."""


@METHODS.register("mosaic", place=10)
@dataclass(frozen=True, kw_only=True)
class Mosaic(TableMethod):
    """Tables of counts of every column and of pairs, over tiles that suit the noise; a mixture is fitted to them."""

    one_way_share: float | None = None
    """Part of the budget (of mu^2) for the one-way marginals; by default the more, the larger the noise in pairs."""
    bin_share: float = 0.6
    """Part of a number's one-way budget for its public bins; the rest is for its finest levels."""
    label_share: float = 0.5
    """Part of the rest for pairs split by a target, where one is named; several share it."""
    most_tiles: int = 32
    """The most tiles of a column, beside its atoms."""
    most_classes: int = 8
    """The most tiles of the target when pairs are split by it."""
    most_tiles_by_class: int = 10
    """The most tiles of a column, beside its atoms, in pairs that are split by the target."""
    rows_per_tile: float = 3.0
    """A tile holds at least this many standard deviations of the noise on one cell."""
    most_cells: int = 400_000
    """The most cells that round 2 may measure; tiles become coarser, and pairs fewer, to keep to it."""
    components: int | None = of_fit(None)
    """Components of the mixture; by default as many as the structure in the release calls for."""
    steps: int = of_fit(800)
    """Steps of the fit."""

    def __post_init__(self) -> None:
        if self.one_way_share is not None:
            require_share("one_way_share", self.one_way_share)
        require_share("bin_share", self.bin_share)
        require_share("label_share", self.label_share)
        leasts = {"most_tiles": 4, "most_classes": 2, "most_tiles_by_class": 2, "components": 1, "steps": 1}
        for name, least in leasts.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}.")

    def plan(self, request: Request) -> Plan:
        settled = self._settle(request)
        return replace(settled, expected=_expected(settled))

    def _settle(self, request: Request) -> Plan:
        levels = levels_of(request.schema)
        first = self._histograms(levels)
        pairs, most, notes = self._choose(levels, request.targets)
        if not pairs.plain:
            return Plan.make(self.name, self._options(most, None), request, (round_of(first, 1.0),), notes)
        settled = self._plan(request, pairs, most, notes, self.one_way_share or 0.5)
        if _drowned(settled):
            pairs, most, notes = self._choose(levels, request.targets, few=True)
            if not pairs.plain:
                return Plan.make(self.name, self._options(most, None), request, (round_of(first, 1.0),), notes)
            return self._plan(request, pairs, most, notes, self.one_way_share or _ONE_WAY_OF_FEW)
        return self._plan(request, pairs, most, notes, self.one_way_share or _one_way_share(settled))

    def _plan(self, request: Request, pairs: Pairs, most: int, notes: tuple[str, ...], share: float) -> Plan:
        """Two rounds, of which the first has `share` of the budget."""
        levels = levels_of(request.schema)
        sizes, coarser = self._sizes(levels, most), self._sizes(levels, min(most, self.most_tiles_by_class))
        split = self.label_share / len(pairs.by_target) if pairs.by_target else 0.0
        measured = (
            _block("pairs of columns", pairs.plain, 1 - split * len(pairs.by_target), sizes),
            *(
                _block(f"pairs of columns, by {target}", chosen, split, coarser, self._classes(levels, target))
                for target, chosen in pairs.by_target.items()
            ),
        )
        rounds = (round_of(self._histograms(levels), share), Round.of_counts(1 - share, measured))
        return Plan.make(self.name, self._options(most, share), request, rounds, notes)

    def _histograms(self, levels: tuple[Levels, ...]) -> list[Part]:
        """Every column by itself; numbers twice, in public bins and at their finest."""
        binned = [each for each in levels if coarse_size(each) < each.size]
        share = 1 / len(levels)
        return [
            *(Part(_one_way(each), OneHot(each.name, each.size), share) for each in levels if each not in binned),
            *(
                Part(_one_way(each), Tiles(each.name, tuple(coarse(each).tolist())), share * self.bin_share)
                for each in binned
            ),
            *(
                Part("one-way marginals, finest", OneHot(each.name, each.size), share * (1 - self.bin_share))
                for each in binned
            ),
        ]

    def _options(self, most: int, share: float | None) -> dict[str, Any]:
        return {**asdict(self), "most_tiles": most, "one_way_share": share}

    def _choose(
        self, levels: tuple[Levels, ...], targets: tuple[str, ...], *, few: bool = False
    ) -> tuple[Pairs, int, tuple[str, ...]]:
        """The most pairs, over the finest tiles, that stay within `most_cells`; or as few as make sense."""
        names = [each.name for each in levels]
        # Two targets and a third column are one table, whichever of the two splits it: the first one does.
        others = {
            target: [name for name in names if name not in targets[: 1 + targets.index(target)]] for target in targets
        }
        label = " or ".join(targets)
        reason = "the noise would drown all pairs" if few else "there are too many columns for all pairs"
        for most in range(self.most_tiles, 3, -1) if not few else ():
            coarser = self._sizes(levels, min(most, self.most_tiles_by_class))
            split = sum(self._classes(levels, target) * _pair_cells(others[target], coarser) for target in targets)
            if _pair_cells(names, self._sizes(levels, most)) + split <= self.most_cells:
                by_target = {target: _pairs(others[target]) for target in targets if len(others[target]) > 1}
                return Pairs(_pairs(names), by_target), most, ()
        for most in range(self.most_tiles, 3, -1) if not few else ():
            if _pair_cells(names, self._sizes(levels, most)) <= self.most_cells:
                note = f"Pairs are not split by {label}: there are too many columns for that."
                return Pairs(_pairs(names)), most, (note,)
        for most in (
            range(min(self.most_tiles, _MOST_TILES_OF_FEW) if few else self.most_tiles, 3, -1) if targets else ()
        ):
            sizes = self._sizes(levels, most)
            # The fit holds a matrix over all tiles of all columns, however few pairs of them were measured.
            if sum(sizes.values()) <= _MOST_TILES_IN_ALL:
                note = f"Only pairs with {label} are measured: {reason}."
                return Pairs(tuple((name, target) for target in targets for name in others[target])), most, (note,)
        note = (
            f"Only one-way marginals are measured: {reason}. Columns will be independent in the synthetic data. Name a "
            "target, or set some columns to ignore."
        )
        return Pairs(()), self.most_tiles, (note,) if len(names) > 1 else ()

    def _classes(self, levels: tuple[Levels, ...], target: str) -> int:
        """The most tiles that a target can have as a label."""
        return self._sizes(tuple(each for each in levels if each.name == target), self.most_classes)[target]

    @staticmethod
    def _sizes(levels: tuple[Levels, ...], most: int) -> dict[str, int]:
        """The most tiles that each column can have: atoms of ordered columns come on top."""
        return {each.name: min(each.size, most + (each.size - each.regular if each.ordered else 0)) for each in levels}

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        levels = levels_of(plan.request.schema)
        if not measured:
            return joined(self._histograms(levels))
        counts = Marginals.of(measured[0], levels, None).counts
        most, blocks = int(plan.options["most_tiles"]), plan.rounds[1].blocks
        least = self.rows_per_tile * plan.noise_rows(1, blocks[0])
        tiles = {each.name: tile(each, counts[each.name], least, most) for each in levels}
        pairs, _, _ = self._choose(levels, plan.request.targets)
        if len(pairs.plain) != blocks[0].count:
            pairs, _, _ = self._choose(levels, plan.request.targets, few=True)
        maps: list[FeatureMap] = [Weighted(Product((tiles[a], tiles[b])), blocks[0].weight) for a, b in pairs.plain]
        few = min(most, self.most_tiles_by_class)
        coarser = {each.name: coarsen(tiles[each.name], each, counts[each.name], few) for each in levels}
        for block, (target, chosen) in zip(blocks[1:], pairs.by_target.items(), strict=True):
            level = next(each for each in levels if each.name == target)
            label = coarsen(tiles[target], level, counts[target], self.most_classes)
            maps += [Weighted(Labelled.of(Product((coarser[a], coarser[b])), label), block.weight) for a, b in chosen]
        return Concat(tuple(maps))

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        if release.method != self.name:
            raise UsageError(
                f"a release by {release.method} is not of tables as {self.name} makes them. Fit it by its own method, or "
                "pass a generator."
            )
        levels = levels_of(release.schema)
        marginals = Marginals.of(release.measurements[0], levels, release.rows)
        evidence = Evidence(marginals.rows, tuple(t for each in release.measurements for t in tables_of(each)))
        mixture = fit_mixture(
            evidence,
            marginals.shares,
            ordered={each.name: each.regular for each in levels if each.ordered},
            components=self.components,
            steps=self.steps,
            seed=seed,
            progress=progress,
        )
        return Model.of(release, rows=marginals.rows, generator=mixture)


def _one_way_share(equal: Plan) -> float:
    """How much of the budget the one-way marginals should have, from public facts alone.

    The rule is empirical: a power of the noise on a cell of a pair, by row, that was found between 5,000 and 465,000
    rows. Where pairs drown in noise, what can be known is single columns; where there is little noise, both are known.
    `equal` is the plan that gives half to each.
    """
    if equal.request.schema.rows is None:
        return 0.3
    noise = equal.noise_rows(1, equal.rounds[1].blocks[0]) / equal.request.schema.rows
    return min(max(0.3 * (noise / 0.0015) ** 0.36, 0.1), _MOST_ONE_WAY)


def _drowned(equal: Plan) -> bool:
    """Whether noise would hide all pairs, even over very few tiles: then only those with the target make sense."""
    rows = equal.request.schema.rows
    return rows is not None and rows < _LEAST_ROWS * equal.noise_rows(1, equal.rounds[1].blocks[0])


def _expected(plan: Plan) -> tuple[Expectation, ...]:
    """What error synthetic rows will have, in public bins, from public facts alone.

    The error that the noise makes in one-way marginals is known, and the fit takes some of it out. Pairs are another
    matter: how much the fit can take out depends on how few of their cells hold rows and on how strongly columns depend
    on each other, which only the data know. Both rules are powers of the noise that were found on five tables between
    5,000 and 465,000 rows at epsilon from 0.3 to 3; `factor` is how far off they were there, rounded up.
    """
    rows, levels = plan.request.schema.rows, levels_of(plan.request.schema)
    if rows is None:
        return ()
    noise = {block.name: plan.noise_rows(0, block) for block in plan.rounds[0].blocks}
    raw = sum(raw_error(coarse_size(each), noise[_one_way(each)], rows) for each in levels) / len(levels)
    found = [Expectation("one-way marginals", min(0.42 * raw**0.88, 1.0), 1.5)]
    if len(plan.rounds) > 1:
        found.append(Expectation("pairs of columns", min(2.6 * raw**0.57 / math.sqrt(len(levels)), 1.0), 2.2))
    return tuple(found)


def _one_way(levels: Levels) -> str:
    """The block that measures a column by itself in public bins."""
    return f"one-way marginals, {BINS} bins" if coarse_size(levels) < levels.size else "one-way marginals"


def _pairs(names: list[str]) -> tuple[Pair, ...]:
    return tuple(itertools.combinations(names, 2))


def _block(name: str, pairs: tuple[Pair, ...], part: float, sizes: dict[str, int], classes: int = 1) -> Block:
    """Tables of some pairs over at most so many tiles, which share a part of the round's budget."""
    return Block(name, len(pairs), classes * sum(sizes[a] * sizes[b] for a, b in pairs), math.sqrt(part / len(pairs)))


def _pair_cells(names: list[str], sizes: dict[str, int]) -> int:
    """Cells of all pairs of some columns: the sum of a * b over pairs, without going through them."""
    chosen = [sizes[name] for name in names]
    return (sum(chosen) ** 2 - sum(size**2 for size in chosen)) // 2
