"""Gaussians: clipped moments against integration, and images that have the moments they were asked for."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import stats

import pointillist as pt
from pointillist.features.images.cosines import cosine_basis
from pointillist.generators.gaussians.gaussians import Gaussians, clipped_moments, clipped_to, square_root

Floats = NDArray[np.float64]
LABEL = pt.Categorical(categories=("a", "b", "c"), missing=False)
SIZE = (4, 3, 1)
WAVES = cosine_basis(*SIZE, 4).unit
SHARES = (0.5, 0.3, 0.2, 0.0)
IMAGE = {"image": pt.Image(height=4, width=3)}
LABELLED = pt.Schema(name="labelled", columns={**IMAGE, "label": LABEL})
PLAIN = pt.Schema(name="plain", columns=IMAGE)


def coefficients(seed: int = 0, classes: int = len(SHARES)) -> tuple[Floats, Floats]:
    """Means and covariances for each class: images about grey, with pixels that depend on each other."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.2, 0.8, (classes, 12)) @ WAVES.T
    roots = rng.normal(0, 0.05, (classes, 12, 12))
    return means, roots @ roots.transpose(0, 2, 1)


def matched(means: Floats, covariances: Floats, shares: tuple[float, ...] = (), noise: float = 0.0) -> Gaussians:
    """One kind of images in each class."""
    classes = (len(means), 1)
    return Gaussians.matching(
        SIZE,
        shares,
        WAVES,
        kinds=np.ones(classes),
        means=means[:, None, :],
        mean_noise=np.full(classes, noise),
        covariances=covariances,
    )


def gaussians(shares: tuple[float, ...] = SHARES) -> Gaussians:
    return matched(*coefficients(classes=max(1, len(shares))), shares)


def drawn(
    made: Gaussians, count: int, seed: int = 0, codes: NDArray[np.uint16] | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint16] | None]:
    """Pixels and labels' levels: as asked for, or as they come."""
    rng = np.random.default_rng(seed)
    records = made.sample(count, rng) if codes is None else made.with_labels(codes, rng)
    return records.images["image"], records.codes.get("label")


def integrated(place: float, spread: float) -> tuple[float, float]:
    """Mean and deviation of the clipped Gaussian by adding up a million slices of equal probability."""
    slices = stats.norm.ppf((np.arange(1_000_000) + 0.5) / 1_000_000)
    clipped = np.clip(place + spread * slices, 0.0, 1.0)
    return float(clipped.mean()), float(clipped.std())


@pytest.mark.parametrize("place", [-2.0, -0.3, 0.0, 0.2, 0.5, 1.0, 1.4, 3.0])
@pytest.mark.parametrize("spread", [1e-4, 0.05, 0.3, 1.0, 3.0])
def test_clipped_moments_are_those_of_integration(place: float, spread: float) -> None:
    mean, deviation = clipped_moments(np.array([place]), np.array([spread]))
    expected = integrated(place, spread)
    assert mean[0] == pytest.approx(expected[0], abs=2e-6)
    assert deviation[0] == pytest.approx(expected[1], abs=2e-5)


@given(place=st.floats(-3, 4), spread=st.floats(1e-4, 3))
def test_clipped_moments_are_possible_ones(place: float, spread: float) -> None:
    """A number in [0, 1] with mean m has no variance above m (1 - m)."""
    mean, deviation = (float(each[0]) for each in clipped_moments(np.array([place]), np.array([spread])))
    assert -1e-12 <= mean <= 1 + 1e-12
    assert deviation**2 <= mean * (1 - mean) + 1e-9


@given(place=st.floats(-0.5, 1.5), spread=st.floats(0.02, 1.0))
def test_from_moments_back_to_moments(place: float, spread: float) -> None:
    assume(place > -1.9 * spread)  # beyond 2 spreads, a pixel would be a rare white speck on black: that is not done
    wanted = clipped_moments(np.array([place]), np.array([spread]))
    found = clipped_moments(*clipped_to(*wanted))
    np.testing.assert_allclose(found, wanted, atol=0.01)


