"""What the owner states about a release."""

import pytest

from pointillist.errors import UsageError
from pointillist.pages.deployment import Deployment


def test_round_trip() -> None:
    stated = Deployment(by="a", to="b", purpose="c", vouched_by="d", kind="Industry", region="e", sector="Finance")
    assert Deployment.from_json(stated.to_json()) == stated


def test_what_the_registry_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--kind 'Bank' is not known .* Choose one of Government"):
        Deployment(kind="Bank")
    with pytest.raises(UsageError, match="--vouched-by has more than 2,000 letters"):
        Deployment(vouched_by="x" * 2_001)
    with pytest.raises(ValueError, match="sector"):
        Deployment.from_json({**Deployment().to_json(), "sector": "Alchemy"})
