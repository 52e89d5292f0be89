"""Feature maps as data: a list of nodes, each with its settings and the numbers of its parts; arrays stand apart.

A map that occurs many times (a column's tiles occur in every pair) is written once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import ArtefactError, UsageError
from pointillist.features.base import MAPS, FeatureMap

Arrays = dict[str, NDArray[Any]]

_MOST_NODES, _DEEPEST = 1 << 22, 32
"""Of a map with every part written out, and how deep it may be nested."""
_MOST_FEATURES = 1 << 32
_MOST_LEVELS = 1 << 23
"""Of all indicators together: a one-hot map of any size is a few letters in a file."""


def to_nodes(root: FeatureMap) -> tuple[list[dict[str, Any]], Arrays]:
    """A map as JSON nodes, parts before wholes, the map itself last; and the arrays that nodes refer to by name."""
    nodes: list[dict[str, Any]] = []
    arrays: Arrays = {}
    numbers: dict[tuple[type[FeatureMap], FeatureMap], int] = {}

    def write(node: FeatureMap) -> int:
        key = (type(node), node)
        if key not in numbers:
            parts = [write(part) for part in node.parts]
            facts: dict[str, Any] = {"map": MAPS.name_of(type(node)), "parts": parts}
            for name, value in node.describe().items():
                facts[name] = value
                if isinstance(value, np.ndarray):
                    facts[name] = {"array": f"{len(nodes)}.{name}"}
                    arrays[f"{len(nodes)}.{name}"] = value
            nodes.append(facts)
            numbers[key] = len(nodes) - 1
        return numbers[key]

    write(root)
    try:
        _require_sane([node["parts"] for node in nodes])
    except ValueError as error:
        raise UsageError(f"the features do not fit into a file: {error}. Measure fewer of them.") from None
    return nodes, arrays


def from_nodes(nodes: list[dict[str, Any]], arrays: Arrays) -> FeatureMap:
    """The inverse of `to_nodes`; the map's own checks run again. Takes no longer than the map is large, whatever it says."""
    maps: list[FeatureMap] = []
    levels = 0
    try:
        _require_sane([node["parts"] for node in nodes])
        for node in nodes:
            facts: dict[str, Any] = {
                name: arrays[value["array"]] if isinstance(value, dict) else value for name, value in node.items()
            }
            parts = tuple(maps[i] for i in facts.pop("parts"))
            maps.append(_build(facts.pop("map"), parts, facts))
            if list(map(id, maps[-1].parts)) != list(map(id, parts)):
                raise ValueError("a map with parts that it does not have")
            levels += maps[-1].levels_held
            if levels > _MOST_LEVELS or not 1 <= maps[-1].dimension <= _MOST_FEATURES:
                raise ValueError("too many levels or features, or none")
        return maps[-1]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError) as error:
        raise ArtefactError(f"its feature map cannot be read ({str(error).rstrip('.')})") from None


def _require_sane(parts: list[list[int]]) -> None:
    """Refuse nodes that are no tree of sane size.

    Nodes may be shared, and whoever walks the map meets a shared one as often as it is used. So what counts is the size of
    the map with all of that written out, and it is known before anything is built.
    """
    sizes: list[int] = []
    depths: list[int] = []
    used: set[int] = set()
    for number, own in enumerate(parts):
        if not isinstance(own, list):
            raise ValueError("parts that are no list")
        for part in own:
            if isinstance(part, bool) or not isinstance(part, int) or not 0 <= part < number:
                raise ValueError("a part that does not come before its whole")
        sizes.append(1 + sum(sizes[part] for part in own))
        depths.append(1 + max((depths[part] for part in own), default=0))
        used.update(own)
        if sizes[-1] > _MOST_NODES or depths[-1] > _DEEPEST:
            raise ValueError(f"more than {_MOST_NODES:,} parts, or nested over {_DEEPEST} deep")
    if len(used) != len(parts) - 1:
        raise ValueError("parts that belong to nothing, or no parts at all")


def _build(name: Any, parts: tuple[FeatureMap, ...], facts: dict[str, Any]) -> FeatureMap:
    kind = MAPS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"unknown map {str(name)[:50]!r}")
    return kind.from_description(facts, parts)
