"""Balog et al. (2018), Figures 1 and 2 and the rates of Theorems 2 and 7: distances between mean embeddings.

    python -m benchmarks.papers.balog

The paper's data (Appendix B): a mixture of ten Gaussians in D dimensions with weights 1, 1/2, ... 1/10, means with standard
deviation 200 around 100, clusters with standard deviation 30; kernel exp(-|x - y|^2 / (10^4 D)); 100,000 rows, replace-one,
delta = 10^-6. Every distance is that of the weighted points' embedding from the private rows', in the kernel's own space,
worked out in double precision; nothing of it is private here.
"""

import itertools
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

import pointillist as pt
from benchmarks.arguments import split_numbers
from pointillist.features.cholesky import pivoted_cholesky
from pointillist.features.kernel import Gaussian
from pointillist.generators.points.points import Points
from pointillist.records import Records

from .chart import Panel, Series, picture
from .output import RESULTS, markdown, mean_and_spread, read, write, write_page

Floats = NDArray[np.float64]
Row = dict[str, Any]
NAME = "balog"
DELTA = 1e-6
LOW, HIGH = -900.0, 1100.0
"""Public bounds, wide enough for every cluster."""
_CELLS = 20_000_000
_SPANNING = 10_000
MOST_FITTED = 1000
"""Points whose places are fitted, too; ten times as many take ten times as long, and are no nearer."""

PUBLISHED = {
    ("public rows", 2): {
        0.01: {10: 0.144, 100: 0.088, 1000: 0.113, 10000: 0.131},
        0.1: {10: 0.140, 100: 0.0131, 1000: 0.0127, 10000: 0.0133},
        1.0: {10: 0.140, 100: 0.0103, 1000: 0.0011, 10000: 0.0012},
    },
    ("public rows", 5): {
        0.01: {10: 0.186, 100: 0.113, 1000: 0.281, 10000: 0.453},
        0.1: {10: 0.182, 100: 0.0183, 1000: 0.0285, 10000: 0.0454},
        1.0: {10: 0.182, 100: 0.0148, 1000: 0.0028, 10000: 0.0046},
    },
    ("no public rows", 2): {
        0.01: {10: 0.140, 100: 0.180, 1000: 0.242, 10000: 0.321},
        0.1: {10: 0.118, 100: 0.0342, 1000: 0.0188, 10000: 0.0209},
        1.0: {10: 0.119, 100: 0.0318, 1000: 0.0090, 10000: 0.0025},
    },
    ("no public rows", 5): {
        0.01: {10: 0.372, 100: 0.480, 1000: 0.854, 10000: 1.032},
        0.1: {10: 0.359, 100: 0.337, 1000: 0.0872, 10000: 0.0973},
        1.0: {10: 0.358, 100: 0.334, 1000: 0.0380, 10000: 0.0341},
    },
}
"""Distances that the authors' repository keeps, at the nearest M that it has: Algorithm 1 on public rows (Figure 1) and
Algorithm 2 (Figure 2). Their data are another draw from the same recipe."""


