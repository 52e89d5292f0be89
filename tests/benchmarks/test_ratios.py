"""Ratios of errors and of losses, and their geometric means."""

import pytest
from benchmarks.tables.ratios import geometric_mean, of_errors, of_losses


def test_errors_are_divided_and_losses_have_some_slack() -> None:
    assert of_errors(0.01, 0.02) == 0.5
    assert of_errors(0.01, 0.0) is None
    assert of_errors(None, 0.1) is None
    assert of_errors(0.0, 0.01, slack=0.01) == 0.5
    assert of_losses(0.005, 0.015) == pytest.approx(0.5)
    assert of_losses(-0.01, -0.02) == 1.0  # both are as good as none
    assert of_losses(0.1, None) is None


def test_means_are_geometric_and_of_what_there_is() -> None:
    assert geometric_mean([0.5, None, 2.0]) == pytest.approx(1.0)
    assert geometric_mean([]) is None
