"""Samples: some real and some synthetic images of every class, drawn at random. For the owner's eyes."""

from dataclasses import dataclass
from typing import Any

from pointillist.evaluate.images.metric import METRICS, MOST_CLASSES, SAMPLES, ImageContext, ImageMetric
from pointillist.evaluate.images.metrics.class_shares import ClassSharesMetric
from pointillist.evaluate.metric import Result
from pointillist.files.images import Images
from pointillist.pages import share
from pointillist.pages.blocks import Card, Cards, Text, Titled, html
from pointillist.pages.images import sheet
from pointillist.pages.report import Section

SHOWN = 16
"""Images of each class on the page."""


@dataclass(frozen=True, eq=False)
class Samples(Result):
    """By class: some real and some synthetic images."""

    by_class: dict[str, tuple[Images, Images]]
    shares: dict[str, tuple[float, float]]
    """By class: of the real images, and of the synthetic ones."""

    def figures(self, name: str) -> dict[str, Any]:
        """None: no image goes into the figures."""
        return {}

    def sections(self) -> tuple[Section, ...]:
        shown = list(self.by_class)[:MOST_CLASSES]
        more = len(self.by_class) - len(shown)
        return (
            SAMPLES.saying(
                html("Drawn at random, not chosen. <strong>The real ones are private.</strong>"),
                blocks=[
                    Cards(tuple(self._card(name) for name in shown), "wide-cards"),
                    *([Text(f"{more} more classes are not shown.", "soft")] if more else []),
                ],
            ),
        )

    def _card(self, name: str) -> Card:
        real, made = self.by_class[name]
        parts = (
            Titled("Real", sheet(real.pixels, f"{name}: {len(real)} real images")),
            Titled("Synthetic", sheet(made.pixels, f"{name}: {len(made)} synthetic images")),
        )
        if name not in self.shares:
            return Card(name, parts)
        shares = self.shares[name]
        return Card(name, parts, f"{share(shares[0])} of real, {share(shares[1])} of synthetic")


def samples(real: Images, synthetic: Images, *, seed: int) -> dict[str, tuple[Images, Images]]:
    """By class; under "all images" where there are no labels."""
    if real.codes is None or synthetic.codes is None:
        return {"all images": (real.at_most(4 * SHOWN, seed=seed), synthetic.at_most(4 * SHOWN, seed=seed))}
    found = {}
    for code, name in enumerate(real.classes):
        mine, made = real.part(real.codes == code), synthetic.part(synthetic.codes == code)
        if len(mine) or len(made):
            found[str(name)] = mine.at_most(SHOWN, seed=seed), made.at_most(SHOWN, seed=seed)
    return found


@METRICS.register("samples", place=30)
class SamplesMetric(ImageMetric[Samples]):
    """Images to look at."""

    def compute(self, real: Images, synthetic: Images, context: ImageContext) -> Samples:
        found = context.ask(ClassSharesMetric)
        return Samples(samples(real, synthetic, seed=context.seed), {} if found is None else found.shares)
