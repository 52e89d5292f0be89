"""Kernel error: how near Hermite and random Fourier features come to a Gaussian kernel.

    python -m benchmarks.papers.kernel_error

DP-HP's Fig. 1 and 5 and Prop. B.1, DP-MERF's Prop. 3.1, and what they leave open: the scale of positions, and how many
dimensions a product of Hermite features bears. All data are simulated; nothing here is a release.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.special import gammaln

from pointillist.features import Hermite, Product, RandomFourier, Records
from pointillist.methods.feature_count import expected_error
from pointillist.privacy.accounting import gaussian_mu
from pointillist.privacy.budget import Budget

from .chart import Panel, Series, picture
from .output import RESULTS, markdown, write, write_page

Floats = NDArray[np.float64]
Row = dict[str, Any]
NAME = "kernel-error"
MEASURES = ("src/pointillist/features",)
DRAWS = 100
"""Draws of the random frequencies, as in the paper."""
_LENGTHS = 0.71, 7.07
"""The two length scales of DP-HP's Fig. 5."""


def fourier(x: Floats, features: int, length: float, seed: int) -> Floats:
    """Random Fourier features of points, one row for each."""
    names = tuple(f"x{i}" for i in range(x.shape[1]))
    drawn = RandomFourier.draw(names, features, length, seed=seed)
    return drawn(Records(len(x), {}, dict(zip(names, x.T, strict=True))))


def hermite(x: Floats, order: int, length: float, scale: float = 1.0) -> Floats:
    """Hermite features of points: all products of one from each coordinate.

    `scale` multiplies positions and length scale alike, which leaves the kernel as it is but not its expansion.
    """
    maps = tuple(Hermite(f"x{i}", order, scale * length) for i in range(x.shape[1]))
    places = {f"x{i}": 0.5 + scale * x[:, i] for i in range(x.shape[1])}
    return Product(maps)(Records(len(x), {}, places))


def gaussian(x: Floats, y: Floats, length: float) -> Floats:
    squared = np.square(x).sum(axis=1)[:, None] + np.square(y).sum(axis=1) - 2 * x @ y.T
    return np.asarray(np.exp(-np.maximum(squared, 0) / (2 * length**2)))


def median_distance(x: Floats) -> float:
    """The papers' length scale. On private rows it would have to be paid for; these are simulated."""
    squared = np.square(x[:, None] - x).sum(axis=2)
    return float(np.sqrt(np.median(squared[np.triu_indices(len(x), 1)])))


def mean_error(kernel: Floats, left: Floats, right: Floats) -> float:
    return float(np.abs(kernel - left @ right.T).mean())


def mean_fourier_error(x: Floats, y: Floats, features: int, length: float, draws: int = DRAWS) -> float:
    kernel = gaussian(x, y, length)
    errors = [
        mean_error(kernel, fourier(x, features, length, seed), fourier(y, features, length, seed))
        for seed in range(draws)
    ]
    return float(np.mean(errors))


def even(number: int) -> int:
    """Random features come in pairs."""
    return number + number % 2


def figure_1(samples: int = 10, draws: int = DRAWS) -> list[Row]:
    """100 points of N(0, 1) against 100 of N(1, 1), length scale by the median heuristic; means over `samples` tables."""
    rows = []
    for sample in range(samples):
        rng = np.random.default_rng(sample)
        x, y = rng.normal(0, 1, (100, 1)), rng.normal(1, 1, (100, 1))
        length = median_distance(np.concatenate([x, y]))
        kernel = gaussian(x, y, length)
        base: Row = {"part": "figure 1", "sample": sample, "length_scale": length}
        for order in range(16):
            error = mean_error(kernel, hermite(x, order, length), hermite(y, order, length))
            rows.append({**base, "map": "hermite", "order": order, "features": order + 1, "error": error})
        for features in (2, 4, 10, 20, 50, 100, 200, 500):
            error = mean_fourier_error(x, y, features, length, draws)
            rows.append({**base, "map": "fourier", "features": features, "error": error})
    return rows


