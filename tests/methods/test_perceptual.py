"""Perceptual as a method: plan, release, fit and sample, with a network of its own kind each time."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features import Extractor, Labelled
from pointillist.features.images.extractor import Input
from pointillist.features.images.public_network import small_network
from pointillist.fitting.class_shares import class_shares
from pointillist.generators.image_network.image_network import ImageNetwork
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.methods.perceptual import MOST_COORDINATES, Perceptual
from pointillist.methods.perceptual_proxy import fit_by_proxy, parted
from pointillist.progress import silent
from pointillist.release import Release
from pointillist.schema import Schema

SIDE = 8
WIDTHS = ((3,), (4,))
ROWS = 300
QUICK = ImageNetworkSettings(architecture="dense", breadth=16, noise=4, steps=20, batch=20, check=5, stop=False)


def extractor(seed: int = 0, widths: tuple[tuple[int, ...], ...] = WIDTHS, side: int = SIDE) -> Extractor:
    torch.manual_seed(seed)
    return Extractor.small("tiny", Input(side, side, 1, (0.5,), (0.25,)), widths, small_network(1, widths))


def schema(*, labelled: bool = True, rows: int | None = ROWS) -> Schema:
    columns = {"image": {"kind": "image", "height": SIDE, "width": SIDE}}
    if labelled:
        label = {"kind": "categorical", "categories": ["a", "b"], "missing": False, "out_of_domain": "error"}
        columns["label"] = label  # type: ignore[assignment]
    facts = {"name": "bars", "reviewed": True, "columns": columns}
    return Schema.parse(facts if rows is None else {**facts, "rows": rows})


def bars(path: Path, *, labelled: bool = True) -> Path:
    """Bright above for a, bright below for b; one in three is b."""
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(ROWS) % 3 == 0, "b", "a")
    pixels = rng.integers(0, 50, (ROWS, SIDE, SIDE)).astype(np.uint8)
    pixels[labels == "a", : SIDE // 2] += 200
    pixels[labels == "b", SIDE // 2 :] += 200
    np.savez(path, **({"x": pixels, "y": labels} if labelled else {"x": pixels}))
    return path


def released(folder: Path, method: Perceptual, *, labelled: bool = True, epsilon: float = 10.0) -> Release:
    path = bars(folder / "bars.npz", labelled=labelled)
    facts = schema(labelled=labelled)
    return pt.release(path, facts, epsilon=epsilon, neighbours="replace-one", method=method, threads=1)


def test_plan_states_noise_and_bounds() -> None:
    method = Perceptual(extractor=extractor())
    plan = pt.plan(schema(), epsilon=1, neighbours="replace-one", method=method)
    (only,) = plan.rounds
    assert only.nonnegative
    assert [block.name for block in only.blocks] == ["activations by class", "class counts"]
    assert plan.options["extractor"] == {"name": "tiny", "sha256": extractor().sha256}
    assert plan.options["pool"] == SIDE // 2
    text = " ".join(plan.notes)
    assert "Prop. A.1" in text
    assert "longer than mean features usually are" not in text
    short = pt.plan(schema(), epsilon=0.3, neighbours="replace-one", method=method)
    assert "longer than mean features usually are" in short.notes[-1]
    assert "as the schema does not state them" in pt.plan(schema(rows=None), epsilon=1, method=method).notes[0]


def test_rectified_features_cost_less_where_records_are_replaced() -> None:
    def noise(**options: bool) -> float:
        method = Perceptual(extractor=extractor(), **options)  # type: ignore[arg-type]
        plan = pt.plan(schema(), epsilon=1, neighbours="replace-one", method=method)
        return plan.noise_rows(0, plan.rounds[0].blocks[0])

    assert noise(rectified=False) / noise() == pytest.approx(math.sqrt(2), rel=1e-6)


def test_averages_keep_a_release_small() -> None:
    wide = extractor(widths=((256,), (256,)), side=64)
    method = Perceptual(extractor=wide)
    plan = pt.plan(schema(), epsilon=1, method=method)
    assert plan.rounds[0].dimension <= MOST_COORDINATES + 2
    assert plan.options["pool"] < 32
    assert Perceptual(extractor=wide, pool=40)._map(plan.request).shapes[0] == (256, 40, 40)


def test_proxy_has_ten_times_the_noise_and_is_paid_for() -> None:
    with_proxy, without = (
        pt.plan(schema(), epsilon=1, neighbours="replace-one", method=Perceptual(extractor=extractor(), stopping=way))
        for way in ("proxy", "chi2")
    )
    features, _, proxy = with_proxy.rounds[0].blocks
    assert with_proxy.noise_rows(0, proxy) / with_proxy.noise_rows(0, features) == pytest.approx(10)
    assert proxy.cells == 2 * WIDTHS[-1][-1]
    assert with_proxy.noise_rows(0, features) > without.noise_rows(0, without.rounds[0].blocks[0])
    assert math.fsum(block.weight**2 * block.count for block in with_proxy.rounds[0].blocks) <= 1 + 1e-12


def test_parts_of_the_network_can_be_changed() -> None:
    usual = pt.plan(schema(), epsilon=1.0, method=Perceptual(extractor=extractor())).options["network"]
    longer = pt.plan(schema(), epsilon=1.0, method=Perceptual(extractor=extractor(), network={"steps": 7}))
    assert longer.options["network"] == {**usual, "steps": 7}
    assert usual["steps"] != 7
    with pytest.raises(UsageError, match="stepz"):
        Perceptual(extractor=extractor(), network={"stepz": 7})


@pytest.mark.parametrize("labelled", [True, False])
def test_release_fit_and_sample(tmp_path: Path, labelled: bool) -> None:
    method = Perceptual(extractor=extractor(), network=QUICK)
    made = released(tmp_path, method, labelled=labelled)
    made.save(tmp_path / "bars.release")
    back = Release.load(tmp_path / "bars.release")
    assert np.array_equal(back.measurements[0].values, made.measurements[0].values)
    assert back.measurements[0].feature_map.blocks()[0][0].nonnegative
    model = Perceptual(**back.plan.options).fit(back, seed=0, progress=silent)
    pictures = model.sample(30, seed=1)
    assert pictures.pixels.shape == (30, SIDE, SIDE, 1)
    if labelled:
        rows, _, shares = class_shares(back)
        assert rows == ROWS
        np.testing.assert_allclose(shares, [2 / 3, 1 / 3], atol=0.1)
        assert pictures.codes is not None


def test_the_release_holds_mean_features_with_its_noise(tmp_path: Path) -> None:
    """The sum of all coordinates' squared errors, by the stated noise, is a chi^2: within 5.5 standard deviations."""
    method = Perceptual(extractor=extractor())
    made = released(tmp_path, method, epsilon=5)
    (measurement,) = made.measurements
    (block, weight), _ = measurement.feature_map.blocks()
    assert isinstance(block, Labelled)
    with np.load(tmp_path / "bars.npz") as arrays:
        pixels, labels = arrays["x"][..., None], arrays["y"]
    codes = (labels == "b").astype(np.uint16)
    features = block(pt.features.Records(ROWS, {"label": codes}, {}, {"image": pixels})).sum(axis=0)
    found = measurement.values[: block.dimension] / (weight * measurement.grid.scale)
    deviation = measurement.sigma / (weight * measurement.grid.scale)
    chi_squared = (((found - features) / deviation) ** 2).sum()
    assert abs(chi_squared - block.dimension) < 5.5 * math.sqrt(2 * block.dimension)


