"""Hermite: features of each column, and of some columns together, ordered by how much of a Gaussian kernel they carry.

After DP-HP (Vinaroz, Charusaie, Harder, Adamczewski and Park, 2022): a sum kernel over all columns and a product kernel
over a few of them, all by class, with the class counts, in one Gaussian release. Where the paper draws the columns of
the product anew in every epoch and releases each draw by itself, this releases a fixed set of products once. That is the
same mechanism, as releases that do not depend on each other compose to one release of everything side by side; but a fit
can then use all of them in every step.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, OneHot, Product
from pointillist.features import Hermite as HermiteFeatures
from pointillist.generators.mixture.settings import MixtureSettings
from pointillist.methods.base import METHODS, TableMethod
from pointillist.methods.parts import (
    Part,
    by_class,
    categories_of,
    counts,
    joined,
    label_of,
    require_one_target,
    require_rows,
    require_share,
    round_of,
)
from pointillist.model import Model
from pointillist.plan import Plan, Request
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema.levels import Levels, levels_of

MOST_PRODUCTS = 150
"""Unless the user wants more."""
_FAINT = 0.5
"""A product is not worth measuring if the length of its noise is above this part of a record's own."""
MOST_CELLS = 20_000
"""A product with more features than this, for each class, is not measured: nobody could make use of it."""
_TRIES = 50
"""Draws for each product that is wanted, before giving up."""


@METHODS.register("hermite", place=30)
@dataclass(frozen=True, kw_only=True)
class Hermite(TableMethod):
    """Hermite features of each column, and of some columns together, by class of the target (DP-HP)."""

    order: int = 20
    """Of the features of single columns."""
    length_scale: float = 0.07
    """Of their kernel, in parts of a column's range."""
    product_columns: int = 2
    """How many columns are multiplied."""
    product_order: int = 8
    """Of each column's features in a product."""
    product_length_scale: float = 0.15
    """Of the kernel of a column in a product."""
    products: int | None = None
    """How many products are measured. None: all, but no more than the noise supports, and at most 150."""
    product_share: float = 0.6
    """Part of the budget (of mu^2, after the counts') for products."""
    count_share: float = 0.05
    """Part of the budget for the class counts. 0: classes are taken to be equally frequent."""
    product_seed: int = 0
    """The seed by which columns are drawn, where not all products are measured; public."""

    def __post_init__(self) -> None:
        for name in ("order", "product_order"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} must not be negative, not {getattr(self, name)}.")
        for name in ("length_scale", "product_length_scale"):
            if not 1e-6 < getattr(self, name) < 1e6:
                raise UsageError(f"{name} must be above 0, in parts of a column's range, not {getattr(self, name)}.")
        require_share("count_share", self.count_share, zero=True)
        require_share("product_share", self.product_share)
        if self.product_columns < 2:
            raise UsageError(f"product_columns must be at least 2, not {self.product_columns}.")
        if self.products is not None and self.products < 0:
            raise UsageError(f"products must not be negative, not {self.products}.")

    def plan(self, request: Request) -> Plan:
        require_one_target(request, self.name)
        require_rows(request, self.count_share)
        levels = levels_of(request.schema)
        number = self._products(request, levels)
        notes: tuple[str, ...] = ()
        others = sum(each is not label_of(levels, request.target) for each in levels)
        if self.products is None and number == 0 and others >= self.product_columns:
            notes = ("The noise is too large for products of columns: single columns are measured alone.",)
        options = {**asdict(self), "products": number}
        rounds = (round_of(self._parts(levels, request.target, number), 1.0),)
        return Plan.make(self.name, options, request, rounds, notes)

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        levels = levels_of(plan.request.schema)
        return joined(self._parts(levels, plan.request.target, int(plan.options["products"])))

    def _products(self, request: Request, levels: tuple[Levels, ...]) -> int:
        """How many products are worth their noise, from public facts alone."""
        label = label_of(levels, request.target)
        others = [each for each in levels if each is not label]
        every = math.comb(len(others), self.product_columns)
        if self.products is not None:
            return min(self.products, every)
        tried = min(every, MOST_PRODUCTS)
        if tried == 0:
            return 0
        parts = self._parts(levels, request.target, tried)
        trial = Plan.make(self.name, {}, request, (round_of(parts, 1.0),), ())
        block = next((each for each in trial.rounds[0].blocks if each.name.startswith("products")), None)
        if block is None:
            return 0
        rows = request.assumed_rows
        length = trial.noise_rows(0, block) * math.sqrt(block.cells / block.count) / rows
        # The noise of each product grows with the root of their number.
        return min(block.count, int(block.count * (_FAINT / length) ** 2))

    def _parts(self, levels: tuple[Levels, ...], target: str | None, products: int) -> list[Part]:
        label = label_of(levels, target)
        others = [each for each in levels if each is not label]
        if not others:
            raise UsageError("hermite needs a column beside the target.")
        numbers = [HermiteFeatures.spread(each.name, self.order, self.length_scale) for each in others if each.numeric]
        names = [leaf for each in others if (leaf := categories_of(each)) is not None]
        multiplied = self._multiplied([self._factor(each) for each in others], products)
        share = 1 - self.count_share
        single = share * (1 - self.product_share if multiplied else 1.0) / (len(numbers) + len(names))
        parts = [Part("single numbers", leaf, single) for leaf in numbers]
        parts += [Part("categories", leaf, single) for leaf in names]
        parts += [Part("products", each, share * self.product_share / len(multiplied)) for each in multiplied]
        return [*by_class(parts, label), *counts(levels, label, self.count_share)]

    def _factor(self, level: Levels) -> FeatureMap:
        if not level.numeric:
            return OneHot(level.name, level.size)
        return HermiteFeatures.spread(level.name, self.product_order, self.product_length_scale)

    def _multiplied(self, factors: list[FeatureMap], products: int) -> list[Product]:
        """The products: of all combinations of columns, or of so many at random; none with too many features."""
        found: dict[tuple[int, ...], None] = {}
        if products >= math.comb(len(factors), self.product_columns):
            found = dict.fromkeys(itertools.combinations(range(len(factors)), self.product_columns))
        generator = np.random.default_rng(self.product_seed)
        for _ in range(_TRIES * products):
            if len(found) >= products:
                break
            drawn = generator.choice(len(factors), size=self.product_columns, replace=False)
            chosen = tuple(sorted(int(number) for number in drawn))
            if _size(factors, chosen) <= MOST_CELLS:
                found[chosen] = None
        # Counts stand in front: sums by cell are cheap.
        return [
            Product(tuple(sorted((factors[number] for number in chosen), key=lambda leaf: not leaf.indicator)))
            for chosen in found
            if _size(factors, chosen) <= MOST_CELLS
        ]

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        return Model.fitted(release, MixtureSettings(), seed=seed, progress=progress)


def _size(factors: list[FeatureMap], chosen: tuple[int, ...]) -> int:
    return math.prod(factors[number].dimension for number in chosen)
