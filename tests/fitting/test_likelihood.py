"""Likelihood: the rows that were released leave what the noise leaves, others more; and which features are whose."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch.utils._python_dispatch import TorchDispatchMode

import pointillist as pt
from pointillist.evaluate.tables.sample import read
from pointillist.features import FeatureMap, Hermite, Labelled, OneHot, Product, RandomFourier, Records, Tiles
from pointillist.features.soft_records import SoftColumn, SoftRecords
from pointillist.fitting.likelihood import Likelihood, Term
from pointillist.schema.levels import Levels

Shapes = Callable[..., pa.Table]
METHODS: dict[str, pt.Merf | pt.Hermite | pt.Mosaic] = {
    "merf": pt.Merf(features=60),
    "hermite": pt.Hermite(order=8, product_order=3, products=6),
    "mosaic": pt.Mosaic(),
}


@pytest.mark.parametrize("target", ["kind", "size", None])
@pytest.mark.parametrize("method", METHODS)
def test_the_rows_that_were_released_leave_what_the_noise_leaves(
    method: str,
    target: str | None,
    shapes: Shapes,
    shapes_schema: pt.Schema,
    seeded_release: Callable[..., pt.Release],
    misfit: Callable[..., float],
) -> None:
    """Chi^2 of as many degrees of freedom as features. The noise has a seed; one in a million would fail."""
    table = shapes(2_000)
    made = seeded_release(table, shapes_schema, method=METHODS[method], target=target)
    dimension = sum(len(each.values) for each in made.measurements)
    assert Likelihood.of(made, 2_000.0).dimension == dimension
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], dimension) / dimension
    assert low < misfit(made, table) < high
    # Beyond chance: the same kinds in other shares, and the same columns without their dependence.
    assert misfit(made, shapes(2_000, shares=(0.3, 0.3, 0.4))) > 2 * high
    shuffled = table.set_column(1, "size", pa.chunked_array([table["size"].to_numpy()[::-1].copy()]))
    assert misfit(made, shuffled) > 2 * high


def test_terms_are_the_blocks_of_a_release(
    shapes: Shapes, shapes_schema: pt.Schema, seeded_release: Callable[..., pt.Release]
) -> None:
    made = seeded_release(shapes(500), shapes_schema, method=METHODS["hermite"], target="kind")
    (measured,) = made.measurements
    likelihood = Likelihood.of(made, 500.0)
    found = measured.feature_map.blocks()
    assert [term.map for term in likelihood.terms] == [block for block, _ in found]
    start = 0
    for term, (block, weight) in zip(likelihood.terms, found, strict=True):
        share = weight * measured.grid.scale * 500
        values = measured.values[start : start + block.dimension]
        start += block.dimension
        assert term.deviation == pytest.approx(measured.sigma / share)
        assert term.wanted.numpy() == pytest.approx(values / share, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("target", ["kind", None])
@pytest.mark.parametrize("method", METHODS)
def test_chi_squared_is_the_sum_over_all_features(
    method: str,
    target: str | None,
    shapes: Shapes,
    shapes_schema: pt.Schema,
    seeded_release: Callable[..., pt.Release],
    misfit: Callable[..., float],
) -> None:
    """Against the maps themselves, one by one."""
    made = seeded_release(shapes(300), shapes_schema, method=METHODS[method], target=target)
    table = shapes(100, seed=7)
    records = read(table, shapes_schema).records
    total, dimension = 0.0, 0
    for each in made.measurements:
        sums = each.feature_map(records).sum(axis=0) * each.grid.scale
        total += float(np.square((sums - each.values) / each.sigma).sum())
        dimension += len(sums)
    assert misfit(made, table) == pytest.approx(total / dimension, rel=1e-3)


LABEL, COLOUR = OneHot("label", 3), OneHot("colour", 4)
FOURIER, A, B = RandomFourier.draw(("a", "b"), 6, 0.5, seed=0), Hermite("a", 3, 0.2), Hermite("b", 2, 0.2)


def term(feature_map: FeatureMap) -> Term:
    return Term(feature_map, torch.zeros(feature_map.dimension), 1.0)


@pytest.mark.parametrize(
    ("feature_map", "product"),
    [
        (COLOUR, False),
        (A, False),
        (LABEL, False),
        (FOURIER, False),  # of two columns, but nothing is multiplied
        (Labelled.of(COLOUR, LABEL), False),
        (Labelled.of(A, LABEL), False),
        (Labelled.of(FOURIER, LABEL), False),
        (Product((COLOUR, LABEL)), False),
        (Product((A,)), False),
        (Product((A, B)), True),
        (Product((COLOUR, A)), True),
        (Labelled.of(Product((A, B)), LABEL), True),
        (Labelled.of(Product((A, B, COLOUR)), LABEL), True),
        (Labelled.of(Product((A,)), LABEL), False),
        (Product((COLOUR, FOURIER)), True),
    ],
)
def test_products_are_told_from_features_of_single_columns(feature_map: FeatureMap, product: bool) -> None:
    assert term(feature_map).product("label") is product


def test_without_a_label_every_column_counts() -> None:
    assert term(Labelled.of(COLOUR, LABEL)).product(None)
    assert not term(LABEL).product(None)


@given(
    feature_map=st.sampled_from(
        [
            LABEL,
            Labelled.of(A, LABEL),
            Labelled.of(FOURIER, LABEL),
            Labelled.of(Product((COLOUR, B)), LABEL),
            Product((COLOUR, LABEL)),
            Product((A, LABEL, COLOUR)),
        ]
    ),
    seed=st.integers(0, 99),
)
def test_every_feature_has_the_factor_of_its_class(feature_map: FeatureMap, seed: int) -> None:
    """A record only has features of its own class, so all of those must have that class's factor."""
    rng = np.random.default_rng(seed)
    codes = {"label": rng.integers(0, 3, 5), "colour": rng.integers(0, 4, 5)}
    records = Records(
        5,
        {name: values.astype(np.uint16) for name, values in codes.items()},
        {name: rng.random(5) for name in ("a", "b")},
    )
    factors = torch.tensor([1.0, 0.5, 0.25])
    found = term(feature_map).by_class("label", factors).numpy()
    assert found.shape == (feature_map.dimension,)
    for features, label in zip(feature_map(records), codes["label"], strict=True):
        assert (found[features != 0] == factors[label].item()).all()


