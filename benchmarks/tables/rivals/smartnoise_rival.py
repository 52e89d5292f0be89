"""DP-CTGAN of `smartnoise-synth`, in the environment of smartnoise.txt. Called with a folder: see `job.py`.

Each column is one-hot over its public levels. The encoders are fitted to the level numbers themselves, not to the rows,
so that no budget goes into them.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np


def main(folder: Path) -> None:
    import torch  # type: ignore[import-not-found, unused-ignore]
    from snsynth.pytorch.nn import DPCTGAN  # type: ignore[import-not-found, unused-ignore]
    from snsynth.transform import OneHotEncoder, TableTransformer  # type: ignore[import-not-found, unused-ignore]

    job = json.loads((folder / "job.json").read_text())
    np.random.seed(job["seed"])
    torch.manual_seed(job["seed"])
    encoders = [OneHotEncoder() for _ in job["sizes"]]
    for encoder, size in zip(encoders, job["sizes"], strict=True):
        encoder.fit(list(range(size)))
    rows = np.load(folder / "train.npy")
    gan = DPCTGAN(epsilon=job["epsilon"], delta=job["delta"], verbose=False, cuda=False, **job["settings"])
    gan.fit([tuple(row) for row in rows.tolist()], transformer=TableTransformer(encoders))
    np.save(folder / "synthetic.npy", np.asarray(gan.sample(len(rows)), dtype=np.int64))
    packages = ("smartnoise-synth", "opacus", "numpy", "torch")
    (folder / "versions.json").write_text(json.dumps({name: version(name) for name in packages}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
