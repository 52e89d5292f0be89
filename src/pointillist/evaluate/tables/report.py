"""Report: an evaluation as one page for the data owner. Turns figures into charts, with their text alternatives."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from pointillist.evaluate.tables.evaluation import Evaluation
from pointillist.evaluate.tables.metrics.columns import Bar, Column
from pointillist.evaluate.tables.metrics.forecast import Forecast
from pointillist.evaluate.tables.metrics.projection import Projection
from pointillist.evaluate.tables.metrics.utility import Utility
from pointillist.pages import charts
from pointillist.pages import render as render_page
from pointillist.pages import share as percent
from pointillist.pages.card import Card

_RARE = 0.01
"""Categories below this share of the real rows have a chart of their own, or nobody would see them."""
_MOST_BARS, _MOST_RARE = 14, 8
_MOST_LISTED = 200


@dataclass(frozen=True)
class Figure:
    """A chart with its heading."""

    title: str
    chart: Markup
    signed: bool = False


@dataclass(frozen=True)
class Drawn:
    """A column with its figures."""

    it: Column
    figures: tuple[Figure, ...]
    more: tuple[Bar, ...]
    """All categories, where the figures leave some out."""


def render(it: Evaluation) -> str:
    """The whole page."""
    facts: dict[str, Any] = {
        "it": it,
        "card": None if it.release is None else Card.of(it.release),
        "drawn": [_draw(column) for column in it.columns.columns],
        "heats": _heats(it),
        "models": [] if it.utility is None else _models(it.utility),
        "culprits": _culprits(it.discriminator.columns),
        "clouds": _clouds(it.projection),
        "noise": Markup() if it.forecast is None else _noise(it.forecast),
        "today": dt.date.today().isoformat(),
    }
    return render_page("report.html", **facts)


def _draw(column: Column) -> Drawn:
    if column.histogram is not None:
        return Drawn(column, (_histogram(column), *_atoms(column)), ())
    present = [bar for bar in column.bars if bar.real > 0 or bar.synthetic > 0]
    common = [bar for bar in present if bar.real >= _RARE or bar.label in ("missing", "other")]
    rare = [bar for bar in present if bar not in common]
    ordered = column.ks is not None
    figures = []
    if common:
        what = f"{column.name}: shares of its categories"
        figures.append(Figure("", _bars(common, what, _MOST_BARS, keep_order=ordered)))
    if rare:
        what = f"{column.name}: shares of its rare categories"
        title = f"Rare categories, under {_RARE:.0%}" if common else ""
        figures.append(Figure(title, _bars(rare, what, _MOST_RARE, keep_order=ordered)))
    left_out = len(common) > _MOST_BARS or len(rare) > _MOST_RARE
    listed = sorted(present, key=lambda bar: -bar.real)[:_MOST_LISTED]
    return Drawn(column, tuple(figures), tuple(listed) if left_out else ())


def _histogram(column: Column) -> Figure:
    shape = column.histogram
    assert shape is not None
    mean, median = column.summary["mean"], column.summary["median"]
    text = (
        f"{column.name}: histogram from {shape.ends[0]} to {shape.ends[1]}; mean {mean[0]} real, {mean[1]} synthetic; "
        f"median {median[0]} real, {median[1]} synthetic; the outermost 0.1 % at either end are not drawn"
    )
    log = shape.scale == "log"
    return Figure(
        "Log scale" if log else "",
        charts.histogram(shape.edges, shape.real, shape.synthetic, shape.ends, text, log=log),
    )


def _atoms(column: Column) -> list[Figure]:
    bars = [bar for bar in column.bars if bar.real > 0 or bar.synthetic > 0]
    if not bars:
        return []
    what = f"{column.name}: special values and gaps"
    return [Figure("Special values and gaps", _bars(bars, what, _MOST_BARS, keep_order=True, top=1.0))]


def _bars(bars: list[Bar], what: str, most: int, *, keep_order: bool, top: float = 0.0) -> Markup:
    if not keep_order or len(bars) > most:
        bars = sorted(bars, key=lambda bar: (-bar.real, -bar.synthetic))
    shown, left = bars[:most], bars[most:]
    rest = (f"{len(left)} more", sum(bar.real for bar in left), sum(bar.synthetic for bar in left)) if left else None
    text = "; ".join(f"{bar.label} {percent(bar.real)} real, {percent(bar.synthetic)} synthetic" for bar in shown)
    return charts.bars([(bar.label, bar.real, bar.synthetic) for bar in shown], f"{what}: {text}", rest=rest, top=top)


def _heats(it: Evaluation) -> list[Figure]:
    names, real, made = it.dependence.columns, it.dependence.real, it.dependence.synthetic
    if len(names) < 2:
        return []
    worst = it.dependence.pairs[0]
    text = f"heat map of the information coefficient of all pairs of {len(names)} columns"
    apart = f"the largest difference is {worst[0]} with {worst[1]}: {worst[2]:.2f} real, {worst[3]:.2f} synthetic"
    return [
        Figure("Real", charts.heat_map(real.tolist(), names, f"Real table: {text}")),
        Figure("Synthetic", charts.heat_map(made.tolist(), names, f"Synthetic table: {text}")),
        Figure(
            "Difference",
            charts.heat_map((made - real).tolist(), names, f"Synthetic minus real: {text}; {apart}", signed=True),
            signed=True,
        ),
    ]


def _models(utility: Utility) -> list[Figure]:
    found = []
    for measure in utility.measures:
        rows = [(each.model, each.real[measure], each.synthetic[measure]) for each in utility.scores]
        values = [value for _, *pair in rows for value in pair]
        low = max(-1.0 if measure == "R²" else 0.0, np.floor(10 * min(values) - 0.3) / 10)
        text = "; ".join(f"{name} {real:.3f} trained on real, {made:.3f} on synthetic" for name, real, made in rows)
        found.append(Figure(measure, charts.dumbbells(rows, f"{measure}: {text}", low=float(low), high=1.0)))
    return found


def _culprits(columns: dict[str, float]) -> Markup:
    rows = list(columns.items())[:10]
    text = ", ".join(f"{name} {value:.3f}" for name, value in rows)
    return charts.amounts(rows, f"Loss of AUROC by column: {text}")


def _clouds(flat: Projection) -> list[Figure]:
    both = np.concatenate([flat.real, flat.synthetic])
    low, high = np.quantile(both, 0.001, axis=0), np.quantile(both, 0.999, axis=0)
    frame = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    found = []
    for title, points, kind in (("Real", flat.real, "real"), ("Synthetic", flat.synthetic, "synthetic")):
        inside = points[((points >= low) & (points <= high)).all(axis=1)]
        centre, spread = points.mean(axis=0), points.std(axis=0)
        text = (
            f"{title} rows on the map: {len(inside):,} dots around ({centre[0]:.2f}, {centre[1]:.2f}), "
            f"spread {spread[0]:.2f} by {spread[1]:.2f}"
        )
        found.append(Figure(title, charts.scatter([(float(x), float(y)) for x, y in inside], frame, kind, text)))
    return found


def _noise(forecast: Forecast) -> Markup:
    rows = [
        (each.name, (("forecast", each.forecast), ("noisy", each.noisy), ("synthetic", each.synthetic)))
        for each in forecast.blocks
    ]
    text = "; ".join(
        f"{each.name}: forecast {each.forecast:.3f}, noisy {each.noisy:.3f}, synthetic {each.synthetic:.3f}"
        for each in forecast.blocks
    )
    return charts.marks(rows, f"Mean total variation distances of measured tables: {text}")
