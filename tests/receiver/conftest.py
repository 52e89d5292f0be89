"""Small releases for the receiver's tests: of random features with hand-made points, and of counts with a mixture."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.generators.points import Points
from pointillist.receiver.two_sample import read

SCHEMA = pt.Schema(
    name="known",
    rows=2_000,
    columns={
        "x": pt.Real(min=-4, max=4, missing=False),
        "y": pt.Real(min=-4, max=4, missing=False),
        "kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
    },
)
METHOD = pt.Merf(features=60, length_scales=(0.15, 0.5), count_share=0.1)
MakeRows = Callable[..., pa.Table]
MakeReceived = Callable[..., pt.Received]


@pytest.fixture(scope="session")
def known() -> MakeRows:
    """Rows of a known distribution."""

    def make(rows: int, seed: int, shift: float = 0.0) -> pa.Table:
        rng = np.random.default_rng(seed)
        factor = rng.standard_normal(rows)
        kind = np.clip((1.3 + factor + 0.5 * rng.standard_normal(rows)).astype(np.int64), 0, 2)
        x = np.clip(0.5 * factor + 0.8 * rng.standard_normal(rows) + shift, -4, 4)
        y = np.clip(0.6 * factor**2 - 1 + 0.5 * rng.standard_normal(rows) + shift, -4, 4)
        return pa.table({"x": x, "y": y, "kind": np.array(list("abc"))[kind]})

    return make


@pytest.fixture(scope="session")
def with_points(known: MakeRows, tmp_path_factory: pytest.TempPathFactory) -> MakeReceived:
    """A release of random features, received with hand-made points: public rows of another distribution."""
    folder = tmp_path_factory.mktemp("ledgers")

    def make(
        table: pa.Table, points: pa.Table, weights: np.ndarray | None = None, *, epsilon: float = 1.0, **options: object
    ) -> pt.Received:
        ledger = Path(folder) / f"{len(list(folder.iterdir()))}.sqlite"
        release = pt.release(table, SCHEMA, epsilon=epsilon, method=METHOD, ledger=ledger, **options)  # type: ignore[arg-type]
        records = read(points, SCHEMA)[1]
        equal = np.full(records.rows, 1 / records.rows)
        generator = Points(records, equal if weights is None else weights)
        return pt.receive(release, model=pt.Model.of(release, rows=float(table.num_rows), generator=generator))

    return make


@pytest.fixture(scope="session")
def received(known: MakeRows, with_points: MakeReceived) -> pt.Received:
    """One such release, for questions about anything but chance."""
    return with_points(known(2_000, 1), known(200, 2, shift=0.2), epsilon=3.0)


@pytest.fixture(scope="session")
def counted(known: MakeRows, tmp_path_factory: pytest.TempPathFactory) -> pt.Received:
    """A release of counts, with rows of a mixture."""
    method = pt.Mosaic(components=6, steps=20, most_tiles=8)
    release = pt.release(
        known(2_000, 1), SCHEMA, epsilon=3.0, method=method, ledger=tmp_path_factory.mktemp("counted") / "l.sqlite"
    )
    return pt.receive(release, rows=600)
