"""Public networks: plain names, architectures from a stranger's file, small networks, and torch on one thread."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from pointillist.features.images.public_network import (
    architecture_from_facts,
    convolutions,
    one_thread,
    plain_name,
    require_small,
    small_network,
    weights_of,
)

SMALL = {"kind": "small", "channels": 1, "widths": [[3, 4], [5]]}


@pytest.mark.parametrize("name", ["resnet18", "tf_efficientnet_b0.ns_jft_in1k", "efficientnet_v2_s", "vit-b.x"])
def test_names_of_networks(name: str) -> None:
    assert plain_name(name)


@pytest.mark.parametrize("name", ["", "hf-hub:somebody/theirs", "local-dir:/tmp/x", "../x", "a b", "x" * 1000])
def test_places_are_no_names(name: str) -> None:
    assert not plain_name(name)


def test_architectures_come_back_from_their_facts() -> None:
    for facts in (
        SMALL,
        {"kind": "timm", "name": "resnet18"},
        {"kind": "efficientnet-lite", "name": "efficientnet-lite0", "size": 64},
    ):
        assert architecture_from_facts(facts) == facts


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "pickle", "name": "x"},
        {"kind": "timm", "name": "hf-hub:somebody/theirs"},
        {"kind": "efficientnet-lite", "name": "efficientnet-lite99", "size": 64},
        {**SMALL, "channels": 4},
        {**SMALL, "widths": [[0]]},
        {**SMALL, "widths": [[1] * 10_000]},
    ],
)
def test_other_architectures_are_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        architecture_from_facts(facts)


def test_small_networks_are_known_by_their_weights() -> None:
    module = small_network(1, SMALL["widths"])
    weights, layers = weights_of(module), convolutions(module)
    assert layers == ("normalisation1", "normalisation2", "normalisation3")
    require_small(SMALL, 1, layers, weights)
    for wrong in (
        {**weights, "more": np.zeros(1, np.float32)},
        {name: value.astype(np.float64) for name, value in weights.items()},
        {name: value[:1] for name, value in weights.items()},
    ):
        with pytest.raises(ValueError, match=r"weights (do not fit|of an extractor)"):
            require_small(SMALL, 1, layers, wrong)
    with pytest.raises(ValueError, match="do not fit"):
        require_small(SMALL, 1, ("elsewhere",), weights)


@pytest.fixture
def three() -> Iterator[None]:
    """Torch on three threads, wherever the tests run."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("three")
def test_one_thread_gives_back_what_it_took() -> None:
    with one_thread():
        assert torch.get_num_threads() == 1
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three")
def test_a_thread_that_leaves_changes_nothing_for_those_that_stay() -> None:
    entered, left = threading.Event(), threading.Event()

    def stay() -> tuple[int, int]:
        with one_thread():
            entered.set()
            left.wait(10)
            torch.ones(200, 200) @ torch.ones(200, 200)
            inside = torch.get_num_threads()
        return inside, torch.get_num_threads()

    with ThreadPoolExecutor(1) as pool:
        with one_thread():
            staying = pool.submit(stay)
            entered.wait(10)
        assert torch.get_num_threads() == 3
        left.set()
        assert staying.result() == (1, 3)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 3
