"""Fitting a network of rows: the release as its loss, any release, the same seed the same rows."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

import pointillist as pt
from pointillist.device import device_named, placing
from pointillist.errors import UsageError
from pointillist.features import RandomFourier, Weighted
from pointillist.fitting.class_shares import class_shares
from pointillist.fitting.descent import move
from pointillist.fitting.likelihood import Likelihood
from pointillist.generators.network.fit import Batches, heads_of
from pointillist.generators.network.row_network import Network, Shape
from pointillist.progress import silent
from pointillist.schema.levels import levels_of

Shapes = Callable[..., pa.Table]
Releases = Callable[..., pt.Release]
Misfit = Callable[[pt.Release, pa.Table], float]

METHODS: dict[str, pt.Merf | pt.Hermite | pt.Mosaic] = {
    "merf": pt.Merf(features=100),
    "hermite": pt.Hermite(order=8, product_order=3, products=6),
    "mosaic": pt.Mosaic(),
}
QUICK = pt.NetworkSettings(hidden=(40, 40), steps=200, batch=200)
FIRST = replace(QUICK, steps=1)


def fitted(release: pt.Release, settings: pt.NetworkSettings, *, seed: int = 0) -> pt.Model:
    return pt.Model.fitted(release, settings, seed=seed, progress=silent)


@pytest.fixture(scope="module")
def releases(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> dict[str, pt.Release]:
    """One release by each method, with the kind as the target."""
    table = shapes(2_000)
    return {name: seeded_release(table, shapes_schema, method=each, target="kind") for name, each in METHODS.items()}


@pytest.fixture(scope="module")
def model(releases: dict[str, pt.Release]) -> pt.Model:
    return fitted(releases["merf"], QUICK)


def test_heads_follow_from_what_was_measured(releases: dict[str, pt.Release]) -> None:
    (measured,) = releases["merf"].measurements
    levels = levels_of(releases["merf"].schema)
    heads = {head.column: head for head in heads_of([measured.feature_map], levels)}
    assert heads["kind"].width == 3
    assert (heads["size"].tiles, heads["size"].width) == (None, 1)
    assert heads["debt"].width == 4  # a number, zero or missing, and where it lies
    assert heads["flag"].width == 2
    counts = [part for part in measured.feature_map.parts if isinstance(part, Weighted) and part.map.indicator]
    with pytest.raises(ValueError, match="'size' was not measured"):
        heads_of(counts, levels)


def test_the_same_seed_gives_the_same_rows(releases: dict[str, pt.Release]) -> None:
    short = replace(QUICK, steps=30)
    first, second, other = (fitted(releases["merf"], short, seed=seed) for seed in (1, 1, 2))
    assert first.sample(300, seed=3).equals(second.sample(300, seed=3))
    assert not first.sample(300, seed=3).equals(first.sample(300, seed=4))
    assert not first.sample(300, seed=3).equals(other.sample(300, seed=3))


def test_rows_are_like_the_real_ones(model: pt.Model, shapes: Shapes) -> None:
    """Loose on purpose: the fit is short. Classes by their shares; the two frequent ones have the right means."""
    made, real = model.sample(2_000, seed=1).to_pandas(), shapes(2_000).to_pandas()
    for kind in ("a", "b", "c"):
        mine, theirs = made[made.kind == kind], real[real.kind == kind]
        assert abs(len(mine) - len(theirs)) < 60
        assert abs(mine["flag"].mean() - theirs["flag"].mean()) < 0.25
        if kind != "c":
            assert abs(mine["size"].mean() - theirs["size"].mean()) < 0.1
    assert abs((made["debt"] == 0).mean() - (real["debt"] == 0).mean()) < 0.15


@pytest.mark.parametrize(
    ("method", "target"),
    [*((name, "kind") for name in METHODS), *((name, None) for name in METHODS), ("mosaic", "size")],
)
def test_it_fits_any_release(
    method: str,
    target: str | None,
    shapes: Shapes,
    shapes_schema: pt.Schema,
    seeded_release: Releases,
    misfit: Misfit,
) -> None:
    """Generator and release are independent choices; a fit comes far nearer than its first step."""
    release = seeded_release(shapes(2_000), shapes_schema, method=METHODS[method], target=target)
    made = fitted(release, replace(QUICK, steps=80)).sample(2_000, seed=1)
    assert misfit(release, made) < 0.35 * misfit(release, fitted(release, FIRST).sample(2_000, seed=1))


@pytest.mark.parametrize(
    ("method", "choice"),
    [
        ("hermite", {"reweighted": True}),
        ("hermite", {"loss": "distance"}),
        ("hermite", {"loss": "distance", "gamma": 0.1, "reweighted": True}),
        ("hermite", {"products_in_turn": True}),
        ("hermite", {"loss": "distance", "gamma": 3.0, "products_in_turn": True}),
        ("merf", {"loss": "distance", "reweighted": True}),
        ("mosaic", {"loss": "distance", "reweighted": True, "products_in_turn": True}),
    ],
    ids=str,
)
def test_the_papers_variants_train_too(
    method: str, choice: dict[str, Any], releases: dict[str, pt.Release], misfit: Misfit
) -> None:
    release, settings = releases[method], replace(QUICK, steps=80, **choice)
    made = fitted(release, settings).sample(2_000, seed=1)
    assert misfit(release, made) < 0.5 * misfit(release, fitted(release, FIRST).sample(2_000, seed=1))


def test_the_variants_are_different_losses(releases: dict[str, pt.Release]) -> None:
    """Each setting changes the fit of a release that it concerns, and none changes one that it does not."""
    short = replace(QUICK, steps=5)

    def rows(method: str, **choice: Any) -> pa.Table:
        return fitted(releases[method], replace(short, **choice)).sample(300, seed=3)

    plain = rows("hermite")
    for choice in ({"reweighted": True}, {"loss": "distance"}, {"products_in_turn": True}):
        assert not rows("hermite", **choice).equals(plain)
    distance = rows("hermite", loss="distance")
    assert not rows("hermite", loss="distance", gamma=0.01).equals(distance)
    assert rows("hermite", gamma=0.01).equals(plain)  # the likelihood knows how much products count
    assert rows("merf", products_in_turn=True).equals(rows("merf"))  # no products there
    assert rows("merf", loss="distance", gamma=0.01).equals(rows("merf", loss="distance"))


def test_reweighting_helps_the_rarest_class(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> None:
    """Three rows in a hundred: by distance alone such a class hardly counts, by class it counts like the others."""
    table = shapes(2_000, shares=(0.6, 0.37, 0.03))
    release = seeded_release(table, shapes_schema, method=METHODS["merf"], target="kind", epsilon=20.0)
    errors = []
    for reweighted in (False, True):
        settings = replace(QUICK, steps=50, loss="distance", reweighted=reweighted)
        made = fitted(release, settings).sample(2_000, seed=1).to_pandas()
        errors.append(abs(made[made.kind == "c"]["size"].mean() - 0.8))
    assert errors[1] < 0.3 * errors[0]


def test_a_class_without_rows_stays_empty(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> None:
    table = shapes(2_000, shares=(0.7, 0.3, 0.0))
    for method in METHODS.values():
        release = seeded_release(table, shapes_schema, method=method, target="kind")
        kinds = fitted(release, replace(QUICK, steps=10, reweighted=True)).sample(1_000, seed=0)["kind"].to_pylist()
        assert kinds.count("c") < 30  # noise may leave a few rows, or none
        assert 600 < kinds.count("a") < 800


def test_a_model_survives_its_file(model: pt.Model, tmp_path: Any) -> None:
    model.save(tmp_path / "m")
    again = pt.Model.load(tmp_path / "m")
    assert isinstance(again.generator, Network)
    assert again.sample(300, seed=5).equals(model.sample(300, seed=5))
    assert "hidden layers of 40, 40" in again.generator.describe()


def test_no_rows_and_one_row(model: pt.Model) -> None:
    assert model.sample(0, seed=0).num_rows == 0
    assert model.sample(1, seed=0).num_rows == 1


def test_fitting_stops_when_the_noise_is_all_that_is_left(releases: dict[str, pt.Release]) -> None:
    """Noise so large that no network can be told from another, and a chi^2 just below its mean: one look is enough."""
    release = releases["merf"]
    (measured,) = release.measurements
    sigma = 1e6 * measured.sigma
    drawn = np.random.default_rng(0).standard_normal(len(measured.values))
    drawn *= 0.99 * np.sqrt(len(drawn)) / np.linalg.norm(drawn)
    noise = replace(measured, values=np.rint(sigma * drawn).astype(np.int64), sigma=sigma)
    steps: list[float] = []
    QUICK.fit(replace(release, measurements=(noise,)), seed=0, progress=lambda step, fraction: steps.append(fraction))
    assert len(steps) == 2  # the first look, and the end
    assert steps[-1] == 1.0


def test_a_fit_goes_on_while_the_rows_are_wrong(releases: dict[str, pt.Release]) -> None:
    steps: list[float] = []
    short = replace(QUICK, steps=30, check=10)
    short.fit(releases["merf"], seed=0, progress=lambda step, fraction: steps.append(fraction))
    assert steps == sorted(steps)
    assert len(steps) >= 3
    assert steps[-1] == 1.0


def test_a_map_of_positions_alone_needs_no_levels() -> None:
    fourier = RandomFourier.draw(("x",), 4, 0.5, seed=0)
    (level,) = levels_of(pt.Schema(name="x", columns={"x": pt.Real(min=0, max=1, missing=False)}))
    (head,) = heads_of([fourier], [level])
    assert (head.tiles, head.position, head.width) == (None, True, 1)
    assert len(head.edges) == level.regular - 1


@pytest.mark.parametrize("method", METHODS)
def test_a_whole_step_stays_on_its_device(releases: dict[str, pt.Release], method: str) -> None:
    """Torch's meta device refuses tensors of any other, as a graphics card does; forward, backward and a step of Adam."""
    release, device = releases[method], torch.device("meta")
    rows, label, shares = class_shares(release)
    levels = levels_of(release.schema)
    assert label is not None
    shape = Shape(
        heads_of([each.feature_map for each in release.measurements], levels), label.name, tuple(shares.tolist())
    )
    module = shape.module().to(device)
    with placing(device):
        batches = Batches(shape, Likelihood.of(release, rows), {each.name: each for each in levels}, QUICK)
        loss = batches.loss(module, 50, np.random.default_rng(0), 0.5)
        assert loss.device == device
        move(torch.optim.Adam(module.parameters()), loss)


def test_a_device_changes_neither_model_nor_checkpoint(
    releases: dict[str, pt.Release], model: pt.Model, tmp_path: Path
) -> None:
    """Here auto is the processor, unless there is a card; what is written does not say what ran."""
    if device_named("auto").type == "cpu":
        assert fitted(releases["merf"], replace(QUICK, device="auto")).to_bytes() == model.to_bytes()
    short = replace(QUICK, steps=100, check=20)
    path = tmp_path / "c"
    short.fit(releases["merf"], seed=0, progress=silent, checkpoint=path)
    replace(short, device="auto").fit(releases["merf"], seed=0, progress=silent, checkpoint=path)
    with pytest.raises(UsageError, match="device 'gpu' is not known"):
        pt.NetworkSettings(device="gpu")  # type: ignore[arg-type]
