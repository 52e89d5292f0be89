"""The whole evaluation of images: complete, plain in JSON, private on its page, and a public page without real images."""

import base64
import html
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import DataError, UsageError
from pointillist.evaluate.images import ImageEvaluation, Space, evaluate_images
from pointillist.methods.image_merf import ImageMerf
from pointillist.pages.images import grid, png
from pointillist.reading.image_arrays import images

Bars = Callable[..., pt.Images]
QUICK = {"models": ["logistic regression"], "most_images": 300}


def plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(plain(each) for each in value)
    return value is None or type(value) in (str, int, float, bool)


def checked(found: ImageEvaluation) -> ImageEvaluation:
    facts = found.to_json()
    assert plain(facts)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert np.isfinite(found.table()["value"].to_numpy()).all()
    page = found.to_html()
    assert "Private." in page
    assert "not comparable with published FID" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)  # nothing from elsewhere
    assert "<script" not in page
    return found


class TestWhole:
    def test_a_second_sample_is_good(self, bars: Bars, bars_schema: pt.Schema) -> None:
        found = checked(evaluate_images(bars(600, 1), bars(500, 2), bars_schema, holdout=bars(300, 3)))
        assert found.images == {"real": 600, "synthetic": 500, "holdout": 300}
        assert found.notes == ()
        assert set(found.classifiers) == {"real", "synthetic"}
        assert [each.model for each in found.classifiers["real"].results] == [
            "logistic regression",
            "random forest",
            "CNN",
        ]
        assert found.copies is not None
        assert not found.copies.suspicious
        assert found.verdict.grade == "good", found.verdict.sentence
        assert {point.question for point in found.verdict.points} == {
            "shares of classes", "classifiers trained on it", "likeness of images", "variety of images",
        }  # fmt: skip

    def test_without_a_holdout_a_quarter_is_held_back(self, bars: Bars, bars_schema: pt.Schema) -> None:
        found = checked(evaluate_images(bars(400, 1), bars(200, 2), bars_schema, **QUICK))
        assert found.images == {"real": 400, "synthetic": 200, "held back": 100}
        assert found.classifiers["real"].results[0].images == 300
        assert found.copies is None
        assert "quarter" in found.notes[0]

    def test_a_class_in_place_of_all(self, bars: Bars, bars_schema: pt.Schema) -> None:
        made = bars(900, 2)
        assert made.codes is not None
        index = made.codes == 1
        one = pt.Images(made.pixels[index], made.codes[index], made.classes)
        found = checked(evaluate_images(bars(900, 1), one, bars_schema, holdout=bars(400, 3), **QUICK))
        grades = {point.question: point.grade for point in found.verdict.points}
        assert grades["shares of classes"] == "poor"
        assert grades["classifiers trained on it"] == "poor"
        assert grades["variety of images"] != "good"
        assert grades["likeness of images"] == "good"
        assert len(found.samples["left"][1]) == 0  # real images of it are shown all the same

    def test_copies_are_poor(self, bars: Bars, bars_schema: pt.Schema) -> None:
        real = bars(500, 1, noise=40.0)
        found = checked(evaluate_images(real, real, bars_schema, holdout=bars(300, 3, noise=40.0), **QUICK))
        assert found.verdict.points[0].question == "copies of released images"
        assert found.verdict.grade == "poor"

    def test_without_labels(self, bars: Bars, bars_schema: pt.Schema) -> None:
        schema = pt.Schema(name="bars", reviewed=True, columns={"image": bars_schema.columns["image"]})
        sets = [pt.Images(bars(300, seed).pixels) for seed in (1, 2, 3)]
        found = checked(evaluate_images(sets[0], sets[1], schema, holdout=sets[2]))
        assert found.classifiers == {}
        assert found.diversity.curve is None
        assert list(found.samples) == ["all images"]
        assert any("no labels" in note for note in found.notes)

    def test_in_colour_with_a_network_of_the_users(self, bars: Bars, bars_schema: pt.Schema) -> None:
        label = bars_schema.columns["label"]
        columns = {"image": pt.Image(height=12, width=12, colour=True), "label": label}
        schema = pt.Schema(name="bars", reviewed=True, columns=columns)
        space = Space("mean colour of a network", lambda pixels: pixels.mean(axis=(1, 2)))
        sets = [bars(200, seed, channels=3) for seed in (1, 2)]
        found = checked(evaluate_images(*sets, schema, spaces=(space,), **QUICK))
        assert [each.space for each in found.distances] == ["mean colour of a network"]
        assert "mean colour of a network" in found.to_html()

    def test_the_seed_decides(self, bars: Bars, bars_schema: pt.Schema) -> None:
        def run(seed: int) -> Any:
            facts = evaluate_images(bars(150, 1), bars(100, 2), bars_schema, seed=seed, **QUICK).to_json()
            for results in facts["classifiers"].values():
                for each in results["classifiers"]:
                    each.pop("cpu_seconds")
            return facts

        assert run(1) == run(1) != run(2)

    def test_progress_goes_from_nothing_to_all(self, bars: Bars, bars_schema: pt.Schema) -> None:
        seen: list[tuple[str, float]] = []
        evaluate_images(
            bars(100, 1), bars(100, 2), bars_schema, progress=lambda *step: seen.append(step), **QUICK
        )  # fmt: skip
        fractions = [fraction for _, fraction in seen]
        assert fractions == sorted(fractions)
        assert (fractions[0], fractions[-1]) == (0.0, 1.0)
        assert {step for step, _ in seen} == {"evaluate"}


