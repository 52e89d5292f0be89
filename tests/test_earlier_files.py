"""Files that an earlier version wrote: they load, are written again to the same bits, and give the rows they gave then."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import pointillist as pt

EARLIER = Path(__file__).parent / "data" / "earlier"
RELEASES = sorted(EARLIER.glob("*.release"))
TABLES = sorted(EARLIER.glob("*.csv"))
IMAGES = sorted(EARLIER.glob("*.npz"))


def test_every_method_is_kept() -> None:
    assert len(RELEASES) == len(TABLES) + len(IMAGES) == 9


@pytest.mark.parametrize("path", RELEASES, ids=lambda p: p.stem)
def test_releases_load_and_are_written_to_the_same_bits(path: Path) -> None:
    assert pt.Release.load(path).to_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", sorted(EARLIER.glob("*.model")), ids=lambda p: p.stem)
def test_models_load_and_are_written_to_the_same_bits(path: Path) -> None:
    assert pt.Model.load(path).to_bytes() == path.read_bytes()


def test_extractors_load() -> None:
    assert pt.Extractor.open(EARLIER / "tiny.extractor").name == "tiny"


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_tables_come_out_as_they_did(path: Path) -> None:
    found = pt.Model.load(path.with_suffix(".model")).sample(20, seed=1, frame="pyarrow")
    sink = pa.BufferOutputStream()
    pc.write_csv(found, sink)
    again, kept = pc.read_csv(pa.BufferReader(sink.getvalue())), pc.read_csv(path)
    assert again.schema == kept.schema
    for name in kept.column_names:
        if pa.types.is_floating(kept.schema.field(name).type):
            np.testing.assert_allclose(again[name].to_numpy(), kept[name].to_numpy(), rtol=1e-6)
        else:
            assert again[name].to_pylist() == kept[name].to_pylist()


@pytest.mark.parametrize("path", IMAGES, ids=lambda p: p.stem)
def test_images_come_out_as_they_did(path: Path) -> None:
    found = pt.Model.load(path.with_suffix(".model")).sample(6, seed=1)
    with np.load(path) as kept:
        assert np.asarray(found.labels).astype(str).tolist() == kept["labels"].tolist()
        # Another machine's matrix products may differ in the last bit, and so a pixel by one step.
        assert np.abs(found.pixels.astype(int) - kept["images"].astype(int)).max() <= 1
