"""Verdict on images: what the figures amount to, in a word and a sentence each. The rules are few, fixed and stated."""

from collections.abc import Mapping

import numpy as np

from pointillist.evaluate.images.metrics.classifiers import Results
from pointillist.evaluate.images.metrics.copies import Copies
from pointillist.evaluate.images.metrics.diversity import Coverage
from pointillist.evaluate.tables.verdict import GRADES, UNCLEAR, Point, Verdict

_FEW = 200
"""With fewer images of each set, neighbourhoods say little."""


def verdict(
    classifiers: Mapping[str, Results],
    majority: float,
    coverage: Coverage,
    shares: Mapping[str, tuple[float, float]],
    images: Mapping[str, int],
    copied: Copies | None = None,
) -> Verdict:
    """Grade what was measured."""
    points = [] if copied is None or not copied.suspicious else [_copies(copied)]
    if shares:
        points.append(_classes(shares, images))
    if classifiers:
        points.append(_models(classifiers, majority))
    points += [_likeness(coverage), _variety(coverage)]
    return Verdict(tuple(points))


def _copies(copied: Copies) -> Point:
    return Point(
        "copies of released images",
        "poor",
        f"{max(copied.exact, copied.pointed):.0%}",
        f"{copied.exact:.1%} of the synthetic images repeat a released image pixel by pixel, and {copied.pointed:.1%} lie "
        f"less than half as far from one released image as from the next; of held-out ones {copied.expected_exact:.1%} and "
        f"{copied.expected_pointed:.1%} do. Do not hand these images out: is it the right file?",
        "poor if either share lies five standard deviations above that of held-out images",
    )


def _classes(shares: Mapping[str, tuple[float, float]], images: Mapping[str, int]) -> Point:
    distance = sum(abs(real - made) for real, made in shares.values()) / 2
    # The mean of |difference| of two shares drawn from one population, by the normal approximation.
    pooled = np.array([(real * images["real"] + made * images["synthetic"]) for real, made in shares.values()])
    pooled = pooled / (images["real"] + images["synthetic"])
    spread = np.sqrt(pooled * (1 - pooled) * (1 / images["real"] + 1 / images["synthetic"]))
    chance = float(spread.sum() / np.sqrt(2 * np.pi))
    worst = max(shares, key=lambda name: abs(shares[name][0] - shares[name][1]))
    excess = max(0.0, distance - chance)
    return Point(
        "shares of classes",
        UNCLEAR if chance > 0.1 and excess < chance / 2 else _grade(excess, 0.015, 0.05),
        f"{distance:.3f}",
        f"{distance:.1%} of the synthetic images would have to change their class to make the shares right, most of all "
        f"{worst}: {shares[worst][1]:.1%} in place of {shares[worst][0]:.1%}. Chance alone would give {chance:.1%}.",
        "total variation distance beyond what chance alone gives: good up to 0.015, fair up to 0.05",
    )


def _models(classifiers: Mapping[str, Results], majority: float) -> Point:
    real, made = (classifiers[role].accuracies for role in ("real", "synthetic"))
    both = [name for name in real if name in made]
    best, found = ((float(np.mean([each[name] for name in both])) if both else 0.0) for each in (real, made))
    room = best - majority
    kept = round(min(1.0, max(0.0, (found - majority) / room)), 2) if both and room > 0.01 else None
    nothing = "" if kept is not None else " So there is nothing that synthetic images could keep."
    return Point(
        "classifiers trained on it",
        UNCLEAR if kept is None else _grade(1 - kept, 0.05, 0.15),
        "–" if kept is None else f"{kept:.0%}",
        f"Classifiers trained on synthetic images name {found:.1%} of the real test images rightly; trained on real images, "
        f"{best:.1%}; the most frequent class alone gives {majority:.1%}.{nothing}",
        "accuracy above that of the most frequent class, as a part of what real images give: good from 95 %, fair from 85 "
        "%; unclear where real images give nothing",
    )


def _likeness(found: Coverage) -> Point:
    return _neighbourhoods(
        "likeness of images",
        found.precision,
        found.expected_precision,
        found.images,
        "of the synthetic images lie where real images lie (precision)",
    )


def _variety(found: Coverage) -> Point:
    return _neighbourhoods(
        "variety of images",
        found.recall,
        found.expected_recall,
        found.images,
        "of the real images lie where synthetic images lie (recall)",
    )


def _neighbourhoods(question: str, share: float, expected: float | None, images: int, words: str) -> Point:
    kept = None if not expected else round(min(1.0, share / expected), 2)
    second = "" if expected is None else f"; a second real set would show {expected:.0%}"
    return Point(
        question,
        UNCLEAR if kept is None or images < _FEW else _grade(1 - kept, 0.3, 0.6),
        f"{share:.0%}",
        f"{share:.0%} {words}{second}. {images:,} images of each set were compared.",
        f"as a part of what a second real set shows: good from 70 %, fair from 40 %; unclear below {_FEW} images",
    )


def _grade(value: float, good: float, fair: float) -> str:
    value = round(value, 3)  # what is graded is what is shown: 1 - 0.95 is 0.05
    return GRADES[(value > good) + (value > fair)]
