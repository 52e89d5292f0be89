"""Facts: all that a release states beside its noisy values. They must not depend on the rows in any way."""

from typing import Any

import numpy as np

from pointillist.errors import PointillistError
from pointillist.evaluate.audit.subject import Subject
from pointillist.features.serial import to_nodes
from pointillist.release import Release


def facts_of(release: Release) -> dict[str, Any]:
    """Schema, plan, promise, row count, grids, noise scales and the first round's features; not the id, not the time."""
    facts = release.summary()
    del facts["id"], facts["created"]
    first, *_ = release.measurements
    facts["features"] = to_nodes(first.feature_map)[0]
    facts["rounds"] = [{"bits": each.grid.bits, "sigma": each.sigma} for each in release.measurements]
    return facts


def follows(release: Release, subject: Subject) -> bool:
    """Whether every round's features are what the method makes of the published values before it, and of no row."""
    try:
        plan = subject.plan_for(release.schema)
        return all(
            _same(subject.method.feature_map(plan, release.measurements[:number]), measurement.feature_map)
            for number, measurement in enumerate(release.measurements)
        )
    except PointillistError:
        return False


def _same(first: Any, second: Any) -> bool:
    (nodes, arrays), (other_nodes, other_arrays) = to_nodes(first), to_nodes(second)
    same_arrays = arrays.keys() == other_arrays.keys() and all(
        np.array_equal(arrays[name], other_arrays[name]) for name in arrays
    )
    return same_arrays and nodes == other_nodes


def differences(first: Any, second: Any, place: str = "") -> list[str]:
    """Where two facts differ, as dotted names."""
    if isinstance(first, dict) and isinstance(second, dict):
        return [
            found
            for key in sorted(first.keys() | second.keys())
            for found in differences(first.get(key), second.get(key), f"{place}.{key}" if place else str(key))
        ]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [
            found
            for number, (one, other) in enumerate(zip(first, second, strict=True))
            for found in differences(one, other, f"{place}.{number}")
        ]
    return [] if first == second else [place or "everything"]
