"""Evidence: tables of noisy counts, and tilings that refine, join and nest."""

import numpy as np
import pytest

from pointillist.features import OneHot, Tiles
from pointillist.features.indicator import aggregation
from pointillist.fitting.evidence import Evidence, Table, estimated_rows, joint_tiles, raw_error


def test_tilings_refine_and_nest() -> None:
    fine, coarse = Tiles("a", (0, 1, 2, 3)), Tiles("a", (0, 0, 1, 1))
    crossing = Tiles("a", (0, 1, 1, 0))
    np.testing.assert_array_equal(aggregation(fine, coarse), [[1, 0], [1, 0], [0, 1], [0, 1]])
    for first, second, unions in ((fine, coarse, 2), (coarse, crossing, 1), (fine, fine, 4)):
        one, two = joint_tiles(first, second)
        np.testing.assert_array_equal(one[first.table], two[second.table])
        assert len(set(one)) == unions
    with pytest.raises(ValueError, match="nest"):
        aggregation(coarse, crossing)

    def base(*leaves: Tiles) -> Tiles:
        tables = tuple(Table((leaf, OneHot("b", 4)), np.zeros((leaf.dimension, 4)), 1.0) for leaf in leaves)
        return Evidence(1.0, tables).base["a"]

    assert base(coarse) == coarse
    assert base(coarse, fine) == fine
    assert base(coarse, crossing).dimension == 4


def test_the_number_of_rows_is_a_mean_by_precision() -> None:
    precise = Table((OneHot("a", 2),), np.array([60.0, 40.0]), 1.0)
    poor = Table((OneHot("b", 2),), np.array([90.0, 90.0]), 9.0)
    assert estimated_rows([precise]) == 100.0
    assert 100.0 < estimated_rows([precise, poor]) < 101.0
    assert estimated_rows([Table((OneHot("a", 2),), np.array([-5.0, 1.0]), 3.0)]) == 1.0


def test_raw_error_is_that_of_noise_alone() -> None:
    noise = 5.0 * np.random.default_rng(0).standard_normal((400, 50))
    assert 0.5 * np.abs(noise / 1_000).sum(axis=1).mean() == pytest.approx(raw_error(50, 5.0, 1_000), rel=0.03)


def test_cliques_stand_by_themselves_and_tables_by_a_label_do_not() -> None:
    a, b, c, d, y = (OneHot(name, 2) for name in "abcdy")
    split = [Table((y, *pair), np.ones((2, 2, 2)), 1.0) for pair in ((a, b), (a, c), (b, c))]
    triple, four = Table((a, b, d), np.ones((2, 2, 2)), 1.0), Table((a, b, c, d), np.ones((2, 2, 2, 2)), 1.0)
    pair = Table((a, b), np.ones((2, 2)), 1.0)
    evidence = Evidence(10.0, (pair, *split, triple, four))
    assert evidence.cliques == (triple, four)
