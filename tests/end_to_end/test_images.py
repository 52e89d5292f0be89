"""The command line for images, from a folder of PNG files to a card; and failures that spend nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.fixtures.command_line import Outcome

import pointillist as pt
from pointillist.evaluate.images.reading import read

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(run: Callable[..., Outcome]) -> Run:
    """Run a command in a folder of its own; its code, and what it printed on one line."""

    def call(line: str) -> tuple[int, str]:
        outcome = run(*line.split())
        assert outcome.code != 70, outcome.err  # a fault of ours
        return outcome.code, " ".join((outcome.out + outcome.err).split())

    return call


@pytest.fixture
def circles(run: Run) -> Path:
    """30 images each of discs and rings of 8 x 8 pixels, at places that vary a little."""
    rng = np.random.default_rng(0)
    down, across = np.mgrid[:8, :8]
    for kind in ("disc", "ring"):
        (Path("circles") / kind).mkdir(parents=True)
        for number in range(30):
            radius = np.hypot(down - 3.5 - rng.normal(0, 0.3), across - 3.5 - rng.normal(0, 0.3))
            inside = radius < 3 if kind == "disc" else abs(radius - 3) < 1
            pixels = np.clip(220 * inside + rng.integers(0, 30, (8, 8)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(Path("circles") / kind / f"{number}.png")
    return Path("circles")


@pytest.fixture
def schema(circles: Path, run: Run) -> Path:
    code, shown = run("schema draft circles -o circles.toml")
    assert (code, "8 x 8" in shown) == (0, True)
    text = Path("circles.toml").read_text()
    assert "colour = false # READ FROM THE DATA" in text
    assert "is a draft" in run("release circles --schema circles.toml --epsilon 5 -o circles.release")[1]
    Path("circles.toml").write_text(text.replace("reviewed = false", "reviewed = true"))
    return Path("circles.toml")


def spends(path: str = "own.sqlite") -> int:
    """How often anything was spent."""
    return sum(len(account.spends) for account in pt.Ledger(path).accounts())


def test_from_a_folder_to_a_card(schema: Path, run: Run) -> None:
    code, shown = run(f"release circles --schema {schema} --epsilon 5 --yes --plan")
    assert code == 0
    assert "mean images by class" in shown
    code, shown = run(f"release circles --schema {schema} --epsilon 5 --yes --ledger own.sqlite -o circles.release")
    assert code == 0, shown
    assert "if one image were added or removed" in shown
    assert spends() == 1
    assert run("fit circles.release -o circles.model")[0] == 0
    for output in ("out", "out.npz", "out.parquet"):
        code, shown = run(f"sample circles.model -n 40 --seed 1 --balance label -o {output}")
        assert (code, shown) == (0, f"40 synthetic images written to {output}.")
        found = read(output, pt.Schema.load(schema))
        assert found.pixels.shape == (40, 8, 8, 1)
        assert found.codes is not None
        assert np.bincount(found.codes).tolist() == [20, 20]
    assert {path.name for path in Path("out").iterdir()} == {"disc", "ring"}
    with Image.open("out/disc/000001.png") as picture:
        assert (picture.size, picture.mode) == ((8, 8), "L")
    code, shown = run("evaluate circles out --release circles.release -o report.html")
    assert code == 0
    assert "classifiers" in shown
    assert Path("report.html").read_text().startswith("<!doctype html>")
    for ending in ("html", "md", "json"):
        assert run(f"card circles.release -o card.{ending}")[0] == 0
    assert "images took part" in Path("card.html").read_text()
    for file in ("circles.release", "circles.model", "circles.toml"):
        assert run(f"inspect {file}")[0] == 0
        assert json.loads(run(f"inspect {file} --json")[1])
    assert spends() == 1


def test_a_network_by_name(schema: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pt.ImageNetworkSettings.__init__, "__kwdefaults__", _short())
    assert run(f"release circles --schema {schema} --epsilon 5 --yes -o circles.release")[0] == 0
    code, shown = run("fit circles.release --generator image-network --checkpoint c.checkpoint -o circles.model")
    assert code == 0, shown
    assert Path("c.checkpoint").exists()
    assert "image network with" in run("inspect circles.model")[1]


def test_a_fit_can_be_changed_at_no_cost(schema: Path, run: Run) -> None:
    assert run(f"release circles --schema {schema} --epsilon 5 --yes --ledger own.sqlite -o circles.release")[0] == 0
    assert run("fit circles.release -o usual.model")[0] == 0
    assert run("fit circles.release --variety 0.3 -o tidy.model")[0] == 0
    spread = {}
    for name in ("usual", "tidy"):
        pictures = pt.Model.load(f"{name}.model").sample(300, seed=1)
        assert isinstance(pictures, pt.Images)
        spread[name] = pictures.pixels[pictures.codes == 0].std(axis=0).mean()
    assert spread["tidy"] < spread["usual"]
    assert run("fit circles.release --generator image-network --steps 3 -o short.model")[0] == 0
    assert spends() == 1
    for wrong, message in {
        "--steps 3": "--steps is for networks",
        "--variety 0.5 --generator image-network": "--variety is for spectral",
        "--variety 2": "variety must lie between",
    }.items():
        code, shown = run(f"fit circles.release {wrong} -o none.model")
        assert code != 0
        assert message in shown
    assert not Path("none.model").exists()


def test_steps_of_a_perceptual_fit(schema: Path, run: Run) -> None:
    public = np.random.default_rng(0).integers(0, 256, (120, 8, 8), dtype=np.uint8)
    np.savez("public.npz", x=public, y=np.arange(120) % 2)
    code, shown = run("extractor train public.npz --height 8 --width 8 --steps 5 -o own.extractor")
    assert code == 0, shown
    made = f"release circles --schema {schema} --epsilon 5 --yes --method perceptual --extractor own.extractor -o p.release"
    assert run(made)[0] == 0
    assert run("fit p.release --steps 2 -o p.model")[0] == 0
    assert "residual image network" in run("inspect p.model")[1]


@pytest.mark.parametrize("method", ["merf", "hermite"])
def test_steps_of_the_network_that_a_method_fits(method: str, schema: Path, run: Run) -> None:
    """As if the network had been asked for by name, with the method's own settings but for the steps."""
    assert run(f"release circles --schema {schema} --epsilon 5 --yes --method {method} -o m.release")[0] == 0
    code, shown = run("fit m.release --steps 2 -o m.model")
    assert code == 0, shown
    loss: Any = {"merf": "distance", "hermite": "likelihood"}[method]
    asked = pt.fit(pt.Release.load("m.release"), generator=pt.ImageNetworkSettings(steps=2, loss=loss))
    assert Path("m.model").read_bytes() == asked.to_bytes()