def figure_5(features: int = 100) -> list[Row]:
    """The features themselves at four points of N(0, 1), at the paper's two length scales."""
    x = np.random.default_rng(5).normal(0, 1, (4, 1))
    rows = []
    for length in _LENGTHS:
        for name, found in (
            ("fourier", fourier(x, features, length, 0)),
            ("hermite", hermite(x, features - 1, length)),
        ):
            rows += [
                {"part": "figure 5", "map": name, "length_scale": length, "point": float(x[point, 0]),
                 "number": number, "value": float(found[point, number])}
                for point in range(len(x)) for number in range(features)
            ]  # fmt: skip
    return rows


def length_scales() -> list[Row]:
    """Error against order and length scale, for pairs of points of N(0, 1), beside as many random features."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(0, 1, (200, 1)), rng.normal(0, 1, (200, 1))
    rows = []
    for length in (0.1, 0.3, *_LENGTHS):
        kernel = gaussian(x, y, length)
        for order in (0, 1, 2, 3, 5, 8, 10, 20, 30, 50, 99):
            error = mean_error(kernel, hermite(x, order, length), hermite(y, order, length))
            other = mean_fourier_error(x, y, even(order + 1), length, 20)
            rows.append(
                {"part": "length scales", "length_scale": length, "rho": Hermite("x", order, length).rho,
                 "order": order, "features": order + 1, "error": error, "fourier_error": other}
            )  # fmt: skip
    return rows


def proposition_b1() -> list[Row]:
    """Prop. B.1 of DP-HP: X, Y ~ N(0, 1) and rho = 1/3, that is l^2 = 4/3. Expectations over X and Y by quadrature."""
    length = math.sqrt(4 / 3)
    x = np.linspace(-8, 8, 801)[:, None]
    weight = np.exp(-np.square(x[:, 0]) / 2)
    weight /= weight.sum()
    kernel = gaussian(x, x, length)
    rows = []
    for order in (0, 1, 2, 3, 5, 8, 12):
        gap = kernel - hermite(x, order, length) @ hermite(x, order, length).T
        features = even(order + 1)
        waves = [fourier(x, features, length, seed) for seed in range(30)]
        rows.append(
            {"part": "proposition B.1", "order": order, "features": order + 1, "length_scale": length, "rho": 1 / 3,
             "error": float(weight @ np.abs(gap) @ weight),
             "root_mean_square": math.sqrt(weight @ np.square(gap) @ weight),
             "bound": 3.0**-order / (3 * math.sqrt(2)),
             "fourier_features": features, "fourier_bound": 1 / (8 * features),
             "fourier_error": float(np.mean([weight @ np.abs(kernel - each @ each.T) @ weight for each in waves]))}
        )  # fmt: skip
    return rows


def positions() -> list[Row]:
    """Positions spread over [0, 1], as a table's are: taken as they are, and scaled to fill the Hermite functions."""
    x = np.linspace(-0.5, 0.5, 201)[:, None]
    rows = []
    for length in (0.05, 0.1, 0.2, 0.5):
        kernel = gaussian(x, x, length)
        for order in (10, 20, 50):
            other = mean_fourier_error(x, x, even(order + 1), length, 20)
            # The function of order C lives within sqrt(2C + 1) of 0; the scale sends the ends, 0.5, to 0.85 of that.
            scale = 1.7 * math.sqrt(2 * order + 1)
            plain, scaled = hermite(x, order, length), hermite(x, order, length, scale)
            rows.append(
                {"part": "positions", "length_scale": length, "order": order, "features": order + 1, "scale": scale,
                 "error": mean_error(kernel, plain, plain), "scaled_error": mean_error(kernel, scaled, scaled),
                 "fourier_error": other}
            )  # fmt: skip
    return rows


def _changed(rng: np.random.Generator, rows: int, dimensions: int) -> dict[str, Floats]:
    """Tables that differ from a standard normal one in place, in spread, or in dependence alone."""
    normal = [rng.normal(size=(rows, dimensions)) for _ in range(3)]
    changed = {"shifted": normal[0] + 0.5 / math.sqrt(dimensions), "wider": 1.4 * normal[1]}
    if dimensions > 1:
        normal[2][:, 1] = 0.8 * normal[2][:, 0] + 0.6 * normal[2][:, 1]
        changed["dependent"] = normal[2]
    return changed


