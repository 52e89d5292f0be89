"""Our own methods, called with the folder of a job: release, fit, sample. See `job.py`."""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import pointillist as pt
from pointillist.methods import method_for
from pointillist.privacy.budget import Budget
from pointillist.privacy.ledger import Ledger

NEIGHBOURS = "replace-one"
"""As in the papers."""


def main(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    schema = pt.Schema.from_json(job["schema"])
    ledger = Ledger(folder / "ledger.sqlite")  # these images are public: nothing to remember
    ledger.set_cap(schema.name, Budget(job["epsilon"], job["delta"]))
    seconds = [time.process_time()]
    release = pt.release(
        folder / "train.npz",
        schema,
        epsilon=job["epsilon"],
        delta=job["delta"],
        neighbours=NEIGHBOURS,
        method=method_for(schema, job["method"], _settings(job["settings"], schema)),
        ledger=ledger,
        threads=1,
    )
    seconds.append(time.process_time())
    model = pt.fit(release, seed=job["seed"])
    seconds.append(time.process_time())
    made = model.sample(job["images"], seed=job["seed"])
    seconds.append(time.process_time())
    np.savez(folder / "synthetic.npz", images=made.pixels, labels=made.codes)
    stages = dict(zip(("release_seconds", "fit_seconds", "sample_seconds"), np.diff(seconds).round(2), strict=True))
    versions = {name: version(name) for name in ("pointillist", "numpy", "opendp")}
    facts = {"stages": stages, "mu": release.guarantee.mu, "versions": versions}
    (folder / "made.json").write_text(json.dumps(facts), encoding="utf-8")


def _settings(settings: dict[str, Any], schema: pt.Schema) -> dict[str, Any]:
    """A method's options; of public images a job has the file."""
    if isinstance(settings.get("public"), str):
        return {**settings, "public": pt.public_images(Path(settings["public"]), schema)}
    return settings


if __name__ == "__main__":
    main(Path(sys.argv[1]))
