"""The command line's galleries: public images in a folder, a network in a file, and what is told of them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.fixtures.command_line import Outcome
from tests.fixtures.galleries import CLASSES, bars, extractor, public, schema

import pointillist as pt

Run = Callable[..., Outcome]
GALLERY = ("bars.npz", "--schema", "bars.toml", "--epsilon", 5, "--method", "gallery", "--public", "photos")
NETWORK = ("--extractor", "tiny.extractor", "--set", "probe_steps=5", "--set", "pictures=50")


@pytest.fixture
def run(run: Run) -> Run:
    Path("bars.toml").write_text(schema().to_toml())
    pixels, codes = bars(300, 0)
    np.savez("bars.npz", x=pixels, y=np.array(CLASSES)[codes])
    Path("photos").mkdir()
    for number, each in enumerate(public().pixels):
        Image.fromarray(each[:, :, 0]).save(f"photos/{number:03}.png")
    extractor().save("tiny.extractor")
    return run


def test_release_fit_sample_and_card(run: Run, own_cache: Path) -> None:
    made = run("release", *GALLERY, *NETWORK, "-o", "bars.release")
    assert made.code == 0, made.shown
    assert "small network that learned from the chosen images' pixels" in made.shown
    assert run("fit", "bars.release", "-o", "bars.model", "-q").code == 0
    for path in own_cache.iterdir():
        path.unlink()
    elsewhere = run("fit", "bars.release", "-o", "other.model")
    assert elsewhere.code != 0
    assert "--public photos/" in elsewhere.shown
    again = run("fit", "bars.release", "--public", "photos", "-o", "other.model")
    assert again.code == 0, again.shown
    assert "for training, not for looking" in again.shown
    assert Path("other.model").read_bytes() == Path("bars.model").read_bytes()
    assert run("sample", "bars.model", "-n", 30, "--seed", 1, "-o", "made.npz", "-q").code == 0
    assert np.load("made.npz")["x"].shape[0] == 30
    assert "public images, 50 for each class" in run("inspect", "bars.model").shown
    assert run("card", "bars.release", "-o", "card.md", "-q").code == 0
    assert "for training, not for looking" in " ".join(Path("card.md").read_text().split())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((*GALLERY[:-1], "bars.npz", *NETWORK), "--public names the private table itself"),
        ((*GALLERY[:-1], "nowhere", *NETWORK), "nowhere"),
        ((*GALLERY[:-2], *NETWORK), "gallery needs public images"),
        ((*GALLERY[:6], "spectral", *GALLERY[7:]), "--public goes with --method landmarks"),
        ((*GALLERY, "--extractor", "absent.extractor"), "absent.extractor"),
    ],
)
def test_mistakes_are_named_and_nothing_is_spent(run: Run, change: tuple[object, ...], said: str) -> None:
    refused = run("release", *change, "-o", "bars.release")
    assert refused.code != 0
    assert said in refused.shown
    assert not Path("bars.release").exists()
    assert not pt.Ledger().accounts()


def test_public_images_are_for_gallery_releases(run: Run) -> None:
    assert run("release", *GALLERY[:5], "-o", "bars.release", "-q").code == 0
    refused = run("fit", "bars.release", "--public", "photos", "-o", "bars.model")
    assert refused.code != 0
    assert "--public is for gallery releases" in refused.shown


def test_a_device_for_the_public_network(run: Run) -> None:
    """The processor by name measures what it measures without; methods without a network take no card."""
    made = run("release", *GALLERY, *NETWORK, "--device", "cpu", "-o", "bars.release", "--quiet")
    assert made.code == 0, made.shown
    assert "device" not in str(pt.Release.load("bars.release").plan.options)
    unknown = run("release", *GALLERY, *NETWORK, "--device", "gpu", "-o", "other.release")
    assert unknown.code == 2
    assert "Devices: auto, cpu, cuda, mps" in unknown.shown
    twice = run("release", *GALLERY, *NETWORK, "--device", "cpu", "--set", "device=cpu", "-o", "other.release")
    assert "--set device: there is an option for it" in twice.shown
    plain = ("release", "bars.npz", "--schema", "bars.toml", "--epsilon", 5, "-o", "plain.release", "--quiet")
    assert run(*plain, "--device", "auto").code == 0
