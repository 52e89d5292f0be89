"""What every method writes is read again, to the last bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.features.images.extractor import Extractor, Input
from pointillist.features.images.extractor_training import PublicImages
from pointillist.features.images.public_network import small_network
from pointillist.methods import methods_of
from pointillist.methods.planned_method import planned_method

QUICK: dict[str, dict[str, Any]] = {"mosaic": {"steps": 3}, "merf": {"features": 40}, "reduced-set": {"features": 40}}


def back(release: pt.Release, path: Path) -> pt.Release:
    release.save(path)
    found = pt.Release.load(path)
    assert found.to_bytes() == release.to_bytes()
    assert planned_method(found).name == release.method
    return found


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("method", methods_of("tables"))
def test_tables(method: str, person: bool, neighbours: str, tmp_path: Path) -> None:
    person = person or method == "chronicle"  # which is of persons alone
    rng = np.random.default_rng(0)
    rows = {"a": rng.choice(["x", "y"], 200), "b": rng.random(200), "c": rng.integers(0, 30, 200)}
    schema = pt.Schema(
        name="t",
        rows=200,
        person={"column": "p", "max_rows": 3} if person else None,
        columns={
            "a": pt.Categorical(categories=("x", "y"), missing=False),
            "b": pt.Real(min=0, max=1, bins=16),
            "c": pt.Integer(min=0, max=29),
        },
    )
    table = pa.table({**rows, "p": rng.integers(0, 90, 200)})
    recipe = methods_of("tables")[method](**QUICK.get(method, {}))
    made = pt.release(table, schema, epsilon=2.0, target="a", neighbours=neighbours, method=recipe)
    found = back(made, tmp_path / "r")
    if method in ("mosaic", "landmarks", "chronicle"):
        model = pt.fit(found)
        model.save(tmp_path / "m")
        assert pt.Model.load(tmp_path / "m").to_bytes() == model.to_bytes()


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("method", methods_of("images"))
def test_images(method: str, labelled: bool, neighbours: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"image": pt.Image(height=8, width=8)}
    arrays = {"images": rng.integers(0, 255, (60, 8, 8)).astype(np.uint8)}
    if labelled:
        columns["label"] = pt.Categorical(categories=(0, 1, 2), missing=False)
        arrays["labels"] = rng.integers(0, 3, 60)
    np.savez(tmp_path / "i.npz", **arrays)
    schema = pt.Schema(name="i", rows=60, columns=columns)
    extractor = Extractor.small("tiny", Input(8, 8, 1, (0.0,), (1.0,)), [[3], [4]], small_network(1, [[3], [4]]))
    options: dict[str, dict[str, Any]] = {
        "merf": {"features": 40},
        "hermite": {"order": 3, "products": 5, "product_order": 3},
        "perceptual": {"extractor": extractor, "stopping": "proxy"},
        "gallery": {
            "extractor": extractor,
            "public": PublicImages.of("public", rng.integers(0, 255, (40, 8, 8)).astype(np.uint8)),
            "pictures": 40,
            "probe_steps": 5,
        },
    }
    recipe = methods_of("images")[method](**options.get(method, {}))
    found = back(
        pt.release(tmp_path / "i.npz", schema, epsilon=2.0, neighbours=neighbours, method=recipe), tmp_path / "r"
    )
    if method in ("spectral", "gallery"):
        model = pt.fit(found)
        model.save(tmp_path / "m")
        assert pt.Model.load(tmp_path / "m").to_bytes() == model.to_bytes()
