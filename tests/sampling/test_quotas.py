"""Quotas: labels are dealt out where they come first, and classes are drawn one by one where they do not."""

from collections.abc import Callable

import numpy as np
import pytest

import pointillist as pt
from pointillist.generators.gaussians.gaussians import Gaussians
from pointillist.sampling.condition import Condition
from pointillist.sampling.constrained_sampler import ConstrainedSampler
from pointillist.sampling.quotas import balanced
from pointillist.schema.levels import Levels, levels_of

LABEL = pt.Categorical(categories=("cat", "dog", "eel"), missing=True)
IMAGES = pt.Schema(name="images", columns={"image": pt.Image(height=1, width=1), "label": LABEL})


def by_label(shares: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 0.0)) -> tuple[ConstrainedSampler, Levels]:
    ones = np.ones((5, 1, 1), dtype=np.float32)
    generator = Gaussians((1, 1, 1), shares, ones[0], ones, ones[:, :, 0], ones, ones)
    levels = levels_of(IMAGES)
    return ConstrainedSampler.of(levels, generator, ()), levels[0]


@pytest.mark.parametrize("count", [0, 1, 10, 31])
def test_labels_are_dealt_out(count: int) -> None:
    """Also of classes that a release found empty; unlisted labels and gaps are no classes."""
    sampler, label = by_label()
    found = balanced(sampler, Condition({}), label, count, np.random.default_rng(0)).records
    counts = np.bincount(found.codes["label"], minlength=5)
    assert found.images["image"].shape == (count, 1, 1, 1)
    assert counts[3:].sum() == 0
    assert counts[:3].max() - counts[:3].min() <= 1


def test_classes_of_a_table_are_drawn_one_by_one(schema: pt.Schema, random_model: Callable[..., pt.Model]) -> None:
    model = random_model(schema)
    sampler = ConstrainedSampler.of(model.levels, model.generator, ())
    sex = model.levels[0]
    found = balanced(sampler, Condition({}), sex, 31, np.random.default_rng(0))
    counts = np.bincount(found.records.codes["sex"], minlength=sex.size)
    assert counts[: sex.regular].max() - counts[: sex.regular].min() <= 1
    assert set(found.numbers) == {each.name for each in model.levels if each.numeric}
