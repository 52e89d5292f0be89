"""Telling: what a release says of its images' worth, in words."""

import numpy as np
import pytest
from tests.fixtures.galleries import SIDE, bars, method, private, quiet_release, schema

import pointillist as pt
from pointillist.generators.gallery.telling import ProbeResult, of_reach, outside_of, probe_of, told


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> pt.Release:
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POINTILLIST_CACHE", str(folder))
        return quiet_release(method(), folder=folder)


def test_a_gallery_of_the_same_kind(good: pt.Release) -> None:
    plain, outside, probe = told(good)
    assert "for training, not for looking" in plain
    assert outside.startswith("Of what is unusual about a private image")
    assert probe.startswith("A small network that learned")
    assert not any("Warning" in each for each in (plain, outside, probe))
    found = probe_of(good)
    assert found is not None
    assert found.accuracy > 0.9
    assert found.chance == pytest.approx(2 / 3, abs=0.1)


def test_a_gallery_of_another_kind_is_warned_of() -> None:
    """Private images are stripes, and the gallery's directions show little of what they are."""
    _, codes = bars(300, 0)
    stripes = np.zeros((300, SIDE, SIDE, 1), dtype=np.uint8)
    stripes[:, :, ::2] = 255
    stripes[codes == 1] = 255 - stripes[codes == 1]
    source = pt.images(stripes, np.array(["a", "b"])[codes])
    made = quiet_release(method(directions=2, probe_share=0.0), source)
    found = outside_of(made, np.array([200.0, 100.0]))
    assert found is not None
    assert found.shares.min() > 0.5
    assert any("Warning: of what is unusual" in each and "a (" in each for each in told(made))


def test_a_probe_that_learned_nothing_is_warned_of() -> None:
    guess = ProbeResult(np.array([60.0, 20.0]), np.array([40.0, 80.0]), 1.0)
    assert guess.accuracy == pytest.approx(0.4)
    assert guess.chance == pytest.approx(0.5)
    assert guess.error == pytest.approx(np.sqrt(2) / 200)


def test_short_reach_is_warned_of() -> None:
    assert "Warning" not in of_reach(schema(), np.array([0.9, 1.3]))
    assert "too little like b (20%)" in of_reach(schema(), np.array([0.9, 0.2]))


def test_other_methods_have_nothing_to_tell() -> None:
    assert told(pt.release(private(), schema(), epsilon=10, method=pt.Spectral(frequencies=2, kinds=1))) == ()
