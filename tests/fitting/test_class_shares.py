"""Class shares: what every fit starts from, as far as a release tells it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features import Concat, Labelled, OneHot, RandomFourier, Tiles, Weighted
from pointillist.fitting.class_shares import class_shares, record_count, shares_of
from pointillist.privacy.grid import Grid
from pointillist.release import Measurement
from pointillist.schema.levels import Levels

Shapes = Callable[..., pa.Table]
Releases = Callable[..., pt.Release]


@pytest.mark.parametrize("method", [pt.Merf(features=20), pt.Hermite(order=4, products=2), pt.Mosaic()])
def test_fits_start_from_the_counted_classes(
    method: Any, shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases
) -> None:
    table = shapes(2_000)
    made = seeded_release(table, shapes_schema, method=method, target="kind")
    rows, label, shares = class_shares(made)
    assert abs(rows - 2_000) < 100
    assert label is not None
    assert label.name == "kind"
    counted = np.array([table["kind"].to_pylist().count(kind) for kind in "abc"]) / 2_000
    np.testing.assert_allclose(shares, counted, atol=0.05)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= 0).all()


@pytest.mark.parametrize("target", ["size", None])
def test_without_a_label_there_is_one_class(
    target: str | None, shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases
) -> None:
    """A numeric target is none."""
    made = seeded_release(shapes(1_000), shapes_schema, method=pt.Merf(features=20), target=target)
    rows, label, shares = class_shares(made)
    assert abs(rows - 1_000) < 100
    assert label is None
    assert shares.tolist() == [1.0]


def measured(table: Concat, values: list[float], sigma: float) -> Measurement:
    """A measurement on the coarsest of grids, so that numbers can be read; all blocks with weight 1."""
    return Measurement(table, np.array(values, dtype=np.int64), Grid(0), sigma)


def test_the_best_count_of_the_classes_is_taken(
    shapes_schema: pt.Schema, shapes: Shapes, seeded_release: Releases
) -> None:
    """Also where it says that a class is less than empty; rows that are public are taken as they are."""
    whole = seeded_release(shapes(50), shapes_schema, method=pt.Merf(features=2), target="kind")
    kind, joined = OneHot("kind", 3), Tiles("kind", (0, 0, 1))
    good, poor = Concat((kind, Labelled.of(OneHot("flag", 2), kind))), Concat((kind, joined))
    made = replace(
        whole,
        rows=100,
        measurements=(
            measured(poor, [50, 40, 10, 90, 10], 5.0),
            measured(good, [80, 30, -10, *[17] * 6], 2.0),
        ),
    )
    rows, _, shares = class_shares(made)
    assert rows == 100
    np.testing.assert_allclose(shares, [0.75, 0.25, 0.0])


def test_classes_that_were_not_counted_are_taken_as_equal(
    shapes_schema: pt.Schema, shapes: Shapes, seeded_release: Releases
) -> None:
    whole = seeded_release(shapes(50), shapes_schema, method=pt.Merf(features=2), target="kind")
    made = replace(whole, measurements=(measured(Concat((Weighted(OneHot("flag", 2), 1.0),)), [30, 20], 1.0),))
    rows, label, shares = class_shares(made)
    assert rows == 50
    assert label is not None
    np.testing.assert_allclose(shares, [1 / 3] * 3)


class TestUncountedClasses:
    """What a release without class counts tells about them."""

    def shares(self, label: pt.Categorical, *others: Any, values: list[float], sigma: float, rows: int) -> list[float]:
        levels = Levels("kind", label)
        return [
            round(float(share), 6)
            for share in shares_of(
                cast(Any, SimpleNamespace(measurements=(measured(Concat(others), values, sigma),), rows=rows)),
                levels,
                [],
                float(rows),
            )
        ]

    def test_tables_by_class_are_added_up(self) -> None:
        """Two of them, each with noise of its own: unlisted values have no record, and no share."""
        label, kind = pt.Categorical(categories=("a", "b"), missing=False), OneHot("kind", 3)
        by_flag, by_side = (Labelled.of(OneHot(name, 2), kind) for name in ("flag", "side"))
        values = [30, 30, 20, 20, 0, 0, 50, 10, 20, 20, 1, -1]
        assert self.shares(label, by_flag, by_side, values=values, sigma=1.0, rows=100) == [0.6, 0.4, 0.0]

    def test_features_tell_which_classes_there_are(self) -> None:
        label, kind = pt.Categorical(categories=("a", "b", "c")), OneHot("kind", 5)
        waves = Labelled.of(RandomFourier.draw(("size",), 4, 0.5, seed=0), kind)
        values = [90, 10, 5, 5, 1, -1, 0, 1, 20, 30, 9, 9, -1, 0, 1, 0, 1, 1, 0, -1]
        assert self.shares(label, waves, values=values, sigma=1.0, rows=100) == [0.5, 0.0, 0.5, 0.0, 0.0]

    def test_where_nothing_is_told_all_categories_are_alike(self) -> None:
        """Neither unlisted nor missing values are a class."""
        label = pt.Categorical(categories=("a", "b"))
        assert self.shares(label, OneHot("flag", 2), values=[30, 20], sigma=1.0, rows=50) == [0.5, 0.5, 0.0, 0.0]


def test_no_rows_get_a_label_that_no_record_has(tmp_path: Path) -> None:
    """By chance, less than once in a million runs."""
    rng = np.random.default_rng(1)
    label = np.repeat(["a", "b"], [1_400, 600])
    table = pa.table({"x": np.clip(rng.normal(np.where(label == "a", 0.3, 0.7), 0.1), 0, 1), "y": label})
    schema = pt.Schema(
        name="s",
        columns={
            "x": pt.Real(min=0, max=1, missing=False),
            "y": pt.Categorical(categories=("a", "b"), missing=False),
        },
    )
    method, ledger = pt.Merf(features=20, count_share=0.0), tmp_path / "ledger"
    made = pt.release(table, schema, epsilon=5.0, method=method, target="y", neighbours="replace-one", ledger=ledger)
    sampled = pt.fit(made, generator=pt.MixtureSettings(components=6, steps=30)).sample(1_000, seed=0)
    assert "other" not in sampled["y"].to_pylist()


def test_rows_that_nobody_knows_are_asked_for(
    shapes_schema: pt.Schema, shapes: Shapes, seeded_release: Releases
) -> None:
    """Positions alone count nothing: then the release must know its rows. What a schema states is rough."""
    whole = seeded_release(shapes(50), shapes_schema, method=pt.Merf(features=2))
    waves = Concat((RandomFourier.draw(("size",), 2, 0.5, seed=0),))
    silent = replace(whole, measurements=(measured(waves, [10, 20], 1.0),))
    with pytest.raises(UsageError, match="how many rows there are"):
        record_count(silent)
    assert record_count(replace(silent, rows=70)) == 70


def test_there_is_always_a_row(shapes_schema: pt.Schema, shapes: Shapes, seeded_release: Releases) -> None:
    """Noise may say that there are less than none."""
    whole = seeded_release(shapes(50), shapes_schema, method=pt.Merf(features=2), target="kind")
    made = replace(whole, measurements=(measured(Concat((OneHot("kind", 3),)), [-30, -20, -10], 20.0),))
    rows, _, shares = class_shares(made)
    assert rows == 1.0
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= 0).all()
