"""Network: noise and a label in, a row out. Fitted to a release by gradient descent on its Gaussian likelihood.

Columns that the release measured as levels come out of a softmax over their tiles, so every category can be reached;
columns that it measured by position come out of a sigmoid. Given the noise, columns are independent, so the expected
features of soft rows are those of the rows that are sampled. Needs torch: pip install 'pointillist[network]'.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pointillist.features import FeatureMap, Tiles
from pointillist.features.indicator import MOST_LEVELS
from pointillist.features.soft_records import SoftColumn, SoftRecords
from pointillist.files.facts import flag, listed, optional, reals, table, text, whole, wholes
from pointillist.fitting.checkpoint import restore, store
from pointillist.fitting.evidence import measured_tiles, refine
from pointillist.fitting.likelihood import Group, Likelihood, Term, grouped, require_soft, sum_of_squares
from pointillist.generators import stored
from pointillist.generators.network.stored_weights import stored_weights, with_weights
from pointillist.generators.settings import NetworkSettings
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.sampling.drawing import draw, draw_levels, even, quota
from pointillist.schema.levels import Levels, levels_of

Floats = NDArray[np.float64]

_WIDEST, _MOST_LAYERS = 1 << 20, 64


@dataclass(frozen=True)
class Head:
    """One column's part of the output."""

    column: str
    tiles: Tiles | None
    """What its probabilities are over; none: it has a position only."""
    position: bool
    edges: tuple[float, ...] = ()
    """Where a regular level ends and the next begins, as positions."""

    def fits(self, levels: Levels) -> bool:
        """Whether it gives levels that the column has."""
        edges = np.asarray(self.edges)
        if len(edges) != (levels.regular - 1 if levels.numeric else 0) or not (np.diff(edges) >= 0).all():
            return False
        if self.tiles is None:
            return self.position and levels.numeric
        return len(self.tiles.tile_of) == levels.size and (levels.numeric or not self.position)

    @property
    def width(self) -> int:
        return (0 if self.tiles is None else self.tiles.dimension) + self.position


@dataclass(frozen=True)
class Shape:
    """Everything about a network but its weights."""

    heads: tuple[Head, ...]
    label: str | None
    shares: tuple[float, ...]
    """Of the label's tiles; one share of 1 where there is no label."""
    noise: int = 10
    hidden: tuple[int, ...] = (200, 200)

    @property
    def inputs(self) -> int:
        return self.noise + (len(self.shares) if self.label is not None else 0)

    @property
    def outputs(self) -> int:
        return sum(head.width for head in self.heads)

    def module(self) -> nn.Sequential:
        layers: list[nn.Module] = []
        width = self.inputs
        for size in self.hidden:
            layers += [nn.Linear(width, size), nn.BatchNorm1d(size), nn.ReLU()]
            width = size
        return nn.Sequential(*layers, nn.Linear(width, self.outputs))


