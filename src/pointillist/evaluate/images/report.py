"""Report on images: an evaluation as one page for the data owner. It shows real images beside synthetic ones."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from pointillist.evaluate.images.evaluation import PictureEvaluation
from pointillist.evaluate.images.metrics.diversity import Curve
from pointillist.files.images import Pictures
from pointillist.pages import charts
from pointillist.pages import render as render_page
from pointillist.pages.card import Card
from pointillist.pages.images import grid, picture

_COLUMNS = 8
_MOST_CLASSES = 60


@dataclass(frozen=True)
class Sheet:
    """Some images of one class."""

    name: str
    real: Markup
    synthetic: Markup


@dataclass(frozen=True)
class Figure:
    """A chart with its heading."""

    title: str
    chart: Markup


def render(it: PictureEvaluation) -> str:
    """The whole page."""
    return render_page(
        "pictures.html",
        it=it,
        card=None if it.release is None else Card.of(it.release),
        sheets=[_sheet(name, *pair) for name, pair in list(it.samples.items())[:_MOST_CLASSES]],
        left_out=max(0, len(it.samples) - _MOST_CLASSES),
        models=_models(it),
        curves=[] if it.diversity.curve is None else _curves(it.diversity.curve),
        variances=_variances(it.diversity.variances),
        today=dt.date.today().isoformat(),
    )


def _sheet(name: str, real: Pictures, synthetic: Pictures) -> Sheet:
    return Sheet(name, *(strip(each, f"{name}: {len(each)} {role} images") for role, each in
                         (("real", real), ("synthetic", synthetic))))  # fmt: skip


def strip(pictures: Pictures, text: str) -> Markup:
    """Images in rows, or a word where there are none."""
    if not len(pictures):
        return Markup('<p class="soft tight">none</p>')
    shape = pictures.pixels.shape
    zoom = max(1.0, min(2.0, 40 / shape[2]))
    return picture(grid(pictures.pixels, min(_COLUMNS, len(pictures))), text, zoom=zoom)


def _models(it: PictureEvaluation) -> Markup:
    if not it.classifiers:
        return Markup()
    real, made = (it.classifiers[role].accuracies for role in ("real", "synthetic"))
    rows = [(name, real[name], made[name]) for name in real if name in made]
    return _dumbbells(rows, "Accuracy")


def _curves(curve: Curve) -> list[Figure]:
    found = []
    for model in dict.fromkeys(each.model for each in curve.points):
        points = [(f"{each.images:,} images", each.real, each.synthetic) for each in curve.of(model)]
        rows = [(name, real, made) for name, real, made in points if real is not None and made is not None]
        if rows:
            found.append(Figure(model[0].upper() + model[1:], _dumbbells(rows, f"Accuracy of {model}")))
    return found


def _dumbbells(rows: list[tuple[str, float, float]], what: str) -> Markup:
    if not rows:
        return Markup()
    low = max(0.0, float(np.floor(10 * min(value for _, *pair in rows for value in pair) - 0.3) / 10))
    text = "; ".join(f"{name} {real:.3f} trained on real, {made:.3f} on synthetic" for name, real, made in rows)
    return charts.dumbbells(rows, f"{what}: {text}", low=low, high=1.0)


def _variances(ratios: dict[str, float]) -> Markup:
    rows = list(ratios.items())[:_MOST_CLASSES]
    text = ", ".join(f"{name} {value:.2f}" for name, value in rows)
    return charts.amounts(rows, f"Variance of synthetic images as a part of that of real ones: {text}")
