"""Stored weights: what a network learned comes back; what does not fit it is refused."""

import numpy as np
import pytest
import torch
from torch import nn

from pointillist.generators.stored_weights import stored_weights, with_weights


def module() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def test_weights_come_back() -> None:
    made = module().eval()
    back = with_weights(module, stored_weights(made))
    given = torch.as_tensor(np.random.default_rng(0).standard_normal((5, 3)), dtype=torch.float32)
    torch.testing.assert_close(back(given), made(given))
    assert not back.training


def test_weights_of_another_network_are_refused() -> None:
    arrays = stored_weights(module())
    with pytest.raises(ValueError, match="do not fit"):
        with_weights(module, {name: value for name, value in arrays.items() if name != "weights.3.bias"})
    with pytest.raises(ValueError, match="do not fit"):
        with_weights(module, {**arrays, "weights.0.weight": np.zeros((4, 2), dtype=np.float32)})
    with pytest.raises(ValueError, match="variance is below 0"):
        with_weights(module, {**arrays, "weights.1.running_var": np.full(4, -1.0, dtype=np.float32)})
