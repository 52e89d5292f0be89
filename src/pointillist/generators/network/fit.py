"""Fitting a network of rows to a release: gradient descent on its Gaussian likelihood. Needs torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from pointillist.device import device_named, lasting, placing
from pointillist.features import FeatureMap
from pointillist.features.soft_records import SoftColumn, SoftRecords
from pointillist.fitting.class_shares import class_shares
from pointillist.fitting.descent import Descent, falling
from pointillist.fitting.evidence import measured_tiles, refine
from pointillist.fitting.likelihood import Group, Likelihood, Term, grouped, require_soft, sum_of_squares
from pointillist.generators.drawing import quota
from pointillist.generators.network.row_network import Head, Network, Shape, outputs
from pointillist.generators.network.settings import NetworkSettings
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema.levels import Levels, levels_of


def fit_network(
    release: Release, settings: NetworkSettings, *, seed: int, progress: Progress, checkpoint: Path | None = None
) -> Network:
    """Descend until chi^2 is what the noise alone explains, or the steps are done.

    With a checkpoint the state is kept in that file every few steps; a fit that finds one goes on from there, and ends
    where it would have ended without a break.
    """
    device = device_named(settings.device)
    rows, label, shares = class_shares(release)
    levels = levels_of(release.schema)
    heads = heads_of([each.feature_map for each in release.measurements], levels)
    shape = Shape(heads, None if label is None else label.name, tuple(shares.tolist()), settings.noise, settings.hidden)
    torch.manual_seed(seed)
    module = shape.module().to(device)  # made here: the same start on every device
    optimiser = torch.optim.Adam(module.parameters(), lr=settings.rate)
    rng = np.random.default_rng(seed)
    purpose = {"release": release.id, "seed": seed, "settings": lasting(settings), "shape": shape.to_json()}

    def loss(step: int) -> Tensor:
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * falling(step, settings.steps)
        module.train()
        return batches.loss(module, settings.batch, rng, step / settings.steps)

    def chi_squared() -> float:
        return batches.chi_squared(module, 8 * settings.batch, rng)

    descent = Descent(module, optimiser, rng, settings.steps, settings.check, checkpoint, purpose)
    with placing(device):
        likelihood = Likelihood.of(release, rows)
        batches = Batches(shape, likelihood, {each.name: each for each in levels}, settings)
        descent.run(loss, chi_squared, likelihood.dimension, progress)
    return Network(shape, module.cpu().eval())


def heads_of(feature_maps: Sequence[FeatureMap], levels: Sequence[Levels]) -> tuple[Head, ...]:
    """What each column must come out as, given the maps that will read it."""
    for each in feature_maps:
        require_soft(each)
    positions = frozenset[str]().union(*(each.unit_columns for each in feature_maps))
    heads = []
    for level in levels:
        mine = measured_tiles(level.name, feature_maps)
        tiles = refine(level.name, level.size, mine) if mine else None
        if tiles is None and level.name not in positions:
            raise ValueError(f"column {level.name!r} was not measured")
        edges = tuple(level.to_unit(level.edges[1:-1]).tolist()) if level.numeric else ()
        heads.append(Head(level.name, tiles, level.name in positions, edges))
    return tuple(heads)


@dataclass(frozen=True, eq=False)
class _Schedule:
    """Which terms make up the loss, and how much they weigh."""

    always: tuple[Group, ...]
    in_turn: tuple[Group, ...]
    """One after the other, each for its part of the steps: DP-HP's products, which it draws anew every epoch."""

    @classmethod
    def of(cls, likelihood: Likelihood, shape: Shape, settings: NetworkSettings) -> Self:
        shares = torch.tensor(shape.shares, dtype=torch.float32)
        inverse = torch.where(shares > 0, 1 / shares.clamp_min(1e-12), torch.zeros(()))
        inverse = inverse / inverse.max()
        always: list[tuple[Term, Tensor]] = []
        in_turn: list[tuple[Term, Tensor]] = []
        least = min(term.deviation for term in likelihood.terms)
        for term in likelihood.terms:
            product = term.product(shape.label)
            weight = settings.gamma**0.5 if product else 1.0
            if settings.loss == "likelihood":
                weight = least / term.deviation  # the least noisy term counts as in the distance, the others less
            scale = torch.full_like(term.wanted, weight)
            if settings.reweighted and shape.label is not None:
                scale = scale * term.by_class(shape.label, inverse)
            (in_turn if product and settings.products_in_turn else always).append((term, scale))
        return cls(grouped(always), tuple(group for each in in_turn for group in grouped([each])))

    def at(self, progress: float) -> tuple[Group, ...]:
        """The terms after that part of the steps."""
        if not self.in_turn:
            return self.always
        return (*self.always, self.in_turn[int(progress * len(self.in_turn))])


class Batches:
    """Rows of a network held against a release."""

    def __init__(self, shape: Shape, likelihood: Likelihood, levels: dict[str, Levels], settings: NetworkSettings):
        self.shape, self.likelihood = shape, likelihood
        self.columns = {head.column: SoftColumn(levels[head.column], head.tiles, head.position) for head in shape.heads}
        shares = torch.tensor(shape.shares, dtype=torch.float32)
        self.present = np.flatnonzero(np.array(shape.shares) > 0)
        # Every class gets the same number of rows, and each row stands for its part of the class.
        self.worth = shares * len(self.present)
        self.terms = _Schedule.of(likelihood, shape, settings)

    def _rows(self, module: nn.Module, batch: int, rng: np.random.Generator) -> SoftRecords:
        labels = torch.as_tensor(self.present[quota(np.ones(len(self.present)), batch, rng)])
        noise = torch.as_tensor(rng.standard_normal((batch, self.shape.noise)), dtype=torch.float32)
        probabilities, places = outputs(self.shape, module, noise, labels)
        weights = self.worth[labels]
        return SoftRecords(batch, self.columns, probabilities, places, weights / weights.sum())

    def loss(self, module: nn.Module, batch: int, rng: np.random.Generator, progress: float) -> Tensor:
        return sum_of_squares(self.terms.at(progress), self._rows(module, batch, rng))

    def chi_squared(self, module: nn.Module, batch: int, rng: np.random.Generator) -> float:
        module.eval()
        with torch.no_grad():
            return float(self.likelihood.chi_squared(self._rows(module, batch, rng)))
