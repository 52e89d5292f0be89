"""Arrays among the facts of a file, read strictly."""

import numpy as np
import pytest

from pointillist.features.description import array, floats


def test_arrays_and_floats() -> None:
    facts = {"whole": np.arange(3), "real": np.array([0.5], dtype=np.float32), "list": [1.0]}
    np.testing.assert_array_equal(array(facts, "whole"), [0, 1, 2])
    assert floats(facts, "real").dtype == np.float64
    for read in (array, floats):
        with pytest.raises(ValueError, match="list must be an array"):
            read(facts, "list")
    with pytest.raises(ValueError, match="whole must be numbers with fractions"):
        floats(facts, "whole")
    with pytest.raises(KeyError):
        array(facts, "absent")
