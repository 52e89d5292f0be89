"""Record and replay: whole releases of neighbouring sets of images, by every method, from every kind of source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from recording.frozen import FrozenNoise
from recording.outcome import room
from recording.pictures import CLASSES, METHODS, SIDE, SOURCES, Picture, PictureCase
from recording.verdict import verify

RELATIONS = ("add-remove", "replace-one")


def pictures(count: int) -> tuple[Picture, ...]:
    rng = np.random.default_rng(count)
    return tuple(
        (rng.integers(*((150, 256) if number % 2 else (0, 80)), (SIDE, SIDE)).astype(np.uint8), CLASSES[number % 2])
        for number in range(count)
    )


BLACK = np.zeros((SIDE, SIDE), dtype=np.uint8)
WHITE = BLACK + np.uint8(255)
CHECKED = ((np.indices((SIDE, SIDE)).sum(axis=0) % 2) * 255).astype(np.uint8)


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_from_every_source(method: str, source: str, neighbours: str) -> None:
    turn = [*METHODS].index(method) + [*SOURCES].index(source)
    first, second = (((WHITE, "bright"),), ((CHECKED, "unheard of"),))
    if neighbours == "add-remove":
        first, second = ((), second) if turn % 2 else (first, ())
    with room() as place:
        works = PictureCase(source, method, neighbours).works(pictures(9), first, second)
        share = verify(works, place, FrozenNoise(turn % 2), watched=turn % 3 == 0)
    assert share > 0.01  # or else the pair would show nothing


@st.composite
def drawn_pictures(draw: st.DrawFn) -> tuple[Picture, ...]:
    pixels = arrays.arrays(np.uint8, (SIDE, SIDE)) | st.sampled_from([BLACK, WHITE, CHECKED])
    return tuple(draw(st.lists(st.tuples(pixels, st.sampled_from([*CLASSES, "other"])), max_size=6)))


@settings(settings.get_profile("replay"))
@given(rest=drawn_pictures(), one=drawn_pictures(), other=drawn_pictures(), data=st.data())
def test_any_images(
    rest: tuple[Picture, ...], one: tuple[Picture, ...], other: tuple[Picture, ...], data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from([name for name in SOURCES if name != "folder"]))  # no folder is without images
    case = PictureCase(
        source, data.draw(st.sampled_from([*METHODS])), data.draw(st.sampled_from(RELATIONS)), epsilon=8.0
    )
    first, second = one[:1] or ((BLACK, "dark"),), other[:1] or ((WHITE, "bright"),)
    if case.neighbours == "add-remove":
        first, second = ((), second) if data.draw(st.booleans()) else (first, ())
    with room() as place:
        verify(case.works(rest, first, second), place, FrozenNoise(data.draw(st.sampled_from([0, 1]))))
