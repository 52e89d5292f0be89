"""What facts cost: told to whoever sees a release, and never nothing."""

import pytest
from pydantic import ValidationError

from pointillist.schema.purchase import Purchase


def test_the_sentence_says_that_it_comes_on_top() -> None:
    said = Purchase(epsilon=0.25, delta=1e-6, id="x", seen_from=40).sentence()
    assert "(ε = 0.25, δ = 1e-06)" in said
    assert "on top of the release's" in said


@pytest.mark.parametrize("fault", [{"epsilon": 0.0}, {"delta": 1.0}, {"epsilon": float("inf")}, {"seen_from": 0}])
def test_a_price_that_cannot_be_is_refused(fault: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Purchase(**{"epsilon": 0.25, "delta": 1e-6, "id": "x", "seen_from": 40} | fault)
