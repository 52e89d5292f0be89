"""The network: every level within reach, the release as its loss, the same seed the same rows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

import pointillist as pt
from pointillist.features import OneHot
from pointillist.generators.network import Head, Network, Shape, Training, fit_network, heads_of
from pointillist.levels import levels_of
from pointillist.methods import Merf
from pointillist.progress import silent

SCHEMA = pt.Schema(
    name="shapes",
    rows=4_000,
    columns={
        "kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
        "size": pt.Real(min=0, max=1, missing=False),
        "debt": pt.Real(min=1, max=100, special=(0.0,), scale="log"),
        "flag": pt.Boolean(missing=False),
    },
)


def table(rows: int, seed: int) -> pa.Table:
    """The kind decides everything else."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, rows, p=[0.6, 0.3, 0.1])
    debt = np.where(rng.random(rows) < 0.4, 0.0, np.exp(rng.normal(2 + kind, 0.3)).clip(1, 100))
    return pa.table({
        "kind": np.array(["a", "b", "c"])[kind],
        "size": np.clip(rng.normal(0.2 + 0.3 * kind, 0.05), 0, 1),
        "debt": pa.array(debt, mask=rng.random(rows) < 0.1),
        "flag": rng.random(rows) < np.array([0.1, 0.5, 0.9])[kind],
    })  # fmt: skip


QUICK = Merf(features=100, steps=300, batch=300, hidden=(50, 50))


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> pt.Release:
    ledger = tmp_path_factory.mktemp("ledger") / "l"
    return pt.release(table(4_000, 1), SCHEMA, epsilon=5.0, target="kind", method=QUICK, ledger=ledger)


@pytest.fixture(scope="module")
def model(release: pt.Release) -> pt.Model:
    return pt.fit(release)


def test_heads_follow_from_what_was_measured(release: pt.Release) -> None:
    heads = {head.column: head for head in heads_of([release.measurements[0].feature_map], levels_of(SCHEMA))}
    assert heads["kind"].width == 3
    assert (heads["size"].tiles, heads["size"].width) == (None, 1)
    assert heads["debt"].width == 4  # a number, zero or missing, and where it lies
    assert heads["flag"].width == 2
    with pytest.raises(ValueError, match="'size' was not measured"):
        heads_of([release.measurements[0].feature_map.parts[1]], levels_of(SCHEMA)[:2])


def test_the_same_seed_gives_the_same_rows(release: pt.Release, model: pt.Model) -> None:
    assert model.sample(500, seed=3).equals(model.sample(500, seed=3))
    assert not model.sample(500, seed=3).equals(model.sample(500, seed=4))
    assert pt.fit(release).sample(200, seed=3).equals(model.sample(200, seed=3))


def test_rows_are_like_the_real_ones(model: pt.Model) -> None:
    """Loose on purpose: the fit is short. Classes by their shares, means by class within a tenth of the range."""
    made, real = (t.to_pandas() for t in (model.sample(4_000, seed=1), table(4_000, 1)))
    for kind in ("a", "b", "c"):
        mine, theirs = made[made.kind == kind], real[real.kind == kind]
        assert abs(len(mine) - len(theirs)) < 200
        assert abs(mine["size"].mean() - theirs["size"].mean()) < 0.1
        assert abs(mine["flag"].mean() - theirs["flag"].mean()) < 0.25
    assert abs((made["debt"] == 0).mean() - (real["debt"] == 0).mean()) < 0.15


def test_a_model_survives_its_file(model: pt.Model, tmp_path: object) -> None:
    path = tmp_path / "m"  # type: ignore[operator]
    model.save(path)
    again = pt.Model.load(path)
    assert isinstance(again.generator, Network)
    assert again.sample(300, seed=5).equals(model.sample(300, seed=5))
    assert "hidden layers of 50, 50" in again.generator.describe()


def test_weights_that_do_not_fit_are_refused(model: pt.Model) -> None:
    facts, arrays = model.generator.to_facts()
    first = next(iter(arrays))
    with pytest.raises(ValueError, match="do not fit"):
        Network.from_facts(facts, {**arrays, first: arrays[first][:, :1]})


def test_no_rows_and_one_row(model: pt.Model) -> None:
    assert model.sample(0, seed=0).num_rows == 0
    assert model.sample(1, seed=0).num_rows == 1


def test_it_fits_a_release_of_counts_too(tmp_path: object) -> None:
    """Generator and release are independent choices: a network for a mosaic release."""
    made = pt.release(table(4_000, 1), SCHEMA, epsilon=5.0, target="kind", ledger=tmp_path / "l")  # type: ignore[operator]
    heads = heads_of([each.feature_map for each in made.measurements], levels_of(SCHEMA))
    shape = Shape(heads, None, (1.0,), hidden=(50,))
    training = Training(steps=60, batch=200)
    network = fit_network(made, shape, rows=4_000, training=training, seed=0, progress=silent)
    codes = network.sample(1_000, np.random.default_rng(0))
    sizes = {level.name: level.size for level in levels_of(SCHEMA)}
    assert all(codes[name].max() < size for name, size in sizes.items())
    assert abs(np.mean(codes["kind"] == 0) - 0.6) < 0.15


def test_fitting_stops_when_the_noise_is_all_that_is_left(release: pt.Release) -> None:
    """Noise so large that no network can be told from another, and a chi^2 just below its mean: one look is enough."""
    (measured,) = release.measurements
    sigma = 1e6 * measured.sigma
    drawn = np.random.default_rng(0).standard_normal(len(measured.values))
    drawn *= 0.99 * np.sqrt(len(drawn)) / np.linalg.norm(drawn)
    noise = replace(measured, values=np.rint(sigma * drawn).astype(np.int64), sigma=sigma)
    steps: list[float] = []
    pt.fit(replace(release, measurements=(noise,)), progress=lambda step, fraction: steps.append(fraction))
    assert len(steps) == 2  # the first look, and the end
    assert steps[-1] == 1.0


def test_every_category_can_come_out() -> None:
    head = Head("kind", OneHot("kind", 3), False)
    shape = Shape((head,), None, (1.0,), noise=2, hidden=(4,))
    torch.manual_seed(0)
    codes = Network(shape, shape.module()).sample(5_000, np.random.default_rng(0))["kind"]
    assert set(codes.tolist()) == {0, 1, 2}