def dimensions(budget: int = 1024, table: int = 500, draws: int = 10) -> list[Row]:
    """Relative error of the squared MMD in more dimensions, with at most `budget` features of either kind."""
    rows = []
    for count in (1, 2, 3, 4, 5, 6, 8, 10):
        rng = np.random.default_rng(count)
        x = rng.normal(size=(table, count))
        order = min(40, int(budget ** (1 / count) + 1e-9) - 1)
        for width, length in (("median", median_distance(x)), ("third of it", median_distance(x) / 3)):
            mine = hermite(x, order, length)
            for change, y in _changed(rng, table, count).items():
                kernels = (gaussian(a, b, length).mean() for a, b in ((x, x), (y, y), (x, y)))
                exact = float(np.dot([1, 1, -2], list(kernels)))
                other = [
                    np.square(
                        fourier(x, budget, length, seed).mean(axis=0) - fourier(y, budget, length, seed).mean(axis=0)
                    ).sum()
                    for seed in range(draws)
                ]
                found = np.square(mine.mean(axis=0) - hermite(y, order, length).mean(axis=0)).sum()
                rows.append(
                    {"part": "dimensions", "dimensions": count, "width": width, "length_scale": length,
                     "change": change, "order": order, "features": mine.shape[1], "squared_mmd": exact,
                     "squared_norm": float(np.square(mine).sum(axis=1).mean()),
                     "error": abs(float(found) / exact - 1), "fourier_features": budget,
                     "fourier_error": float(np.mean(np.abs(np.array(other) / exact - 1)))}
                )  # fmt: skip
    return rows


def papers_bound(features: int, multiplier: float, rows: int) -> float:
    """Prop. 3.1 of DP-MERF as printed, for replace-one; `multiplier` is noise in units of the sensitivity 2 / rows."""
    ratio = math.exp(gammaln((features + 1) / 2) - gammaln(features / 2))
    noise = 4 * features * multiplier**2 / rows**2 + 8 * math.sqrt(2) * multiplier / rows * ratio
    return noise + 8 * math.sqrt(2 * math.pi / features)


