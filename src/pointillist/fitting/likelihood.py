"""Likelihood: how far the mean features of generated rows are from what a release measured, by the known noise."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, Tiles
from pointillist.features.soft_records import SoftRecords
from pointillist.release import Release


@dataclass(frozen=True, eq=False)
class Term:
    """One block of a release: mean features with noise."""

    map: FeatureMap
    wanted: Tensor
    deviation: float
    """Standard deviation of the noise on each of them."""

    @cached_property
    def factors(self) -> tuple[FeatureMap, ...]:
        """The maps that are multiplied here."""
        return self.map.factors

    def product(self, label: str | None) -> bool:
        """Whether features of two columns or more, beside the label, are multiplied here."""
        others = [part for part in self.factors if part.code_columns | part.unit_columns != {label}]
        return len(others) > 1

    def by_class(self, label: str, weights: Tensor) -> Tensor:
        """For each feature the weight of its class; 1 where it has none."""
        found = torch.ones(1)
        for part in self.factors:
            own = isinstance(part, Tiles) and part.column == label and part.dimension == len(weights)
            found = torch.outer(found, weights if own else torch.ones(part.dimension)).flatten()
        return found


@dataclass(frozen=True, eq=False)
class Group:
    """Terms of one shape, evaluated together: a few large matrix products instead of many small ones."""

    factors: tuple[tuple[FeatureMap, ...], ...]
    """By place in the product, then by term."""
    wanted: Tensor
    scale: Tensor
    """What differences are multiplied by."""

    @classmethod
    def of(cls, terms: Sequence[Term], scales: Sequence[Tensor]) -> Self:
        places = zip(*(term.factors for term in terms), strict=True)
        return cls(tuple(places), torch.stack([term.wanted for term in terms]), torch.stack(list(scales)))

    def means(self, soft: SoftRecords, features_of: Callable[[FeatureMap], Tensor]) -> Tensor:
        """Mean features, one row for each term. Records x features of a product are never held: A'B instead."""
        stacks = [torch.stack([features_of(part) for part in place]) for place in self.factors]
        if len(stacks) == 1:
            weights = torch.full((soft.rows,), 1 / soft.rows) if soft.weights is None else soft.weights
            return weights @ stacks[0]
        first = soft.weigh(stacks[0])
        for stack in stacks[1:-1]:
            first = (first[:, :, :, None] * stack[:, :, None, :]).flatten(2)
        return (first.transpose(1, 2) @ stacks[-1]).flatten(1)

    def residual(self, means: Tensor) -> Tensor:
        """Differences from what was measured, scaled."""
        return (means - self.wanted) * self.scale


def grouped(terms: Iterable[tuple[Term, Tensor]]) -> tuple[Group, ...]:
    """Terms with what their differences are multiplied by, sorted into groups."""
    scales = dict(terms)
    return tuple(Group.of(alike, [scales[term] for term in alike]) for alike in by_shape(scales))


def by_shape(terms: Iterable[Term]) -> list[list[Term]]:
    """Terms of the same shape together, in the order of groups."""
    found: dict[tuple[int, ...], list[Term]] = {}
    for term in terms:
        found.setdefault(tuple(part.dimension for part in term.factors), []).append(term)
    return list(found.values())


def means_of(groups: Sequence[Group], soft: SoftRecords) -> list[Tensor]:
    """The mean features of every group; a map that occurs many times is evaluated once."""
    known: dict[FeatureMap, Tensor] = {}

    def features_of(part: FeatureMap) -> Tensor:
        if part not in known:
            known[part] = part.soft(soft)
        return known[part]

    return [group.means(soft, features_of) for group in groups]


def sum_of_squares(groups: Sequence[Group], soft: SoftRecords) -> Tensor:
    """Of all scaled differences."""
    return squares(groups, means_of(groups, soft))


def squares(groups: Sequence[Group], means: Sequence[Tensor]) -> Tensor:
    """Of all scaled differences of mean features that are known already."""
    residuals = [group.residual(each) for group, each in zip(groups, means, strict=True)]
    return torch.stack([torch.sum(each * each) for each in residuals]).sum()


def require_soft(feature_map: FeatureMap) -> None:
    """Refuse features that have no expectation for a row in the making."""
    unfit = [leaf for leaf in feature_map.leaves if not leaf.has_soft]
    if unfit:
        raise UsageError(
            f"this generator cannot be fitted to {type(unfit[0]).__name__} features. Fit the release by its own method."
        )


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Minus twice the log-likelihood of a release, up to a constant: chi^2."""

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, release: Release, rows: float) -> Self:
        terms = []
        for each in release.measurements:
            for block in each.blocks():
                require_soft(block.map)
                total = block.scale * rows
                wanted = torch.as_tensor(block.values / total, dtype=torch.float32)
                terms.append(Term(block.map, wanted, block.sigma / total))
        return cls(tuple(terms))

    @cached_property
    def dimension(self) -> int:
        """What chi^2 is on average for the rows that the release was made from."""
        return sum(len(term.wanted) for term in self.terms)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return grouped((term, torch.full_like(term.wanted, 1 / term.deviation)) for term in self.terms)

    def chi_squared(self, soft: SoftRecords) -> Tensor:
        return sum_of_squares(self.groups, soft)
