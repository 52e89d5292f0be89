"""Row network: noise and a label in, a row out.

Columns that the release measured as levels come out of a softmax over their tiles, so every category can be reached;
columns that it measured by position come out of a sigmoid. Given the noise, columns are independent, so the expected
features of soft rows are those of the rows that are sampled. Needs torch: pip install 'pointillist[network]'.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pointillist.features import Tiles
from pointillist.features.indicator import MOST_LEVELS
from pointillist.files.facts import flag, listed, optional, reals, table, text, whole, wholes
from pointillist.generators import stored
from pointillist.generators.drawing import draw, draw_levels, even, quota
from pointillist.generators.stored_weights import stored_weights, with_weights
from pointillist.records import Records
from pointillist.schema import Schema
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

    def to_json(self) -> dict[str, Any]:
        """Itself as JSON values."""
        heads = [
            {"column": h.column, "tile_of": None if h.tiles is None else list(h.tiles.tile_of), "position": h.position,
             "edges": list(h.edges)}
            for h in self.heads
        ]  # fmt: skip
        return {
            "heads": heads,
            "label": self.label,
            "shares": list(self.shares),
            "noise": self.noise,
            "hidden": list(self.hidden),
        }


@dataclass(frozen=True, eq=False)
class Network:
    """A sampler over the levels of all columns."""

    kind: ClassVar[str] = "network"

    shape: Shape
    module: nn.Sequential

    def describe(self) -> str:
        hidden = ", ".join(map(str, self.shape.hidden))
        return f"a network with hidden layers of {hidden} units"

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """`count` rows."""
        labels = rng.permutation(quota(np.array(self.shape.shares), count, rng))
        parts: list[dict[str, NDArray[np.uint16]]] = []
        self.module.eval()
        with torch.no_grad():
            for start in range(0, count, 8192):
                part = labels[start : start + 8192]
                noise = torch.as_tensor(rng.standard_normal((len(part), self.shape.noise)), dtype=torch.float32)
                probabilities, places = outputs(self.shape, self.module, noise, torch.as_tensor(part))
                parts.append(
                    {
                        head.column: _levels(head, probabilities.get(head.column), places.get(head.column), rng)
                        for head in self.shape.heads
                    }
                )
        names = [head.column for head in self.shape.heads]
        empty = np.zeros(0, dtype=np.uint16)
        codes = {name: np.concatenate([part[name] for part in parts]) if parts else empty for name in names}
        return Records(count, codes, {})

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The network as JSON values and arrays."""
        return self.shape.to_json(), stored_weights(self.module)

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
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

    def fits(self, schema: Schema) -> bool:
        if schema.image is not None:
            return False
        shape, levels = self.shape, levels_of(schema)
        heads = {head.column: head for head in shape.heads}
        if len(heads) < len(shape.heads) or not stored.same_columns(heads, levels):
            return False
        label = None if shape.label is None else heads.get(shape.label)
        tiles = 1 if label is None or label.tiles is None else label.tiles.dimension
        if (label is None) != (shape.label is None) or len(shape.shares) != tiles:
            return False
        return all(heads[each.name].fits(each) for each in levels)


def outputs(
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


def _levels(
    head: Head, probabilities: Tensor | None, place: Tensor | None, rng: np.random.Generator
) -> NDArray[np.uint16]:
    """One level for each row: a tile by its probability, a level of the tile by position, or evenly."""
    placed = None if place is None else np.searchsorted(head.edges, place.numpy(), side="right")
    if head.tiles is None:
        assert placed is not None
        return placed.astype(np.uint16)
    assert probabilities is not None
    tile = draw(probabilities.numpy().astype(np.float64), np.arange(len(probabilities)), rng)
    levels = draw_levels(head.tiles, even(head.tiles), tile, rng)
    if placed is not None:
        levels = np.where(levels <= len(head.edges), placed, levels)  # atoms stay what they are
    return levels.astype(np.uint16)
