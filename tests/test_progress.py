"""Progress: work tells how far it is, in order, and nobody has to listen."""

from collections.abc import Callable

import pyarrow as pa

import pointillist as pt
from pointillist.progress import silent


def test_silence_takes_any_step() -> None:
    silent("fit", 0.5)


def test_steps_are_told_from_beginning_to_end(people: Callable[[int], pa.Table], schema: pt.Schema) -> None:
    told: dict[str, list[float]] = {}

    def tell(step: str, part: float) -> None:
        told.setdefault(step, []).append(part)

    pt.fit(pt.release(people(200), schema, epsilon=1.0, progress=tell), progress=tell)
    assert "fit" in told
    for parts in told.values():
        assert parts == sorted(parts)
        assert 0 <= parts[0] <= parts[-1] <= 1
