"""Requirements: numbers above 0, and torch where it is needed."""

import sys
from types import SimpleNamespace

import pytest

from pointillist.errors import UsageError
from pointillist.generators.requirements import require_positive, require_torch


def test_numbers_must_be_above_0() -> None:
    settings = SimpleNamespace(steps=1, rate=0.0, points=None)
    require_positive(settings, "steps", "points")  # what is left open passes
    with pytest.raises(UsageError, match=r"rate must be above 0, not 0\.0\."):
        require_positive(settings, "steps", "rate")


def test_torch_is_asked_for_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    require_torch()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r"image networks need torch\. Install it with: pip install"):
        require_torch("image networks need")