class TestPages:
    def test_the_owners_page_shows_real_images(self, bars: Bars, bars_schema: pt.Schema) -> None:
        found = evaluate_images(bars(100, 1), bars(100, 2), bars_schema, **QUICK)
        page = found.to_html()
        for pair in found.samples.values():
            for each in pair:
                assert base64.b64encode(png(grid(each.pixels, 8))).decode() in page
        assert page.count("<img ") == 6

    def test_names_of_classes_are_escaped(self, bars: Bars) -> None:
        classes = ("<b>", "a&b", '"')
        label = pt.Categorical(categories=classes, missing=False, out_of_domain="error")
        schema = pt.Schema(name="<i>", reviewed=True, columns={"image": pt.Image(height=12, width=12), "label": label})
        sets = [pt.Images(each.pixels, each.codes, classes) for each in (bars(100, 1), bars(100, 2))]
        page = evaluate_images(*sets, schema, **QUICK).to_html()
        assert "<b>" not in page
        assert "<i>:" not in page

    def test_the_owners_page_has_the_promise(self, bars: Bars, bars_schema: pt.Schema) -> None:
        real, made = bars(60, 1), bars(60, 2)
        release = pt.release(
            images(real.pixels, real.labels),
            bars_schema,
            epsilon=1.0,
            neighbours="replace-one",
            method=ImageMerf(features=20),
        )
        page = evaluate_images(real, made, release=release, **QUICK).to_html()
        assert release.guarantee.sentence() in html.unescape(page)


class TestMistakes:
    def test_images_that_are_not_the_schemas(self, bars: Bars, bars_schema: pt.Schema) -> None:
        made = bars(20, 1)
        wrong = {
            "12 x 12 x 3": bars(20, 1, channels=3),
            "no labels": pt.Images(made.pixels),
            "classes": pt.Images(made.pixels, made.codes, ("a", "b", "c")),
            "there are none": pt.Images(made.pixels[:0], np.zeros(0, dtype=np.uint16), made.classes),
        }
        for words, odd in wrong.items():
            with pytest.raises(DataError, match=f"the synthetic images.*{words}"):
                evaluate_images(made, odd, bars_schema)

    def test_a_table_is_no_set_of_images(self, bars: Bars, schema: pt.Schema) -> None:
        with pytest.raises(UsageError, match="no column of images"):
            evaluate_images(bars(10, 1), bars(10, 2), schema)

    @pytest.mark.parametrize("counts", [(1, 5), (5, 1)])
    def test_one_image_is_too_few(self, bars: Bars, bars_schema: pt.Schema, counts: tuple[int, int]) -> None:
        with pytest.raises(UsageError, match=r"too few|at least two"):
            evaluate_images(bars(counts[0], 1), bars(counts[1], 2), bars_schema, **QUICK)