def _short() -> dict[str, object]:
    defaults = dict(pt.ImageNetworkSettings.__init__.__kwdefaults__ or {})
    return {**defaults, "steps": 4, "check": 2, "breadth": 8}


def test_all_in_one_go(schema: Path, run: Run) -> None:
    code, shown = run(f"synth circles --schema {schema} --epsilon 5 --yes --ledger own.sqlite -n 10 --seed 1 -o out")
    assert code == 0, shown
    assert Path("out.release").exists()
    assert len(list(Path("out").rglob("*.png"))) == 10


def _corrupt() -> None:
    Path("circles/disc/3.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")


def _other_size() -> None:
    Path("circles.toml").write_text(Path("circles.toml").read_text().replace("kind =", 'resize = "error"\nkind =', 1))
    Image.new("L", (9, 8)).save("circles/ring/40.png")


def _unknown_class() -> None:
    Path("circles/square").mkdir()
    Image.new("L", (8, 8)).save("circles/square/1.png")


def _no_images() -> None:
    for path in Path("circles").rglob("*.png"):
        path.unlink()


@pytest.mark.parametrize("spoil", [_corrupt, _other_size, _unknown_class, _no_images])
def test_a_release_that_fails_spends_nothing(spoil: Callable[[], None], schema: Path, run: Run) -> None:
    spoil()
    code, shown = run(f"release circles --schema {schema} --epsilon 5 --yes --ledger own.sqlite -o circles.release")
    assert code in (3, 4), shown
    assert "Error: " in shown
    assert spends() == 0
    assert not Path("circles.release").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("release nowhere --schema circles.toml --epsilon 5 -o x.release", "no such"),
        ("release circles --schema circles.toml --epsilon 500000 -o x.release", "protects nobody"),
        ("release circles --schema circles.toml --epsilon 5 --target kind -o x.release", "not a measured column"),
        ("release circles --schema circles.toml --epsilon 5 --method mosaic -o x.release", "Known methods: spectral"),
        ("synth circles --schema circles.toml --epsilon 5 --generator network -o out", "Choose one of image-network"),
        ("synth circles --schema circles.toml --epsilon 5 -o out.csv", "not known for images"),
        ("release circles --schema circles.toml --epsilon 5 --extractor x -o x.release", "goes with --method"),
        ("schema draft circles/disc/1.png -o x.toml", "1.png"),
    ],
)
def test_mistakes_spend_nothing(line: str, words: str, schema: Path, run: Run) -> None:
    code, shown = run(line + ("" if line.startswith("schema") else " --ledger own.sqlite"))
    assert code in (2, 3, 4, 5), shown
    assert words in shown
    assert spends() == 0
