"""A target that is the exclusive or of two columns: neither tells anything alone, and pairs by the target tell it all."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn.ensemble import RandomForestClassifier

import pointillist as pt

from .claim import Band, Claim, Folder

ROWS, TESTED = 20_000, 5_000
SCHEMA = pt.Schema(
    name="exclusive-or",
    reviewed=True,
    rows=ROWS,
    columns={
        "a": pt.Boolean(missing=False),
        "b": pt.Boolean(missing=False),
        "kind": pt.Categorical(categories=("x", "y", "z"), missing=False),
        "size": pt.Real(min=-4, max=4, missing=False),
        "one": pt.Boolean(missing=False),
    },
)


def table(rows: int, seed: int) -> pa.Table:
    """`one` is true where exactly one of `a` and `b` is; the other columns have no part in it."""
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, rows)) < 0.5
    size = np.clip(rng.standard_normal(rows), -4, 4)
    return pa.table({"a": a, "b": b, "kind": rng.choice(["x", "y", "z"], rows), "size": size, "one": a ^ b})


def accuracy(_: Folder = None) -> float:
    """Of a random forest on real rows that was trained on synthetic ones."""
    with tempfile.TemporaryDirectory() as folder:
        synthesizer = pt.Synthesizer(SCHEMA, epsilon=1.0, target="one", ledger=Path(folder) / "ledger.sqlite", seed=0)
        made = synthesizer.fit(table(ROWS, 0)).sample(ROWS, seed=0)
    forest = RandomForestClassifier(30, random_state=0, n_jobs=1)
    forest.fit(_inputs(made), made["one"].to_numpy())
    test = table(TESTED, 1)
    return float(np.mean(forest.predict(_inputs(test)) == test["one"].to_numpy()))


def _inputs(rows: pa.Table) -> np.ndarray:
    kind = np.array(rows["kind"].to_pylist())
    columns = [rows["a"].to_numpy(), rows["b"].to_numpy(), rows["size"].to_numpy(), *(kind == each for each in "xyz")]
    return np.stack([np.asarray(each, dtype=np.float64) for each in columns], axis=1)


CLAIMS = (
    Claim(
        "target that is the XOR of two columns: accuracy of a random forest",
        "docs/explanation/methods/mosaic.md",
        Band("the bar; 0.99 to 1 where nothing measured is forgotten, 0.5 is guessing", least=0.98),
        accuracy,
        quick=True,
    ),
)
