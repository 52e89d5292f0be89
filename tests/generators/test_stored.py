"""Model files of every kind of generator: what they hold is checked before anything is built, and what we write is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import ArtefactError
from pointillist.features import Tiles
from pointillist.files import container
from pointillist.generators.gaussians.gaussians import Gaussians
from pointillist.generators.image_network.image_network import ImageNetwork, ImageShape
from pointillist.generators.network.row_network import Head, Network, Shape

Facts = dict[str, Any]
Edit = Callable[[Facts, container.Arrays], Any]

TABLE = pt.Schema(
    name="t",
    columns={
        "a": pt.Categorical(categories=("x", "y"), missing=False, out_of_domain="error"),
        "b": pt.Real(min=0, max=1, bins=4, missing=False),
    },
)
IMAGES = pt.Schema(
    name="i",
    columns={
        "image": pt.Image(height=4, width=4),
        "label": pt.Categorical(categories=(0, 1, 2), missing=False, out_of_domain="error"),
    },
)


def network() -> pt.Model:
    heads = (Head("a", Tiles("a", (0, 1)), False), Head("b", None, True, (0.25, 0.5, 0.75)))
    shape = Shape(heads, "a", (0.5, 0.5), 3, (5,))
    return pt.Model(TABLE, pt.plan(TABLE, epsilon=1.0).guarantee, "r", "pyarrow", 9.0, Network(shape, shape.module()))


def image_model(generator: Any) -> pt.Model:
    return pt.Model(IMAGES, pt.plan(IMAGES, epsilon=1.0).guarantee, "r", "pyarrow", 9.0, generator)


def gaussians() -> pt.Model:
    waves, factors = np.eye(2, 16, dtype=np.float32), np.zeros((3, 2, 2), dtype=np.float32)
    kinds, places = np.ones((3, 1), dtype=np.float32), np.zeros((3, 1, 16), dtype=np.float32)
    return image_model(Gaussians((4, 4, 1), (0.2, 0.3, 0.5), waves, factors, kinds, places, places))


def image_network(architecture: Any) -> pt.Model:
    shape = ImageShape(architecture, 4, 4, 1, (0.2, 0.3, 0.5), 3, 6)
    return image_model(ImageNetwork(shape, shape.module()))


MODELS: dict[str, Callable[[], pt.Model]] = {
    "network": network,
    "gaussians": gaussians,
    "conv": lambda: image_network("conv"),
    "dense": lambda: image_network("dense"),
    "residual": lambda: image_network("residual"),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    model.save(tmp_path / "m")
    back = pt.Model.load(tmp_path / "m")
    assert back.to_bytes() == model.to_bytes()
    ours, theirs = model.sample(20, seed=1), back.sample(20, seed=1)
    if model.schema.image is None:
        assert ours.equals(theirs)
    else:
        np.testing.assert_array_equal(ours.pixels, theirs.pixels)


def shares(value: float) -> Edit:
    return lambda g, a: g.update(shares=[value] * len(g["shares"]))


def fact(name: str, value: Any) -> Edit:
    return lambda g, a: g.update({name: value})


EDITS: list[tuple[str, Edit]] = [
    ("network", fact("noise", 3_000_000_000)),
    ("network", fact("noise", 1 << 20)),
    ("network", fact("hidden", [1 << 20, 1 << 20])),
    ("network", fact("hidden", [5] * 100_000)),
    ("network", fact("hidden", [-5])),
    ("network", fact("hidden", [True])),
    ("network", fact("label", "b")),
    ("network", fact("label", None)),
    ("network", fact("label", "c")),
    ("network", fact("heads", [])),
    ("network", shares(-1.0)),
    ("network", shares(0.0)),
    ("network", lambda g, a: g["heads"][0].update(column="c")),
    ("network", lambda g, a: g["heads"][0].update(column="b")),
    ("network", lambda g, a: g["heads"][0].update(tile_of=[0, 1, 2])),
    ("network", lambda g, a: g["heads"][0].update(tile_of=[0, 70_000])),
    ("network", lambda g, a: g["heads"][0].update(position=1)),
    ("network", lambda g, a: g["heads"][1].update(edges=[0.5, 0.25, 0.75])),
    ("network", lambda g, a: g["heads"][1].update(edges=[0.25, 0.5, 0.75, 0.9])),
    ("network", lambda g, a: g["heads"][1].update(position=False)),
    ("network", lambda g, a: a.update({"weights.1.running_var": -a["weights.1.running_var"]})),
    ("network", lambda g, a: a.pop("weights.0.weight")),
    ("network", lambda g, a: a.update({"weights.0.weight": a["weights.0.weight"].astype(np.float64)})),
    ("network", fact("kind", "gaussians")),
    ("gaussians", fact("kind", "mixture")),
    ("gaussians", fact("size", [4, 4, 3])),
    ("gaussians", fact("size", [2, 8, 1])),
    ("gaussians", fact("size", [4, 4])),
    ("gaussians", fact("size", [3_000_000_000, 4, 1])),
    ("gaussians", shares(0.0)),
    ("gaussians", fact("shares", [])),
    ("gaussians", fact("shares", [0.5, 0.5])),
    ("gaussians", lambda g, a: a.update(kinds=-a["kinds"])),
    ("gaussians", lambda g, a: a.update(kinds=0 * a["kinds"])),
    ("gaussians", lambda g, a: a.update(places=np.full_like(a["places"], np.nan))),
    ("gaussians", lambda g, a: a.update(waves=a["waves"].astype(np.float64))),
    ("conv", fact("architecture", "os.system")),
    ("conv", fact("architecture", ["conv"])),
    ("conv", fact("breadth", 1 << 16)),
    ("conv", fact("height", 1 << 16)),
    ("dense", fact("breadth", 3_000_000_000)),
    ("dense", fact("height", 2)),
    ("dense", fact("shares", [0.5, 0.5])),
    ("residual", fact("breadth", 7)),
    ("residual", fact("noise", 0)),
]


@pytest.mark.parametrize("number", range(len(EDITS)))
def test_edited_generators(number: int, tmp_path: Path) -> None:
    name, edit = EDITS[number]
    MODELS[name]().save(tmp_path / "m")
    facts, arrays = container.unpack(tmp_path / "m", "model", 1)
    edit(facts["generator"], arrays)
    (tmp_path / "m").write_bytes(container.pack("model", 1, facts, arrays))
    with pytest.raises(ArtefactError, match="Get a fresh copy"):
        pt.Model.load(tmp_path / "m")
