"""Measuring: whether the map of a round is what the plan promised, and what the rounds of a plan came to measure."""

from collections.abc import Sequence
from dataclasses import replace

from pointillist.features import FeatureMap
from pointillist.features.base import is_own
from pointillist.features.serial import to_nodes
from pointillist.methods.base import Chooses, Method
from pointillist.plan import Plan, Round
from pointillist.release import Measurement


def require_planned(feature_map: FeatureMap, planned: Round) -> None:
    """The map must be what the plan promised, and it must fit into a file: better known before anything is spent."""
    counted = all(block.indicator for block, _ in feature_map.blocks())
    if (planned.nonnegative or planned.positive) and not counted and not is_own(feature_map):
        raise RuntimeError("the plan counts on the signs of features from elsewhere")
    to_nodes(feature_map)
    fits = feature_map.dimension <= planned.dimension and feature_map.bound <= 1 + 1e-9
    kept = feature_map.nonnegative or not planned.nonnegative
    if not fits or not kept or (planned.positive and not feature_map.positive):
        raise RuntimeError("the feature map is not what its plan says")
    if planned.counting and any(block.most_ones is None for block, _ in feature_map.blocks()):
        raise RuntimeError("the feature map is not what its plan says")


def as_measured(settled: Plan, recipe: Method, measured: Sequence[Measurement]) -> Plan:
    """The plan with the blocks that were really measured, where the method chose them on the way."""
    if not isinstance(recipe, Chooses):
        return settled
    chosen = (recipe.blocks(settled, measured[:number]) for number in range(len(settled.rounds)))
    rounds = tuple(replace(each, blocks=blocks) for each, blocks in zip(settled.rounds, chosen, strict=True))
    return replace(settled, rounds=rounds)
