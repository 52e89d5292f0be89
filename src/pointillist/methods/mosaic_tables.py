"""The tables of mosaic: which tables of two columns, and of two and a target, the last round measures. Few in sharp
focus where there is much noise, all where there is little. Made from public facts and noisy results alone."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np

from pointillist.methods.mosaic_screen import Dependence, Pair, Screen

_PAIR, _WITH_TARGET, _BY_TARGET = 3.75, 8.0, 3.5
"""How many times the length of its noise a table must have rows: of two columns, of one and a target, of two by target."""
_ALL_OF_THEM = 3.0
"""So many times more rows make tables worthwhile that the screen sees nothing in: it does not see everything."""
_NOISES = 2.0
"""Standard deviations of the noise beyond which a dependence is believed."""
_CERTAIN, _MOST_GROUPS = 4.5, 8
"""The same for three columns and more, of which there are very many; and how many are measured at most."""
GROUP_SHARE, GROUP_TILES = 0.1, 4
"""Part of the round for tables of three columns and more, where any stand out, and their most tiles of a column."""
_FOCUS, _FAINT, _MOST_FOCUS = 0.75, 0.05, 16.0
"""A table of two columns has a part of the budget by this power of how strongly these depend on each other, which counts as
no less than the second; up to so many times as much as another."""
_TARGET_SHARE = 0.5
"""Part of the pairs' budget for tables with a target, where pairs cannot be split by it."""


Rank = Callable[[Pair], Dependence]
_NONE, _ALL = Dependence(0.0, 0.0), Dependence(1.0, math.inf)


class Tables(NamedTuple):
    """Tables of two columns, those that are split by a target, and each kind's part of the round."""

    plain: tuple[Pair, ...]
    with_target: tuple[Pair, ...] = ()
    """Of a column and a target, where these have a part of their own."""
    by_target: Mapping[str, tuple[Pair, ...]] = MappingProxyType({})
    with_target_share: float = 0.0
    by_target_share: float = 0.0
    """Of all targets together."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Of three columns and more."""
    group_share: float = 0.0
    focus: Mapping[Pair, float] = MappingProxyType({})
    """How many times as much of their part some tables of two columns have as others."""

    @property
    def plain_share(self) -> float:
        return 1.0 - self.with_target_share - self.by_target_share - self.group_share

    def plain_parts(self) -> dict[Pair, float]:
        """For each table of two columns its part of the round."""
        total = sum(self.focus.get(pair, 1.0) for pair in self.plain)
        return {pair: self.plain_share * self.focus.get(pair, 1.0) / total for pair in self.plain}

    def fewer(self) -> Self:
        """The same without some: groups go first, then pairs by target, then every tenth of the others."""
        if self.groups:
            kept = 1 - self.group_share
            return self._replace(
                groups=(),
                group_share=0.0,
                with_target_share=self.with_target_share / kept,
                by_target_share=self.by_target_share / kept,
            )
        if self.by_target and (self.plain or self.with_target):
            kept = 1 - self.by_target_share
            return self._replace(
                by_target={},
                by_target_share=0.0,
                with_target_share=self.with_target_share / kept,
            )
        return self._replace(
            plain=_nine_tenths(self.plain),
            with_target=_nine_tenths(self.with_target),
            by_target={target: _nine_tenths(pairs) for target, pairs in self.by_target.items()},
        )

    @property
    def tables_by_share(self) -> tuple[float, ...]:
        """For the kinds of tables of two columns how many of them share a part of 1."""
        found = {1 / part for part in self.plain_parts().values()}
        if self.with_target:
            found.add(len(self.with_target) / self.with_target_share)
        return tuple(sorted(found)) or (1.0,)