def test_stopping_by_proxy_keeps_the_state_that_is_nearest(tmp_path: Path) -> None:
    made = released(tmp_path, Perceptual(extractor=extractor(), stopping="proxy", network=QUICK))
    rest, proxy = parted(made, ROWS)
    assert rest.measurements[0].feature_map.dimension + len(proxy.wanted) == len(made.measurements[0].values)
    model = Perceptual(**made.plan.options).fit(made, seed=0, progress=silent)
    chosen = model.generator
    last = replace(QUICK, stop=False).fit(rest, seed=0, progress=silent)
    assert isinstance(chosen, ImageNetwork)
    assert isinstance(last, ImageNetwork)
    assert proxy.distance(chosen, seed=0) <= proxy.distance(last, seed=0)
    with np.load(tmp_path / "bars.npz") as arrays:
        pixels = torch.as_tensor(arrays["x"][:, None] / 255, dtype=torch.float32)
    true = proxy.map.soft_images(pixels).mean(dim=0).numpy()
    assert not np.array_equal(true, proxy.wanted)  # it is noised, too
    with pytest.raises(UsageError, match="has no proxy to stop by"):
        fit_by_proxy(rest, QUICK, seed=0, progress=silent)


def test_an_own_network_must_be_passed_again(tmp_path: Path) -> None:
    def own(seed: int) -> Extractor:
        torch.manual_seed(seed)
        return Extractor.of(small_network(1, WIDTHS), "mine", Input(SIDE, SIDE, 1, (0.5,), (0.25,)))

    released(tmp_path, Perceptual(extractor=own(0))).save(tmp_path / "bars.release")
    back = Release.load(tmp_path / "bars.release")
    with pytest.raises(UsageError, match="owner's own network"):
        Perceptual(**{**back.plan.options, "network": QUICK}).fit(back, seed=0, progress=silent)
    with pytest.raises(UsageError, match="is another"):
        Perceptual(extractor=own(1), network=QUICK).fit(back, seed=0, progress=silent)
    assert len(Perceptual(extractor=own(0), network=QUICK).fit(back, seed=0, progress=silent).sample(3)) == 3


