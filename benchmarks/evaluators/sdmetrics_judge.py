"""SDMetrics' quality and diagnostic report, in the environment of sdv.txt. Called with a folder: see `__main__.py`."""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    import pandas as pd
    from sdmetrics.reports.single_table import (  # type: ignore[import-not-found, unused-ignore]
        DiagnosticReport,
        QualityReport,
    )

    job = json.loads((folder / "job.json").read_text())
    metadata, real = job["metadata"], pd.read_parquet(folder / "real.parquet")
    rows = []
    for name in job["contenders"]:
        synthetic = pd.read_parquet(folder / f"{name}.parquet")
        found: dict[str, Any] = {"contender": name}
        for report in (QualityReport(), DiagnosticReport()):
            report.generate(real, synthetic, metadata, verbose=False)
            kind = type(report).__name__.removesuffix("Report").lower()
            found[kind] = report.get_score()
            found |= {row["Property"]: row["Score"] for _, row in report.get_properties().iterrows()}
        rows.append(found)
    versions = {name: version(name) for name in ("sdmetrics", "pandas", "numpy")}
    (folder / "found.json").write_text(json.dumps({"rows": rows, "versions": versions}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