@dataclass(frozen=True, eq=False)
class Network:
    """A sampler over the levels of all columns."""

    kind: ClassVar[str] = "network"

    shape: Shape
    module: nn.Sequential

    def describe(self) -> str:
        hidden = ", ".join(map(str, self.shape.hidden))
        return f"a network with hidden layers of {hidden} units"

    def sample(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of `count` rows."""
        labels = generator.permutation(quota(np.array(self.shape.shares), count, generator))
        parts: list[dict[str, NDArray[np.uint16]]] = []
        self.module.eval()
        with torch.no_grad():
            for start in range(0, count, 8192):
                part = labels[start : start + 8192]
                noise = torch.as_tensor(generator.standard_normal((len(part), self.shape.noise)), dtype=torch.float32)
                probabilities, places = _outputs(self.shape, self.module, noise, torch.as_tensor(part))
                parts.append(
                    {
                        head.column: _levels(head, probabilities.get(head.column), places.get(head.column), generator)
                        for head in self.shape.heads
                    }
                )
        names = [head.column for head in self.shape.heads]
        empty = np.zeros(0, dtype=np.uint16)
        return {name: np.concatenate([part[name] for part in parts]) if parts else empty for name in names}

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The network as JSON values and arrays."""
        return _shape_facts(self.shape), stored_weights(self.module)

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        heads = tuple(
            Head(
                text(each, "column"),
                None if each["tile_of"] is None else Tiles(each["column"], wholes(each, "tile_of", 0, MOST_LEVELS - 1)),
                flag(each, "position"),
                reals(each, "edges", 0.0, 1.0),
            )
            for each in listed(facts, "heads", table)
        )
        shares = reals(facts, "shares", 0.0, 1.0)
        stored.weights(shares)
        label, hidden = optional(facts, "label", text), wholes(facts, "hidden", 1, _WIDEST)
        if not heads or len(hidden) > _MOST_LAYERS:
            raise ValueError(f"a network has columns, and at most {_MOST_LAYERS} hidden layers")
        shape = Shape(heads, label, shares, whole(facts, "noise", 1, _WIDEST), hidden)
        return cls(shape, with_weights(shape.module, arrays))

    def fits(self, levels: Sequence[Levels]) -> bool:
        shape = self.shape
        heads = {head.column: head for head in shape.heads}
        if len(heads) < len(shape.heads) or not stored.same_columns(heads, levels):
            return False
        label = None if shape.label is None else heads.get(shape.label)
        tiles = 1 if label is None or label.tiles is None else label.tiles.dimension
        if (label is None) != (shape.label is None) or len(shape.shares) != tiles:
            return False
        return all(heads[each.name].fits(each) for each in levels)


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


def fit_network(
    release: Release,
    settings: NetworkSettings,
    *,
    rows: float,
    label: Levels | None,
    shares: Floats,
    seed: int,
    progress: Progress,
    checkpoint: Path | None = None,
) -> Network:
    """Descend until chi^2 is what the noise alone explains, or the steps are done.

    With a checkpoint the state is kept in that file every few steps; a fit that finds one goes on from there, and ends
    where it would have ended without a break.
    """
    levels = levels_of(release.schema)
    heads = heads_of([each.feature_map for each in release.measurements], levels)
    shape = Shape(heads, None if label is None else label.name, tuple(shares.tolist()), settings.noise, settings.hidden)
    likelihood = Likelihood.of(release, rows)
    torch.manual_seed(seed)
    module = shape.module()
    optimiser = torch.optim.Adam(module.parameters(), lr=settings.rate)
    generator = np.random.default_rng(seed)
    purpose = {"release": release.id, "seed": seed, "settings": asdict(settings), "shape": _shape_facts(shape)}
    first = 0
    if checkpoint is not None and checkpoint.exists():
        first = restore(checkpoint, purpose, module, optimiser, generator)
    batches = _Batches(shape, likelihood, {each.name: each for each in levels}, settings)
    for step in range(first, settings.steps):
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * (0.505 + 0.495 * math.cos(math.pi * step / settings.steps))
        module.train()
        loss = batches.loss(module, settings.batch, generator, step / settings.steps)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if (step + 1) % settings.check == 0:
            progress("fit", (step + 1) / settings.steps)
            if batches.chi_squared(module, 8 * settings.batch, generator) <= likelihood.dimension:
                break
            if checkpoint is not None:
                store(checkpoint, purpose, step + 1, module, optimiser, generator)
    progress("fit", 1.0)
    module.eval()
    return Network(shape, module)


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


class _Batches:
    """Rows of a network held against a release."""

    def __init__(self, shape: Shape, likelihood: Likelihood, levels: dict[str, Levels], settings: NetworkSettings):
        self.shape, self.likelihood = shape, likelihood
        self.columns = {head.column: SoftColumn(levels[head.column], head.tiles, head.position) for head in shape.heads}
        shares = torch.tensor(shape.shares, dtype=torch.float32)
        self.present = np.flatnonzero(np.array(shape.shares) > 0)
        # Every class gets the same number of rows, and each row stands for its part of the class.
        self.worth = shares * len(self.present)
        self.terms = _Schedule.of(likelihood, shape, settings)

    def _rows(self, module: nn.Module, batch: int, generator: np.random.Generator) -> SoftRecords:
        labels = torch.as_tensor(self.present[quota(np.ones(len(self.present)), batch, generator)])
        noise = torch.as_tensor(generator.standard_normal((batch, self.shape.noise)), dtype=torch.float32)
        probabilities, places = _outputs(self.shape, module, noise, labels)
        weights = self.worth[labels]
        return SoftRecords(batch, self.columns, probabilities, places, weights / weights.sum())

    def loss(self, module: nn.Module, batch: int, generator: np.random.Generator, progress: float) -> Tensor:
        return sum_of_squares(self.terms.at(progress), self._rows(module, batch, generator))

    def chi_squared(self, module: nn.Module, batch: int, generator: np.random.Generator) -> float:
        module.eval()
        with torch.no_grad():
            return float(self.likelihood.chi_squared(self._rows(module, batch, generator)))


def _outputs(
    shape: Shape, module: nn.Module, noise: Tensor, labels: Tensor
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Probabilities and positions for noise and labels; the label's own column is the label itself."""
    given = nn.functional.one_hot(labels.long(), len(shape.shares)).to(noise.dtype)
    output = module(torch.cat([noise, given], dim=1) if shape.label is not None else noise)
    probabilities, places = {}, {}
    start = 0
    for head in shape.heads:
        part = output[:, start : start + head.width]
        start += head.width
        if head.tiles is not None:
            size = head.tiles.dimension
            probabilities[head.column] = given if head.column == shape.label else torch.softmax(part[:, :size], dim=1)
        if head.position:
            places[head.column] = torch.sigmoid(part[:, -1])
    return probabilities, places


def _shape_facts(shape: Shape) -> dict[str, Any]:
    """A shape as JSON values."""
    heads = [
        {"column": h.column, "tile_of": None if h.tiles is None else list(h.tiles.tile_of), "position": h.position,
         "edges": list(h.edges)}
        for h in shape.heads
    ]  # fmt: skip
    return {
        "heads": heads,
        "label": shape.label,
        "shares": list(shape.shares),
        "noise": shape.noise,
        "hidden": list(shape.hidden),
    }


def _levels(
    head: Head, probabilities: Tensor | None, place: Tensor | None, generator: np.random.Generator
) -> NDArray[np.uint16]:
    """One level for each row: a tile by its probability, a level of the tile by position, or evenly."""
    placed = None if place is None else np.searchsorted(head.edges, place.numpy(), side="right")
    if head.tiles is None:
        assert placed is not None
        return placed.astype(np.uint16)
    assert probabilities is not None
    tile = draw(probabilities.numpy().astype(np.float64), np.arange(len(probabilities)), generator)
    levels = draw_levels(head.tiles, even(head.tiles), tile, generator)
    if placed is not None:
        levels = np.where(levels <= len(head.edges), placed, levels)  # atoms stay what they are
    return levels.astype(np.uint16)