def _nine_tenths(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """All but every tenth, and never none."""
    return pairs if len(pairs) < 2 else tuple(pair for place, pair in enumerate(pairs) if place % 10 != 1)


class Means(NamedTuple):
    """What there is to spend."""

    signal: float
    """Rows, as a multiple of the noise on a table that has the whole round to itself."""
    label_share: float
    """The most of the round for tables by target."""
    most_cells: int
    """The most cells of all tables."""
    sizes: Mapping[str, int]
    """About how many tiles each column has."""
    classes: Mapping[str, int]
    """About how many classes each target has."""
    only_target: bool = False
    """Whether only pairs with a target may be measured."""

    def cells(self, pair: Pair, target: str | None = None) -> int:
        """About how many cells a table has."""
        return self.sizes[pair[0]] * self.sizes[pair[1]] * (1 if target is None else self.classes[target])

    def affordable(self, cells: Sequence[int], share: float, least: float) -> int:
        """How many of some tables, in their order, leave each enough rows for its noise when they share a part."""
        most = min(share * (self.signal / least) ** 2, share * self.most_cells)
        return int((np.cumsum(cells) <= most).sum())


def choose_tables(
    names: Sequence[str],
    targets: Sequence[str],
    screen: Screen | None,
    means: Means,
    pairs: Sequence[Pair] | None = None,
) -> Tables:
    """The tables that are worth their noise, and that the screen points at; without one, as many as there can be."""
    if means.only_target:
        return Tables(tuple((name, target) for target in targets for name in names if name not in targets))
    pairs = list(itertools.combinations(names, 2)) if pairs is None else pairs
    known = set(pairs)
    splits = {target: [pair for pair in _others(names, targets, target) if pair in known] for target in targets}
    wanted = sum(means.cells(pair, target) for target, own in splits.items() for pair in own)
    affordable = min(1.0, means.label_share * (means.signal / _BY_TARGET) ** 2 / wanted) if wanted else 0.0
    by_share = means.label_share * affordable if wanted else 0.0
    chosen = {
        target: _best(own, by_share / len(targets), _BY_TARGET, means, _split_rank(screen, target), target)
        for target, own in splits.items()
    }
    chosen = {target: own for target, own in chosen.items() if own}
    if not chosen:
        by_share = 0.0
    rest = 1.0 - by_share
    with_share = rest * _TARGET_SHARE * (1 - affordable) if targets and len(names) > 2 else 0.0
    with_target: tuple[Pair, ...] = ()
    if with_share > 0.02:
        own = [pair for pair in pairs if set(pair) & set(targets)]
        with_target = _best(own, with_share, _WITH_TARGET, means, _target_rank(screen))
    with_share = with_share if with_target else 0.0
    left = [pair for pair in pairs if pair not in set(with_target)]
    plain = _best(left, rest - with_share, _PAIR, means, _pair_rank(screen))
    if not (plain or with_target or chosen) and screen is not None:
        plain = (max(pairs, key=lambda pair: _pair_rank(screen)(pair).strength),)
    if not plain:  # what nothing is measured of leaves its part to the others
        with_share = rest if with_target else 0.0
        by_share = 1.0 - with_share if chosen else 0.0
    return Tables(plain, with_target, chosen, with_share, by_share)


def with_groups(tables: Tables, screen: Screen, means: Means) -> Tables:
    """The same with tables of three columns and more, where the screen shows that these are more than their pairs."""
    seen = [group for group, each in screen.groups.items() if each.noises > _CERTAIN]
    ranked = sorted(seen, key=lambda group: -screen.groups[group].noises)[:_MOST_GROUPS]
    cells = [math.prod(min(means.sizes[name], GROUP_TILES) for name in group) for group in ranked]
    groups = tuple(ranked[: means.affordable(cells, GROUP_SHARE, _PAIR)])
    if not groups:
        return tables
    kept = 1 - GROUP_SHARE
    return tables._replace(
        groups=groups,
        group_share=GROUP_SHARE,
        with_target_share=kept * tables.with_target_share,
        by_target_share=kept * tables.by_target_share,
    )


def with_focus(tables: Tables, screen: Screen) -> Tables:
    """The same with more of the budget for tables of two columns, the more these depend on each other; by powers of 2."""
    wanted = {pair: max(screen.sure_strength(pair), _FAINT) ** _FOCUS for pair in tables.plain}
    least = max(min(wanted.values(), default=1.0), max(wanted.values(), default=1.0) / _MOST_FOCUS)
    focus = {pair: 2.0 ** round(math.log2(max(each / least, 1.0))) for pair, each in wanted.items()}
    return tables._replace(focus={pair: times for pair, times in focus.items() if times > 1})


def _others(names: Sequence[str], targets: Sequence[str], target: str) -> list[Pair]:
    """Pairs to be split by a target. Two targets and a third column are one table: the first target splits it."""
    before = set(targets[: 1 + list(targets).index(target)])
    return list(itertools.combinations([name for name in names if name not in before], 2))


def _best(
    pairs: list[Pair], share: float, least: float, means: Means, rank: Rank, target: str | None = None
) -> tuple[Pair, ...]:
    """The strongest pairs that stand out, no more than leave each enough rows for its noise; in the order of columns."""
    cells = [means.cells(pair, target) for pair in pairs]
    if means.affordable(cells, share, _ALL_OF_THEM * least) == len(pairs):
        return tuple(pairs)
    ranked = sorted(pairs, key=lambda pair: -rank(pair).strength)
    seen = [pair for pair in ranked if rank(pair).noises > _NOISES] or ranked
    strongest = set(seen[: means.affordable([means.cells(pair, target) for pair in seen], share, least)])
    return tuple(pair for pair in pairs if pair in strongest)


def _pair_rank(screen: Screen | None) -> Rank:
    """Two columns, by what the products of their scores say."""
    return lambda pair: _ALL if screen is None else screen.pairs.get(pair, _NONE)


def _target_rank(screen: Screen | None) -> Rank:
    """A column and a target: the clearer of what scores by class and products of scores say."""

    def rank(pair: Pair) -> Dependence:
        if screen is None:
            return _ALL
        by_class = [screen.by_target.get(one, {}).get(other, _NONE) for one, other in (pair, pair[::-1])]
        return max(*by_class, screen.pairs.get(pair, _NONE), key=lambda each: each.noises)

    return rank


def _split_rank(screen: Screen | None, target: str) -> Rank:
    """Two columns by a target: those that both depend on it, or one on it and they on each other."""

    def rank(pair: Pair) -> Dependence:
        if screen is None:
            return _ALL
        first, second = (screen.by_target.get(target, {}).get(name, _NONE) for name in pair)
        between = screen.pairs.get(pair, _NONE)
        strongest = max(first.strength, second.strength)
        strength = math.sqrt(first.strength * second.strength) + between.strength * strongest
        return Dependence(strength, max(min(first.noises, second.noises), between.noises))

    return rank
