"""Network: noise and a label in, a row out. Fitted to a release by gradient descent on its Gaussian likelihood.

Columns that the release measured as levels come out of a softmax over their tiles, so every category can be reached;
columns that it measured by position come out of a sigmoid. Given the noise, columns are independent, so the expected
features of soft rows are those of the rows that are sampled. Needs torch: pip install 'pointillist[network]'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pointillist.features import FeatureMap, Tiles
from pointillist.generators.drawing import quota
from pointillist.generators.evidence import refine
from pointillist.generators.soft import SoftRecords, Tensor, mean_features
from pointillist.levels import Levels
from pointillist.progress import Progress
from pointillist.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Head:
    """One column's part of the output."""

    column: str
    tiles: Tiles | None
    """What its probabilities are over; none: it has a position only."""
    position: bool
    edges: tuple[float, ...] = ()
    """Where a regular level ends and the next begins, as positions."""
    atoms: tuple[float, ...] = ()
    """Positions of the levels that are no bins."""

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
                soft = _soft(self.shape, self.module, noise, torch.as_tensor(part))
                parts.append({head.column: _levels(head, soft, generator) for head in self.shape.heads})
        names = [head.column for head in self.shape.heads]
        empty = np.zeros(0, dtype=np.uint16)
        return {name: np.concatenate([part[name] for part in parts]) if parts else empty for name in names}

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The network as JSON values and arrays."""
        heads = [
            {"column": h.column, "tile_of": None if h.tiles is None else list(h.tiles.tile_of), "position": h.position,
             "edges": list(h.edges), "atoms": list(h.atoms)}
            for h in self.shape.heads
        ]  # fmt: skip
        facts = {
            "heads": heads,
            "label": self.shape.label,
            "shares": list(self.shape.shares),
            "noise": self.shape.noise,
            "hidden": list(self.shape.hidden),
        }
        return facts, {f"weights.{name}": value.numpy() for name, value in self.module.state_dict().items()}

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        heads = tuple(
            Head(
                each["column"],
                None if each["tile_of"] is None else Tiles(each["column"], tuple(map(int, each["tile_of"]))),
                bool(each["position"]),
                tuple(map(float, each["edges"])),
                tuple(map(float, each["atoms"])),
            )
            for each in facts["heads"]
        )
        shape = Shape(heads, facts["label"], tuple(facts["shares"]), int(facts["noise"]), tuple(facts["hidden"]))
        module = shape.module()
        weights = {
            name.removeprefix("weights."): torch.as_tensor(value)
            for name, value in arrays.items()
            if name.startswith("weights.")
        }
        try:
            module.load_state_dict(weights)
        except RuntimeError:
            raise ValueError("the weights do not fit the network") from None
        return cls(shape, module)


def heads_of(feature_maps: Sequence[FeatureMap], levels: Sequence[Levels]) -> tuple[Head, ...]:
    """What each column must come out as, given the maps that will read it."""
    leaves = [leaf for each in feature_maps for leaf in each.leaves if isinstance(leaf, Tiles)]
    positions = frozenset[str]().union(*(each.unit_columns for each in feature_maps))
    heads = []
    for level in levels:
        mine = [leaf for leaf in leaves if leaf.column == level.name]
        tiles = refine(level.name, level.size, mine) if mine else None
        if tiles is None and level.name not in positions:
            raise ValueError(f"column {level.name!r} was not measured")
        edges, atoms = (), ()
        if level.numeric:
            edges = tuple(level.to_unit(level.edges[1:-1]).tolist())
            atoms = tuple(np.nan_to_num(level.spans[0][level.regular :], nan=0.5).tolist())
        heads.append(Head(level.name, tiles, level.name in positions, edges, atoms))
    return tuple(heads)


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a network is fitted."""

    steps: int = 2000
    batch: int = 1000
    rate: float = 1e-2
    check: int = 50
    """Steps between looks at chi^2."""


