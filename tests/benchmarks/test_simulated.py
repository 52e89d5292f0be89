"""Simulated tables hold the dependence that they say, and no other. Their rows are fixed, so no test can fail by chance."""

import numpy as np
import pytest
from benchmarks.tables.datasets import datasets
from benchmarks.tables.dependence import rank_correlation
from benchmarks.tables.simulated import pairs, parity

from pointillist.evaluate.tables.sample import read


@pytest.mark.parametrize("order", [2, 3])
def test_a_parity_shows_in_all_of_its_columns_only(order: int) -> None:
    table = parity(order)
    bits = np.stack([table[f"bit{i}"].to_numpy() for i in range(order)])
    odd = table["odd"].to_numpy()
    assert np.mean(bits.sum(axis=0) % 2 == odd) == pytest.approx(0.9, abs=0.01)
    assert np.mean(bits[1:].sum(axis=0) % 2 == odd) == pytest.approx(0.5, abs=0.01)
    for name in table.column_names[:-1]:
        if table[name].type == "bool":
            assert abs(np.corrcoef(table[name].to_numpy(), odd)[0, 1]) < 0.02


def test_ten_pairs_are_strong_and_the_others_are_not() -> None:
    sample = read(pairs(), datasets()["pairs40"].schema)
    strong = [rank_correlation(sample, (f"x{i}", f"x{i + 10}")) for i in range(10)]
    assert np.mean(strong) == pytest.approx(0.88, abs=0.01)  # 6 / pi asin(0.89 / 2)
    weak = [rank_correlation(sample, (f"x{i}", f"x{i + 20}")) for i in range(20)]
    assert max(map(abs, weak)) < 0.06
