"""Gallery: synthetic images with the promise that they came with, on a page that may be shared.

It takes nothing but what is public: no real image, and no figure that was computed from one.
"""

import datetime as dt

import numpy as np

from pointillist.evaluate.images.reading import at_most, take
from pointillist.evaluate.images.report import strip
from pointillist.files.images import Pictures
from pointillist.pages import render as render_page
from pointillist.pages.card import Card
from pointillist.release import Release

SHOWN = 32
"""Images of each class."""


def gallery(synthetic: Pictures, release: Release, *, seed: int = 0) -> str:
    """The page: what was promised, and some synthetic images of every class."""
    if synthetic.codes is None:
        parts = {"all images": at_most(synthetic, 4 * SHOWN, seed=seed)}
    else:
        present = [int(code) for code in np.unique(synthetic.codes)]
        parts = {
            str(synthetic.classes[code]): at_most(take(synthetic, synthetic.codes == code), SHOWN, seed=seed)
            for code in present
        }
    return render_page(
        "gallery.html",
        name=release.schema.name,
        card=Card.of(release),
        images=len(synthetic),
        sheets={name: strip(each, f"{name}: {len(each)} synthetic images") for name, each in parts.items()},
        today=dt.date.today().isoformat(),
    )
