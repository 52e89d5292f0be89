"""Landmarks: public points, weighted by a noisy embedding, stand in for the private rows."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator.releasing import embed
from pointillist.errors import DataError, UsageError
from pointillist.features import Delta, Gaussian, Plus, Records, Tiles, Times
from pointillist.features.landmark import Landmarks as LandmarkMap
from pointillist.generators.points.points import Points
from pointillist.methods import METHODS
from pointillist.methods.domain_points import fingerprint
from pointillist.methods.landmarks import best_number, mixed_kernel
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.reading.opening import open_source
from pointillist.schema.levels import levels_of

People = Callable[..., pa.Table]
QUICK = pt.Landmarks(candidates=256, number=40)
TARGETS = [None, "sex", "grade", "member", "age", "income", "seen"]

SHAPES = pt.Schema(
    name="shapes",
    rows=3_000,
    columns={
        "kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
        "size": pt.Real(min=0, max=1, missing=False, bins=32),
        "debt": pt.Real(min=1, max=100, special=(0.0,), scale="log", bins=32),
        "flag": pt.Boolean(missing=False),
    },
)


def shapes(rows: int, seed: int, shares: tuple[float, ...] = (0.6, 0.3, 0.1)) -> pa.Table:
    """A table in which the kind decides everything else."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, rows, p=shares)
    debt = np.where(rng.random(rows) < 0.4, 0.0, np.exp(rng.normal(1.5 + 0.7 * kind, 0.3)).clip(1, 100))
    return pa.table({
        "kind": np.array(["a", "b", "c"])[kind],
        "size": np.clip(rng.normal(0.2 + 0.3 * kind, 0.05), 0, 1),
        "debt": pa.array(debt, mask=rng.random(rows) < 0.1),
        "flag": rng.random(rows) < np.array([0.1, 0.5, 0.9])[kind],
    })  # fmt: skip


def spanned(release: pt.Release) -> LandmarkMap:
    (found,) = {leaf for leaf in release.measurements[0].feature_map.leaves if isinstance(leaf, LandmarkMap)}
    return found


# ---------------------------------------------------------------- plan and map


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_map_is_what_the_plan_says(schema: pt.Schema, target: str | None, neighbours: str) -> None:
    plan = pt.plan(schema, epsilon=1.0, target=target, neighbours=neighbours, method=QUICK)
    feature_map = QUICK.feature_map(plan, ())
    assert feature_map.dimension == plan.rounds[0].dimension
    assert feature_map.bound <= 1 + 1e-12
    assert feature_map.code_columns | feature_map.unit_columns == set(schema.measured)
    assert json.loads(json.dumps(plan.options)) == plan.options  # JSON, whatever the method holds


@settings(max_examples=15)
@given(
    rows=st.integers(1, 40),
    other=st.integers(0, 10_000),
    target=st.sampled_from([None, "kind"]),
    neighbours=st.sampled_from(["add-remove", "replace-one"]),
)
def test_the_sensitivity_holds_for_neighbours(rows: int, other: int, target: str | None, neighbours: str) -> None:
    """The exact integer sums of neighbouring tables differ by at most what the noise is calibrated to."""
    plan = pt.plan(SHAPES, epsilon=1.0, target=target, neighbours=neighbours, method=QUICK)
    feature_map, grid = QUICK.feature_map(plan, ()), plan.rounds[0].grid
    table = shapes(rows + 1, other)
    less = table.slice(0, rows)
    near = less if neighbours == "add-remove" else pa.concat_tables([less, shapes(1, other + 1)])
    one, two = (embed(open_source(each), SHAPES, feature_map, grid, threads=1)[0] for each in (table, near))
    moved = sum(int(value) ** 2 for value in one - two)
    assert moved <= squared_sensitivity(grid.squared_norm, plan.request.neighbours, None, nonnegative=False)
    if neighbours == "add-remove":
        assert moved >= 0.05 * grid.squared_norm  # the row count alone


def test_the_number_of_landmarks_follows_the_noise() -> None:
    few = pt.plan(SHAPES, epsilon=0.01, method=pt.Landmarks(candidates=512)).options["number"]
    more = pt.plan(SHAPES, epsilon=1.0, method=pt.Landmarks(candidates=512)).options["number"]
    assert few < more <= 512
    (note,) = pt.plan(SHAPES, epsilon=1.0, method=pt.Landmarks(candidates=512)).notes
    assert f"{more} landmarks among 512 public points" in note
    missed = np.array([1.0, 0.4, 0.1, 0.09, 0.0])
    assert best_number(missed, 0.0) == 4
    assert best_number(missed, 0.05) == 2
    assert best_number(missed, 10.0) == 1


def test_a_plan_says_when_points_are_too_much_alike_to_be_that_many() -> None:
    twice = pt.public_points(pa.concat_tables([shapes(5, 1)] * 4), SHAPES)
    plan = pt.plan(SHAPES, epsilon=1.0, method=pt.Landmarks(points=twice, number=15))
    assert plan.options["number"] == 5
    assert "5 of 15 landmarks" in plan.notes[0]


