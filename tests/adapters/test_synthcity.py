"""synthcity's plugin. The package wants an older numpy than we do: the bench runs it in an environment of its own."""

import importlib.util

import pytest

from pointillist.adapters.synthcity import register
from pointillist.errors import UsageError


@pytest.mark.skipif(importlib.util.find_spec("synthcity") is not None, reason="synthcity is there")
def test_who_has_no_synthcity_is_told_so() -> None:
    with pytest.raises(UsageError, match="pip install synthcity"):
        register()
