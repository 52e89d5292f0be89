"""Feature maps in files: they come back as they were, and nonsense is refused."""

import numpy as np
import pytest
from tests.fixtures.maps import MAPS, A, B, Y, products

from pointillist.errors import ArtefactError, UsageError
from pointillist.features import Concat, OneHot, Product
from pointillist.features.serial import from_nodes, to_nodes


@pytest.mark.parametrize("name", MAPS)
def test_maps_survive_their_file_form(name: str) -> None:
    nodes, arrays = to_nodes(MAPS[name])
    back = from_nodes(nodes, arrays)
    distribution = products(2, seed=13)
    assert type(back) is type(MAPS[name])
    assert back.bound == MAPS[name].bound
    np.testing.assert_array_equal(back.expectation(distribution), MAPS[name].expectation(distribution))


def test_a_map_that_occurs_twice_is_written_once() -> None:
    nodes, _ = to_nodes(Concat((Product((A, B)), Product((A, Y)))))
    assert [node["map"] for node in nodes].count("one-hot") == 2  # A and Y; A is shared


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [{"map": "pickle", "parts": []}],
        [{"map": "concat", "parts": [5]}],
        [{"map": "weighted", "parts": []}],
        [{"map": "tiles", "parts": [], "column": "a", "tile_of": [0, 2]}],
        [{"map": "one-hot", "parts": []}],
    ],
)
def test_nonsense_nodes_are_refused(nodes: list[dict[str, object]]) -> None:
    with pytest.raises(ArtefactError, match="feature map"):
        from_nodes(nodes, {})


def test_a_map_that_no_file_knows_is_not_written() -> None:
    class Private(OneHot):
        """Not registered: a file would give back a plain one-hot map."""

    with pytest.raises(UsageError, match="'Private' is not a registered feature map"):
        to_nodes(Concat((A, Private("b", 5))))


def test_parts_that_a_map_does_not_have_are_refused() -> None:
    one = {"map": "one-hot", "parts": [], "column": "a", "size": 4}
    with pytest.raises(ArtefactError, match="parts that it does not have"):
        from_nodes([one, {**one, "parts": [0]}], {})


def test_a_few_letters_do_not_ask_for_too_much_memory() -> None:
    big = [{"map": "one-hot", "parts": [], "column": f"c{number}", "size": 1 << 16} for number in range(200)]
    with pytest.raises(ArtefactError, match="too many levels"):
        from_nodes([*big, {"map": "concat", "parts": [*range(200)]}], {})
