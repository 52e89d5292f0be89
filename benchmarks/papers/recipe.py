"""Recipe: a method and a generator, and how one synthetic table is made of public rows with them."""

import json
import tempfile
import time
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import pointillist as pt
from pointillist.generators.base import GeneratorSettings
from pointillist.methods import Method
from pointillist.schema import Schema

EPSILON, DELTA, NEIGHBOURS = 1.0, 1e-5, "replace-one"
"""What the papers promise."""


@dataclass(frozen=True)
class Recipe:
    """A method, and a generator where it is not the method's own."""

    method: Method
    generator: GeneratorSettings | None = None

    @property
    def options(self) -> str:
        """All settings as text: runs with other settings are other runs."""
        return json.dumps({"method": settings_of(self.method), "generator": settings_of(self.generator)})


def settings_of(thing: Any) -> dict[str, Any] | None:
    """The fields of a method or of a generator's settings, with its kind."""
    fields = asdict(thing) if is_dataclass(thing) and not isinstance(thing, type) else {}
    return None if thing is None else {"kind": type(thing).__name__, **fields}


def release_rows(
    table: pa.Table, schema: Schema, target: str, method: Method, *, epsilon: float = EPSILON, delta: float = DELTA
) -> tuple[pt.Release, float]:
    """One release of rows that are public anyway, so that nothing goes to the user's ledger; and its processor time."""
    start = time.process_time()
    # Where neighbours differ by a replaced row the number of rows is public, and methods plan by it.
    schema = schema.model_copy(update={"rows": table.num_rows, "reviewed": True})
    with tempfile.TemporaryDirectory(prefix="pointillist-papers-") as folder:
        release = pt.release(
            table,
            schema,
            epsilon=epsilon,
            delta=delta,
            target=target,
            neighbours=NEIGHBOURS,
            method=method,
            ledger=Path(folder) / "ledger.sqlite",
            threads=1,
        )
    return release, time.process_time() - start


def draw(
    release: pt.Release, generator: GeneratorSettings | None, rows: int, seed: int
) -> tuple[pa.Table, dict[str, float]]:
    """Synthetic rows from a release, and the processor time of fit and sample."""
    start = time.process_time()
    model = pt.fit(release, generator=generator, seed=seed)
    fitted = time.process_time()
    table = model.sample(rows, seed=seed)
    return table, {"fit_seconds": fitted - start, "sample_seconds": time.process_time() - fitted}


def numbers_of(release: pt.Release) -> int:
    """How many noisy numbers a release holds."""
    return sum(each.feature_map.dimension for each in release.measurements)
