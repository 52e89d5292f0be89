"""What a generator is: which of them draw labels first, have tiles, or know their conditional distributions."""

import pytest

from pointillist.generators import GENERATORS, fittable, generator_class
from pointillist.generators.base import Conditional, GeneratorSettings, LabelFirst, Tiled

CAN = {
    "mixture": {Conditional, Tiled},
    "histories": {Conditional},
    "points": {Conditional},
    "network": set(),
    "gaussians": {Conditional, LabelFirst},
    "gallery": {Conditional, LabelFirst},
    "image-network": {Conditional, LabelFirst},
}


@pytest.mark.parametrize("name", GENERATORS)
def test_what_generators_can_do(name: str) -> None:
    kind = generator_class(name)
    bare = object.__new__(kind)
    methods = {Conditional: ("given",), Tiled: ("draw_tiles", "with_levels", "redrawn"), LabelFirst: ("with_labels",)}
    found = {each for each, names in methods.items() if all(hasattr(kind, name) for name in names)}
    assert found == CAN[name]
    assert isinstance(bare, Conditional) == (Conditional in CAN[name])


@pytest.mark.parametrize("name", fittable())
def test_settings_are_settings(name: str) -> None:
    assert isinstance(fittable()[name](), GeneratorSettings)
