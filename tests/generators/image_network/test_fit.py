"""Fitting image networks: the release as the loss, whatever was measured, the same seed the same images."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import pointillist as pt
from pointillist.curator.embedding import Embedding
from pointillist.device import device_named, placing
from pointillist.errors import UsageError
from pointillist.features import (
    Concat,
    Constant,
    Extractor,
    FeatureMap,
    ImageFourier,
    ImageHermite,
    ImageHermiteProducts,
    Labelled,
    OneHot,
    Perceptual,
    Pixels,
    Product,
    Records,
    Tiles,
    Weighted,
)
from pointillist.features.images.extractor import Input
from pointillist.features.images.public_network import small_network
from pointillist.fitting.class_shares import class_shares
from pointillist.fitting.descent import move
from pointillist.generators.image_network.fit import Loss, State, require_soft_images, targets_of
from pointillist.generators.image_network.image_network import ImageNetwork, ImageShape
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.model import Model
from pointillist.privacy.grid import Grid
from pointillist.progress import silent
from pointillist.release import Measurement
from pointillist.schema import Categorical, Image, Schema
from pointillist.schema.levels import levels_of

SIZE = (8, 6, 1)
NAMES = ("left", "middle", "right", "none")
LABELLED = Schema(
    name="bars",
    columns={
        "image": Image(height=8, width=6),
        "label": Categorical(categories=NAMES, missing=False, out_of_domain="error"),
    },
)
PLAIN = Schema(name="bars", columns={"image": Image(height=8, width=6)})
LABEL = OneHot("label", 4)
FOURIER = ImageFourier.draw("image", *SIZE, 200, [2.0], seed=0)
QUICK = ImageNetworkSettings(steps=150, batch=40, epoch=50, breadth=40, stop=False)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """These networks are so small that a second thread would only be waited for."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def bars(count: int, seed: int = 0) -> Records:
    """A bright bar, at the left, in the middle or at the right by class; the last class is empty."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, count, p=(0.5, 0.3, 0.2)).astype(np.uint16)
    pixels = np.full((count, *SIZE), 20, dtype=np.uint8)
    for each, code in zip(pixels, codes, strict=True):
        each[:, 2 * code : 2 * code + 2] = rng.integers(150, 250)
    return Records(count, {"label": codes}, {}, {"image": pixels})


def released(
    feature_map: FeatureMap, *, schema: Schema = LABELLED, rows: int | None = None, sigma: float = 0.02, seed: int = 0
) -> pt.Release:
    """Noise by a seed, `sigma` in parts of one record: tests of a fit must not fail by an unlucky draw."""
    grid = Grid.dense(feature_map.dimension)
    embedding = Embedding(feature_map, grid)
    embedding.add(bars(2_000))
    deviation = sigma * grid.scale
    noise = deviation * np.random.default_rng(seed).standard_normal(feature_map.dimension)
    values = embedding.sums() + np.rint(noise).astype(np.int64)
    table = Schema(name="t", columns={"a": Categorical(categories=("x", "y"))})
    return pt.Release(
        id=f"seed {seed}",
        created=pt.Release.now(),
        schema=schema,
        guarantee=replace(pt.plan(table, epsilon=1.0).guarantee, record="image"),
        target=schema.label,
        plan={"method": "merf"},
        rows=rows,
        frame="pyarrow",
        measurements=(Measurement(feature_map, values, grid, deviation),),
    )


def by_class(feature_map: FeatureMap) -> Concat:
    return Concat((Weighted(Labelled.of(feature_map, LABEL), 0.9), Weighted(LABEL, 0.4)))


RELEASE = released(by_class(FOURIER))


def fitted(release: pt.Release, settings: ImageNetworkSettings, **options: Any) -> Model:
    return Model.fitted(release, settings, seed=options.pop("seed", 0), progress=silent, **options)


def loss_of(release: pt.Release, settings: ImageNetworkSettings) -> Loss:
    rows, label, shares = class_shares(release)
    held = tuple(shares.tolist()) if label is not None else ()
    shape = ImageShape("conv", *SIZE, shares=held, noise=3, breadth=10)
    return Loss(targets_of(release, rows, label, shares), shape, settings)


class Showing(torch.nn.Module):
    """In place of a network: real images of the classes that are asked for, drawn at random."""

    def __init__(self, seed: int = 1):
        super().__init__()
        self.random = np.random.default_rng(seed)
        records = bars(2_000)
        self.pixels = torch.as_tensor(records.images["image"] / 255, dtype=torch.float32).permute(0, 3, 1, 2)
        self.order = np.argsort(records.codes["label"], kind="stable")
        self.sizes = np.bincount(records.codes["label"], minlength=4)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        codes = given[:, -4:].argmax(dim=1).numpy()
        within = (self.random.random(len(codes)) * self.sizes[codes]).astype(np.intp)
        start = np.cumsum(self.sizes) - self.sizes
        return self.pixels[self.order[np.minimum(start[codes] + within, len(self.order) - 1)]]


@pytest.mark.parametrize("settings", [
    QUICK,
    replace(QUICK, unbiased=True),
    replace(QUICK, architecture="dense", loss="likelihood"),
    replace(QUICK, architecture="residual", breadth=8, steps=60),
    replace(QUICK, reweighted=True),
    replace(QUICK, average_rate=1e-2, momentum=0.5, rate=3e-3, batch=80),
], ids=["plain", "unbiased", "dense", "residual", "reweighted", "average"])  # fmt: skip
def test_images_are_like_the_real_ones(settings: ImageNetworkSettings) -> None:
    """Loose on purpose: the fit is short. The bar of each class is where it should be, and classes have their shares."""
    made = fitted(RELEASE, settings).sample(600, seed=1)
    for code in range(3):
        mean = made.pixels[made.codes == code].mean(axis=(0, 1, 3))
        inside = mean[2 * code : 2 * code + 2].mean()
        outside = np.delete(mean, [2 * code, 2 * code + 1]).mean()
        assert inside > outside + 60
    assert np.abs(np.bincount(made.codes, minlength=4) / 600 - [0.5, 0.3, 0.2, 0.0]).max() < 0.05


@pytest.mark.parametrize("feature_map", [
    by_class(ImageHermite.spread("image", *SIZE, 8, 0.3)),
    by_class(ImageHermiteProducts.draw("image", *SIZE, 4, 0.5, groups=10, size=2, seed=0)),
    by_class(Concat((Weighted(FOURIER, 0.6), Weighted(ImageHermite.spread("image", *SIZE, 3, 0.3), 0.8)))),
    Concat((Weighted(FOURIER, 0.6), Weighted(Labelled.of(FOURIER, LABEL), 0.6), Weighted(LABEL, 0.4))),
    Concat((Weighted(Product((Tiles("label", (0, 1, 1, 1)), FOURIER)), 0.9), Weighted(LABEL, 0.4))),
], ids=["hermite", "products", "inside", "all and by class", "groups of classes"])  # fmt: skip
def test_chi_squared_is_its_expectation_for_the_images_released(feature_map: Concat) -> None:
    """With images drawn anew the noise alone is left, as many as there are coordinates: within 8 standard deviations,
    and a tenth for chance in the images and in the counts."""
    release = released(feature_map, sigma=3.0)
    loss = loss_of(release, replace(QUICK, batch=400))
    assert loss.dimension >= 0.75 * sum(part.dimension for part in feature_map.maps[:-1])
    found = loss.chi_squared(Showing(), np.random.default_rng(0))
    assert abs(found - loss.dimension) < 8 * np.sqrt(2 * loss.dimension) + 0.1 * loss.dimension
    (measured,) = release.measurements
    moved = np.roll(measured.values, 17)  # the right numbers in the wrong places
    moved[-4:] = measured.values[-4:]
    wrong = loss_of(replace(release, measurements=(replace(measured, values=moved),)), replace(QUICK, batch=400))
    assert wrong.chi_squared(Showing(), np.random.default_rng(0)) > 2 * loss.dimension


def test_the_unbiased_loss_has_no_pull() -> None:
    """For images like the real ones it is 0 on average, where a squared distance is not: far over 10 standard errors."""
    release = released(by_class(FOURIER), sigma=1e-6)
    means = {}
    for unbiased in (True, False):
        loss = loss_of(release, replace(QUICK, unbiased=unbiased, batch=8))
        showing, generator = Showing(), np.random.default_rng(0)
        drawn = [float(loss(showing, generator, None)) for _ in range(300)]
        means[unbiased] = (np.mean(drawn), np.std(drawn) / np.sqrt(300))
    assert abs(means[True][0]) < 6 * means[True][1] + 1e-6
    assert means[False][0] > 10 * means[False][1]


def test_without_labels() -> None:
    counted = Concat((Weighted(FOURIER, 0.9), Weighted(Constant(), 0.4)))
    release = released(counted, schema=PLAIN)
    assert class_shares(release)[0] == pytest.approx(2_000, abs=5)
    made = fitted(release, QUICK).sample(100, seed=1)
    assert made.codes is None
    assert made.pixels.shape == (100, *SIZE)
    public = released(FOURIER, schema=PLAIN, rows=2_000)
    assert class_shares(public)[0] == 2_000
    with pytest.raises(UsageError, match="how many images"):
        class_shares(released(FOURIER, schema=PLAIN))


def test_shares_are_equal_where_classes_were_not_counted() -> None:
    """But for a level of the schema that no image has: unlisted labels."""
    release = released(Labelled.of(FOURIER, LABEL), rows=2_000)
    rows, label, shares = class_shares(release)
    assert (rows, label, shares.tolist()) == (2_000, levels_of(LABELLED)[0], [1 / 3] * 3 + [0.0])


def test_the_same_seed_gives_the_same_images(tmp_path: Path) -> None:
    short = replace(QUICK, steps=20)
    first, again, other = (fitted(RELEASE, short, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.sample(50, seed=3).pixels, again.sample(50, seed=3).pixels)
    assert not np.array_equal(first.sample(50, seed=3).pixels, other.sample(50, seed=3).pixels)
    facts, arrays = first.generator.to_facts()
    back = ImageNetwork.from_facts(facts, arrays, LABELLED)
    assert np.array_equal(back.sample(50, np.random.default_rng(3)).images["image"], first.sample(50, seed=3).pixels)


class Broken(Exception):
    """As if the machine had gone down."""


def breaking(after: float) -> Callable[[str, float], None]:
    def progress(step: str, fraction: float) -> None:
        if fraction >= after:
            raise Broken

    return progress


@pytest.mark.parametrize("average_rate", [None, 1e-2])
def test_a_fit_that_was_broken_off_ends_where_it_would_have_ended(tmp_path: Path, average_rate: float | None) -> None:
    settings = replace(QUICK, steps=40, check=10, average_rate=average_rate, stop=True)
    whole = fitted(RELEASE, settings)
    path = tmp_path / "fit.checkpoint"
    for after in (0.3, 0.8):
        with pytest.raises(Broken):
            settings.fit(RELEASE, seed=0, progress=breaking(after), checkpoint=path)
    assert fitted(RELEASE, settings, checkpoint=path).to_bytes() == whole.to_bytes()
    with pytest.raises(UsageError, match="belongs to a fit of another release"):
        fitted(RELEASE, settings, seed=1, checkpoint=path)


def test_a_fit_ends_when_noise_explains_the_rest() -> None:
    """Where noise drowns everything, and its chi^2 is below its mean, one look at it is enough."""
    (measured,) = RELEASE.measurements
    noise = np.random.default_rng(0).standard_normal(len(measured.values))
    noise *= 0.9 * np.sqrt(len(noise)) / np.linalg.norm(noise)
    counted = slice(-4, None)
    values = np.rint(1e6 * measured.sigma * noise).astype(np.int64)
    values[counted] = measured.values[counted]
    release = replace(RELEASE, measurements=(replace(measured, values=values, sigma=1e6 * measured.sigma),))
    for stop, looks in ((True, 2), (False, 6)):
        seen: list[float] = []
        settings = replace(QUICK, steps=50, check=10, stop=stop)
        settings.fit(release, seed=0, progress=lambda step, fraction, seen=seen: seen.append(fraction))
        assert (len(seen), seen[-1]) == (looks, 1.0)


def test_a_class_without_images_is_left_out() -> None:
    """It has no share, so it is not painted unless it is asked for; and then something comes out."""
    loss = loss_of(RELEASE, QUICK)
    (target,) = loss.targets
    assert target.wanted.shape[0] == len(loss.classes) <= 4
    model = fitted(RELEASE, replace(QUICK, steps=5))
    assert len(model.sample(10, given={"label": "none"}, seed=0)) == 10


@pytest.mark.parametrize(
    "feature_map", [LABEL, Product((FOURIER, LABEL)), Product((LABEL, Tiles("other", (0, 1)), FOURIER))]
)
def test_what_is_not_about_images_by_label_is_refused(feature_map: FeatureMap) -> None:
    values = np.zeros(feature_map.dimension, dtype=np.int64)
    release = replace(RELEASE, rows=10, measurements=(Measurement(feature_map, values, Grid(20), 1.0),))
    with pytest.raises(UsageError, match=r"pixels|features of images by label"):
        fitted(release, QUICK)


def test_a_table_is_refused() -> None:
    schema = Schema(name="t", columns={"a": Categorical(categories=("x", "y"))})
    with pytest.raises(UsageError, match="of a table"):
        fitted(replace(RELEASE, schema=schema), QUICK)


@pytest.mark.parametrize(
    "wrong",
    [
        {"architecture": "deep"}, {"loss": "sum"}, {"steps": 0}, {"batch": -1}, {"rate": 0.0}, {"decay": 0}, {"epoch": 0},
        {"check": 0}, {"breadth": 0}, {"average_rate": 0.0}, {"momentum": 1.0}, {"momentum": -0.1}, {"noise": 0},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        ImageNetworkSettings(**wrong)


def test_features_that_images_do_not_have_are_refused() -> None:
    for unfit in (OneHot("label", 3), Concat((Pixels("image", 4, 4, 1, 2.0), OneHot("label", 3)))):
        with pytest.raises(UsageError, match="an image network cannot be fitted to OneHot features"):
            require_soft_images(unfit)
    require_soft_images(Pixels("image", 4, 4, 1, 2.0))


def tiny() -> Perceptual:
    """Features of a small network with chance weights."""
    torch.manual_seed(5)
    extractor = Extractor.small("tiny", Input(8, 8, 1, (0.5,), (0.25,)), ((3,), (4,)), small_network(1, ((3,), (4,))))
    return Perceptual.of("image", extractor)


@pytest.mark.parametrize("feature_map", [
    FOURIER,
    ImageHermite.spread("image", *SIZE, 8, 0.3),
    ImageHermiteProducts.draw("image", *SIZE, 4, 0.5, groups=10, size=2, seed=0),
    Pixels("image", *SIZE, 3.0),
    tiny(),
], ids=["fourier", "hermite", "products", "pixels", "perceptual"])  # fmt: skip
@pytest.mark.parametrize("average_rate", [None, 1e-2])
def test_a_whole_step_stays_on_its_device(feature_map: FeatureMap, average_rate: float | None) -> None:
    """Torch's meta device refuses tensors of any other, as a graphics card does; forward, backward and a step of Adam.
    Before and after, the same map is used on the processor: what it keeps for itself must not have moved."""
    release, device = released(by_class(feature_map)), torch.device("meta")
    settings = replace(QUICK, average_rate=average_rate, loss="likelihood", reweighted=True)

    def step(place: torch.device) -> torch.Tensor:
        rng = np.random.default_rng(0)
        with placing(place):
            loss = loss_of(release, settings)
            state = State(loss.shape.module().to(place), loss, settings, rng)
            found = loss(state.network, rng, state.average)
            move(state.optimiser(settings), found)
        return found.detach()

    for place in (torch.device("cpu"), device, torch.device("cpu")):
        assert step(place).device == place


def test_a_device_changes_no_model_and_no_state(tmp_path: Path) -> None:
    """Here auto is the processor, unless there is a card. A state of one device goes on with on another."""
    short = replace(QUICK, steps=20, check=10, average_rate=1e-2)
    path = tmp_path / "state"
    whole = fitted(RELEASE, short, checkpoint=path)
    again = fitted(RELEASE, replace(short, device="auto"), checkpoint=path)
    if device_named("auto").type == "cpu":
        assert again.to_bytes() == whole.to_bytes()
    with pytest.raises(UsageError, match="device 'gpu' is not known"):
        ImageNetworkSettings(device="gpu")  # type: ignore[arg-type]
