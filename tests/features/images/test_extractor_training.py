"""Training a small extractor: public images of any size in, a frozen network that travels out."""

from pathlib import Path

import numpy as np
import pytest

from pointillist.errors import UsageError
from pointillist.features.images.extractor_training import PublicImages, train_extractor

WIDTHS = ((6,), (12,))


def shapes(count: int, side: int, channels: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Lying and standing bars: easy to tell apart."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    pixels = rng.integers(0, 60, (count, side, side, channels)).astype(np.uint8)
    for image, label, place in zip(pixels, labels, rng.integers(0, side - 3, count), strict=True):
        if label:
            image[place : place + 3] = 220
        else:
            image[:, place : place + 3] = 220
    return pixels, labels


@pytest.mark.parametrize("channels", [1, 3])
def test_learns_public_labels_at_the_private_size(channels: int) -> None:
    public = PublicImages.of("bars", *shapes(600, 20, 3))
    trained = train_extractor(
        [public], height=12, width=14, channels=channels, widths=WIDTHS, steps=60, batch=32, rate=1e-2
    )
    assert trained.accuracy > 0.9
    assert trained.chance < 0.6
    assert trained.extractor.shapes == ((6, 12, 14), (12, 6, 7))
    assert trained.extractor.input.channels == channels
    assert set(trained.extractor.weights or {}) == set(trained.extractor.describe()[1])


def test_the_seed_makes_it_repeatable() -> None:
    public = PublicImages.of("bars", *shapes(200, 12, 1))
    options = {"height": 12, "width": 12, "channels": 1, "widths": WIDTHS, "steps": 5, "batch": 16}
    first, again, other = (
        train_extractor([public], seed=seed, **options).extractor.sha256  # type: ignore[arg-type]
        for seed in (0, 0, 1)
    )
    assert first == again != other


def test_classes_of_several_sets_stay_apart_and_turns_stand_in_for_labels() -> None:
    pixels, labels = shapes(300, 12, 1)
    sets = [PublicImages.of("a", pixels, labels), PublicImages.of("b", pixels)]
    trained = train_extractor(sets, height=12, width=12, channels=1, widths=WIDTHS, steps=5, batch=16)
    assert trained.chance == pytest.approx(0.27, abs=0.05)  # two classes of one half, four turns of the other
    wide = train_extractor(sets[1:], height=12, width=16, channels=1, widths=WIDTHS, steps=5, batch=16)
    assert wide.chance == 0.5  # quarter turns would change the size


def test_files(tmp_path: Path) -> None:
    pixels, labels = shapes(20, 8, 1)
    np.savez(tmp_path / "grey.npz", x=pixels[..., 0], y=labels * 7)
    found = PublicImages.load(tmp_path / "grey.npz")
    assert found.pixels.shape == (20, 8, 8, 1)
    assert found.labels is not None
    assert set(found.labels) == {0, 1}
    np.savez(tmp_path / "unlabelled.npz", images=pixels)
    assert PublicImages.load(tmp_path / "unlabelled.npz").labels is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"z": np.zeros((4, 8, 8), dtype=np.uint8)}, "holds no images under"),
        ({"x": np.zeros((4, 8, 8))}, "bytes from 0 to 255"),
        ({"x": np.zeros((4, 8, 8), dtype=np.uint8), "y": np.zeros(3)}, "one for each image"),
        ({"x": np.array([{}], dtype=object)}, "no npz file of plain arrays"),
    ],
)
def test_files_that_do_not_serve(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(UsageError, match=message):
        PublicImages.load(tmp_path / "bad.npz")


def test_mistakes(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no zip")
    with pytest.raises(UsageError, match="is no npz file"):
        PublicImages.load(tmp_path / "text.npz")
    with pytest.raises(UsageError, match="no such file"):
        PublicImages.load(tmp_path / "absent.npz")
    public = PublicImages.of("bars", *shapes(120, 12, 1))
    with pytest.raises(UsageError, match="between 8 and 128"):
        train_extractor([public], height=4, width=12, channels=1)
    with pytest.raises(UsageError, match="fewer than 100"):
        train_extractor([PublicImages.of("few", *shapes(20, 12, 1))], height=12, width=12, channels=1)
    with pytest.raises(UsageError, match="at least one set"):
        train_extractor([], height=12, width=12, channels=1)
