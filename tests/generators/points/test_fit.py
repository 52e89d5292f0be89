"""Points fitted to a release: valid rows, weights within their bounds, near the truth, and never nearer to the noise."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.features import FeatureMap, Records
from pointillist.generators.points.points import Points

Shapes = Callable[..., pa.Table]
Releases = Callable[..., pt.Release]

QUICK = pt.PointsSettings(points=40, steps=20)
PLANE = pt.Schema(
    name="plane", rows=4_000, columns={name: pt.Real(min=0, max=1, missing=False, bins=64) for name in ("x", "y")}
)


def plane(rows: int = 4_000) -> pa.Table:
    """Three clusters on a plane."""
    rng = np.random.default_rng(5)
    middle = np.array([[0.2, 0.3], [0.7, 0.8], [0.6, 0.2]])[rng.choice(3, rows, p=[0.5, 0.3, 0.2])]
    x, y = np.clip(middle + 0.06 * rng.standard_normal((rows, 2)), 0, 1).T
    return pa.table({"x": x, "y": y})


def distance(feature_map: FeatureMap, points: Points, table: pa.Table, schema: pt.Schema) -> float:
    """Between the mean embeddings, in the space of the random features."""
    truth = feature_map(read(table, schema).records).mean(axis=0)
    return float(np.linalg.norm(points.weights @ feature_map(points.records) - truth))


def points_of(release: pt.Release, settings: pt.PointsSettings, seed: int = 0) -> Points:
    made = pt.fit(release, generator=settings, seed=seed).generator
    assert isinstance(made, Points)
    return made


@pytest.mark.parametrize("search", ["joint", "greedy"])
@pytest.mark.parametrize("method", ["merf", "hermite", "mosaic", "reduced-set"])
def test_every_point_is_a_row_of_the_schema(
    method: str, search: str, people: Shapes, schema: pt.Schema, seeded_release: Releases
) -> None:
    """Integers, dates, decimals, special and missing values, categories: whatever the features are."""
    options = {"mosaic": pt.Mosaic(), "hermite": pt.Hermite(order=5, products=2)}
    chosen = options.get(method, (pt.Merf if method == "merf" else pt.ReducedSet)(features=40))
    made = seeded_release(people(400), schema, method=chosen, target="grade")
    settings = pt.PointsSettings(points=3 if search == "greedy" else 40, steps=6, search=search)  # type: ignore[arg-type]
    model = pt.fit(made, generator=settings)
    assert isinstance(model.generator, Points)
    table = model.generator.table(model.levels)
    again = read(table, schema)  # refuses what the schema does not allow
    for level in model.levels:
        assert np.array_equal(again.codes(level.name), model.generator.records.codes[level.name])
        if level.numeric:
            np.testing.assert_allclose(
                again.records.units[level.name], model.generator.records.units[level.name], atol=1e-9
            )
    assert model.sample(30, seed=0).num_rows == 30


@pytest.mark.parametrize("search", ["joint", "greedy"])
@pytest.mark.parametrize("weights", ["probabilities", "bounded", "uniform"])
def test_weights_keep_their_promise(
    weights: str, search: str, shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases
) -> None:
    made = seeded_release(shapes(1_000), shapes_schema, method=pt.ReducedSet(features=60), target="kind", epsilon=20.0)
    settings = pt.PointsSettings(points=10, steps=10, weights=weights, search=search)  # type: ignore[arg-type]
    points = points_of(made, settings)
    if weights == "bounded":
        assert np.abs(points.weights).sum() <= 1 + 1e-9
        return
    assert (points.weights >= 0).all()
    assert points.weights.sum() == pytest.approx(1.0)
    if weights == "uniform":
        np.testing.assert_allclose(points.weights, 1 / points.records.rows)


def test_the_seed_decides(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> None:
    made = seeded_release(shapes(500), shapes_schema, method=pt.Merf(features=20), target="kind")
    one, same, other = (points_of(made, QUICK, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.weights, same.weights)
    assert all(np.array_equal(one.records.units[name], same.records.units[name]) for name in one.records.units)
    assert not np.array_equal(one.records.units["size"], other.records.units["size"])


@pytest.mark.parametrize("search", ["joint", "greedy"])
def test_few_points_are_nearer_than_a_grid(search: str, seeded_release: Releases) -> None:
    table = plane()
    made = seeded_release(table, PLANE, method=pt.Merf(features=200), epsilon=1.0)
    waves = made.measurements[0].feature_map.leaves[0]
    points = points_of(made, pt.PointsSettings(points=36, steps=60, search=search))  # type: ignore[arg-type]
    x, y = (each.ravel() for each in np.meshgrid(*[(np.arange(6) + 0.5) / 6] * 2))
    grid = Points(Records(36, {}, {"x": x, "y": y}), np.full(36, 1 / 36))
    blind = distance(waves, grid, table, PLANE)
    assert distance(waves, points, table, PLANE) < 0.3 * blind


def test_more_points_do_not_follow_the_noise(seeded_release: Releases) -> None:
    """At a small epsilon the noise is as long as the difference between the data and a blind start. Seeded noise."""
    table = plane()
    found: dict[int, list[float]] = {30: [], 200: [], 800: []}
    for seed in range(2):
        made = seeded_release(table, PLANE, method=pt.Merf(features=100), epsilon=0.05, seed=seed)
        waves = made.measurements[0].feature_map.leaves[0]
        for count, distances in found.items():
            points = points_of(made, pt.PointsSettings(points=count, steps=60))
            distances.append(distance(waves, points, table, PLANE))
    few, some, many = (float(np.mean(each)) for each in found.values())
    assert some < 1.1 * few
    assert many < 1.1 * few


def line(columns: int) -> tuple[pt.Schema, pa.Table]:
    """Two clusters on the diagonal of many columns."""
    rng = np.random.default_rng(0)
    middle = rng.choice([0.4, 0.6], 3_000)
    kinds = {f"x{number}": pt.Real(min=0, max=1, missing=False, bins=64) for number in range(columns)}
    table = pa.table({name: np.clip(middle + 0.1 * rng.standard_normal(3_000), 0, 1) for name in kinds})
    return pt.Schema(name="line", rows=3_000, columns=dict(kinds)), table


@pytest.mark.parametrize(("columns", "epsilon", "most"), [(12, 0.02, 0.95), (2, 1.0, 1.1)])
def test_stopping_helps_where_noise_is_large_and_costs_nothing_where_it_is_not(
    columns: int, epsilon: float, most: float, seeded_release: Releases
) -> None:
    """In many columns points can follow most of the noise. Where there is little, to stop early would cost a lot."""
    schema, table = line(columns)
    found: list[list[float]] = []
    for seed in range(2):
        made = seeded_release(table, schema, method=pt.Merf(features=100), epsilon=epsilon, seed=seed)
        waves = made.measurements[0].feature_map.leaves[0]
        settings = [pt.PointsSettings(points=150, steps=100, stop=stop) for stop in (True, False)]
        found.append([distance(waves, points_of(made, each), table, schema) for each in settings])
    stopped, followed = np.mean(found, axis=0)
    assert stopped < most * followed


def test_a_greedy_search_ends_by_itself(seeded_release: Releases) -> None:
    made = seeded_release(plane(), PLANE, method=pt.Merf(features=40), epsilon=0.1)
    points = points_of(made, pt.PointsSettings(points=80, steps=40, search="greedy"))
    assert 2 <= points.records.rows < 80


def test_categories_follow_numbers(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> None:
    """No target is named: only features of all columns together can tell that flags depend on sizes."""
    table = shapes(4_000)
    made = seeded_release(table, shapes_schema, method=pt.ReducedSet(features=300), epsilon=10.0)
    model = pt.fit(made, generator=pt.PointsSettings(points=200, steps=120))
    assert isinstance(model.generator, Points)
    rows = model.generator.table(model.levels)
    size, flag = rows["size"].to_numpy(), rows["flag"].to_numpy()
    weights, large = model.generator.weights, size > 0.65
    share = {side: float(np.average(flag[large == side], weights=weights[large == side])) for side in (True, False)}
    assert share[True] - share[False] > 0.4  # about 0.9 and 0.2 in the table


def test_parts_are_fitted_one_after_the_other(seeded_release: Releases, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points that do not fit in memory at once come as near as if they did."""
    table = plane()
    made = seeded_release(table, PLANE, method=pt.Merf(features=100), epsilon=1.0)
    waves = made.measurements[0].feature_map.leaves[0]
    settings = pt.PointsSettings(points=120, steps=60)
    whole = distance(waves, points_of(made, settings), table, PLANE)
    monkeypatch.setattr("pointillist.generators.points.fit._MOST_TOGETHER", 32)
    parts = distance(waves, points_of(made, settings), table, PLANE)
    assert parts < 1.3 * whole


def test_a_model_of_points_survives_a_file(
    shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases, tmp_path: object
) -> None:
    made = seeded_release(shapes(300), shapes_schema, method=pt.Merf(features=20), target="kind")
    model = pt.fit(made, generator=QUICK)
    path = f"{tmp_path}/points.model"
    model.save(path)
    assert pt.Model.load(path).sample(50, seed=3).equals(model.sample(50, seed=3))


def test_points_take_no_checkpoint(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> None:
    made = seeded_release(shapes(100), shapes_schema, method=pt.Merf(features=20))
    with pytest.raises(UsageError, match="take no checkpoint"):
        pt.fit(made, generator=QUICK, checkpoint="some.file")


def test_too_many_greedy_points_are_refused(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> None:
    made = seeded_release(shapes(100), shapes_schema, method=pt.Merf(features=20))
    with pytest.raises(UsageError, match="too many to find one by one"):
        pt.fit(made, generator=pt.PointsSettings(points=50_000_000, steps=2, search="greedy"))