def test_layers_by_name() -> None:
    method = Perceptual(extractor=extractor(), layers=("normalisation2",), moments=1, pool=100)
    plan = pt.plan(schema(labelled=False), epsilon=1, neighbours="replace-one", method=method)
    assert plan.rounds[0].dimension == 4 * 4 * 4
    assert plan.options["layers"] == ["normalisation2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moments": 3}, "moments must be 1 or 2"),
        ({"pool": 0}, "pool must be at least 1"),
        ({"second_share": 1.5}, "second_share must lie between"),
        ({"stopping": "never"}, "stopping 'never' is not known"),
        ({"layers": "conv"}, "layers must be a list"),
    ],
)
def test_settings_out_of_range(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Perceptual(**options)  # type: ignore[arg-type]


def test_settings_of_a_release_do_not_hold_the_network() -> None:
    plan = pt.plan(schema(), epsilon=1, method=Perceptual(extractor=extractor()))
    with pytest.raises(UsageError, match="Pass the extractor itself"):
        Perceptual(**plan.options).plan(plan.request)
    table = Schema.parse({"name": "t", "columns": {"a": {"kind": "boolean"}}})
    with pytest.raises(UsageError, match="images"):
        Perceptual(extractor=extractor()).plan(replace(plan.request, schema=table))


def test_the_device_is_in_no_plan() -> None:
    """Two plans that differ by it are the same; what the release says can be given back to the method."""
    plain = pt.plan(schema(), epsilon=1, method=Perceptual(extractor=extractor()))
    placed = pt.plan(
        schema(),
        epsilon=1,
        method=Perceptual(
            extractor=extractor(), device="auto", network=replace(Perceptual()._settings(), device="auto")
        ),
    )
    assert placed.options == plain.options
    assert "device" not in str(plain.options)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_a_card_that_is_not_there_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    given = Perceptual(extractor=extractor(), device="cuda")
    with pytest.raises(UsageError, match="cuda is not available here"):
        pt.release(bars(tmp_path / "bars.npz"), schema(), epsilon=1.0, method=given, ledger=ledger)
    assert pt.Ledger(ledger).accounts() == ()
    with pytest.raises(UsageError, match="device 'gpu' is not known"):
        Perceptual(device="gpu")  # type: ignore[arg-type]
