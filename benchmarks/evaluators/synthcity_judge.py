"""synthcity's benchmark with our plugin among its own, in the environment of synthcity.txt. See `__main__.py`."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

METRICS = {
    "sanity": ["data_mismatch", "common_rows_proportion", "nearest_syn_neighbor_distance"],
    "stats": ["jensenshannon_dist", "ks_test", "inv_kl_divergence", "alpha_precision"],
    "performance": ["linear_model", "xgb"],
    "detection": ["detection_xgb", "detection_linear"],
}
"""What is not here trains deep networks for hours, or is for survival data."""


def main(folder: Path) -> None:
    import pandas as pd
    from synthcity.benchmark import Benchmarks
    from synthcity.plugins.core.dataloader import GenericDataLoader

    from pointillist.adapters.synthcity import register

    register()
    job = json.loads((folder / "job.json").read_text())
    real = GenericDataLoader(pd.read_parquet(folder / "real.parquet"), target_column=job["target"], train_size=0.8)
    rows = []
    for test in job["tests"]:  # one by one, so that a plugin that fails takes no other with it
        scores = Benchmarks.evaluate(
            [tuple(test)], real, metrics=METRICS, repeats=job["repeats"], synthetic_cache=False,
            use_metric_cache=False, synthetic_reuse_if_exists=False, n_eval_folds=2, workspace=folder / "workspace",
        )  # fmt: skip
        for name, score in scores.items():
            rows += [
                {"contender": name, "metric": metric, "value": float(line["mean"]), "direction": line["direction"]}
                for metric, line in score.iterrows()
            ]
    versions = {name: version(name) for name in ("synthcity", "torch", "pandas", "numpy")}
    (folder / "found.json").write_text(json.dumps({"rows": rows, "versions": versions}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
