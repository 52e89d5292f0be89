"""Stamp: the commit that a figure was made at, and whether the code that it measures has changed since.

    python -m benchmarks.stamp            # all result pages: the line at their top, made anew
    python -m benchmarks.stamp --check    # only says which are out of date

A stamp is text: a short commit, with ` + changes` where the tree was not clean; `unknown` without git. Results carry one
for each run (a column `commit` in Parquet files, a field in JSON records), and pages a line made of them. Results that are
older than stamps have none.
"""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import typer

ROOT = Path(__file__).parents[1]
UNKNOWN = "unknown"
NOT_DUE = ""
"""In the place of a stamp: no code of ours had a part in this run."""
CHANGES = " + changes"
CHANGED = "Changed since"
COLUMN = "commit"
MEASURES = (
    "src/pointillist/curator",
    "src/pointillist/evaluate",
    "src/pointillist/features",
    "src/pointillist/generators",
    "src/pointillist/methods",
    "src/pointillist/privacy",
)
"""What has a part in figures of synthetic data, unless a bench says otherwise."""
_BEFORE = "before stamps were kept"
_MARK = "> Made "
_KEY = b"pointillist.measures"


@cache
def now(root: Path = ROOT) -> str:
    """The stamp of what this process makes: it is taken once, as code that changes meanwhile has no part in it."""
    commit = _git(root, "rev-parse", "--short=12", "HEAD")
    if not commit:
        return UNKNOWN
    # Results are written while benches run: they do not make the code another one.
    dirty = _git(root, "status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks", ":!*/results/*")
    return commit + CHANGES * bool(dirty)


def of(record: Mapping[str, Any]) -> str | None:
    """The stamp of a run's record; older records of ours have one among their versions, or none."""
    found: str | None = record.get(COLUMN) or record["versions"].get(COLUMN)
    return found or None


def line(stamps: Iterable[str | None], measures: Sequence[str] = MEASURES, root: Path = ROOT) -> str:
    """The line at the top of a page that is made of runs with these stamps."""
    found = [each for each in stamps if each != NOT_DUE]
    known = list(dict.fromkeys(each for each in found if each is not None))
    parts = [f"Made at {', '.join(known)}"] if known else []
    if None in found or not found:
        parts.append(f"made {_BEFORE}" if not known else f"{found.count(None)} of {len(found)} runs {_BEFORE}")
    text = "; ".join(parts) + f". Measures {', '.join(measures)}."
    since = [f"{folder} ({times})" for folder in measures if (times := _since(known, folder, root))]
    return f"> {text[0].upper()}{text[1:]}" + (f" **{CHANGED}: {', '.join(since)}.**" if since else "")


def _since(stamps: Sequence[str], folder: str, root: Path) -> str:
    """How often a folder has changed since the oldest of some stamps; nothing where it has not."""
    counts = []
    for each in stamps:
        commit = each.removesuffix(CHANGES)
        if commit == UNKNOWN:
            continue
        count = _git(root, "rev-list", "--count", f"{commit}..HEAD", "--", folder)
        if not count:
            return f"{commit} is not in this history"
        counts.append(int(count))
    most = max(counts, default=0)
    return f"{most} commit{'s' * (most != 1)}" if most else ""


def put(text: str, said: str) -> str:
    """A page with its stamp: below its title, or first where it has none, in the place of an older stamp."""
    lines = text.splitlines()
    lines = [each for number, each in enumerate(lines) if number > 4 or not each.startswith(_MARK)]
    title = lines[:1] if lines and lines[0].startswith("# ") else []
    rest = lines[len(title) :]
    while rest and not rest[0].strip():
        rest.pop(0)
    return "\n".join([*title, *([""] if title else []), said, "", *rest]) + "\n"


def mark(measures: Sequence[str]) -> dict[bytes, bytes]:
    """What a Parquet file of results keeps about the code that it measures."""
    return {_KEY: ",".join(measures).encode()}


def read(path: Path) -> tuple[list[str | None], tuple[str, ...]]:
    """The stamps of a Parquet file's rows, and what it measures."""
    schema = pq.read_schema(path)
    kept = (schema.metadata or {}).get(_KEY)
    measures = tuple(kept.decode().split(",")) if kept else MEASURES
    if COLUMN not in schema.names:
        return [None] * pq.read_metadata(path).num_rows, measures
    return pq.read_table(path, columns=[COLUMN])[COLUMN].to_pylist(), measures


def _git(root: Path, *arguments: str) -> str:
    """What git says; nothing where there is no git or no repository."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def main(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if code has changed since.")] = False,
    root: Annotated[Path, typer.Option(help="The repository.")] = ROOT,
) -> None:
    """Put the stamp at the top of every page that has a Parquet file of the same name beside it."""
    old = False
    for path in sorted((root / "benchmarks").glob("*/results/*.parquet")):
        page = path.with_suffix(".md")
        if not page.exists():
            continue
        said = line(*read(path), root=root)
        old = old or CHANGED in said
        typer.echo(f"{page.relative_to(root)}\n  {said.removeprefix('> ')}")
        if not check:
            page.write_text(put(page.read_text(encoding="utf-8"), said), encoding="utf-8")
    raise typer.Exit(int(check and old))


if __name__ == "__main__":
    typer.run(main)