@pytest.mark.parametrize(
    "feature_map", [COLOUR, FOURIER, Product((A, B)), Product((Tiles("label", (0, 1, 0)), COLOUR))]
)
def test_features_of_no_class_have_factor_one(feature_map: FeatureMap) -> None:
    """Also those of a label whose classes were joined."""
    assert term(feature_map).by_class("label", torch.tensor([1.0, 0.5, 0.25])).tolist() == [1.0] * feature_map.dimension


class Largest(TorchDispatchMode):
    """Notes the size of the largest tensor that is made."""

    entries = 0

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        made = function(*arguments, **(options or {}))
        if isinstance(made, torch.Tensor):
            self.entries = max(self.entries, made.numel())
        return made


@pytest.mark.parametrize("by_class", [True, False])
def test_records_times_features_of_a_product_are_never_held(by_class: bool) -> None:
    """A'B instead: 500 records of 30 x 40 features, for each of 3 classes."""
    count = 500
    numbers = {name: Levels(name, pt.Real(min=0, max=1, missing=False)) for name in ("a", "b")}
    columns = {name: SoftColumn(level, None, placed=True) for name, level in numbers.items()}
    columns["label"] = SoftColumn(
        Levels("label", pt.Categorical(categories=("x", "y", "z"), missing=False, out_of_domain="error")), LABEL, False
    )
    soft = SoftRecords(
        count,
        columns,
        {"label": torch.full((count, 3), 1 / 3)},
        {name: torch.linspace(0, 1, count) for name in numbers},
    )
    product: FeatureMap = Product((Hermite("a", 29, 0.1), Hermite("b", 39, 0.1)))
    likelihood = Likelihood((term(Labelled.of(product, LABEL) if by_class else product),))
    with Largest() as largest:
        likelihood.chi_squared(soft)
    assert count * 40 <= largest.entries < count * 30 * 40
