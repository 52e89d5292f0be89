"""Gallery as a method: plan, release, fit, sample, on this machine and on another."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.fixtures.galleries import extractor, method, private, public, quiet_release, schema

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features.images.extractor_training import PublicImages
from pointillist.methods.planned_method import planned_method


def test_plan_states_what_is_measured() -> None:
    plan = pt.plan(schema(), epsilon=1, method=method())
    first, check = plan.rounds
    names = [block.name for block in first.blocks]
    assert names == ["means by class", "class counts", "second moment", "spectrum", "outside the gallery by class"]
    assert [block.name for block in check.blocks] == ["check by a probe"]
    assert check.share == pytest.approx(0.05)
    assert sum(block.part for block in first.blocks) == pytest.approx(1)
    assert plan.options["public"]["images"] == 180
    assert len(plan.options["public"]["sha256"]) == 64
    assert plan.options["extractor"] == {"name": "tiny", "sha256": extractor().sha256}
    assert plan.options["pictures"] == 50
    assert pt.plan(schema(), epsilon=1, method=method(pictures=None)).options["pictures"] == 75
    assert "for training, not for looking" in " ".join(plan.notes)


def test_replacing_one_costs_sqrt_2_and_not_2() -> None:
    """The count's weight is raised until no two images' features point away from each other."""
    plans = {
        name: pt.plan(schema(), epsilon=1, neighbours=name, method=method()) for name in ("add-remove", "replace-one")
    }
    blocks = {name: plan.rounds[0].blocks for name, plan in plans.items()}
    assert plans["replace-one"].rounds[0].positive
    weights = {name: each[0].weight for name, each in blocks.items()}
    ratio = plans["replace-one"].sigma(0) / plans["add-remove"].sigma(0)
    assert ratio == pytest.approx(math.sqrt(2), rel=1e-3)
    assert weights["add-remove"] / weights["replace-one"] == pytest.approx(math.sqrt(2 / 1.58), rel=1e-3)
    assert blocks["replace-one"][1].weight > blocks["add-remove"][1].weight


def test_more_images_and_budget_measure_more_directions() -> None:
    def directions(rows: int | None, epsilon: float) -> int:
        return int(pt.plan(schema(rows=rows), epsilon=epsilon, method=given).options["directions"])

    given = method()
    wide = replace(given)
    assert directions(50, 0.1) == 8
    assert directions(100_000, 5) >= directions(50, 0.1)
    assert pt.plan(schema(), epsilon=1, method=replace(wide, directions=3)).options["directions"] == 3
    assert "as the schema does not state them" in pt.plan(schema(rows=None), epsilon=1, method=given).notes[0]


def test_classes_get_their_images(tmp_path: Path) -> None:
    made = quiet_release(method())
    made.save(tmp_path / "r")
    model = pt.fit(pt.Release.load(tmp_path / "r"))  # the images are in the cache
    model.save(tmp_path / "m")
    found = pt.Model.load(tmp_path / "m")
    assert found.to_bytes() == model.to_bytes()
    drawn = found.sample(60, seed=1)
    above = drawn.pixels[:, :4].mean(axis=(1, 2, 3)) > drawn.pixels[:, 4:].mean(axis=(1, 2, 3))
    assert (above == (drawn.codes == 0)).mean() > 0.95
    assert abs(int((drawn.codes == 0).sum()) - 40) <= 2
    assert any("small network" in note for note in found.notes)
    assert found.sample(3, given={"label": "b"}, seed=0).labels.tolist() == ["b"] * 3


def test_without_labels_images_are_weighted() -> None:
    bright = public().pixels.copy()
    bright[::2] = 255 - bright[::2]
    given = method(public=PublicImages.of("mixed", bright))
    made = quiet_release(given, labelled=False)
    assert len(made.measurements) == 1
    assert "No check by a probe: there are no labels" in " ".join(made.plan.notes)
    model = pt.fit(made, method=given)
    drawn = model.sample(200, seed=0)
    assert drawn.codes is None
    dark = (drawn.pixels.mean(axis=(1, 2, 3)) < 128).mean()
    assert dark > 0.8  # half of the gallery is bright, and no private image is


def test_on_another_machine_the_images_are_passed(own_cache: Path) -> None:
    made = pt.release(private(), schema(), epsilon=5, method=method(probe_share=0.0))
    before = pt.fit(made).to_bytes()
    for path in own_cache.iterdir():
        path.unlink()
    with pytest.raises(UsageError, match="not in the cache of this machine"):
        pt.fit(made)
    given = replace(planned_method(made), public=public())  # type: ignore[type-var]
    assert pt.fit(made, method=given).to_bytes() == before  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not the public images that the release was made with"):
        pt.fit(made, method=replace(given, public=public(60)))  # type: ignore[type-var,arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"public": None}, "gallery needs public images: --public"),
        ({"public": PublicImages.of("p", np.zeros((30, 4, 4), np.uint8))}, "not of the schema's size|all alike"),
        ({"extractor": {"name": "x", "sha256": "y"}}, "name its extractor"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_spent(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pt.release(private(), schema(), epsilon=1, method=method(**options))
    assert pt.Ledger(None).accounts() == ()


@pytest.mark.parametrize(
    "options",
    [
        {"directions": 0},
        {"directions": 1000},
        {"pictures": 0},
        {"second_weight": 0},
        {"spectrum_share": 0},
        {"public": "p/"},
    ],
)
def test_settings_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        method(**options)


def test_other_releases_and_generators_are_refused() -> None:
    made = pt.release(private(), schema(), epsilon=5, method=pt.Spectral(frequencies=2, kinds=1))
    with pytest.raises(UsageError, match="holds no moments in a gallery's space"):
        pt.fit(made, method=method())
    own = pt.release(private(), schema().model_copy(update={"name": "own"}), epsilon=5, method=method(probe_share=0.0))
    with pytest.raises(UsageError):
        pt.fit(own, generator="image-network")


def test_the_device_is_in_no_plan() -> None:
    plain, placed = (pt.plan(schema(), epsilon=1, method=method(device=each)) for each in ("cpu", "auto"))
    assert placed.options == plain.options
    assert "device" not in placed.options
    with pytest.raises(UsageError, match="device 'gpu' is not known"):
        method(device="gpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_a_card_that_is_not_there_is_refused_before_anything_is_spent() -> None:
    with pytest.raises(UsageError, match="cuda is not available here"):
        pt.release(private(), schema(), epsilon=1, method=method(device="cuda"))
    assert pt.Ledger(None).accounts() == ()
