"""Metrics: a new one is one new file, and then it is in the figures, the verdict, the terminal and the report."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.cli.console import out
from pointillist.cli.show.evaluation import show_evaluation
from pointillist.evaluate.images.metric import METRICS as IMAGE_METRICS
from pointillist.evaluate.images.metric import ImageContext, ImageMetric
from pointillist.evaluate.metric import Metrics, Result, Steps, compute_all
from pointillist.evaluate.tables.metric import METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.evaluate.verdict import Point
from pointillist.pages import charts
from pointillist.pages.blocks import Card, Cards
from pointillist.pages.report import Section
from pointillist.registry import Registry

People = Callable[..., pa.Table]


@dataclass(frozen=True)
class Size(Result):
    """How large one set is beside the other."""

    ratio: float

    def to_json(self) -> dict[str, float]:
        return {"ratio": self.ratio}

    def points(self) -> tuple[Point, ...]:
        return (Point("size", "fair", f"{self.ratio:.1f}", "It is of another size.", "never good"),)

    def sections(self) -> tuple[Section, ...]:
        chart = charts.amounts([("ratio", self.ratio)], f"Size beside the real set: {self.ratio:.1f}")
        return (
            Section("size", "Is it as large?", "Size").saying("By rows.", blocks=[Cards((Card("Ratio", (chart,)),))]),
        )

    def lines(self) -> tuple[str, ...]:
        return (f"Size beside the real set: {self.ratio:.1f}.",)

    def headlines(self) -> dict[str, float]:
        return {"size": self.ratio}


class SizeOfTable(TableMetric[Size]):
    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Size:
        return Size(synthetic.rows / real.rows)

    def notes(self, found: Size | None, context: TableContext) -> tuple[str, ...]:
        return ("Size is not everything.",)


class SizeOfImages(ImageMetric[Size]):
    def compute(self, real: pt.Images, synthetic: pt.Images, context: ImageContext) -> Size:
        return Size(len(synthetic) / len(real))


@pytest.fixture(params=[METRICS, IMAGE_METRICS], ids=["tables", "images"])
def one_more(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Metrics:
    """A registry with a toy metric in it, for the time of a test."""
    metrics: Metrics = request.param
    assert len(metrics)  # all modules are imported by now
    monkeypatch.setattr(metrics, "_entries", list(metrics._entries))
    metrics.register("size")(SizeOfTable if metrics is METRICS else SizeOfImages)
    return metrics


def evaluated(metrics: Metrics, schema: pt.Schema, people: People) -> Any:
    if metrics is METRICS:
        return pt.evaluate(people(60, 1), people(90, 2), schema)
    images = pt.Schema(name="squares", reviewed=True, columns={"image": pt.Image(height=4, width=4)})
    rng = np.random.default_rng(0)
    sets = [pt.Images(rng.integers(0, 255, (count, 4, 4, 1)).astype(np.uint8)) for count in (60, 90, 30)]
    return pt.evaluate_images(*sets[:2], images, holdout=sets[2])


def test_a_new_metric_is_everywhere(one_more: Metrics, schema: pt.Schema, people: People) -> None:
    found = evaluated(one_more, schema, people)
    assert found.to_json()["size"] == {"ratio": 1.5}
    assert found.results["size"] == Size(1.5)
    assert found.verdict.points[-1].question == "size"
    assert found.verdict.grade in ("fair", "poor")
    assert {"measure": "size", "value": 1.5} in found.table().to_pylist()
    assert "Size beside the real set: 1.5." in found.lines()
    page = found.to_html()
    assert '<a href="#size">Size</a>' in page
    assert '<section id="size">\n<h2>Is it as large?</h2>\n<p>By rows.</p>' in page
    assert 'aria-label="Size beside the real set: 1.5"' in page
    assert page.index('id="size"') < page.index('id="audit"')
    with out.capture() as shown:
        show_evaluation(found)
    assert "Size beside the real set: 1.5." in shown.get()
    assert "size" in shown.get()
    if one_more is METRICS:
        assert "Size is not everything." in found.notes


def test_without_it_nothing_is_left(schema: pt.Schema, people: People) -> None:
    found = pt.evaluate(people(30, 1), people(30, 2), schema)
    assert "size" not in found.to_json()
    assert 'id="size"' not in found.to_html()


def test_a_file_in_the_folder_is_enough(tmp_path: Path) -> None:
    """As if someone had put it there: no line anywhere else."""
    (tmp_path / "hello.py").write_text(
        """
from dataclasses import dataclass

from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.metric import METRICS, TableMetric


@dataclass(frozen=True)
class Hello(Result):
    rows: int

    def to_json(self):
        return self.rows


@METRICS.register("hello")
class HelloMetric(TableMetric[Hello]):
    def compute(self, real, synthetic, context):
        return Hello(real.rows)
""",
        encoding="utf-8",
    )
    code = f"""
import pyarrow as pa
import pointillist as pt
from pointillist.evaluate.tables import metrics
metrics.__path__.append({str(tmp_path)!r})
found = pt.evaluate(*[pa.table({{"x": [True, False] * 9}})] * 2, pt.Schema(name="x", columns={{"x": pt.Boolean()}}))
assert found.to_json()["hello"] == 18, found.to_json()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class TestContext:
    @pytest.fixture
    def context(self, schema: pt.Schema, people: People) -> TableContext:
        real, made = (read(people(20, seed), schema) for seed in (1, 2))
        return TableContext(real, made, None, schema, None, None, 0)

    def test_a_metric_is_computed_once(self, context: TableContext) -> None:
        calls = []

        class Counted(TableMetric[Size]):
            def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Size:
                calls.append(1)
                return Size(1.0)

        assert context.ask(Counted) is context.ask(Counted)
        assert len(calls) == 1

    def test_what_does_not_suit_or_lacks_something_is_not_computed(self, context: TableContext) -> None:
        class Unsuited(SizeOfTable):
            @classmethod
            def suits(cls, schema: pt.Schema) -> bool:
                return False

        class Needy(SizeOfTable):
            needs = ("release",)

        assert context.ask(Unsuited) is None
        assert context.ask(Needy) is None
        assert context.ask(SizeOfTable) == Size(1.0)

    def test_progress_is_one_bar(self, context: TableContext) -> None:
        metrics: Metrics = Registry("metric")
        metrics.register("a")(SizeOfTable)
        metrics.register("b")(type("Slow", (SizeOfTable,), {"cost": 3}))
        seen: list[float] = []
        found = compute_all(metrics, context, Steps(lambda step, fraction: seen.append(fraction)))
        assert list(found) == ["a", "b"]
        assert seen == [0.0, 0.25, 1.0]


def test_a_result_says_nothing_unless_it_is_told_to() -> None:
    plain = Result()
    assert (plain.points(), plain.sections(), plain.lines(), plain.headlines()) == ((), (), (), {})
    with pytest.raises(NotImplementedError):
        plain.to_json()
