"""The row network as a sampler: every level within reach, atoms stay atoms, and weights must fit."""

import numpy as np
import pytest
import torch

import pointillist as pt
from pointillist.features import OneHot
from pointillist.generators.network.fit import heads_of
from pointillist.generators.network.row_network import Head, Network, Shape
from pointillist.schema.levels import levels_of

SCHEMA = pt.Schema(
    name="one", columns={"kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error")}
)


def network() -> Network:
    shape = Shape((Head("kind", OneHot("kind", 3), False),), None, (1.0,), noise=2, hidden=(4,))
    torch.manual_seed(0)
    return Network(shape, shape.module())


def test_weights_that_do_not_fit_are_refused() -> None:
    facts, arrays = network().to_facts()
    first = next(iter(arrays))
    with pytest.raises(ValueError, match="do not fit"):
        Network.from_facts(facts, {**arrays, first: arrays[first][:, :1]}, SCHEMA)


def test_every_category_can_come_out() -> None:
    codes = network().sample(5_000, np.random.default_rng(0)).codes["kind"]
    assert set(codes.tolist()) == {0, 1, 2}


def test_positions_fall_into_their_bins_and_atoms_stay_atoms(shapes_schema: pt.Schema) -> None:
    """A network without hidden layers whose output is its bias: every row is the same distribution."""
    levels = {each.name: each for each in levels_of(shapes_schema)}
    debt = levels["debt"]
    tiles = pt.Merf(features=2).feature_map(pt.plan(shapes_schema, epsilon=1.0, method=pt.Merf(features=2)), ())
    heads = heads_of([tiles], [debt])
    shape = Shape(heads, None, (1.0,), noise=2, hidden=())
    module = shape.module()
    (layer,) = module
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([0.0, 1.0, 2.0, 0.4]))  # a number, zero, missing; and the number's place
    codes = Network(shape, module).sample(40_000, np.random.default_rng(0)).codes["debt"]
    found, counts = np.unique(codes, return_counts=True)
    place = 1 / (1 + np.exp(-0.4))
    low, high = debt.spans
    (bin_number,) = np.flatnonzero((low[: debt.regular] <= place) & (place < high[: debt.regular]))
    assert found.tolist() == [bin_number, debt.regular, debt.missing]
    wanted = np.exp([0.0, 1.0, 2.0]) / np.exp([0.0, 1.0, 2.0]).sum()
    np.testing.assert_allclose(counts / 40_000, wanted, atol=0.015)  # six standard errors; the draw has a seed


def test_it_fits_its_schema_alone() -> None:
    other = pt.Schema(name="two", columns={**SCHEMA.columns, "flag": pt.Boolean()})
    wider = pt.Schema(name="wider", columns={"kind": pt.Categorical(categories=("a", "b", "c"), missing=True)})
    assert (network().fits(SCHEMA), network().fits(other), network().fits(wider)) == (True, False, False)
