"""Show an extractor: what a public network is, and what it reads."""

from pointillist.cli.console import out, say
from pointillist.features import Extractor


def show_extractor(extractor: Extractor) -> None:
    """What a public network is, and what it reads."""
    taken = extractor.input
    out.print(f"Extractor {extractor.name}, sha256 {extractor.sha256}")
    out.print(
        f"A public network for images of {taken.height} x {taken.width} pixels, "
        f"{'colour' if taken.channels == 3 else 'grey'}; others are brought to that. It costs no privacy, and travels with "
        "releases."
    )
    say(f"Layers that are read: {', '.join(extractor.layers)}.")
