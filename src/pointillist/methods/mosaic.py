"""Mosaic: one-way marginals, a screen of all pairs of columns, tables of those that matter, and a mixture fitted to all.

Round 1 measures every column by itself: at its finest levels, and numbers also in public bins, in which people count.
From it, at no cost, come scores that split each column in two. Round 2, the screen, measures the mean product of every two
scores, and of every score in each class of a target: one number where a table has hundreds. Round 3 measures tables of two
columns over tiles that hold enough rows for the noise, and such tables by class of a target: all of them where there is
little noise, those that the screen points at where there is much.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, Labelled, OneHot, Product, ScoreProducts, Tiles
from pointillist.fitting.evidence import scores_of
from pointillist.fitting.marginals import Marginals
from pointillist.methods.base import METHODS, TableMethod
from pointillist.methods.mosaic_fit import fitted_mixture
from pointillist.methods.mosaic_forecast import expected_errors, one_way_block
from pointillist.methods.mosaic_screen import (
    MOST_SCORES,
    OUTLINE,
    Pair,
    Screen,
    group_counts,
    groups_of,
    most_products,
    most_scores,
    outline_by,
    outline_of,
    pairs_of,
    scores,
)
from pointillist.methods.mosaic_tables import GROUP_TILES, Means, Tables, choose_tables, with_focus, with_groups
from pointillist.methods.mosaic_tiling import Tilings, coarsen, suiting_cells, suiting_tiles, tilings
from pointillist.methods.parts import Part, joined, require_share, round_of
from pointillist.model import Model
from pointillist.plan import Block, Plan, Request, Round
from pointillist.privacy.grid import Grid
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema.levels import Levels, coarse, coarse_size, levels_of
from pointillist.settings import of_fit

Floats = NDArray[np.float64]

_MOST_TILES_IN_ALL = 3000
_MOST_ONE_WAY = 0.5
"""The most that the one-way marginals get of the budget, where there are pairs too."""
_USUAL = 0.005
"""Noise on a cell by row that a plan reckons with where the number of rows is not known."""
_SCORES_BY_CLASS = 0.5
"""Part of the screen for scores by class of a target."""
_LEAST_TILES = 8
"""However much noise there is, an ordered column has so many tiles."""
_ONLY_ONE_WAY = (
    f"Only one-way marginals can be measured: there are over {MOST_SCORES:,} columns, too many for all pairs. They would "
    "be independent of each other in the synthetic data. Name a target, or set some columns to ignore."
)
_LEAST_TABLES = 3
"""A plan has room for so many tables, whichever they are."""
_NOISES_PER_TILE = 16.0
"""An ordered column has a tile for every so many times that its tables' rows are more than the noise on a cell."""
_ROOM = 4.0
"""Tables may have so many times more cells than those of a plan, as they may be of larger columns."""
_PARITY, _PARITY_SHARE, _MOST_BEFORE_TABLES = 8.0, 0.05, 0.65
"""Three columns and more are looked at where there are so many times more rows than noise on a product of their scores, for
this part of the budget, where this much of it at most goes into rounds 1 and 2."""
_GROUPS = "three columns and more"
_PAIRS, _WITH_TARGET = "pairs of columns", "pairs of a column and the target"