@dataclass(frozen=True, eq=False)
class Population:
    """A draw of the paper's mixture in D dimensions."""

    means: Floats
    spread: float = 30.0

    @classmethod
    def draw(cls, dimensions: int, seed: int = 0) -> "Population":
        return cls(np.random.default_rng(seed).normal(100, 200, (10, dimensions)))

    @property
    def dimensions(self) -> int:
        return self.means.shape[1]

    @property
    def weights(self) -> Floats:
        weights = 1 / np.arange(1, len(self.means) + 1)
        return np.asarray(weights / weights.sum())

    @property
    def width(self) -> float:
        """The kernel's length scale l, where the kernel is exp(-r^2 / (2 l^2))."""
        return 100 * math.sqrt(self.dimensions / 2)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"x{number}" for number in range(self.dimensions))

    @property
    def kernel(self) -> Gaussian:
        return Gaussian(self.names, (self.width / (HIGH - LOW),) * self.dimensions)

    def rows(self, count: int, seed: int) -> Floats:
        generator = np.random.default_rng([1, seed])
        component = generator.choice(len(self.means), count, p=self.weights)
        return np.asarray(np.clip(generator.normal(self.means[component], self.spread), LOW, HIGH))

    def schema(self, rows: int) -> pt.Schema:
        columns: dict[str, Any] = {name: pt.Real(min=LOW, max=HIGH, missing=False) for name in self.names}
        return pt.Schema(name="mixture", rows=rows, reviewed=True, columns=columns)

    def table(self, rows: Floats) -> pa.Table:
        return pa.table(dict(zip(self.names, rows.T, strict=True)))

    def alike(self, one: Floats, other: Floats) -> Floats:
        """The kernel between rows."""
        squared = np.square(one).sum(axis=1)[:, None] + np.square(other).sum(axis=1) - 2 * one @ other.T
        return np.asarray(np.exp(-np.maximum(squared, 0) / (2 * self.width**2)))


@dataclass(frozen=True, eq=False)
class Embedding:
    """The mean embedding of a table of rows, exactly."""

    population: Population
    rows: Floats

    @cached_property
    def squared_norm(self) -> float:
        """By projection on the span of some of the rows: all pairs of 100,000 rows would take minutes.

        What it misses is the squared distance of the embedding from that span, below 1e-10 (a distance of 1e-5).
        """
        some = self.rows[:_SPANNING]
        return float(np.square(_coordinates(self.population, some, self.at(some))).sum())

    def at(self, points: Floats) -> Floats:
        """The mean of the kernel between each point and all rows."""
        found = np.zeros(len(points))
        for part in _parts(len(self.rows), len(points)):
            found += self.population.alike(self.rows[part], points).sum(axis=0)
        return found / len(self.rows)


@dataclass(frozen=True, eq=False)
class TrueEmbedding:
    """The mean embedding of the population itself, in closed form."""

    population: Population

    @cached_property
    def squared_norm(self) -> float:
        weights = self.population.weights
        return float(weights @ self._smoothed(self.population.means, self.population.means, 2) @ weights)

    def at(self, points: Floats) -> Floats:
        return self._smoothed(points, self.population.means, 1) @ self.population.weights

    def _smoothed(self, one: Floats, other: Floats, times: int) -> Floats:
        """The kernel averaged over the spread of a cluster around one side, or around both."""
        width = self.population.width**2
        wide = width + times * self.population.spread**2
        squared = np.square(one[:, None] - other[None]).sum(axis=2)
        return np.asarray((width / wide) ** (self.population.dimensions / 2) * np.exp(-squared / (2 * wide)))


def distance(truth: Embedding | TrueEmbedding, points: Floats, weights: Floats) -> float:
    """The distance of weighted points' embedding from another."""
    near, square = truth.at(points), 0.0
    for part in _parts(len(points), len(points)):
        square += float(weights[part] @ (truth.population.alike(points[part], points) @ weights))
    return math.sqrt(max(0.0, truth.squared_norm - 2 * float(weights @ near) + square))


def projection(truth: Embedding, points: Floats) -> float:
    """How near any weights of these points could come."""
    near = truth.at(points)
    return math.sqrt(
        max(0.0, truth.squared_norm - float(np.square(_coordinates(truth.population, points, near)).sum()))
    )


def _coordinates(population: Population, points: Floats, near: Floats) -> Floats:
    """An embedding in the span of points, from its inner products with them."""
    units = (points - LOW) / (HIGH - LOW)
    records = Records(len(points), {}, dict(zip(population.names, units.T, strict=True)))
    found = pivoted_cholesky(population.kernel, records, tolerance=1e-10)
    return np.asarray(solve_triangular(found.triangle(found.rank), near[found.pivots], lower=True))


