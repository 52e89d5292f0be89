"""Results: all records in one table, and the page that a person reads, beside what was published."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import stamp
from benchmarks.papers.output import markdown
from benchmarks.records import Records, kept
from benchmarks.tables.results import mean_and_spread

from .datasets import datasets
from .job import REAL
from .published import CNN, LOGISTIC, MEAN, MLP, TARGETS, figures

Row = dict[str, Any]
MEASURES = (MEAN, LOGISTIC, MLP, CNN)
_STAGES = ("release_seconds", "fit_seconds", "sample_seconds")
_HEADS = ("method", "runs", *MEASURES, "CPU-s: release", "fit", "sample", "peak MB")
_NEAR = ("precision", "recall", "variance")
_FEW, _SOME = "with 100 images", "with 1,000"
_CURVE = {100: _FEW, 1000: _SOME}
_FAR = {"lowest frequencies": "Fréchet: frequencies", "random": "filters"}
"""Which space a Fréchet distance is of, by a part of its name."""
_DIVERSITY = ("method", f"{LOGISTIC}: {_FEW}", _SOME, "with all", *_NEAR, *_FAR.values())


def collect(results: Path) -> list[Row]:
    """One row for each run, made from its record."""
    rows = []
    for key, record, scores in Records(results):
        models = {name: each["accuracy"] for name, each in scores.get("classifiers", {}).items()}
        near = scores.get("coverage", {})
        if record["method"] == REAL and near:  # against themselves they would be perfect: test images stand in
            near = {name: near[f"expected_{name}"] for name in ("precision", "recall")}
        rows.append(
            {
                **{name: record[name] for name in ("dataset", "method", "label", "epsilon", "delta", "seed", "images")},
                **{name: record[name] for name in ("rows", "status", "reason", "cpu_seconds", "peak_mb")},
                **{name: record["stages"].get(name) for name in _STAGES},
                **{name: json.dumps(record[name], sort_keys=True) for name in ("settings", "versions")},
                stamp.COLUMN: stamp.NOT_DUE if record["method"] == REAL else stamp.of(record),
                "most_images": scores.get("protocol", {}).get("most_images"),
                MEAN: scores.get("mean"),
                **{LOGISTIC: models.get(LOGISTIC), MLP: models.get(MLP), CNN: models.get(CNN)},
                **{name: near.get(name) for name in ("precision", "recall")},
                "variance": scores.get("variance_ratio"),
                **_grown(scores),
                **_apart(scores),
                "scoring_seconds": scores.get("cpu_seconds"),
                "accuracies": json.dumps(models, sort_keys=True),
                "distances": json.dumps(scores.get("distances", []), ensure_ascii=False),
                "copies": json.dumps(scores.get("copies")),
                **kept(key, record, scores),
            }
        )
    return rows


def _grown(scores: Row) -> Row:
    """What logistic regression learns from fewer images."""
    found = {each["images"]: each["synthetic"] for each in scores.get("curve", []) if each["model"] == LOGISTIC}
    return {name: found.get(number) for number, name in _CURVE.items()}


def _apart(scores: Row) -> Row:
    """Relative Fréchet distances, by space."""
    known = scores.get("distances", [])
    return {name: next((each["value"] for each in known if part in each["space"]), None) for part, name in _FAR.items()}


def table(rows: list[Row]) -> pa.Table:
    """The same as one Arrow table."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = {name: pa.array([row[name] for row in rows]) for name in names}
    return pa.table(columns, metadata=stamp.mark(stamp.MEASURES))


