"""AIM, MST and PrivBayes of `dpmm`, in the environment of dpmm.txt. Called with a folder: see `job.py`.

dpmm gets level numbers and the size of every column's domain, so it reads nothing off the rows unpaid.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

_PIPELINES = {"aim": "AIMPipeline", "mst": "MSTPipeline", "privbayes": "PrivBayesPipeline"}


def main(folder: Path) -> None:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    from dpmm import pipelines  # type: ignore[import-not-found, unused-ignore]

    job = json.loads((folder / "job.json").read_text())
    kind = _PIPELINES[job["method"].removesuffix("-short")]
    pipeline = getattr(pipelines, kind)(
        epsilon=job["epsilon"], delta=job["delta"], disable_processing=True, **job["settings"]
    )
    frame = pandas.DataFrame(np.load(folder / "train.npy"), columns=job["columns"])
    pipeline.fit(frame, domain=dict(zip(job["columns"], job["sizes"], strict=True)), random_state=job["seed"])
    made = pipeline.generate(n_records=len(frame), random_state=job["seed"])
    np.save(folder / "synthetic.npy", made[job["columns"]].to_numpy().astype(np.int64))
    packages = ("dpmm", "numpy", "opendp", "torch")
    (folder / "versions.json").write_text(json.dumps({name: version(name) for name in packages}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