@pytest.mark.parametrize("target", TARGETS)
def test_the_default_kernel_reads_every_column_once(schema: pt.Schema, target: str | None) -> None:
    levels = levels_of(schema)
    label = next((each for each in levels if each.name == target and not each.numeric), None)
    kernel = mixed_kernel(levels, label, 0.2, 0.1)
    numeric = {each.name for each in levels if each.numeric}
    assert kernel.unit_columns == numeric
    assert kernel.code_columns >= set(schema.measured) - numeric
    floors = [part.floor for part in kernel.kernels if isinstance(part, Delta)]
    others = [floor for floor in floors if floor > 0]
    assert len(floors) - len(others) == (label is not None)
    assert np.prod(others) == pytest.approx(0.1)  # all categories differ


@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_columns_of_one_kind_alone_are_fine(floor: float) -> None:
    rng = np.random.default_rng(0)
    numbers = pt.Schema(name="n", rows=500, columns={"x": pt.Real(min=0, max=1, missing=False)})
    flags = pt.Schema(name="f", rows=500, columns={"y": pt.Boolean(missing=False)})
    for schema, table in ((numbers, {"x": rng.random(500)}), (flags, {"y": rng.random(500) < 0.3})):
        method = pt.Landmarks(floor=floor, candidates=64)
        model = pt.fit(pt.release(pa.table(table), schema, epsilon=5.0, method=method))
        assert model.sample(10, frame="pyarrow").column_names == list(schema.measured)


# ---------------------------------------------------------------- points


