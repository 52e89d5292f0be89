"""Constant: its sum is the number of records."""

import numpy as np
import torch

from pointillist.features import Constant, Records
from pointillist.features.soft_records import SoftRecords


def test_every_record_counts_1() -> None:
    constant, records = Constant(), Records(3, {}, {})
    np.testing.assert_array_equal(constant(records), np.ones((3, 1)))
    np.testing.assert_array_equal(constant.cells(records), np.zeros(3))
    assert torch.equal(constant.soft(SoftRecords(3)), torch.ones(3, 1))
    assert constant.columns_known == frozenset()