def released(population: Population, rows: Floats, epsilon: float, method: Any, seed: int = 0) -> tuple[Floats, Floats]:
    """Points and weights that a release leads to."""
    with tempfile.TemporaryDirectory() as folder:
        release = pt.release(
            population.table(rows),
            population.schema(len(rows)),
            epsilon=epsilon,
            delta=DELTA,
            neighbours="replace-one",
            method=method,
            ledger=pt.Ledger(Path(folder) / "ledger.sqlite"),
        )
    model = pt.fit(release, seed=seed)
    points = model.generator
    assert isinstance(points, Points)
    table = points.table(model.levels)
    return np.stack([table[name].to_numpy() for name in population.names], axis=1), points.weights


def landmarks(population: Population, points: Floats, *, faithful: bool) -> pt.Landmarks:
    """Algorithm 1 as published (all points span the space, weights of any sign), or ours."""
    records = pt.public_points(population.table(points), population.schema(1))
    own: dict[str, Any] = {"number": len(points), "weights": "signed", "tolerance": 1e-5} if faithful else {}
    return pt.Landmarks(points=records, overlap=True, kernel=population.kernel, count_share=0.0, **own)


def reduced_set(population: Population, points: int) -> pt.ReducedSet:
    scales = dict.fromkeys(population.names, population.width / (HIGH - LOW))
    return pt.ReducedSet(length_scales=scales, points=points, count_share=0.0)


Run = tuple[Row, Callable[[], float]]
"""What a figure is about, and how to get it."""


def figures(dimensions: int, numbers: list[int], epsilons: list[float], rows: int, seed: int) -> Iterator[Run]:
    """Figures 1 and 2 in one dimension: distances from the embedding of the very rows that were released."""
    population = Population.draw(dimensions)
    data = population.rows(rows, seed)
    truth = Embedding(population, data)
    base: Row = {"part": "figures", "dimensions": dimensions, "rows": rows, "seed": seed}
    wide = np.clip(np.random.default_rng([2, seed]).normal(0, 500, (max(numbers), dimensions)), LOW, HIGH)

    def apart(epsilon: float, method: Any) -> float:
        return distance(truth, *released(population, data, epsilon, method))

    for scenario, points in (("public rows", data[: max(numbers)]), ("no public rows", wide)):
        for number in numbers:
            some, even = points[:number], np.full(number, 1 / number)
            facts = {**base, "scenario": scenario, "points": number}
            yield {**facts, "method": "projection limit"}, partial(projection, truth, some)
            if scenario == "public rows":
                yield {**facts, "method": "equal weights"}, partial(distance, truth, some, even)
            methods: dict[str, Any] = {
                "Algorithm 1": landmarks(population, some, faithful=True),
                "landmarks": landmarks(population, some, faithful=False),
            }
            if scenario == "no public rows" and number <= MOST_FITTED:
                methods["reduced-set"] = reduced_set(population, number)
            for epsilon, (name, method) in itertools.product(epsilons, methods.items()):
                yield {**facts, "method": name, "epsilon": epsilon}, partial(apart, epsilon, method)


