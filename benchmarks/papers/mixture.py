"""Mixture: the papers' first example, 25 Gaussians on a grid in 5 classes (DP-MERF Fig. 1, DP-HP Fig. 2).

`python -m benchmarks.papers.mixture`, from the root of the repository. The distribution is known, so synthetic rows are
held against the truth itself. Every run is a row of `mixture.parquet`; `mixture.md` and `mixture.svg` are made of that
file. Runs that are there are not made again.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from threadpoolctl import threadpool_limits

import pointillist as pt
from benchmarks.arguments import chosen_names
from pointillist.errors import PointillistError
from pointillist.evaluate.research.known_mixture import DPMERF_GRID, MixtureScore
from pointillist.generators.base import GeneratorSettings
from pointillist.methods import METHODS

from . import output
from .recipe import DELTA, EPSILON, NEIGHBOURS, Recipe, draw, numbers_of, release_rows
from .tables import code_of

NAME = "mixture"
TARGET = "class"
GRID = DPMERF_GRID
RANGE = 6.0
"""Of both axes in the schema: five standard deviations beyond the outermost means."""
LENGTH_SCALE = math.sqrt(0.5) / RANGE
"""The papers' kernel, whose variance is 0.5 in units of the data, in parts of the range."""
PAPERS_STEPS = 10_000
DRAWN = 2_500
"""Rows in one panel of the picture."""
STAGES = ("release_seconds", "fit_seconds", "sample_seconds")

Row = dict[str, Any]


LONG = pt.MixtureSettings(components=100, steps=2000, rate=0.05, stop=False)
"""For a few smooth clusters in little noise: fewer components, smaller steps, more of them."""


# The lines of the table


@dataclass(frozen=True)
class Line:
    """One line of the table, and one panel of the picture."""

    name: str
    label: str
    recipe: Recipe | None
    """None: the rows themselves."""

    @property
    def options(self) -> str | None:
        return None if self.recipe is None else self.recipe.options


def lines(features: int = 30_000, steps: int = 2_000) -> dict[str, Line]:
    """All lines by name. `features` are the paper's random ones, `steps` those of the papers' network."""
    scales = dict.fromkeys(GRID.axes, LENGTH_SCALE)
    network = pt.NetworkSettings(
        hidden=(200, 500, 500, 200), noise=5, batch=500, rate=3e-3, loss="distance", steps=steps
    )
    papers_hermite = pt.Hermite(
        order=25, product_order=25, length_scale=LENGTH_SCALE, product_length_scale=LENGTH_SCALE
    )
    count = f"{features:,}"
    found = (
        Line("truth", "the rows themselves", None),
        Line("merf-paper", f"merf as in DP-MERF, {count} features, network", _merf(features, scales, network)),
        Line("merf-large", f"merf, {count} features", _merf(features, None, None)),
        Line("merf", "merf", Recipe(pt.Merf())),
        Line("merf-long", "merf, fitted to the last step", Recipe(pt.Merf(), LONG)),
        Line("hermite-paper", "hermite as in DP-HP, order 25, network", Recipe(papers_hermite, network)),
        Line("hermite", "hermite", Recipe(pt.Hermite())),
        Line("hermite-long", "hermite, fitted to the last step", Recipe(pt.Hermite(), LONG)),
        Line("mosaic", "mosaic", Recipe(pt.Mosaic())),
    )
    return {line.name: line for line in found}


def _merf(features: int, scales: dict[str, float] | None, generator: GeneratorSettings | None) -> Recipe:
    method = pt.Merf(features=features) if scales is None else pt.Merf(features=features, length_scales=scales)
    return Recipe(method, generator)


