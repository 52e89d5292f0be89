"""Undersampling: the papers' way to make imbalanced tables less so. NOT PRIVATE; only for reproducing their numbers.

The papers drop part of the largest class before they split the table, so the test rows are thinned as well, and no
score on them tells how a model does on the data as it is. Which class is largest, and how many rows it has, is read
off the private rows without any noise.
"""

from typing import Any

import narwhals as nw
import numpy as np

from pointillist.errors import SchemaError, UsageError

RATES = {
    "adult": 0.4,
    "census": 0.4,
    "cervical": 1.0,
    "credit": 0.005,
    "epileptic": 1.0,
    "isolet": 1.0,
    "covtype": 0.03,
    "intrusion": 0.1,
}
"""The share of the largest class that is kept, by data set (DP-MERF, Table 4). Their code says 0.3 for intrusion."""

TRAIN_SHARES = {
    "adult": 0.9,
    "census": 0.8,
    "cervical": 0.8,
    "credit": 0.8,
    "epileptic": 0.7,
    "isolet": 0.7,
    "covtype": 0.7,
    "intrusion": 0.7,
}
"""The share of rows that is then used for training, by data set (DP-MERF's code)."""


def undersample(frame: Any, target: str, rate: float | str, *, seed: int = 0) -> Any:
    """Keep a random share of the rows with the most frequent target, and all others, in the kind of frame given.

    `rate` is that share, or the name of one of the papers' data sets. This is done before the split in the papers, on
    private counts, and is not private: never use it on the way to a release.
    """
    if isinstance(rate, str):
        if rate not in RATES:
            raise UsageError(f"rate {rate!r} is not a data set of the papers. They used {', '.join(RATES)}.")
        rate = RATES[rate]
    if not 0 < rate <= 1:
        raise UsageError(f"rate must lie above 0 and be at most 1, not {rate:g}.")
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise UsageError("undersample takes a pandas, polars or pyarrow table.") from None
    if target not in table.columns:
        raise SchemaError(f"target {target!r} is not a column of the table.")
    labels = np.array([str(value) for value in table[target].to_list()])
    names, counts = np.unique(labels, return_counts=True)
    if len(names) == 0:
        return frame
    largest = np.flatnonzero(labels == names[np.argmax(counts)])
    dropped = np.random.default_rng(seed).permutation(largest)[int(len(largest) * rate) :]
    return table.filter(np.isin(np.arange(len(labels)), dropped, invert=True).tolist()).to_native()