def fit_network(
    release: Release, shape: Shape, *, rows: float, training: Training, seed: int, progress: Progress
) -> Network:
    """Descend until chi^2 is what the noise alone explains, or the steps are done."""
    torch.manual_seed(seed)
    module = shape.module()
    wanted = [
        torch.as_tensor(each.values / each.grid.scale / rows, dtype=torch.float32) for each in release.measurements
    ]
    # The precision of a mean feature: its noise is sigma / (scale * rows).
    precisions = [(each.grid.scale * rows / each.sigma) ** 2 for each in release.measurements]
    top = max(precisions)
    dimension = sum(len(each) for each in wanted)
    optimiser = torch.optim.Adam(module.parameters(), lr=training.rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, training.steps, training.rate / 100)
    generator = np.random.default_rng(seed)

    def squares(batch: int) -> list[Tensor]:
        labels = torch.as_tensor(quota(np.array(shape.shares), batch, generator))
        noise = torch.as_tensor(generator.standard_normal((batch, shape.noise)), dtype=torch.float32)
        soft = _soft(shape, module, noise, labels)
        means = (mean_features(each.feature_map, soft) for each in release.measurements)
        return [torch.sum((mean - want) ** 2) for mean, want in zip(means, wanted, strict=True)]

    for step in range(training.steps):
        module.train()
        loss = sum(precision / top * each for precision, each in zip(precisions, squares(training.batch), strict=True))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[union-attr]
        optimiser.step()
        schedule.step()
        if (step + 1) % training.check == 0:
            progress("fit", (step + 1) / training.steps)
            module.eval()
            with torch.no_grad():
                parts = zip(precisions, squares(8 * training.batch), strict=True)
                chi_squared = sum(precision * float(each) for precision, each in parts)
            if chi_squared <= dimension:
                break
    progress("fit", 1.0)
    module.eval()
    return Network(shape, module)


def _soft(shape: Shape, module: nn.Module, noise: Tensor, labels: Tensor) -> SoftRecords:
    """Rows for noise and labels; the label's own column is the label itself."""
    given = nn.functional.one_hot(labels.long(), len(shape.shares)).to(noise.dtype)
    output = module(torch.cat([noise, given], dim=1) if shape.label is not None else noise)
    tiles, probabilities, units = {}, {}, {}
    start = 0
    for head in shape.heads:
        part = output[:, start : start + head.width]
        start += head.width
        if head.tiles is not None:
            tiles[head.column] = head.tiles
            size = head.tiles.dimension
            probabilities[head.column] = given if head.column == shape.label else torch.softmax(part[:, :size], dim=1)
        if head.position:
            units[head.column] = _position(head, part, probabilities.get(head.column))
    return SoftRecords(len(noise), tiles, probabilities, units)


def _position(head: Head, part: Tensor, probabilities: Tensor | None) -> Tensor:
    """A number's position; where it may be an atom, the mean of the two, by their probabilities."""
    place = torch.sigmoid(part[:, -1])
    if head.tiles is None or probabilities is None or not head.atoms:
        return place
    regular = torch.zeros(head.tiles.dimension)
    regular[np.unique(head.tiles.table[: -len(head.atoms)]).astype(np.int64)] = 1.0
    held = torch.zeros(head.tiles.dimension)
    held[head.tiles.table[-len(head.atoms) :].astype(np.int64)] = torch.tensor(head.atoms)
    return place * (probabilities @ regular) + probabilities @ (held * (1 - regular))


def _levels(head: Head, soft: SoftRecords, generator: np.random.Generator) -> NDArray[np.uint16]:
    """One level for each row: a tile by its probability, a level of the tile by position, or evenly."""
    if head.tiles is None:
        return np.searchsorted(head.edges, soft.units[head.column].numpy(), side="right").astype(np.uint16)
    cumulative = np.cumsum(soft.probabilities[head.column].numpy().astype(np.float64), axis=1)
    drawn = generator.random(len(cumulative))[:, None] * cumulative[:, -1:]
    tile = np.minimum((cumulative < drawn).sum(axis=1), head.tiles.dimension - 1)
    table = head.tiles.table
    order = np.argsort(table, kind="stable")
    sizes = np.bincount(table)
    starts = np.cumsum(sizes) - sizes
    levels = order[starts[tile] + (generator.random(len(tile)) * sizes[tile]).astype(np.int64)]
    if head.position:
        place = np.searchsorted(head.edges, soft.units[head.column].numpy(), side="right")
        levels = np.where(levels <= len(head.edges), place, levels)  # atoms stay what they are
    return levels.astype(np.uint16)