@given(
    mean=hnp.arrays(np.float64, 5, elements=st.floats(-1, 2)),
    deviation=hnp.arrays(np.float64, 5, elements=st.floats(0, 2)),
)
def test_moments_that_cannot_be_give_numbers_all_the_same(mean: Floats, deviation: Floats) -> None:
    """Noise asks for anything: a mean beyond white, a deviation beyond what fits."""
    place, spread = clipped_to(mean, deviation)
    assert np.isfinite(place).all()
    assert (spread > 0).all()
    assert (spread <= 3).all()


@given(matrix=hnp.arrays(np.float64, (4, 4), elements=st.floats(-10, 10)))
def test_a_square_root_squared_is_the_covariance(matrix: Floats) -> None:
    covariance = matrix @ matrix.T
    root = square_root(covariance)
    np.testing.assert_allclose(root @ root, covariance, atol=1e-9 * (1 + abs(covariance).max()))
    np.testing.assert_allclose(root, root.T, atol=1e-9)


def test_negative_variances_count_as_none() -> None:
    np.testing.assert_allclose(square_root(np.diag([4.0, -1.0])), np.diag([2.0, 0.0]))


def test_images_have_the_moments_they_were_asked_for() -> None:
    """20,000 images of each class: means of pixels are known to deviation / 141.

    Beyond 7 of that, and two parts in a thousand for rounding and the fixed point, is chance once in 10^11.
    """
    means, covariances = coefficients()
    made = gaussians()
    for code in range(len(SHARES)):
        codes = np.full(20_000, code, dtype=np.uint16)
        pixels, _ = drawn(made, 20_000, 1, codes=codes)
        flat = pixels.reshape(20_000, -1) / 255
        deviation = np.sqrt(np.diag(WAVES.T @ covariances[code] @ WAVES))
        np.testing.assert_array_less(abs(flat.mean(axis=0) - means[code] @ WAVES), 7 * deviation / 141 + 0.002)
        # A deviation is known to a part in 200, and clipping leaves these images nearly alone.
        np.testing.assert_allclose(flat.std(axis=0), deviation, rtol=7 / 200, atol=0.004)


def test_pixels_depend_on_each_other_as_asked_for() -> None:
    """A correlation is known to 1 / 141 at most: 7 of that. Deviations are small here: nothing is clipped."""
    means, covariances = coefficients(classes=1)
    made = matched(means, 0.1 * covariances)
    pixels, _ = drawn(made, 20_000, 1)
    expected = WAVES.T @ covariances[0] @ WAVES
    scale = np.sqrt(np.diag(expected))
    found = np.corrcoef(pixels.reshape(20_000, -1).T)
    np.testing.assert_allclose(found, expected / np.outer(scale, scale), atol=7 / 141)


def test_black_and_white_pile_up() -> None:
    """A mean of 0.05 with a deviation of 0.15 is possible only with many black pixels."""
    mean, covariance = np.full(12, 0.05) @ WAVES.T, WAVES @ (0.15**2 * np.eye(12)) @ WAVES.T
    made = matched(mean[None], covariance[None])
    flat = drawn(made, 20_000, 0)[0].reshape(20_000, -1) / 255
    assert abs(flat.mean() - 0.05) < 0.01
    assert abs(flat.std() - 0.15) < 0.02
    assert np.mean(flat == 0) > 0.5


def test_a_mean_that_drowns_in_noise_is_black() -> None:
    """What noise cannot be told from stays dark; what stands out of it stays as it is."""
    means = np.full(12, 0.05)
    means[:6] = 0.9
    covariance = WAVES @ (0.02**2 * np.eye(12)) @ WAVES.T
    made = matched((means @ WAVES.T)[None], covariance[None], noise=0.08)
    flat = drawn(made, 2_000, 0)[0].reshape(2_000, -1) / 255
    assert flat[:, 6:].mean() < 0.02
    assert abs(flat[:, :6].mean() - 0.9) < 0.03


