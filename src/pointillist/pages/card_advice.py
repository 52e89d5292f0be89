"""Card advice: what data can be used for, what they should not be used for, and what remains at risk."""

from collections.abc import Sequence

from pointillist.pages.measured import Measured
from pointillist.privacy.guarantee import Guarantee

_IMAGE_USES = (
    "Explore it, write and test code against it, teach with it, plan a study with it: it has the size, the channels and the "
    "classes of the public schema.",
    "Train classifiers on it, and expect them to do worse than on real images; how much worse, only a test on real images "
    "tells.",
    "Share it, and anything that is computed from it: the promise covers all of it, for ever.",
)
_IMAGE_LIMITS = (
    "To learn about a person: no synthetic image shows anyone, however much it looks like somebody.",
    "To look for rare kinds of images, or to count small classes: what few images have is lost in the noise. A kind that is "
    "absent here may exist, and the other way round.",
    "To study details: what goes beyond the features that were measured is the model's guess.",
    "As if it were a collection of this many images: errors do not shrink when more images are sampled.",
    "For decisions about single people, and for final results that others will rely on without a check against the real "
    "images.",
)

_USABLE = 0.5
"""Tables whose raw error is below this say something."""


def uses(images: bool, measured: Sequence[Measured]) -> tuple[str, ...]:
    """What the data can be used for, given how much noise there is."""
    if images:
        return _IMAGE_USES
    usable = any(each.error is not None and each.error < _USABLE for each in measured)
    counted = (
        "Compute counts, shares and two-way tables, keeping the errors stated here in mind. Train models, and expect "
        "them to do somewhat worse than on real rows."
    )
    little = "There is much noise for so few rows: take figures computed from it for orders of magnitude at best."
    return (
        "Explore it, write and test code against it, teach with it, plan a study with it: it has the columns, types "
        "and ranges of the public schema.",
        counted if usable else little,
        "Share it, and anything that is computed from it: the promise covers all of it, for ever.",
    )


def limits(images: bool, measured: Sequence[Measured]) -> tuple[str, ...]:
    """What the data should not be used for."""
    if images:
        return _IMAGE_LIMITS
    counted = _join(
        [f"{each.name} (below about {each.smallest:,} rows)" for each in measured if each.error is not None]
    )
    return (
        "To learn about a person: no synthetic row describes anyone, however much it looks like somebody.",
        "To count small groups: below three standard deviations of the noise a count says little. Measured as counts: "
        f"{counted}; ranges of a number add up the noise of all their cells. A group that is absent here may exist, "
        "and the other way round.",
        "To compute means and sums of numbers with a long tail: noise in the highest cells moves them most. Use medians "
        "and quantiles.",
        "To study how many columns act together: what goes beyond the tables that were measured is the model's guess.",
        "As if it were a survey of this many people: errors do not shrink when more rows are sampled. With the release "
        "file, the command pointillist errors tells how far figures may be from the private ones.",
        "For decisions about single people, and for final results that others will rely on without a check against "
        "the real data.",
    )


def remaining_risks(guarantee: Guarantee, vouched: bool) -> tuple[str, ...]:
    """What remains at risk although the promise holds."""
    record = guarantee.record
    facts = "facts of the schema that the owner vouched for, " if vouched else ""
    several = "" if guarantee.person else f" Somebody who owns several {record}s counts as such a group."
    return (
        f"Not covered: {facts}other releases from the same people that are not in the ledger's account, and whatever "
        "happens to the private data themselves.",
        f"Groups, such as a family, are protected less: of two, by twice the ε and more.{several}",
        "What is true of people in general can be learned, and applied to anyone.",
        "Small groups come out distorted, or not at all. Whoever decides by these data may treat them unfairly.",
        "The promise is proved for the code, and tests attack it; a fault of the code, of the machine or of its source "
        "of random numbers would not be seen in the release.",
    )


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"
