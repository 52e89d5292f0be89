"""The mean embedding: the same as with features written out, for every kind of map."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.features import Concat, Weighted
from pointillist.inference.noisy_embedding import MeanEmbedding
from pointillist.inference.two_sample import read

METHODS = {
    "mosaic": pt.Mosaic(components=3, steps=5, most_tiles=6),
    "merf": pt.Merf(features=20),
    "hermite": pt.Hermite(),
    "landmarks": pt.Landmarks(number=20, candidates=60),
    "reduced-set": pt.ReducedSet(features=20),
}


@pytest.mark.parametrize("target", [None, "kind"])
@pytest.mark.parametrize("method", METHODS)
def test_inner_products_are_those_of_the_features(method: str, target: str | None, known, tmp_path: Path) -> None:
    schema = known_schema()
    release = pt.release(
        known(300, 1), schema, epsilon=5.0, method=METHODS[method], target=target, ledger=tmp_path / "l"
    )
    embedding = MeanEmbedding.of(release)
    _, records = read(known(12, 2), schema)
    dense, targets = [], []
    for each in release.measurements:
        scale = each.grid.scale * embedding.rows / each.sigma
        dense.append(scale * each.feature_map(records))
        targets.append(each.values / each.sigma)
        assert isinstance(each.feature_map, Concat)
        assert all(isinstance(part, Weighted) for part in each.feature_map.maps)
    features, noisy = np.concatenate(dense, axis=1), np.concatenate(targets)
    size = np.abs(features @ features.T).max()
    weights = np.random.default_rng(0).random(12)
    assert embedding.dimension == features.shape[1]
    # The integer weight of a count differs from the weight itself in its last bits.
    assert np.allclose(embedding.products(records, records), features @ features.T, atol=1e-5 * size)
    assert np.allclose(embedding.lengths(records), np.square(features).sum(axis=1), atol=1e-5 * size)
    assert np.allclose(embedding.along(records, embedding.target), features @ noisy, rtol=1e-5, atol=1e-5 * size)
    mean = embedding.of_rows(records, weights)
    assert mean.dot(mean) == pytest.approx(float(np.square(weights @ features).sum()), rel=1e-4)
    assert mean.dot(embedding.target) == pytest.approx(float(weights @ features @ noisy), rel=1e-4, abs=1e-5 * size)


def known_schema() -> pt.Schema:
    return pt.Schema(
        name="known",
        rows=300,
        columns={
            "x": pt.Real(min=-4, max=4, missing=False, bins=32),
            "y": pt.Real(min=-4, max=4, missing=False, bins=32),
            "kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
        },
    )


def test_noise_is_one_in_every_direction(known, tmp_path: Path) -> None:
    """The squared distance from the private rows' own mean is a sum of so many squares. False alarms: below 1e-9."""
    table = known(500, 1)
    for method, neighbours in ((METHODS["merf"], "replace-one"), (METHODS["mosaic"], "replace-one")):
        release = pt.release(
            table, known_schema(), epsilon=1.0, method=method, neighbours=neighbours, ledger=tmp_path / method.name
        )
        embedding = MeanEmbedding.of(release)
        _, records = read(table, known_schema())
        gap = embedding.target - embedding.of_rows(records, np.full(500, 1 / 500))
        assert embedding.exact
        assert abs(gap.dot(gap) - embedding.dimension) < 6.5 * np.sqrt(2 * embedding.dimension) + 20


def test_a_receivers_table_is_read_as_the_schema_says(tmp_path: Path, known) -> None:
    import pyarrow.csv as pacsv

    table = known(20, 1)
    pacsv.write_csv(table, tmp_path / "mine.csv")
    name, records = read(tmp_path / "mine.csv", known_schema())
    assert name.endswith("mine.csv")
    same = read(pa.table(table), known_schema())[1]
    assert all(np.array_equal(records.codes[column], same.codes[column]) for column in records.codes)
