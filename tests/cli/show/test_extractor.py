"""An extractor in a terminal: what it is, and what it reads."""

from collections.abc import Callable

import torch

from pointillist.cli.show.extractor import show_extractor
from pointillist.features import Extractor
from pointillist.features.images.extractor import Input
from pointillist.features.images.public_network import small_network

Shown = Callable[[], list[str]]


def test_it_is_shown_with_its_hash_and_layers(shown: Shown) -> None:
    torch.manual_seed(0)
    extractor = Extractor.small("tiny", Input(8, 6, 1, (0.5,), (0.5,)), ((4,), (6,)), small_network(1, ((4,), (6,))))
    show_extractor(extractor)
    lines = shown()
    text = " ".join(lines)
    assert "Extractor tiny, sha256" in lines[0]
    assert extractor.sha256 in "".join(lines)
    assert "8 x 6 pixels, grey" in text
    assert lines[-1] == f"Layers that are read: {', '.join(extractor.layers)}."
