"""Job: what the pass does with rows, as a value that can be sent."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.galleries import point

import pointillist as pt
from pointillist.curator.capping import OWNER
from pointillist.curator.job import EmbeddingJob
from pointillist.errors import ArtefactError, UsageError
from pointillist.features import Concat, FeatureMap, Hermite, RandomFourier, Tiles, Weighted
from pointillist.features.images.gallery import GalleryOutside, GalleryPoint
from pointillist.features.serial import to_nodes
from pointillist.privacy.grid import Grid

SCHEMA = pt.Schema(
    name="s",
    columns={
        "a": pt.Categorical(categories=("p", "q"), missing=False),
        "x": pt.Real(min=0, max=1, missing=False),
        "y": pt.Real(min=0, max=1, missing=False),
    },
)
PEOPLE = SCHEMA.model_copy(update={"person": pt.Person(column="who", max_rows=2)})
FOURIER = RandomFourier(("x", "y"), np.random.default_rng(0).normal(size=(5, 2)))
MAPS: dict[str, FeatureMap] = {
    "tiles": Tiles("a", (0, 1, 1)),
    "side by side": Concat((Weighted(Tiles("a", (0, 1, 1)), 0.6), Weighted(Hermite("x", 3, 0.2, 1.5), 0.8))),
    "with arrays": FOURIER,
}


@pytest.mark.parametrize("schema", [SCHEMA, PEOPLE], ids=["rows", "persons"])
@pytest.mark.parametrize("name", MAPS)
def test_a_job_comes_back_from_its_bytes(name: str, schema: pt.Schema) -> None:
    sent = EmbeddingJob(schema, MAPS[name], Grid(20), "the table")
    back = EmbeddingJob.from_bytes(sent.to_bytes())
    assert (back.schema, back.grid, back.origin, back.key) == (sent.schema, sent.grid, sent.origin, sent.key)
    mine, theirs = to_nodes(sent.feature_map), to_nodes(back.feature_map)
    assert mine[0] == theirs[0]
    assert all(np.array_equal(mine[1][each], theirs[1][each]) for each in mine[1])
    assert back.to_bytes() == sent.to_bytes()
    assert back.columns == sent.columns


def test_only_what_the_map_reads_is_read_and_the_person() -> None:
    assert EmbeddingJob(SCHEMA, FOURIER, Grid(20), "t").columns == ["x", "y"]
    assert EmbeddingJob(PEOPLE, MAPS["tiles"], Grid(20), "t").columns == ["a", "who"]


def test_rows_need_not_meet_unless_they_are_capped() -> None:
    assert EmbeddingJob(SCHEMA, FOURIER, Grid(20), "t").together == ()
    assert EmbeddingJob(PEOPLE, FOURIER, Grid(20), "t").together == OWNER


def test_what_goes_from_worker_to_worker_names_nobody() -> None:
    batch = pa.record_batch({"a": ["p", "q", "p"], "who": ["Ann", "Bo", None]})
    job = EmbeddingJob(PEOPLE, MAPS["tiles"], Grid(20), "t")
    (sent,) = job.prepared([batch])
    assert sent.schema.names == [*OWNER, "c0"]
    assert not any(pa.types.is_string(kind) for kind in sent.schema.types)
    (again,) = EmbeddingJob.prepare(job.to_bytes(), [batch])
    assert sent.equals(again)  # under one key, wherever it is done


def test_every_pass_has_a_key_of_its_own() -> None:
    assert len({EmbeddingJob(PEOPLE, FOURIER, Grid(20), "t").key for _ in range(20)}) == 20


@pytest.mark.parametrize("content", [b"", b"PK", b"x" * 100])
def test_other_bytes_are_no_job(content: bytes) -> None:
    with pytest.raises(ArtefactError, match="the job"):
        EmbeddingJob.from_bytes(content)


def test_a_card_is_not_for_clusters() -> None:
    """Which worker has which card must not decide what is measured of an image. `point()` is a map of a public network."""
    schema = pt.Schema(name="s", columns={"image": pt.Image(height=8, width=8)})
    here = point()
    EmbeddingJob(schema, here, Grid(20), "t").to_bytes()
    placed = GalleryPoint("image", replace(here.space, extractor=replace(here.space.extractor, device="cuda")))
    for each in (placed, Concat((Weighted(placed, 0.6), Weighted(GalleryOutside(placed), 0.8)))):
        assert each.device == "cuda"
        with pytest.raises(UsageError, match=r"cannot look at images on a cluster.*Nothing was spent"):
            EmbeddingJob(schema, each, Grid(20), "t").to_bytes()