@pytest.mark.parametrize("count", [0, 1, 9, 5000])
def test_every_class_gets_its_share(count: int) -> None:
    pixels, codes = drawn(gaussians(), count, 0)
    assert pixels.shape == (count, *SIZE)
    assert pixels.dtype == np.uint8
    assert codes is not None
    counts = np.bincount(codes, minlength=len(SHARES))
    assert (abs(counts - count * np.array(SHARES)) <= 1).all()
    assert counts[-1] == 0


def test_labels_are_as_asked_for() -> None:
    wanted = np.array([2, 0, 3, 3], dtype=np.uint16)
    _, codes = drawn(gaussians(), 4, 0, codes=wanted)
    np.testing.assert_array_equal(codes, wanted)
    plain = gaussians(())
    assert drawn(plain, 3, 0)[1] is None
    with pytest.raises(ValueError, match="no labels"):
        drawn(plain, 4, 0, codes=wanted)


def test_the_same_seed_gives_the_same_images() -> None:
    first, again, other = (drawn(gaussians(), 50, seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("shares", [SHARES, ()])
def test_facts_keep_them(shares: tuple[float, ...]) -> None:
    made = gaussians(shares)
    back = Gaussians.from_facts(*made.to_facts(), LABELLED if shares else PLAIN)
    assert (back.fits(LABELLED), back.fits(PLAIN)) == (bool(shares), not shares)
    assert (back.size, back.shares, back.describe()) == (made.size, made.shares, made.describe())
    np.testing.assert_array_equal(drawn(back, 20, 3)[0], drawn(made, 20, 3)[0])


@pytest.mark.parametrize("name", ["waves", "factors", "kinds", "places", "spreads"])
def test_arrays_that_do_not_fit_are_refused(name: str) -> None:
    facts, arrays = gaussians().to_facts()
    with pytest.raises(ValueError, match=r"waves and factors|places and spreads|shares of a class"):
        Gaussians.from_facts(facts, {**arrays, name: arrays[name][..., :-1]}, LABELLED)


def test_the_spread_of_waves_is_counted_once() -> None:
    """Where nothing is clipped, spreads are 1: the waves have it already."""
    mean, covariance = np.full(12, 0.5) @ WAVES.T, WAVES @ (0.03**2 * np.eye(12)) @ WAVES.T
    made = matched(mean[None], covariance[None])
    np.testing.assert_allclose(made.spreads, 1.0, atol=1e-3)
    np.testing.assert_allclose(made.places, 0.5, atol=1e-3)
    assert made.places.shape == (1, 1, math.prod(SIZE))


def test_kinds_have_their_shares_and_their_own_means() -> None:
    """A class of dark images and bright ones, three to one: no image lies between."""
    covariance = WAVES @ (0.02**2 * np.eye(12)) @ WAVES.T
    means = np.stack([np.full(12, 0.2), np.full(12, 0.8)]) @ WAVES.T
    kinds = np.array([[0.75, 0.25]])
    made = Gaussians.matching(SIZE, (), WAVES, kinds, means[None], np.zeros((1, 2)), covariance[None])
    assert "2 kinds" in made.describe()
    bright = drawn(made, 400, 0)[0].reshape(400, -1).mean(axis=1) / 255
    assert abs(np.sum(bright > 0.5) - 100) <= 1
    assert ((abs(bright - 0.2) < 0.05) | (abs(bright - 0.8) < 0.05)).all()


def test_variance_that_some_pixels_cannot_have_others_get() -> None:
    """Half the pixels are nearly black and cannot vary as asked; all together do, but for a tenth."""
    means = np.full(12, 0.5)
    means[:6] = 0.02
    covariance = WAVES @ (0.2**2 * np.eye(12)) @ WAVES.T
    flat = drawn(matched((means @ WAVES.T)[None], covariance[None]), 20_000, 0)[0] / 255
    deviations = flat.reshape(20_000, -1).std(axis=0)
    assert deviations[:6].max() <= 1.07 * math.sqrt(0.02 * 0.98)  # known to a part in 15, at 7 deviations
    assert deviations[6:].min() > 0.21
    assert np.sum(deviations**2) == pytest.approx(12 * 0.2**2, rel=0.1)
