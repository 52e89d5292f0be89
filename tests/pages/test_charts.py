"""Charts: each with its words, escaped, within its frame, and drawn to scale. How they look is the browser's test."""

import re

import pytest
from markupsafe import Markup

from pointillist.pages import charts

ODD = '<b>&"'
DRAWN = {
    "histogram": charts.histogram([0.0, 1.0, 4.0], [0.5, 0.5], [1.0, 0.0], (ODD, ODD), ODD),
    "bars": charts.bars([(ODD, 0.5, 0.25)], ODD, rest=(ODD, 0.25, 0.5)),
    "amounts": charts.amounts([(ODD, 1.0)], ODD),
    "dumbbells": charts.dumbbells([(ODD, 0.5, 0.7)], ODD, low=0.0, high=1.0),
    "scores": charts.scores([(ODD, 0.5, 0.7)], ODD),
    "heat_map": charts.heat_map([[1.0, 0.5], [0.5, 1.0]], (ODD, ODD), ODD),
    "scatter": charts.scatter([(0.0, 0.0), (1.0, 1.0)], (0.0, 1.0, 0.0, 1.0), "real", ODD),
    "marks": charts.marks([(ODD, [("forecast", 0.1), ("synthetic", 0.2)])], ODD),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_chart_has_words_and_escapes_names(name: str) -> None:
    chart = DRAWN[name]
    assert isinstance(chart, Markup)
    assert re.match(r'<svg viewBox="0 0 [\d.]+ [\d.]+" role="img" aria-label="&lt;b&gt;&amp;&quot;', chart)
    assert "<b>" not in chart


def test_areas_of_a_histogram_are_shares() -> None:
    """Two bars of half the rows, one three times as wide: a third of the height."""
    steps = re.findall(r"V([\d.]+)h([\d.]+)", DRAWN["histogram"].split("</path>")[0].split('"real"')[1])
    (high, narrow), (low, wide) = [(104 - float(y), float(width)) for y, width in steps[:2]]
    assert wide == pytest.approx(3 * narrow, rel=0.01)
    assert high == pytest.approx(3 * low, rel=0.03)


def test_a_longer_bar_is_more() -> None:
    chart = charts.amounts([("a", 1.0), ("b", 0.5), ("c", 0.0)], "t")
    ends = [float(each) for each in re.findall(r"H([\d.]+)v8", chart)]
    assert (ends[0] - 138) == pytest.approx(2 * (ends[1] - 138), rel=0.01)
    assert ends[2] == pytest.approx(138.5)


def test_the_scale_of_scores_begins_below_the_lowest() -> None:
    assert ">0.7<" in charts.scores([("a", 0.82, 0.75)], "AUROC")
    assert ">0.6<" not in charts.scores([("a", 0.82, 0.75)], "AUROC")
    assert ">-1<" in charts.scores([("a", 0.5, -3.0)], "R²", least=-1.0)
    assert "a 0.820 trained on real, 0.750 on synthetic" in charts.scores([("a", 0.82, 0.75)], "AUROC")
    assert charts.scores([], "AUROC") == ""


def test_a_heat_map_leaves_the_diagonal_out() -> None:
    assert DRAWN["heat_map"].count('class="heat"') == 1  # both cells are of one shade
    signed = charts.heat_map([[1.0, 0.3], [-0.3, 1.0]], ("a", "b"), "t", signed=True)
    assert ('class="more"' in signed, 'class="less"' in signed) == (True, True)


def test_long_names_keep_both_ends() -> None:
    shown = charts._short("the monthly income of the whole household", 100)
    assert shown.startswith("the mon")
    assert shown.endswith("old")
    assert charts._width(shown) <= 100
    assert charts._short("short", 100) == "short"
