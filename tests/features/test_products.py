"""Products: how many distributions there are."""

from tests.fixtures.maps import products


def test_there_are_as_many_as_rows_of_probabilities() -> None:
    assert products(3, seed=0).count == 3
