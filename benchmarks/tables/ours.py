"""Our own methods, called with the folder of a job like every rival: see `job.py`."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as pq

from pointillist import Schema, Synthesizer


def main(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text())
    table = pq.read_table(folder / "train.parquet")
    synthesizer = Synthesizer(
        Schema.from_json(job["schema"]),
        epsilon=job["epsilon"],
        delta=job["delta"],
        seed=job["seed"],
        ledger=folder / "ledger.sqlite",  # these rows are public: nothing to remember
        **{"method": job["method"], "target": job["target"], **job["settings"]},
    )
    made = synthesizer.fit(table).sample(table.num_rows, seed=job["seed"])
    pq.write_table(made, folder / "synthetic.parquet")
    versions = {name: version(name) for name in ("pointillist", "numpy", "opendp")}
    (folder / "versions.json").write_text(json.dumps(versions))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
