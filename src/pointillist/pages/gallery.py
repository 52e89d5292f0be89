"""Gallery: synthetic images with the promise that they came with, on a page that may be shared.

It takes nothing but what is public: no real image, and no figure that was computed from one.
"""

import datetime as dt

import numpy as np

from pointillist.files.images import Images
from pointillist.pages import render
from pointillist.pages.card import Card
from pointillist.pages.images import sheet
from pointillist.release import Release

SHOWN = 32
"""Images of each class."""


def gallery(synthetic: Images, release: Release, *, seed: int = 0) -> str:
    """The page: what was promised, and some synthetic images of every class."""
    if synthetic.codes is None:
        parts = {"all images": synthetic.at_most(4 * SHOWN, seed=seed)}
    else:
        parts = {
            str(synthetic.classes[code]): synthetic.part(synthetic.codes == code).at_most(SHOWN, seed=seed)
            for code in np.unique(synthetic.codes).tolist()
        }
    return render(
        "gallery.html",
        name=release.schema.name,
        card=Card.of(release),
        images=len(synthetic),
        sheets={name: sheet(each.pixels, f"{name}: {len(each)} synthetic images") for name, each in parts.items()},
        today=dt.date.today().isoformat(),
    )