def test_public_points_come_from_frames_and_files(tmp_path: Path) -> None:
    table = shapes(50, 3)
    path = tmp_path / "public.csv"
    pacsv.write_csv(table, path)
    SHAPES_FILE = tmp_path / "shapes.toml"
    SHAPES_FILE.write_text(SHAPES.to_toml())
    one, two = pt.public_points(table, SHAPES), pt.public_points(path, SHAPES_FILE)
    assert fingerprint(one) == fingerprint(two)
    assert set(one.codes) == set(SHAPES.measured)
    assert set(one.units) == {"size", "debt"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (shapes(3, 0).drop_columns("size"), "'size'"),
        (shapes(3, 0).set_column(0, "kind", pa.array(["a", "b", "SECRET"])), "'kind'"),
        (shapes(3, 0).set_column(1, "size", pa.array(["much", "0.1", "0.2"])), "'size'"),
        (shapes(0, 0), "no rows"),
    ],
)
def test_mistakes_in_public_rows_name_the_file_and_the_column(tmp_path: Path, table: pa.Table, said: str) -> None:
    path = tmp_path / "public.csv"
    pacsv.write_csv(table, path)
    with pytest.raises(DataError, match=r"public\.csv") as caught:
        pt.public_points(path, SHAPES)
    assert said in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_points_of_another_schema_are_refused() -> None:
    points = pt.public_points(shapes(20, 0), SHAPES)
    narrow = SHAPES.to_json()
    narrow["columns"]["debt"]["bins"] = 4
    with pytest.raises(UsageError, match="'debt'"):
        pt.plan(pt.Schema.parse(narrow), epsilon=1.0, method=pt.Landmarks(points=points))
    without = Records(points.rows, points.codes, {"size": points.units["size"]})
    with pytest.raises(UsageError, match="'debt'"):
        pt.plan(SHAPES, epsilon=1.0, method=pt.Landmarks(points=without))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"number": 0}, "number"),
        ({"length_scale": 0.0}, "length_scale"),
        ({"floor": 1.0}, "floor"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"count_share": 1.0}, "count_share"),
        ({"weights": "heavy"}, "heavy"),
        ({"candidates": 0}, "candidates"),
        ({"points": [1, 2]}, "public_points"),
        ({"points": Records(0, {}, {})}, "public rows"),
    ],
)
def test_options_out_of_range_are_named(options: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        pt.Landmarks(**options)


# ---------------------------------------------------------------- release and fit


@pytest.mark.parametrize("target", [None, "kind"])
@pytest.mark.parametrize("weights", ["probabilities", "bounded", "signed"])
def test_weighted_points_come_near_the_truth_at_a_large_epsilon(target: str | None, weights: str) -> None:
    table = shapes(3000, 5)
    method = pt.Landmarks(points=pt.public_points(shapes(400, 6, (1 / 3, 1 / 3, 1 / 3)), SHAPES), weights=weights)
    model = pt.fit(pt.release(table, SHAPES, epsilon=9.0, target=target, method=method))
    assert isinstance(model.generator, Points)
    points, w = model.generator.table(model.levels), model.generator.weights
    # Over the noise, shares and means vary by 0.001 or less, the last one by 0.005 or less (measured): every limit is at
    # least ten standard deviations away.
    for name, value in (("kind", "a"), ("kind", "c"), ("flag", True), ("debt", 0.0)):
        share = np.mean([each == value for each in table[name].to_pylist()])
        assert w @ np.array([each == value for each in points[name].to_pylist()]) == pytest.approx(share, abs=0.02)
    assert w @ points["size"].to_numpy() == pytest.approx(np.mean(table["size"].to_numpy()), abs=0.01)
    third = np.array([each == "c" for each in points["kind"].to_pylist()])
    flag = np.array(points["flag"].to_pylist())
    truth = shares_of(table)
    assert (w * third) @ flag / (w @ third) == pytest.approx(truth, abs=0.06)  # 0.9 given c, and 0.3 in all


def shares_of(table: pa.Table) -> float:
    flag = [
        flag for flag, kind in zip(table["flag"].to_pylist(), table["kind"].to_pylist(), strict=True) if kind == "c"
    ]
    return float(np.mean(flag))


def test_a_release_file_alone_is_enough_to_fit(tmp_path: Path) -> None:
    path = tmp_path / "shapes.release"
    method = pt.Landmarks(points=pt.public_points(shapes(60, 1), SHAPES), kernel=Times((
        Plus((Gaussian(("size",), (0.1,)), Gaussian(("size",), (0.4,))), (0.5, 0.5)),
        Delta(Tiles("kind", (0, 1, 2)), 0.3),
    )))  # fmt: skip
    made = pt.release(shapes(500, 2), SHAPES, epsilon=1.0, method=method, output=path)
    read = pt.Release.load(path)
    assert read.plan.options["points"] == {"rows": 60, "sha256": fingerprint(method.points)}
    assert fingerprint(spanned(read).points) == fingerprint(method.points)
    one, two = pt.fit(made), pt.fit(read)
    np.testing.assert_array_equal(one.generator.weights, two.generator.weights)
    model = tmp_path / "shapes.model"
    two.save(model)
    again = pt.Model.load(model)
    np.testing.assert_array_equal(again.generator.weights, two.generator.weights)
    assert again.sample(100, seed=1, frame="pyarrow").equals(two.sample(100, seed=1, frame="pyarrow"))
    signed = pt.fit(read, method=pt.Landmarks(weights="signed"))
    assert signed.generator.signed
    with pytest.raises(UsageError, match="below 0"):
        signed.sample(10)


def test_the_settings_of_a_release_cannot_be_planned_with_again() -> None:
    plan = pt.plan(SHAPES, epsilon=1.0, method=QUICK)
    again = METHODS["landmarks"](**plan.options)
    with pytest.raises(UsageError, match="Pass the points"):
        pt.plan(SHAPES, epsilon=1.0, method=again)


def test_other_methods_and_generators_are_kept_apart() -> None:
    release = pt.release(shapes(300, 2), SHAPES, epsilon=1.0, method=QUICK)
    for generator in ("mixture", "network"):
        with pytest.raises(UsageError, match="own method"):
            pt.fit(release, generator=generator)
    with pytest.raises(UsageError, match="no landmarks"):
        pt.fit(pt.release(shapes(300, 2), SHAPES, epsilon=1.0), method=pt.Landmarks())


def test_without_counts_the_rows_must_be_public() -> None:
    with pytest.raises(UsageError, match="count_share"):
        pt.plan(SHAPES, epsilon=1.0, method=pt.Landmarks(count_share=0.0))
    method = pt.Landmarks(candidates=64, number=20, count_share=0.0)
    release = pt.release(shapes(500, 2), SHAPES, epsilon=2.0, neighbours="replace-one", method=method)
    assert pt.fit(release).rows == 500


def test_reweighted_public_rows_beat_equal_weights() -> None:
    """The paper's point (figure 1): 1 % of the rows are public; at epsilon 0.5 their weights bring them nearer to all.

    The squared RKHS distance of 60 rows with equal weights is about 0.01, that of the projection on their span 0.0002.
    The noise of a coordinate is 7 of 6,000 rows, so that of all 60 has a squared length of about 0.0001. A quarter of
    0.01 would take one of over ten times that: the chance for chi-squared with 40 to 60 degrees is far below 1e-6.
    """
    schema = pt.Schema.parse({**SHAPES.to_json(), "rows": 6_000})
    table = shapes(6_000, 0)
    public, everything = pt.public_points(table.slice(0, 60), schema), pt.public_points(table, schema)
    release = pt.release(table, schema, epsilon=0.5, method=pt.Landmarks(points=public, overlap=True))
    weights = pt.fit(release).generator.weights
    kernel = spanned(release).kernel
    alike, mean = kernel(public, public), kernel(public, everything).mean(axis=1)
    whole = np.mean([kernel(everything.part(part), everything).mean() for part in np.arange(6_000).reshape(6, -1)])

    def distance(w: np.ndarray) -> float:
        """The squared RKHS distance from the table."""
        return float(w @ alike @ w - 2 * w @ mean + whole)

    assert weights.min() >= 0
    assert distance(weights) < 0.25 * distance(np.full(60, 1 / 60))
