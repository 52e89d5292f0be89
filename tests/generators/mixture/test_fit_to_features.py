"""Descent: a mixture for any release, without rows being drawn. Fits are short, noise has a seed, bounds are loose."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.fitting.likelihood import Likelihood
from pointillist.generators.mixture.fit_to_features import fit_by_descent
from pointillist.generators.mixture.mixture import Mixture
from pointillist.progress import silent
from pointillist.schema.levels import levels_of

Shapes = Callable[..., pa.Table]
Releases = Callable[..., pt.Release]

METHODS: dict[str, pt.Merf | pt.Hermite | pt.Mosaic] = {
    "merf": pt.Merf(features=80),
    "hermite": pt.Hermite(order=10, product_order=4),
    "mosaic": pt.Mosaic(),
}
QUICK = pt.MixtureSettings(components=30, steps=150, grain=16)
SHORT = pt.MixtureSettings(components=10, steps=2, grain=8)


def fitted(release: pt.Release, *, seed: int = 0, settings: pt.MixtureSettings = QUICK) -> pt.Model:
    return pt.Model.fitted(release, settings, seed=seed, progress=silent)


@pytest.fixture(scope="module")
def releases(shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases) -> dict[str, pt.Release]:
    """One release by each method, with the kind as the target."""
    table = shapes(2_000)
    return {name: seeded_release(table, shapes_schema, method=each, target="kind") for name, each in METHODS.items()}


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_like_the_real_ones(
    method: str, releases: dict[str, pt.Release], shapes: Shapes, misfit: Callable[..., float]
) -> None:
    """Classes by their shares; by class means, spread and the share of an atom."""
    model = fitted(releases[method])
    assert isinstance(model.generator, Mixture)
    made = model.sample(2_000, seed=1)
    rows, real = made.to_pandas(), shapes(2_000).to_pandas()
    for kind in "abc":
        mine, theirs = rows[rows.kind == kind], real[real.kind == kind]
        assert abs(len(mine) - len(theirs)) < 60
        assert abs(mine["size"].mean() - theirs["size"].mean()) < 0.1
        assert mine["size"].std() < 0.225  # 0.25 if the kind said nothing; rounding makes fits differ by machine
        assert abs(mine["flag"].mean() - theirs["flag"].mean()) < 0.2
        assert abs((mine["debt"] == 0).mean() - (theirs["debt"] == 0).mean()) < 0.2
        assert abs(mine["debt"].isna().mean() - theirs["debt"].isna().mean()) < 0.1
    untrained = fitted(releases[method], settings=pt.MixtureSettings(components=30, steps=1, grain=16))
    assert misfit(releases[method], made) < 0.15 * misfit(releases[method], untrained.sample(2_000, seed=1))


@pytest.mark.parametrize("method", ["hermite", "mosaic"])
@pytest.mark.parametrize("target", ["size", None])
def test_without_a_label_dependence_is_found_in_pairs(
    method: str, target: str | None, shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases
) -> None:
    made = seeded_release(shapes(2_000), shapes_schema, method=METHODS[method], target=target)
    rows = fitted(made).sample(2_000, seed=1).to_pandas()
    means = [rows[rows.kind == kind]["size"].mean() for kind in "abc"]  # 0.2, 0.5 and 0.8 in the real rows
    assert means[1] > means[0] + 0.1
    assert means[2] > means[1] + 0.05
    assert abs((rows.kind == "a").mean() - 0.6) < 0.1


def test_without_a_label_merf_measures_columns_of_their_own(
    shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases
) -> None:
    """What it sees is numbers together, and each category by itself."""
    made = seeded_release(shapes(2_000), shapes_schema, method=METHODS["merf"])
    rows, real = fitted(made).sample(2_000, seed=1).to_pandas(), shapes(2_000).to_pandas()
    assert abs(rows["size"].mean() - real["size"].mean()) < 0.1
    assert abs((rows.kind == "a").mean() - 0.6) < 0.1
    assert abs((rows.debt == 0).mean() - (real.debt == 0).mean()) < 0.1


def test_the_same_seed_gives_the_same_rows(releases: dict[str, pt.Release]) -> None:
    quick = pt.MixtureSettings(components=9, steps=20, grain=8)
    first, second, other = (fitted(releases["merf"], seed=seed, settings=quick) for seed in (1, 1, 2))
    assert first.sample(200, seed=3).equals(second.sample(200, seed=3))
    assert not first.sample(200, seed=3).equals(first.sample(200, seed=4))
    assert not first.sample(200, seed=3).equals(other.sample(200, seed=3))


def test_every_component_belongs_to_one_class(releases: dict[str, pt.Release]) -> None:
    mixture = fitted(releases["hermite"], settings=pt.MixtureSettings(components=31, steps=5)).generator
    assert isinstance(mixture, Mixture)
    assert set(np.unique(mixture.tables["kind"])) == {0.0, 1.0}
    assert (mixture.tables["kind"].sum(axis=0) >= 1).all()
    for table in mixture.tables.values():
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-5)
    assert mixture.weights.sum() == pytest.approx(1.0)


def test_more_classes_than_components(releases: dict[str, pt.Release]) -> None:
    rows = fitted(releases["merf"], settings=pt.MixtureSettings(components=1, steps=10)).sample(500, seed=0)
    assert set(rows["kind"].to_pylist()) == {"a", "b", "c"}


@pytest.mark.parametrize("method", METHODS)
def test_a_class_without_rows_stays_empty(
    method: str, shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Releases
) -> None:
    table = shapes(2_000, shares=(0.7, 0.3, 0.0))
    made = seeded_release(table, shapes_schema, method=METHODS[method], target="kind")
    model = fitted(made, settings=pt.MixtureSettings(components=10, steps=20, grain=8))
    kinds = model.sample(1_000, seed=0)["kind"].to_pylist()
    assert kinds.count("c") < 30  # noise may leave a few rows, or none
    assert 600 < kinds.count("a") < 800


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", ["only", "flag", None])
def test_a_column_with_one_level_has_it_everywhere(method: str, target: str | None, seeded_release: Releases) -> None:
    schema = pt.Schema(
        name="narrow",
        columns={
            "only": pt.Categorical(categories=("same",), missing=False, out_of_domain="error"),
            "flag": pt.Boolean(missing=False),
            "size": pt.Integer(min=0, max=1, missing=False),
        },
    )
    table = pa.table({"only": ["same"] * 60, "flag": [True, False, True] * 20, "size": [0, 1, 1] * 20})
    made = seeded_release(table, schema, method=METHODS[method], target=target)
    rows = fitted(made, settings=pt.MixtureSettings(components=4, steps=10)).sample(50, seed=0)
    assert set(rows["only"].to_pylist()) == {"same"}
    assert set(rows["size"].to_pylist()) <= {0, 1}


def test_an_empty_class_takes_no_components(releases: dict[str, pt.Release]) -> None:
    likelihood, levels = Likelihood.of(releases["merf"], 2_000.0), levels_of(releases["merf"].schema)
    mixture = fit_by_descent(
        likelihood, levels, SHORT, label="kind", shares=np.array([0.7, 0.0, 0.3]), seed=0, progress=silent
    )
    assert mixture.tables["kind"].sum(axis=0).tolist() == [5, 0, 5]
    assert np.isfinite(mixture.weights).all()


def test_a_column_that_was_not_measured_is_named(releases: dict[str, pt.Release]) -> None:
    more = levels_of(pt.Schema(name="more", columns={"weight": pt.Real(min=0, max=1)}))
    levels = levels_of(releases["merf"].schema)
    with pytest.raises(ValueError, match="'weight' was not measured"):
        fit_by_descent(
            Likelihood.of(releases["merf"], 2_000.0),
            (*levels, *more),
            SHORT,
            label=None,
            shares=np.ones(1),
            seed=0,
            progress=silent,
        )


def test_a_fit_says_how_far_it_is(releases: dict[str, pt.Release]) -> None:
    steps: list[tuple[str, float]] = []
    settings = pt.MixtureSettings(components=3, steps=20)
    settings.fit(releases["merf"], seed=0, progress=lambda step, fraction: steps.append((step, fraction)))
    assert {step for step, _ in steps} == {"fit"}
    assert [fraction for _, fraction in steps] == sorted(fraction for _, fraction in steps)
    assert steps[-1][1] == 1.0


def test_coarse_positions_keep_to_their_bins(releases: dict[str, pt.Release]) -> None:
    """Numbers are cut into at most `grain` runs of bins; a value is then anywhere in its run."""
    mixture = fitted(releases["merf"], settings=pt.MixtureSettings(components=3, steps=2, grain=4)).generator
    assert isinstance(mixture, Mixture)
    assert mixture.tiles["size"].dimension == 4
    assert mixture.tiles["debt"].dimension == 4 + 2  # zero and missing are no runs


def test_a_model_survives_its_file(releases: dict[str, pt.Release], tmp_path: Any) -> None:
    model = fitted(releases["hermite"], settings=pt.MixtureSettings(components=6, steps=5))
    model.save(tmp_path / "m")
    again = pt.Model.load(tmp_path / "m")
    assert again.sample(300, seed=5).equals(model.sample(300, seed=5))