def proposition_31(table: int = 1000, draws: int = 100) -> list[Row]:
    """N(0, 1) against N(1, 1) at (1, 1e-5), replace-one: the error, our bound, the paper's."""
    multiplier = 1 / gaussian_mu(Budget(1.0, 1e-5))
    sigma = 2 * multiplier
    rng = np.random.default_rng(31)
    x, y = rng.normal(0, 1, (table, 1)), rng.normal(1, 1, (table, 1))
    exact = float(gaussian(x, x, 1).mean() + gaussian(y, y, 1).mean() - 2 * gaussian(x, y, 1).mean())
    rows = []
    for features in (100, 300, 1_000, 3_000, 10_000):
        errors = []
        for seed in range(draws if features <= 1000 else draws // 5):
            apart = fourier(x, features, 1, seed).mean(axis=0) - fourier(y, features, 1, seed).mean(axis=0)
            errors.append(abs(np.square(apart + rng.normal(0, sigma / table, features)).sum() - exact))
        rows.append(
            {"part": "proposition 3.1", "features": features, "table": table, "squared_mmd": exact,
             "error": float(np.mean(errors)), "bound": expected_error(features, sigma, table, squared_mmd=exact).total,
             "farthest_bound": expected_error(features, sigma, table).total,
             "papers_bound": papers_bound(features, multiplier, table)}
        )  # fmt: skip
    return rows


_OURS, _THEIRS = "#c2410c", "#1d4ed8"
_SHADES = ("#7c2d12", "#c2410c", "#f97316", "#fdba74")
_DECADES = tuple(10.0**power for power in range(-8, 1, 2))


def error_picture(rows: Sequence[Row]) -> str:
    first, second = _of(rows, "figure 1"), _of(rows, "length scales")
    lines = [
        Series(label, _means(each for each in first if each["map"] == name), colour)
        for label, name, colour in (("Hermite", "hermite", _OURS), ("random Fourier", "fourier", _THEIRS))
    ]
    lengths = list(dict.fromkeys(row["length_scale"] for row in second))
    by_length = [
        Series(f"l = {length:g}", [(r["features"], r["error"]) for r in second if r["length_scale"] == length], colour)
        for length, colour in zip(lengths, _SHADES, strict=True)
    ]
    others = [
        Series("", [(r["features"], r["fourier_error"]) for r in second if r["length_scale"] == length], _THEIRS)
        for length in lengths
    ]
    panels = [
        Panel("Fig. 1: mean error of the kernel", "features", lines, (1, 10, 100, 1000), _DECADES),
        Panel("By length scale (random Fourier in blue)", "features", [*by_length, *others], (1, 10, 100), _DECADES),
    ]
    return picture("Error of the kernel against the number of features", panels)


def feature_picture(rows: Sequence[Row]) -> str:
    panels = []
    for name, title in (("fourier", "Random Fourier"), ("hermite", "Hermite")):
        for length in _LENGTHS:
            mine = [r for r in _of(rows, "figure 5") if r["map"] == name and r["length_scale"] == length]
            dots = [
                Series("", [(r["number"] + 1, abs(r["value"])) for r in mine if r["point"] == point], colour, dots=True)
                for point, colour in zip(
                    dict.fromkeys(r["point"] for r in mine), ("#c2410c", "#1d4ed8", "#15803d", "#a21caf"), strict=True
                )
            ]
            panels.append(Panel(f"{title}, l = {length:g}", "number of the feature", dots, (1, 10, 100), _DECADES))
    return picture("Fig. 5: size of the features at four points", panels)


def _of(rows: Sequence[Row], part: str) -> list[Row]:
    return [row for row in rows if row["part"] == part]


def _means(rows: Iterable[Row], key: str = "features") -> list[tuple[float, float]]:
    found: dict[float, list[float]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row["error"])
    return [(number, float(np.mean(errors))) for number, errors in sorted(found.items())]


def last_feature(rows: Sequence[Row], length: float, above: float = 0.01) -> int:
    """The highest order of a Hermite feature that is above a hundredth at any of the four points."""
    return max(
        row["number"]
        for row in _of(rows, "figure 5")
        if row["map"] == "hermite" and row["length_scale"] == length and abs(row["value"]) > above
    )


def page(rows: Sequence[Row], draws: int = DRAWS) -> str:
    """All of it for people."""
    first = _of(rows, "figure 1")
    mine = _means((row for row in first if row["map"] == "hermite"), "order")
    theirs = _means(row for row in first if row["map"] == "fourier")
    lines = [
        "# Kernel error",
        "",
        "`python -m benchmarks.papers.kernel_error`; see "
        "[docs/explanation/kernels.md](../../../docs/explanation/kernels.md).",
        "",
        "## DP-HP, Fig. 1: mean error of the kernel",
        "",
        "100 points of N(0, 1) against 100 of N(1, 1), length scale by the median heuristic; means over "
        f"{len({row['sample'] for row in first})} such tables, and over {draws} draws of the frequencies.",
        "",
        _beside(mine, theirs),
        "The paper: 500 random features are as good as Hermite features of order 2.",
        "",
        f"![Error of the kernel]({NAME}.svg)",
        "",
        "## DP-HP, Fig. 5: the features at four points",
        "",
        markdown(
            ["length scale", "highest order with a feature above 0.01", "the paper's cut"],
            [[length, last_feature(rows, length), cut] for length, cut in zip(_LENGTHS, ("20", "5"), strict=True)],
        ),
        f"![Size of the features]({NAME}-features.svg)",
        "",
        "## Order and length scale",
        "",
        "Mean error over pairs of points of N(0, 1): Hermite / as many random features (20 draws).",
        "",
        _pivot(_of(rows, "length scales"), ("order",), lambda row: f"l = {row['length_scale']:g}, ρ = {row['rho']:.3f}"),
        "## DP-HP, Prop. B.1",
        "",
        "X, Y ~ N(0, 1), ρ = 1/3. It says: the mean error of Hermite features up to order C is at most 3⁻ᶜ/(3√2), that of "
        "C random features at least 1/(8C).",
        "",
        _table(
            _of(rows, "proposition B.1"),
            {"order": "order", "Hermite, mean error": "error", "root mean square": "root_mean_square",
             "at most": "bound", "random features": "fourier_features", "their mean error": "fourier_error",
             "at least": "fourier_bound"},
        ),
        "## The scale of positions",
        "",
        "Mean error over [0, 1] with positions as they are, and multiplied, as the length scale is, by 1.7√(2C + 1) at "
        "order C.",
        "",
        _table(
            _of(rows, "positions"),
            {"length scale": "length_scale", "order": "order", "Hermite, as they are": "error",
             "Hermite, scaled": "scaled_error", "as many random features": "fourier_error"},
        ),
        "## More dimensions",
        "",
        "Relative error of the squared MMD between a standard normal table and one that is shifted, wider, or has two "
        "dependent columns: product of Hermite features / 1,024 random features (mean of 10 draws). The length scale is "
        "the median distance, or a third of it. The norm is what Hermite features keep of a record's 1.",
        "",
        _pivot(
            _of(rows, "dimensions"),
            ("dimensions", "width", "order", "features", "squared_norm"),
            lambda row: str(row["change"]),
        ),
        "## DP-MERF, Prop. 3.1",
        "",
        "1,000 rows of N(0, 1) against 1,000 of N(1, 1), length scale 1, (1, 1e-5), replace-one: expected error of the "
        "squared MMD, and bounds on it. The last two hold for any data.",
        "",
        _table(
            _of(rows, "proposition 3.1"),
            {"features": "features", "squared MMD": "squared_mmd", "error": "error", "our bound": "bound",
             "our bound, any data": "farthest_bound", "Prop. 3.1": "papers_bound"},
        ),
    ]  # fmt: skip
    return "\n".join(lines)


def _beside(mine: Sequence[tuple[float, float]], theirs: Sequence[tuple[float, float]]) -> str:
    return markdown(
        ["Hermite order", "error", "random features", "error"],
        [[_cell(value) for value in (*a, *b)] for a, b in zip(mine, theirs, strict=False)],
    )


def _table(rows: Sequence[Row], columns: dict[str, str]) -> str:
    return markdown(list(columns), [[_cell(row[key]) for key in columns.values()] for row in rows])


def _pivot(rows: Sequence[Row], index: Sequence[str], column: Callable[[Row], str]) -> str:
    """One line for each value of `index`, one column for each of `column`, with both errors in a cell."""
    heads = list(dict.fromkeys(column(row) for row in rows))
    lines: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in rows:
        line = lines.setdefault(tuple(row[key] for key in index), {})
        line[column(row)] = f"{_cell(row['error'])} / {_cell(row['fourier_error'])}"
    return markdown(
        [*(key.replace("_", " ") for key in index), *heads],
        [[*map(_cell, key), *(line.get(head) for head in heads)] for key, line in lines.items()],
    )


def _cell(value: Any) -> str:
    """Two digits; nothing below the rounding error of a sum of products."""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return "< 1e-12" if value < 1e-12 else f"{value:.2g}"


def main(
    draws: Annotated[int, typer.Option(min=1, help="Draws of the random frequencies.")] = DRAWS,
    output: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
) -> None:
    """Measure everything, and write a Parquet file, a page and two pictures."""
    rows = [
        *figure_1(draws=draws), *figure_5(), *length_scales(), *proposition_b1(), *positions(),
        *dimensions(draws=min(10, draws)), *proposition_31(draws=draws),
    ]  # fmt: skip
    write(rows, NAME, output, MEASURES)
    text = write_page(page(rows, draws), NAME, output)
    for name, drawn in ((NAME, error_picture(rows)), (f"{NAME}-features", feature_picture(rows))):
        (output / f"{name}.svg").write_text(drawn, encoding="utf-8")
    typer.echo(text)


if __name__ == "__main__":
    typer.run(main)
