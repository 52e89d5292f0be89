from typing import Any

from pointillist.pages import charts
from pointillist.studio.rendering import drawn, style


def test_charts_come_without_inline_style() -> None:
    chart = charts.shares([("a", 0.5)], "half")
    assert " style=" in chart
    assert " style=" not in drawn(chart)


def test_names_are_shown_and_never_run(visitor: Any) -> None:
    visitor.project.update(name="<script>alert(1)</script>\u202e")
    page = visitor.client.get("/").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in page


def test_the_style_is_the_reports_and_more() -> None:
    assert ".verdict" in style()
    assert "header.bar" in style()