def rates(dimensions: int, sizes: list[int], epsilon: float, seeds: int) -> Iterator[Run]:
    """How the distance from the population's own embedding falls as rows become more."""
    population = Population.draw(dimensions)
    truth = TrueEmbedding(population)
    for rows in sizes:
        for seed in range(seeds):
            data = population.rows(rows, seed)
            base: Row = {"part": "rates", "dimensions": dimensions, "rows": rows, "seed": seed, "epsilon": epsilon}
            public = data[: rows // 100]
            methods = {
                "landmarks on 1 %": landmarks(population, public, faithful=False),
                "reduced-set": reduced_set(population, 300),
            }
            # The private rows' own embedding: too many pairs of rows, so its distance is worked out on average.
            yield {**base, "method": "private rows themselves"}, partial(_by_chance, truth, rows)
            even = np.full(len(public), 1 / len(public))
            yield {**base, "method": "equal weights on 1 %"}, partial(distance, truth, public, even)
            for name, method in methods.items():
                yield {**base, "method": name}, partial(_from_population, truth, data, epsilon, method)


def _by_chance(truth: TrueEmbedding, rows: int) -> float:
    """The root mean square distance of a sample's embedding from the population's."""
    return math.sqrt((1 - truth.squared_norm) / rows)


def _from_population(truth: TrueEmbedding, data: Floats, epsilon: float, method: Any) -> float:
    return distance(truth, *released(truth.population, data, epsilon, method))


def slope(rows: list[Row]) -> float:
    """The power of the number of rows by which distances fall."""
    return float(np.polyfit(np.log([r["rows"] for r in rows]), np.log([r["distance"] for r in rows]), 1)[0])


def page(rows: list[Row]) -> str:
    """Everything as Markdown."""
    text = ["# Balog et al. 2018: distances of mean embeddings", ""]
    known = [row for row in rows if row["part"] == "figures"]
    for scenario, dimensions in PUBLISHED:
        chosen = [row for row in known if row["scenario"] == scenario and row["dimensions"] == dimensions]
        if chosen:
            text += [f"## {scenario.capitalize()}, D = {dimensions}", "", _table(chosen, scenario, dimensions)]
    rated = [row for row in rows if row["part"] == "rates"]
    if rated:
        text += ["## As rows become more", "", _rates(rated)]
    return "\n".join(text)


def _table(rows: list[Row], scenario: str, dimensions: int) -> str:
    numbers = sorted({row["points"] for row in rows})
    order = ["projection limit", "equal weights", "Algorithm 1", "landmarks", "reduced-set"]
    lines: list[list[Any]] = []
    for epsilon in (None, *sorted({row["epsilon"] for row in rows if row.get("epsilon")})):
        for method in order:
            cells = [
                [r["distance"] for r in rows if (r["method"], r.get("epsilon"), r["points"]) == (method, epsilon, n)]
                for n in numbers
            ]
            if any(cells):
                lines.append([epsilon or "", method, *(mean_and_spread(cell, 4) if cell else "" for cell in cells)])
        if epsilon is not None:
            published = PUBLISHED[scenario, dimensions].get(epsilon, {})
            which = "Algorithm 1" if scenario == "public rows" else "Algorithm 2"
            lines.append([epsilon, f"{which}, authors' code", *(published.get(number, "") for number in numbers)])
    return markdown(["ε", "method", *(f"M = {number:,}" for number in numbers)], lines)


def _rates(rows: list[Row]) -> str:
    sizes = sorted({row["rows"] for row in rows})
    lines = []
    for dimensions in sorted({row["dimensions"] for row in rows}):
        for method in dict.fromkeys(row["method"] for row in rows):
            mine = [row for row in rows if (row["dimensions"], row["method"]) == (dimensions, method)]
            cells = [[row["distance"] for row in mine if row["rows"] == size] for size in sizes]
            lines.append(
                [dimensions, method, *(mean_and_spread(c, 4) if c else "" for c in cells), f"{slope(mine):.2f}"]
            )
    return markdown(["D", "method", *(f"N = {size:,}" for size in sizes), "slope"], lines)


_SHADES: dict[str, dict[float | None, str]] = {
    "projection limit": {None: "#9ca3af"},
    "equal weights": {None: "#111827"},
    "Algorithm 1": {0.01: "#93c5fd", 0.1: "#3b82f6", 1.0: "#1e3a8a"},
    "landmarks": {0.01: "#fdba74", 0.1: "#f97316", 1.0: "#c2410c"},
    "reduced-set": {0.01: "#86efac", 0.1: "#4ade80", 1.0: "#15803d"},
}
_COLOURS = ("#9ca3af", "#111827", "#c2410c", "#15803d")


def pictures(rows: list[Row]) -> Iterator[tuple[str, str]]:
    """Distance against M for both figures, and against N."""
    known = [row for row in rows if row["part"] == "figures"]
    for number, scenario in enumerate(dict.fromkeys(row["scenario"] for row in known), start=1):
        panels = [
            Panel(
                f"{scenario.capitalize()}, D = {dimensions}",
                "points M",
                _by_points([r for r in known if (r["scenario"], r["dimensions"]) == (scenario, dimensions)]),
                (10, 100, 1000, 10_000),
                (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
            )
            for dimensions in sorted({row["dimensions"] for row in known})
        ]
        yield f"{NAME}-figure-{number}", picture(f"Figure {number}: distance of embeddings against points", panels)
    rated = [row for row in rows if row["part"] == "rates"]
    panels = []
    for dimensions in sorted({row["dimensions"] for row in rated}):
        mine = [row for row in rated if row["dimensions"] == dimensions]
        lines = [
            Series(f"{method}: slope {slope(some):.2f}", _means(some, "rows"), colour)
            for method, colour in zip(dict.fromkeys(row["method"] for row in mine), _COLOURS, strict=False)
            if (some := [row for row in mine if row["method"] == method])
        ]
        ticks = (1e3, 1e4, 1e5, 1e6), (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
        panels.append(Panel(f"Distance from the population, D = {dimensions}", "rows N", lines, *ticks))
    if panels:
        yield f"{NAME}-rates", picture("Distance from the population against rows", panels)


def _by_points(rows: list[Row]) -> list[Series]:
    found = []
    for method, shades in _SHADES.items():
        for epsilon, colour in shades.items():
            mine = [row for row in rows if (row["method"], row.get("epsilon")) == (method, epsilon)]
            label = method if epsilon is None else f"{method}, ε = {epsilon:g}"
            if mine:
                found.append(Series(label, _means(mine, "points"), colour))
    return found


def _means(rows: list[Row], by: str) -> tuple[tuple[float, float], ...]:
    places = sorted({row[by] for row in rows})
    return tuple((place, float(np.mean([r["distance"] for r in rows if r[by] == place]))) for place in places)


def _parts(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS // max(width, 1))
    return (slice(start, start + step) for start in range(0, rows, step))


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(
        row.get(name) for name in ("part", "dimensions", "rows", "seed", "scenario", "points", "method", "epsilon")
    )


def main(
    dimensions: Annotated[str, typer.Option(help="Dimensions, with commas between them.")] = "2,5",
    points: Annotated[str, typer.Option(help="Numbers of points M.")] = "10,100,1000,10000",
    epsilons: Annotated[str, typer.Option(help="Values of epsilon.")] = "0.01,0.1,1",
    rows: Annotated[int, typer.Option(help="Rows of the figures' tables.")] = 100_000,
    seeds: Annotated[int, typer.Option(help="Draws of the data.")] = 1,
    sizes: Annotated[str, typer.Option(help="Numbers of rows for the rates.")] = "1000,3000,10000,30000,100000,300000",
    rate_seeds: Annotated[int, typer.Option(help="Draws of the data for each rate.")] = 3,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
) -> None:
    """Run what is asked for and not there yet, and write tables and pictures."""
    known = {_key(row): row for row in read(NAME, out)}
    for count in (int(value) for value in split_numbers(dimensions)):
        numbers = [int(value) for value in split_numbers(points)]
        runs: list[Iterator[Run]] = [figures(count, numbers, split_numbers(epsilons), rows, s) for s in range(seeds)]
        runs.append(rates(count, [int(value) for value in split_numbers(sizes)], 1.0, rate_seeds))
        for run in runs:
            for facts, work in run:
                if _key(facts) in known:
                    continue
                row = {**facts, "distance": work()}
                known[_key(row)] = row
                shown = {name: value for name, value in row.items() if name != "part"}
                typer.echo(" ".join(f"{name}={value}" for name, value in shown.items()))
                write(list(known.values()), NAME, out)
    found = list(known.values())
    write_page(page(found), NAME, out)
    for name, text in pictures(found):
        (out / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
