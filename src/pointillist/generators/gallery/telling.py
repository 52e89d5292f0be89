"""Telling: what a gallery's images are worth, as far as a release tells, in words for whoever is going to use them.

Never by the features that chose the images: those would find them good whatever they are. What counts is how much of the
private images the gallery's space does not show at all, and whether a network that learned from the chosen images' pixels
names the classes of private ones.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.features.images.gallery import GalleryOutside, GalleryPoint
from pointillist.features.images.probe import ImageProbe
from pointillist.files.facts import real, table
from pointillist.release import MeasuredBlock, Release
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

Floats = NDArray[np.float64]

PLAIN = (
    "These are public images. Which of them stand for which class was learned privately, and many labels are wrong if one "
    "looks: they are for training, not for looking."
)
_APART = 4.0
"""So many deviations of its noise a figure must be off before it is worth a warning."""
_FOREIGN = 0.1
"""By so much more than of the gallery's own, of an image's deviation from the usual may lie outside its space."""
_SHORT = 0.25
"""Chosen images that go less far towards a class than this part of how far its own go are too unlike it. (Photographs of
other sets go about half as far.)"""
_NAMED = 6


@dataclass(frozen=True, eq=False)
class Outside:
    """What of private images the gallery's space does not show, by class."""

    shares: Floats
    noise: Floats


@dataclass(frozen=True, eq=False)
class ProbeResult:
    """How many private images of each class a probe named, and how many it did not."""

    right: Floats
    wrong: Floats
    noise: float
    """The deviation of each number."""

    @property
    def accuracy(self) -> float:
        """Of all images."""
        return float(np.clip(self.right.sum() / max(1.0, self._total), 0.0, 1.0))

    @property
    def error(self) -> float:
        """The deviation of the accuracy's noise."""
        return self.noise * math.sqrt(len(self.right)) / max(1.0, self._total)

    @property
    def chance(self) -> float:
        """What naming the most frequent class would give."""
        return float(np.clip((self.right + self.wrong).max() / max(1.0, self._total), 0.0, 1.0))

    @property
    def _total(self) -> float:
        return float(self.right.sum() + self.wrong.sum())


def outside_of(release: Release, counts: Floats) -> Outside | None:
    """What a release says of it; `counts` are the images of each class."""
    for block in _blocks(release):
        if any(isinstance(part, GalleryOutside) for part in (block.map, *block.map.parts)):
            divided = np.maximum(counts, 1.0)
            shares = np.clip(block.values / block.scale / divided, 0.0, 1.0)
            return Outside(shares, block.sigma / block.scale / divided)
    return None


def probe_of(release: Release) -> ProbeResult | None:
    """What a release says of it."""
    for block in _blocks(release):
        if isinstance(block.map, ImageProbe):
            pairs = (block.values / block.added).reshape(-1, 2)
            return ProbeResult(pairs[:, 1], pairs[:, 0], block.sigma / block.added)
    return None


def class_counts(release: Release) -> Floats | None:
    """The noisy numbers of images by class, of a release by gallery; none of another's."""
    first = list(release.measurements[0].blocks())[:2]
    if not any(isinstance(leaf, GalleryPoint) for leaf in first[0].map.leaves):
        return None
    return np.asarray(first[1].values / first[1].added)


def told(release: Release) -> tuple[str, ...]:
    """What a release by gallery tells of its images' worth; nothing of a release by another method."""
    counts = class_counts(release)
    if counts is None:
        return ()
    usual = real(table(release.plan.options, "public"), "outside", 0.0, 1.0)
    found = [PLAIN]
    outside = outside_of(release, counts)
    if outside is not None:
        found.append(_of_outside(release.schema, outside, usual))
    probe = probe_of(release)
    if probe is not None:
        found.append(_of_probe(release.schema, probe))
    return tuple(found)


def of_reach(schema: Schema, reached: Floats) -> str:
    """Whether the chosen images go as far towards their classes as private ones do."""
    short = _named(schema, reached, reached < _SHORT, "{:.0%}")
    least = f"{float(reached.min()):.0%}"
    if not short:
        return f"Towards what sets its class apart, the chosen images go at least {least} as far as private ones."
    return (
        f"Warning: the gallery has too little like {short}: towards what sets a class apart, its images go only so far of "
        "the way that private ones do. Expect poor images of these classes; a gallery of another kind may help."
    )


def _of_outside(schema: Schema, outside: Outside, usual: float) -> str:
    foreign = (outside.shares - usual > _FOREIGN) & (outside.shares - usual > _APART * outside.noise)
    named = _named(schema, outside.shares, foreign, "{:.0%}")
    if not named:
        weights = 1 / outside.noise / (1 / outside.noise).sum()  # by the number of images
        return (
            f"Of what is unusual about a private image, {float(outside.shares @ weights):.0%} lies outside of what the "
            f"gallery can express; {usual:.0%} for its own images."
        )
    return (
        f"Warning: of what is unusual about a private image, much lies outside of what the gallery can express: {named}; "
        f"for its own images {usual:.0%}. Private images are of another kind. Choose a gallery that is more like them."
    )


def _of_probe(schema: Schema, probe: ProbeResult) -> str:
    accuracy, chance = probe.accuracy, probe.chance
    words = (
        f"A small network that learned from the chosen images' pixels named the class of {accuracy:.0%} ± "
        f"{2 * probe.error:.1%} of the private images (the most frequent class: {chance:.0%})."
    )
    if accuracy - chance < max(_APART * probe.error, 0.05):
        return f"Warning: {words[0].lower()}{words[1:]} Models will hardly learn anything from these images."
    own = probe.right + probe.wrong
    seen = own > _APART * probe.noise * math.sqrt(2)
    rates = np.where(seen, probe.right / np.maximum(own, 1.0), 1.0)
    worst = _named(schema, rates, rates < 0.5 * accuracy, "{:.0%}")
    return f"{words} Least of all of {worst}." if worst else words


def _named(schema: Schema, values: Floats, which: NDArray[np.bool_], form: str) -> str:
    """Classes with their values, the most remarkable ones first come first."""
    names = _classes(schema)
    chosen = np.flatnonzero(which)
    if names is None:
        return form.format(float(values[0])) if len(chosen) else ""
    listed = [f"{names[each]} ({form.format(max(0.0, float(values[each])))})" for each in chosen[:_NAMED]]
    more = f" and {len(chosen) - _NAMED} more" if len(chosen) > _NAMED else ""
    return ", ".join(listed) + more


def _classes(schema: Schema) -> list[str] | None:
    """What the levels of the label are called."""
    label = next((each for each in levels_of(schema) if each.name == schema.label), None)
    if label is None:
        return None
    return [label.label(number) for number in range(label.size)]


def _blocks(release: Release) -> list[MeasuredBlock]:
    return [block for each in release.measurements for block in each.blocks()]
