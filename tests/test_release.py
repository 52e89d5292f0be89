"""Release: blocks of a measurement, and what a release says of itself."""

from pathlib import Path

import numpy as np
import pytest

import pointillist as pt

EARLIER = sorted((Path(__file__).parent / "data" / "earlier").glob("*.release"))


@pytest.mark.parametrize("path", EARLIER, ids=lambda p: p.stem)
def test_blocks_are_the_whole_measurement_in_its_order(path: Path) -> None:
    for measured in pt.Release.load(path).measurements:
        found = list(measured.blocks())
        assert [(block.map, block.weight) for block in found] == measured.feature_map.blocks()
        assert all(block.values.shape == (block.map.dimension,) for block in found)
        assert np.array_equal(np.concatenate([block.values for block in found]), measured.values)
        assert {block.sigma for block in found} == {measured.sigma}


@pytest.mark.parametrize("path", EARLIER, ids=lambda p: p.stem)
def test_a_block_knows_what_a_feature_of_1_counts(path: Path) -> None:
    for measured in pt.Release.load(path).measurements:
        for block in measured.blocks():
            assert block.scale == block.weight * 2**measured.grid.bits
            assert block.added <= block.scale < block.added + 1
