"""Strong pairs: what is kept of them, from nothing to all, whatever the columns by themselves look like."""

import numpy as np
import pytest

from pointillist.evaluate.tables.strong_pairs import StrongPair, kept

DIAGONAL = np.diag([400.0, 300.0, 300.0])


def test_all_nothing_and_between() -> None:
    apart = np.outer([0.4, 0.3, 0.3], [0.4, 0.3, 0.3]) * 1_000
    assert kept(DIAGONAL, DIAGONAL) == 1.0
    assert kept(DIAGONAL, apart) == pytest.approx(0.0, abs=0.1)
    half = kept(DIAGONAL, (DIAGONAL + apart) / 2)
    assert half == pytest.approx(0.5, abs=0.1)


def test_dependence_that_is_made_up_is_as_wrong() -> None:
    apart = np.outer([0.4, 0.3, 0.3], [0.4, 0.3, 0.3]) * 1_000
    assert kept(apart, DIAGONAL) == pytest.approx(0.0, abs=0.1)


def test_another_dependence_of_the_same_strength_is_not_kept() -> None:
    assert kept(DIAGONAL, DIAGONAL[:, ::-1].copy()) == pytest.approx(0.0, abs=0.3)


def test_errors_of_single_columns_do_not_count() -> None:
    assert kept(DIAGONAL, np.diag([200.0, 500.0, 300.0])) == 1.0


def test_nothing_to_keep() -> None:
    apart = np.outer([0.5, 0.5], [0.5, 0.5]) * 1_000
    assert kept(apart, apart) is None
    assert kept(apart, np.zeros((2, 2))) is None


def test_a_pair_is_as_strong_as_in_the_table_where_it_is_stronger() -> None:
    pair = StrongPair(("a", "b"), 0.1, 0.7, None)
    assert pair.strength == 0.7
    assert pair.to_json() == {"columns": ["a", "b"], "real": 0.1, "synthetic": 0.7, "kept": None}
