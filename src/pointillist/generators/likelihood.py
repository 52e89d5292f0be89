"""Likelihood: how far the mean features of generated rows are from what a release measured, by the known noise."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import torch

from pointillist.features import FeatureMap, Tiles, blocks, factors
from pointillist.generators.soft import SoftRecords, Tensor, soft_features
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
        return factors(self.map)

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

    def residual(self, soft: SoftRecords, features_of: Callable[[FeatureMap], Tensor]) -> Tensor:
        """Differences, scaled. Records x features of a product are never held: A'B instead."""
        stacks = [torch.stack([features_of(part) for part in place]) for place in self.factors]
        first = soft.weigh(stacks[0])
        if len(stacks) == 1:
            return (first.sum(dim=1) - self.wanted) * self.scale
        for stack in stacks[1:-1]:
            first = (first[:, :, :, None] * stack[:, :, None, :]).flatten(2)
        return ((first.transpose(1, 2) @ stacks[-1]).flatten(1) - self.wanted) * self.scale


def grouped(terms: Iterable[tuple[Term, Tensor]]) -> tuple[Group, ...]:
    """Terms with what their differences are multiplied by, sorted into groups."""
    found: dict[tuple[int, ...], list[tuple[Term, Tensor]]] = {}
    for term, scale in terms:
        found.setdefault(tuple(part.dimension for part in term.factors), []).append((term, scale))
    return tuple(Group.of([term for term, _ in each], [scale for _, scale in each]) for each in found.values())


def sum_of_squares(groups: Sequence[Group], soft: SoftRecords) -> Tensor:
    """Of all scaled differences; a map that occurs many times is evaluated once."""
    known: dict[FeatureMap, Tensor] = {}

    def features_of(part: FeatureMap) -> Tensor:
        if part not in known:
            known[part] = soft_features(part, soft)
        return known[part]

    residuals = [group.residual(soft, features_of) for group in groups]
    return torch.stack([torch.sum(each * each) for each in residuals]).sum()


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Minus twice the log-likelihood of a release, up to a constant: chi^2."""

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, release: Release, rows: float) -> Self:
        terms = []
        for each in release.measurements:
            start = 0
            for block, weight in blocks(each.feature_map):
                values = each.values[start : start + block.dimension]
                start += block.dimension
                total = weight * each.grid.scale * rows
                wanted = torch.as_tensor(values / total, dtype=torch.float32)
                terms.append(Term(block, wanted, each.sigma / total))
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