@METHODS.register("mosaic", place=10)
@dataclass(frozen=True, kw_only=True)
class Mosaic(TableMethod):
    """Tables of counts of every column and of pairs, over tiles that suit the noise; a mixture is fitted to them."""

    looks_at_groups: ClassVar[bool] = True
    """Whether the screen looks at three columns and more, too."""

    one_way_share: float | None = None
    """Part of the budget (of mu^2) for the one-way marginals; by default the more, the larger the noise in pairs."""
    screen_share: float | None = None
    """Part of the budget (of mu^2) for the screen of all pairs; by default the more, the larger the noise in pairs."""
    bin_share: float = 0.6
    """Part of a number's one-way budget for its public bins; the rest is for its finest levels."""
    label_share: float = 0.35
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
    allow_independent: bool = False
    """Whether to release a table of too many columns for pairs, without a target: its columns come out independent."""
    components: int | None = of_fit(None)
    """Components of the mixture; by default as many as the structure in the release calls for."""
    steps: int = of_fit(300)
    """Steps of the fit."""

    def __post_init__(self) -> None:
        if self.one_way_share is not None:
            require_share("one_way_share", self.one_way_share)
        if self.screen_share is not None:
            require_share("screen_share", self.screen_share, zero=True)
        require_share("bin_share", self.bin_share)
        require_share("label_share", self.label_share)
        leasts = {"most_tiles": 4, "most_classes": 2, "most_tiles_by_class": 2, "components": 1, "steps": 1}
        for name, least in leasts.items():
            if (value := getattr(self, name)) is not None and value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}.")

    def plan(self, request: Request) -> Plan:
        settled = self._settle(request)
        return replace(settled, expected=expected_errors(settled))

    def _settle(self, request: Request) -> Plan:
        levels = levels_of(request.schema)
        first = self._histograms(levels)
        alone = Plan.make(self.name, self._options(self.most_tiles, None, None), request, (round_of(first, 1.0),), ())
        if len(levels) == 1:
            return alone
        unit = alone.noise_rows(0, alone.rounds[0].blocks[0]) * alone.rounds[0].blocks[0].weight
        if len(levels) > MOST_SCORES and not request.targets:
            if not self.allow_independent:
                raise UsageError(_ONLY_ONE_WAY + " To release it all the same, --set allow_independent=true.")
            return replace(alone, notes=(*alone.notes, _ONLY_ONE_WAY))
        (one_way, screen, parity), rows = self._shares(request, len(levels), unit), request.schema.rows
        signal = math.inf if rows is None else rows / unit * math.sqrt(1 - one_way - screen)
        means = self._means(levels, signal)
        tables = choose_tables(list(request.schema.measured), request.targets, None, means, request.schema.pairs)
        blocks = self._table_blocks(levels, tables, signal)
        if not blocks:  # the noise would hide all tables: columns are known by themselves, and in outline
            one_way, screen = one_way / (one_way + screen), screen / (one_way + screen)
        rounds = [round_of(first, one_way)]
        if screen > 0:
            rounds.append(self._screen_round(request, screen, parity / screen))
        if blocks:
            rounds.append(Round.of_counts(1 - one_way - screen, blocks))
        return Plan.make(self.name, self._options(self.most_tiles, one_way, screen), request, tuple(rounds), ())

    def _shares(self, request: Request, columns: int, unit: float) -> tuple[float, float, float]:
        """Parts of the budget for one-way marginals, for the screen, and of that for three columns and more.

        Both rules are empirical: powers of the noise on a cell by row, were all pairs measured with half of the budget (a
        quarter with a target)."""
        rows, tables = request.schema.rows, columns * (columns - 1) * (2 if request.targets else 1)
        noise = _USUAL if rows is None else unit * math.sqrt(tables) / rows
        one_way = self.one_way_share or min(max(_MOST_ONE_WAY * (noise / 0.05) ** 0.3, 0.1), _MOST_ONE_WAY)
        screen = self.screen_share
        if screen is None:
            screen = min(max(0.2 * (noise / 0.02) ** 0.5, 0.05), 0.25) if 2 < columns <= MOST_SCORES else 0.0
        screen = min(screen, 0.9 * (1 - one_way))
        groups = sum(group_counts(columns, request.targets).values()) if self.looks_at_groups else 0
        visible = rows is None or rows > _PARITY * unit * math.sqrt(groups / _PARITY_SHARE)
        if not (screen and groups and visible and one_way + screen + _PARITY_SHARE < _MOST_BEFORE_TABLES):
            return one_way, screen, 0.0
        return one_way, screen + _PARITY_SHARE, _PARITY_SHARE

    def _means(self, levels: tuple[Levels, ...], signal: float) -> Means:
        """What round 3 can spend on tables."""
        classes = {each.name: self._classes(levels, each.name) for each in levels}
        # Where there are too many columns for a screen, nothing tells which pairs matter: those with the target.
        few, too_many = self._sizes(levels, _LEAST_TILES), len(levels) > MOST_SCORES
        return Means(signal, self.label_share, self.most_cells, few, classes, only_target=too_many)

    def _screen_round(self, request: Request, share: float, parity: float) -> Round:
        """The most that a screen can measure: which scores columns have is settled after round 1."""
        levels, targets = levels_of(request.schema), request.targets
        scores, pairs = most_scores(levels), most_products(levels, request.schema.pairs)
        by_class = _SCORES_BY_CLASS * (1 - parity) if targets else 0.0
        weight = math.sqrt((1 - by_class - parity) / pairs)
        blocks = [Block(OUTLINE, 1, pairs, weight, counts=False, ones=pairs)]
        for target in targets:
            cells = scores * self._classes(levels, target)
            weight = math.sqrt(by_class / len(targets) / scores)
            blocks.append(Block(outline_by(target), 1, cells, weight, counts=False, ones=scores))
        counts = group_counts(len(levels), targets) if parity else {}
        for order, count in counts.items():
            weight = math.sqrt(parity / sum(counts.values()))
            blocks.append(Block(outline_of(order), 1, count, weight, counts=False, ones=count))
        return Round(share, tuple(blocks), Grid.counting(), counting=True)

    def _table_blocks(self, levels: tuple[Levels, ...], tables: Tables, signal: float) -> tuple[Block, ...]:
        """Tables as blocks of a plan, with some room: which pairs, over which tiles, is settled after the screen."""
        kinds = [
            (_WITH_TARGET, tables.with_target, tables.with_target_share, 1),
            (_PAIRS, tables.plain, tables.plain_share, 1),
            *(
                (_by(target), chosen, tables.by_target_share / len(tables.by_target), self._classes(levels, target))
                for target, chosen in tables.by_target.items()
            ),
        ]
        found, coarsest = [], sorted(self._sizes(levels, 2).values())
        smallest = math.prod(coarsest[-2:])  # of the columns with the most atoms, over as few tiles as there can be
        for name, pairs, share, classes in kinds:
            if pairs:
                tiles = self._ordered_tiles(levels, signal * math.sqrt(share / len(pairs)))
                tiles = tiles if classes == 1 else min(tiles, self.most_tiles_by_class)
                sizes = list(self._sizes(levels, tiles, self.most_tiles if classes == 1 else tiles).values())
                each = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) / (len(sizes) * (len(sizes) - 1))
                cells = min(_ROOM * len(pairs) * classes * each, share * self.most_cells)
                room = max(math.ceil(cells), 4 * len(pairs), _LEAST_TABLES * classes * smallest)
                found.append(Block(name, len(pairs), room, math.sqrt(share / len(pairs))))
        return tuple(found)

    def _ordered_tiles(self, levels: tuple[Levels, ...], signal: float) -> int:
        """How many tiles suit a table with so many times more rows than noise on a cell."""
        most = max(2, min(self.most_tiles, _MOST_TILES_IN_ALL // len(levels)))
        return min(max(_LEAST_TILES, int(min(signal, 1e6) / _NOISES_PER_TILE)), most)

    def _histograms(self, levels: tuple[Levels, ...]) -> list[Part]:
        """Every column by itself; numbers twice, in public bins and at their finest."""
        binned = [each for each in levels if coarse_size(each) < each.size]
        share = 1 / len(levels)
        return [
            *(Part(one_way_block(each), OneHot(each.name, each.size), share) for each in levels if each not in binned),
            *(
                Part(one_way_block(each), Tiles(each.name, tuple(coarse(each).tolist())), share * self.bin_share)
                for each in binned
            ),
            *(
                Part("one-way marginals, finest", OneHot(each.name, each.size), share * (1 - self.bin_share))
                for each in binned
            ),
        ]

    def _options(self, most: int, one_way: float | None, screen: float | None) -> dict[str, Any]:
        return {**asdict(self), "most_tiles": most, "one_way_share": one_way, "screen_share": screen}

    def _classes(self, levels: tuple[Levels, ...], target: str) -> int:
        """The most tiles that a target can have as a label."""
        return self._sizes(tuple(each for each in levels if each.name == target), self.most_classes)[target]

    @staticmethod
    def _sizes(levels: tuple[Levels, ...], most: int, categories: int | None = None) -> dict[str, int]:
        """The most tiles that each column can have: atoms of ordered columns come on top."""
        return {
            each.name: min(each.size, most + each.size - each.regular if each.ordered else categories or most)
            for each in levels
        }

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        return joined(self._parts(plan, measured))

    def blocks(self, plan: Plan, measured: Sequence[Measurement]) -> tuple[Block, ...]:
        return round_of(self._parts(plan, measured), 1.0).blocks

    def _parts(self, plan: Plan, measured: Sequence[Measurement]) -> list[Part]:
        """What the next round measures."""
        levels = levels_of(plan.request.schema)
        if not measured:
            return self._histograms(levels)
        marginals = Marginals.of(measured[0], levels, None)
        if not plan.rounds[len(measured)].nonnegative:
            return self._screen(plan, marginals)
        return self._tables(plan, marginals, measured)

    def _screen(self, plan: Plan, marginals: Marginals) -> list[Part]:
        levels, targets = levels_of(plan.request.schema), plan.request.targets
        found = scores(levels, marginals.shares)
        planned = {block.name: block for block in plan.rounds[1].blocks}
        orders = [order for order in group_counts(len(levels), targets) if outline_of(order) in planned]
        groups = {order: groups_of(found, order, targets[0] if order > 3 else None) for order in orders}
        parity = sum(planned[outline_of(order)].part for order in orders)
        by_class = _SCORES_BY_CLASS * (1 - parity) if targets else 0.0
        pairs = pairs_of(found, set(plan.request.schema.pairs))
        parts = []
        if pairs is not None:
            parts.append(Part(OUTLINE, pairs, (1 - by_class - parity) / pairs.dimension))
        for target in targets:
            others = [score for score in found if score.column != target]
            label = self._label(levels, target, marginals.counts[target])
            each = ScoreProducts(tuple(others), tuple((number,) for number in range(len(others))))
            share = by_class / len(targets) / len(others)
            parts.append(Part(outline_by(target), Labelled.of(each, label), share))
        count = sum(each.dimension for each in groups.values() if each is not None)
        parts += [Part(outline_of(order), each, parity / count) for order, each in groups.items() if each is not None]
        return parts

    def _label(self, levels: tuple[Levels, ...], target: str, counts: Floats) -> Tiles:
        level = next(each for each in levels if each.name == target)
        return coarsen(OneHot(target, level.size), level, counts, self.most_classes)

    def _tables(self, plan: Plan, marginals: Marginals, measured: Sequence[Measurement]) -> list[Part]:
        levels, targets, number = levels_of(plan.request.schema), plan.request.targets, len(measured)
        unit = plan.sigma(number) / plan.rounds[number].grid.scale
        sums = [each for one in measured[1:] for each in scores_of(one)]
        screen = Screen.of(sums, marginals.shares, marginals.rows) if sums else None
        means = self._means(levels, marginals.rows / unit)
        chosen = choose_tables([each.name for each in levels], targets, screen, means, plan.request.schema.pairs)
        if screen is not None:
            chosen = with_groups(with_focus(chosen, screen), screen, means)
        if not (chosen.plain or chosen.with_target or chosen.by_target):
            chosen = Tables((plan.request.schema.pairs[0],))  # there are fewer rows than the plan reckoned with
        while True:
            for most in range(self.most_tiles, 1, -1):
                tiles = self._tiles(
                    levels, marginals, [unit * math.sqrt(each) for each in chosen.tables_by_share], most
                )
                parts = self._over_tiles(levels, marginals, chosen, tiles, unit, screen)
                if sum(part.map.dimension for part in parts) <= plan.rounds[number].dimension:
                    return parts
            chosen = chosen.fewer()  # the columns chosen have more values than others, so there is no room for all

    def _over_tiles(
        self,
        levels: tuple[Levels, ...],
        marginals: Marginals,
        chosen: Tables,
        tilings: dict[str, Tilings],
        unit: float,
        screen: Screen | None,
    ) -> list[Part]:
        """The chosen tables, each over tiles that suit its noise and the strength of its columns' dependence."""

        def suiting(pair: Pair, noise: float) -> tuple[Tiles, ...]:
            strength = 0.0 if screen is None else screen.sure_strength(pair)
            cells = suiting_cells(marginals.rows / noise, strength, _NOISES_PER_TILE)
            return suiting_tiles(tilings[pair[0]], tilings[pair[1]], cells)

        tiles = {name: each.usual for name, each in tilings.items()}
        coarser = {
            each.name: coarsen(tiles[each.name], each, marginals.counts[each.name], self.most_tiles_by_class)
            for each in levels
        }
        shares = [
            *((_WITH_TARGET, pair, chosen.with_target_share / len(chosen.with_target)) for pair in chosen.with_target),
            *((_focused(chosen.focus.get(pair, 1.0)), pair, share) for pair, share in chosen.plain_parts().items()),
        ]
        shares.sort(key=lambda each: each[0])  # tables of one name are a block
        parts = [Part(name, Product(suiting(pair, unit / math.sqrt(share))), share) for name, pair, share in shares]
        few = {each.name: coarsen(tiles[each.name], each, marginals.counts[each.name], GROUP_TILES) for each in levels}
        parts += [
            Part(_GROUPS, Product(tuple(few[name] for name in group)), chosen.group_share / len(chosen.groups))
            for group in chosen.groups
        ]
        for target, pairs in chosen.by_target.items():
            level = next(each for each in levels if each.name == target)
            label = coarsen(tiles[target], level, marginals.counts[target], self.most_classes)
            share = chosen.by_target_share / len(chosen.by_target) / len(pairs)
            parts += [Part(_by(target), Labelled.of(Product((coarser[a], coarser[b])), label), share) for a, b in pairs]
        return parts

    def _tiles(
        self, levels: tuple[Levels, ...], marginals: Marginals, noises: Sequence[float], most: int
    ) -> dict[str, Tilings]:
        """Tiles of every column that suit the noise on cells of some kinds of tables, `most` of them at most."""
        ordered = min(self._ordered_tiles(levels, marginals.rows / max(noises)), most)
        finest = min(most, _MOST_TILES_IN_ALL // len(levels))
        least = min(self.rows_per_tile * min(noises), marginals.rows / (2 * ordered))
        return {
            each.name: tilings(each, marginals.counts[each.name], least, ordered, finest if each.ordered else most)
            for each in levels
        }

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        if release.method != self.name:
            raise UsageError(
                f"a release by {release.method} is not of tables as {self.name} makes them. Fit it by its own method, or "
                "pass a generator."
            )
        rows, mixture = fitted_mixture(release, levels_of(release.schema), self, seed=seed, progress=progress)
        return Model.of(release, rows=rows, generator=mixture)


def _focused(times: float) -> str:
    """The block of tables of two columns with so many times as much of the budget as others."""
    return _PAIRS if times == 1 else f"{_PAIRS}, {times:g} times in focus"


def _by(target: str) -> str:
    """The block of pairs that are split by a target."""
    return f"{_PAIRS}, by {target}"
