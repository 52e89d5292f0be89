"""References: the training rows themselves, and their columns each shuffled by itself. Not private, of course."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def main(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text())
    table = pq.read_table(folder / "train.parquet")
    if job["method"] == "shuffled":
        rng = np.random.default_rng(job["seed"])
        table = pa.table({name: table[name].take(rng.permutation(len(table))) for name in table.column_names})
    pq.write_table(table, folder / "synthetic.parquet")
    (folder / "versions.json").write_text("{}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