def page(rows: list[Row]) -> str:
    """A table for each data set, epsilon and number of images that classifiers saw."""
    parts = [
        "Accuracy on the real test images of classifiers trained on synthetic ones; mean ± standard deviation over runs. "
        "Neighbours differ by one replaced image. **Bold**: the target is reached. The mean is that of DP-MERF's twelve "
        "classifiers. DP-MERF trained its classifiers on 60,000 images; DPImageBench's networks are larger than our CNN. "
        "What the authors' code needs on a CPU is in docs/explanation/image-benchmarks.md.\n\n"
        "The second table of each part is about variety: what logistic regression learns from fewer images (if the images "
        "were alike, more of them would not help); precision and recall of neighbourhoods; the variance within classes as a "
        "part of the real one; relative Fréchet distances in low frequencies and in answers of random filters, 0 for the "
        "same and 1 for one mean image repeated, not comparable with a published FID.",
    ]
    private = [row for row in rows if row["epsilon"] is not None]
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row for row in private if row["dataset"] == dataset]
        real = [row for row in rows if row["dataset"] == dataset and row["method"] == REAL]
        for epsilon, delta in sorted({(row["epsilon"], row["delta"]) for row in mine}, reverse=True):
            chosen = [row for row in mine if (row["epsilon"], row["delta"]) == (epsilon, delta)]
            parts.append(_section(dataset, epsilon, delta, chosen, real))
        if not mine and real:
            parts.append(_section(dataset, None, None, [], real))
    return "\n\n".join(parts) + "\n"


def _section(dataset: str, epsilon: float | None, delta: float | None, rows: list[Row], real: list[Row]) -> str:
    known = datasets()
    title = known[dataset].title if dataset in known else dataset
    budget = "" if epsilon is None else f", ε = {epsilon:g}, δ = {delta:g}"
    caps = sorted({row["most_images"] for row in (*rows, *real) if row["most_images"]})
    seen = " or ".join(f"{cap:,}" for cap in caps)
    target = TARGETS.get((dataset, epsilon or 0.0), {})
    lines: list[list[Any]] = [
        [f"{each.method} (published, {each.source})", None, *(_figure(each.scores.get(name)) for name in MEASURES)]
        for each in (*(figures(dataset, epsilon) if epsilon else ()), *figures(dataset, None))
    ]
    if target:
        lines.append(["target", None, *(_figure(target.get(name), "≥ ") for name in MEASURES)])
    for label in _labels(rows):
        lines.append(_line(label, [row for row in rows if row["label"] == label], target))
    if real:
        lines.append(_line("real images", real, {}))
    varied = [_variety(label, [row for row in rows if row["label"] == label]) for label in _labels(rows)]
    if real:
        varied.append(_variety("real images", real))
    count = (rows or real)[0]["rows"]
    head = f"### {title}{budget}: {count:,} private images"
    first, second = markdown(_HEADS, _filled(lines, len(_HEADS))), markdown(_DIVERSITY, varied)
    return f"{head}{f', classifiers trained on {seen}' if seen else ''}\n\n{first}\n{second}".rstrip()


def _labels(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row["label"] for row in rows))


def _filled(lines: list[list[Any]], width: int) -> list[list[Any]]:
    return [[*line, *[None] * (width - len(line))] for line in lines]


def _variety(label: str, rows: list[Row]) -> list[Any]:
    done = [row for row in rows if row["status"] == "done"]
    names = (_FEW, _SOME, LOGISTIC, *_NEAR, *_FAR.values())
    return [label, *(_cell(done, name, 3) if done else None for name in names)]


def _line(label: str, rows: list[Row], target: dict[str, float]) -> list[Any]:
    done = [row for row in rows if row["status"] == "done"]
    if not done:
        return [label, 0, f"{rows[0]['status']}: {rows[0]['reason']}"]
    runs = str(len(done)) if len(done) == len(rows) else f"{len(done)} of {len(rows)}"
    cells = [_cell(done, name, 3, target.get(name)) for name in MEASURES]
    costs = [_cell(done, name, 0) for name in (*_STAGES, "peak_mb")] if done[0]["epsilon"] is not None else [None] * 4
    return [label, runs, *cells, *costs]


def _cell(rows: list[Row], name: str, digits: int, target: float | None = None) -> str:
    values = [row[name] for row in rows if row.get(name) is not None]
    text = mean_and_spread(values, digits)
    return f"**{text}**" if values and target is not None and sum(values) / len(values) >= target else text


def _figure(value: float | None, before: str = "") -> str | None:
    return None if value is None else f"{before}{value:.3f}"
