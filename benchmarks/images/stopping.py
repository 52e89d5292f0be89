"""When to stop: the free chi^2 rule, the paid proxy and no rule at all, side by side on the digits of scikit-learn.

Command: python -m benchmarks.images.stopping, from the root of the repository. Needs no data and no public images: the
network is small and has random weights, which is a public network, too. What is compared is how the three ways end a fit to
the same kind of release, not how good perceptual features can be.
"""

import math
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from sklearn.datasets import load_digits

import pointillist as pt
from benchmarks import stamp
from benchmarks.arguments import split_numbers
from benchmarks.papers.output import markdown
from benchmarks.tables.results import mean_and_spread
from pointillist.evaluate.images.metrics.classifiers import classify
from pointillist.evaluate.images.metrics.diversity import coverage
from pointillist.features.images.extractor import Extractor, Input
from pointillist.features.images.public_network import small_network
from pointillist.files.images import Images
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.methods.perceptual import Perceptual
from pointillist.privacy.budget import Budget
from pointillist.privacy.ledger import Ledger

RESULTS = Path(__file__).parent / "results" / "stopping.md"
CLASSES = tuple(map(str, range(10)))
TRAINED = 1400
"""Of the 1,797 digits; the others test."""
WAYS = ("all steps", "chi2", "proxy")
IMAGES = 4000
"""That a model is judged by."""
MODELS = ("logistic regression", "random forest")
NETWORK = ImageNetworkSettings(
    architecture="dense", breadth=200, noise=20, steps=1500, rate=5e-3, momentum=0.5, check=50, unbiased=True
)

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class Outcome:
    """One fit."""

    way: str
    epsilon: float
    accuracy: float
    precision: float
    recall: float
    seconds: float


def digits() -> tuple[Images, Images]:
    """Images to release and images to test with."""
    found = load_digits()
    pixels = np.rint(found.images * (255 / 16)).astype(np.uint8)[..., None]
    parts = (slice(0, TRAINED), slice(TRAINED, None))
    first, last = (Images(pixels[part], found.target[part].astype(np.uint16), CLASSES) for part in parts)
    return first, last


def extractor() -> Extractor:
    """A public network that nobody trained."""
    torch.manual_seed(0)
    return Extractor.of(small_network(1, ((16, 16), (32,))), "random", Input(8, 8, 1, (0.0,), (1.0,)))


def fitted(
    way: str,
    epsilon: float,
    seed: int,
    train: Images,
    test: Images,
    steps: int = NETWORK.steps,
    images: int = IMAGES,
) -> Outcome:
    """A release for this way of stopping, which pays for its proxy if it has one; then the fit."""
    label = pt.Categorical(categories=CLASSES, missing=False, out_of_domain="error")
    image = pt.Image(height=8, width=8)
    schema = pt.Schema(name="digits", reviewed=True, rows=TRAINED, columns={"image": image, "label": label})
    network = replace(NETWORK, stop=way == "chi2", steps=steps, check=min(NETWORK.check, steps))
    method = Perceptual(extractor=extractor(), stopping="proxy" if way == "proxy" else "chi2", network=network)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")  # these images are public: nothing to remember
        ledger.set_cap(schema.name, Budget(epsilon, 1e-5))
        private = pt.images(train.pixels, train.labels)
        release = pt.release(private, schema, epsilon=epsilon, delta=1e-5, method=method, ledger=ledger)
    start = time.process_time()
    model = pt.fit(release, method=method, seed=seed)
    seconds = time.process_time() - start
    made = model.sample(images, seed=seed)
    assert isinstance(made, Images)
    near = coverage(train, made, test)
    accuracy = float(np.mean(list(classify(made, test, models=MODELS).accuracies.values())))
    return Outcome(way, epsilon, accuracy, near.precision, near.recall, seconds)


def page(outcomes: list[Outcome], steps: int = NETWORK.steps) -> str:
    """A line for each epsilon and way."""
    lines = []
    for epsilon in dict.fromkeys(each.epsilon for each in outcomes):
        for way in WAYS:
            mine = [each for each in outcomes if (each.epsilon, each.way) == (epsilon, way)]
            figures = [
                mean_and_spread([getattr(each, name) for each in mine], 3)
                for name in ("accuracy", "precision", "recall")
            ]
            seconds = math.fsum(each.seconds for each in mine) / len(mine)
            lines.append([f"{epsilon:g}", way, len(mine), *figures, f"{seconds:.0f}"])
    heads = ("ε", "stopping", "runs", "accuracy", "precision", "recall", "CPU-s of the fit")
    text = (
        f"{TRAINED:,} digits of scikit-learn, add-remove, δ = 1e-5, perceptual with a random network, at most "
        f"{steps:,} steps. Mean accuracy of {' and '.join(MODELS)} on the other digits, and coverage; mean ± "
        "standard deviation over releases."
    )
    return f"{text}\n\n{markdown(heads, lines)}"


@app.command()
def main(
    epsilons: Annotated[str, typer.Option(help="Values of epsilon, with commas between them.")] = "0.3,1,3",
    seeds: Annotated[int, typer.Option(help="How many releases for each.")] = 5,
    images: Annotated[int, typer.Option(min=100, help="Images that a model is judged by.")] = IMAGES,
    steps: Annotated[int, typer.Option(min=1, help="The most steps of a fit.")] = NETWORK.steps,
    out: Annotated[Path, typer.Option(help="The page.")] = RESULTS,
) -> None:
    """Fit, stop in three ways, and write a page."""
    torch.set_num_threads(1)
    train, test = digits()
    outcomes = []
    for epsilon in split_numbers(epsilons):
        for seed in range(seeds):
            for way in WAYS:
                outcomes.append(fitted(way, epsilon, seed, train, test, steps, images))
                typer.echo(str(outcomes[-1]))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(stamp.put(page(outcomes, steps), stamp.line([stamp.now()])), encoding="utf-8")
    typer.echo(f"Wrote {out}.")


if __name__ == "__main__":
    app()