def run(line: Line, rows: int, seed: int) -> Row:
    """One synthetic table held against the truth. The first seed's also leaves some rows for the picture."""
    real = GRID.sample(rows, seed=seed)
    table, cost = real, {}
    if line.recipe is not None:
        release, seconds = release_rows(real, GRID.schema, TARGET, line.recipe.method)
        table, rest = draw(release, line.recipe.generator, rows, seed)
        cost = {"numbers": numbers_of(release), "release_seconds": seconds, **rest}
    return {
        "line": line.name,
        "label": line.label,
        "seed": seed,
        "rows": rows,
        "epsilon": None if line.recipe is None else EPSILON,
        "options": line.options,
        **scores(GRID.score(table)),
        **cost,
        "points": points(table) if seed == 0 else None,
        "code": code_of(line.name),
        "versions": output.versions("opendp"),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def scores(found: MixtureScore) -> Row:
    """What the table shows of a score."""
    right = [share for share in found.right_label.values() if share is not None]
    return {
        "nll": found.nll,
        "nll_papers_normaliser": found.nll_papers_normaliser,
        "modes_kept": len(found.modes) - len(found.dropped),
        "outside": found.outside,
        "spread": found.spread,
        "right_label": float(np.mean(right)) if right else None,
    }


def points(table: pa.Table, most: int = DRAWN) -> dict[str, list[int]]:
    """Some rows by class, drawn at random: x and y in turn, in hundredths, which is as fine as a picture shows."""
    table = table.take(np.random.default_rng(0).permutation(table.num_rows)[:most])
    places = np.stack([table[name].to_numpy() for name in GRID.axes], axis=1)
    hundredths = np.rint(100 * places).astype(int)
    label = np.array(table[TARGET].to_pylist())
    return {each: hundredths[label == each].ravel().tolist() for each in GRID.classes}


# The page


@dataclass(frozen=True)
class Goal:
    """What the best of our methods should reach."""

    name: str
    column: str
    least: float
    most: float

    def met(self, value: float | None) -> bool:
        return value is not None and self.least <= value <= self.most


GOALS = (
    Goal("NLL at most 2.95", "nll", -math.inf, 2.95),
    Goal("25 modes of 25", "modes_kept", 25, 25),
    Goal("under 3 % beyond 3 sd", "outside", 0, math.nextafter(0.03, 0)),
    Goal("standard deviation within a mode of 0.19 to 0.21", "spread", 0.19, 0.21),
)

PUBLISHED = (
    ("data samples", "DP-HP Fig. 2", 3.1e5, 90_000),
    ("DP-MERF", "DP-MERF Fig. 1", 3.8e5, 100_000),
    ("DP-MERF", "DP-HP Fig. 2", 4.1e5, 100_000),
    ("DP-HP", "DP-HP Fig. 2", 3.7e5, 100_000),
    ("DP-CGAN", "DP-HP Fig. 2", 4.7e5, 100_000),
)
"""Sums over rows at ε = 1, in the papers' normaliser, and over how many rows: the authors' code draws 100,000."""


def latest(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """By line the runs with the settings of the newest: nothing else is mixed in. In the order of `lines`."""
    newest = {row["line"]: row for row in rows}
    order = [name for name in lines() if name in newest]
    return {
        name: [row for row in rows if row["line"] == name and _setting(row) == _setting(newest[name])] for name in order
    }


def _setting(row: Row) -> tuple[int, str | None]:
    return row["rows"], row["options"]


def page(rows: Sequence[Row]) -> str:
    """What a person reads."""
    found = latest(rows)
    sizes = sorted({row["rows"] for mine in found.values() for row in mine})
    parts = [
        "# The 2-D mixture\n",
        f"25 Gaussians on a 5×5 grid in 5 classes, {' or '.join(f'{size:,}' for size in sizes)} rows; ε = {EPSILON:g}, "
        f"δ = {DELTA:g}, {NEIGHBOURS} neighbours (DP-MERF Fig. 1, DP-HP Fig. 2). Made by "
        "`python -m benchmarks.papers.mixture`.\n",
        output.markdown(*_table(found)),
        _READING,
        *_short_networks(found),
        "## What was aimed at\n",
        _verdicts(found),
        f"![Rows of each line, coloured by class]({NAME}.svg)\n",
        "## What the papers report\n",
        output.markdown(*_published()),
        _PUBLISHED_NOTES,
        "## Settings\n",
        _settings(found),
    ]
    codes = {row["code"] for name, mine in found.items() if name != "truth" for row in mine}
    if len(codes) > 1:
        parts.append(f"These runs come from {len(codes)} states of the code; `--again` makes them all with one.\n")
    return "\n".join(parts)


def _short_networks(found: dict[str, list[Row]]) -> list[str]:
    """Where the papers' network was trained for fewer steps than in the papers, say so."""
    options = [json.loads(mine[0]["options"] or "{}") for name, mine in found.items() if name.endswith("-paper")]
    steps = {each["generator"]["steps"] for each in options}
    if not steps or min(steps) >= PAPERS_STEPS:
        return []
    taken = " and ".join(f"{each:,}" for each in sorted(steps))
    return [
        f"**The papers' networks are trained for {taken} steps here, not for {PAPERS_STEPS:,}** (`--steps`), to stay "
        "within minutes.\n"
    ]


def _table(found: dict[str, list[Row]]) -> tuple[list[str], list[list[Any]]]:
    heads = [
        "rows from", "runs", "NLL per row", "in the papers' normaliser", "modes of 25", "beyond 3 sd, %",
        "std within a mode", "right label, %", "numbers released", "CPU-s: release", "fit", "sample",
    ]  # fmt: skip
    body = []
    for mine in found.values():
        body.append([
            _label(mine[0]), len(mine), _mean(mine, "nll", 3), _mean(mine, "nll_papers_normaliser", 3),
            _mean(mine, "modes_kept", 0 if len(mine) == 1 else 1), _mean(mine, "outside", 2, 100),
            _mean(mine, "spread", 3), _mean(mine, "right_label", 1, 100), _mean(mine[:1], "numbers", 0),
            *(_mean(mine, stage, 1) for stage in STAGES),
        ])  # fmt: skip
    return heads, body


def _mean(rows: Sequence[Row], column: str, digits: int, unit: float = 1.0) -> str:
    values = [unit * row[column] for row in rows if row.get(column) is not None]
    return output.mean_and_spread(values, digits)


def _label(row: Row) -> str:
    """With the name of a method as code."""
    first, comma, rest = str(row["label"]).partition(",")
    word, space, more = first.partition(" ")
    return f"`{word}`{space}{more}{comma}{rest}" if word in METHODS else str(row["label"])


def missed(rows: Sequence[Row]) -> list[str]:
    """The goals that a line's means do not meet."""
    found = []
    for goal in GOALS:
        values = [row[goal.column] for row in rows if row.get(goal.column) is not None]
        if not goal.met(float(np.mean(values)) if values else None):
            found.append(goal.name)
    return found


def _verdicts(found: dict[str, list[Row]]) -> str:
    aims = ", ".join(goal.name for goal in GOALS)
    said = [f"For the best of ours: {aims}.\n"]
    for name, mine in found.items():
        if name != "truth":
            short = missed(mine)
            said.append(f"- {_label(mine[0])}: {'all met' if not short else 'missed: ' + ', '.join(short)}.")
    return "\n".join(said) + "\n"


def _published() -> tuple[list[str], list[list[Any]]]:
    # The right normaliser in two dimensions against the one of one dimension.
    apart = math.log(math.sqrt(2 * math.pi) * GRID.std)
    heads = ["rows from", "figure", "NLL as printed", "rows", "per row", "per row, right normaliser"]
    body = [
        [name, where, f"{total:.1e}", f"{count:,}", f"{total / count:.1f}", f"{total / count + apart:.1f}"]
        for name, where, total, count in PUBLISHED
    ]
    return heads, body


def _settings(found: dict[str, list[Row]]) -> str:
    said = []
    for name, mine in found.items():
        if mine[0]["options"] is not None:
            options = json.loads(mine[0]["options"])
            said.append(f"- `{name}`: {_words(options['method'])}; {_words(options['generator'])}.")
    return "\n".join(said) + "\n"


def _words(settings: dict[str, Any] | None) -> str:
    if settings is None:
        return "the method's own generator"
    values = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "kind")
    return f"{settings['kind']}({values})"


_READING = """**How to read it.** NLL is the mean of −log p(x, class) under the true distribution, in nats, with the
normaliser of two dimensions: 2.84 for rows of the truth. A row with a wrong label costs much. Lower than the truth's is
not better: it means too little spread. A mode is kept if rows of its own class near it are at least a tenth of its due.
The standard deviation is along one axis over rows within 3 sd of the mode; cut off like that, it is below 0.2 for the
truth too. Right label: of the rows within 3 sd of a mode, those with its class. A ± is the standard deviation
over runs, each with data, noise and seed of its own. CPU-s are processor seconds on one thread; as many rows are drawn
as there are in the data.
"""

_PUBLISHED_NOTES = """- The papers print the sum over rows, with the normaliser of one dimension,
  which adds 0.69 to every row. The authors' code sums over 100,000 generated rows, but over 90,000 of the data. With one
  digit after the point nothing finer can be said: 3.1e5 for the data is 3.44 a row, and the truth scores 3.53.
- The published code for DP-HP's figure adds no noise at all; that for DP-MERF needs hours with 30,000 features.
- Neither paper counts modes or measures spread; DP-MERF's text says that it underestimates variance.
- "As in DP-MERF" and "as in DP-HP" are the papers' features, kernel, layers, batch and loss, with the repairs that a
  promise needs: class counts are released too, and all noise is calibrated exactly. Both use the kernel of DP-MERF,
  as DP-HP states none. The learning rate falls along a cosine instead of by a tenth an epoch.
"""


# The picture


_COLOURS = ("#1d4ed8", "#c2410c", "#15803d", "#a21caf", "#ca8a04")
_ACROSS, _SIDE, _GAP, _TITLE = 4, 300, 16, 40


def picture(rows: Sequence[Row]) -> str:
    """A panel for each line that has points, as SVG."""
    panels = [(mine[0], _points(mine)) for mine in latest(rows).values() if _points(mine) is not None]
    down = max(1, -(-len(panels) // _ACROSS))
    width, height = _ACROSS * (_SIDE + _GAP) + _GAP, down * (_SIDE + _TITLE + _GAP) + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" role="img">'
        f"<title>Rows by class: the data and what each method makes of them, ε = {EPSILON:g}</title>"
        f'<rect width="{width}" height="{height}" fill="white"/>'
    ]
    for number, (row, found) in enumerate(panels):
        left = _GAP + number % _ACROSS * (_SIDE + _GAP)
        top = _GAP + number // _ACROSS * (_SIDE + _TITLE + _GAP)
        parts += _panel(row, found or {}, left, top)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _points(rows: Sequence[Row]) -> dict[str, list[int]] | None:
    kept = next((row["points"] for row in rows if row.get("points") is not None), None)
    found: dict[str, list[int]] | None = json.loads(kept) if isinstance(kept, str) else kept
    return found


def _panel(row: Row, found: dict[str, list[int]], left: int, top: int) -> list[str]:
    below = f"NLL {row['nll']:.2f}, {row['modes_kept']} of 25 modes, {100 * row['outside']:.1f} % beyond 3 sd"
    parts = [
        f'<text x="{left}" y="{top + 14}" font-size="13">{escape(row["label"])}</text>',
        f'<text x="{left}" y="{top + 30}" font-size="11" fill="#4b5563">{below}</text>',
        f'<g transform="translate({left} {top + _TITLE})"><path fill="none" stroke="#d1d5db" d="M0 0H{_SIDE}V{_SIDE}H0z"/>',
        '<g fill="none" stroke-width="2" stroke-linecap="round" stroke-opacity=".7">',
    ]
    for colour, each in zip(_COLOURS, GRID.classes, strict=True):
        if found.get(each):
            parts.append(f'<path stroke="{colour}" d="{_dots(np.array(found[each]).reshape(-1, 2))}"/>')
    return [*parts, "</g></g>"]


def _dots(hundredths: np.ndarray[Any, np.dtype[Any]]) -> str:
    """Dots of one colour as a path of lines without length: whole numbers, each from the one before, to stay small."""
    column = GRID.schema.columns[GRID.axes[0]]
    low = 100 * float(getattr(column, "min", 0.0))
    places = np.rint((hundredths - low) / (100 * RANGE) * _SIDE).astype(int)
    places[:, 1] = _SIDE - places[:, 1]
    places = np.unique(places, axis=0)  # sorted; a dot on a dot shows nothing
    steps = np.diff(places, axis=0, prepend=0)
    return "".join(f"m{x}{'' if y < 0 else ' '}{y}h0" for x, y in steps.tolist())


# The command


app = typer.Typer(add_completion=False)


@app.command()
def main(
    methods: Annotated[str, typer.Option(help="Lines, with commas between them.")] = ",".join(lines()),
    features: Annotated[int, typer.Option(help="Random features of the lines with the paper's number.")] = 30_000,
    rows: Annotated[int, typer.Option(min=1, help="Rows of the data set.")] = GRID.rows,
    seeds: Annotated[int, typer.Option(min=1, help="How many runs of each; the privacy noise has no seed.")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the papers' network; the papers take 10,000.")] = 2_000,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = output.RESULTS,
    again: Annotated[bool, typer.Option("--again", help="Run what is done once more.")] = False,
) -> None:
    """The 2-D mixture of DP-MERF's Fig. 1 and DP-HP's Fig. 2: the papers' methods, ours, and the truth.

    Runs that are done are skipped, so an interrupted bench goes on where it stopped.
    """
    try:
        known = lines(features, steps)
        chosen = [known[name] for name in chosen_names(methods, list(known), "method")]
        done = output.read(NAME, out)
        if again:
            done = [row for row in done if row["line"] not in {line.name for line in chosen}]
        with threadpool_limits(1):
            for row in _made(done, chosen, rows, seeds):
                done.append(row)
                typer.echo(_said(row))
                output.write(done, NAME, out)
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None
    text = output.write_page(page(done), NAME, out)
    (out / f"{NAME}.svg").write_text(picture(done), encoding="utf-8")
    typer.echo(text)


def _made(done: list[Row], chosen: Sequence[Line], rows: int, seeds: int) -> Iterator[Row]:
    """What is not there yet, seed by seed, so that an interrupted bench has something to show for every line."""
    there = {(row["line"], row["seed"], *_setting(row)) for row in done}
    for seed in range(seeds):
        for line in chosen:
            if (line.name, seed, rows, line.options) not in there:
                yield run(line, rows, seed)


def _said(row: Row) -> str:
    cost = sum(row.get(stage) or 0.0 for stage in STAGES)
    return (
        f"{row['line']} {row['seed']}: NLL {row['nll']:.3f}, {row['modes_kept']} modes, {row['outside']:.2%} beyond 3 sd, "
        f"std {row['spread'] or 0:.3f}; {cost:.0f} CPU-s"
    )


if __name__ == "__main__":
    app()
