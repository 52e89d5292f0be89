"""Devices: names that are resolved before anything is spent; what is made there, and what is copied there."""

from dataclasses import replace

import pytest
import torch

from pointillist.device import DEVICES, Copies, device_named, is_cpu, lasting, placing, require_device_name, steady
from pointillist.errors import UsageError
from pointillist.generators.network.settings import NetworkSettings

META = torch.device("meta")
"""Torch's device that works out shapes alone: it refuses tensors of other devices, as a graphics card does."""
THERE = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
ABSENT = [name for name, there in THERE.items() if not there]


def test_names() -> None:
    assert DEVICES == ("auto", "cpu", "cuda", "mps")
    assert device_named("cpu").type == "cpu"
    assert is_cpu("cpu")
    assert device_named("auto").type in DEVICES
    with pytest.raises(UsageError, match="'gpu' is not known\\. Devices: auto, cpu, cuda, mps"):
        require_device_name("gpu")
    with pytest.raises(UsageError, match="'gpu' is not known"):
        device_named("gpu")


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_not_here_is_refused_with_a_way_out(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is not available here: torch finds no .* Use --device cpu"):
        device_named(name)
    with pytest.raises(UsageError, match="is not available here"):
        is_cpu(name)


def test_auto_is_the_processor_where_there_is_no_card() -> None:
    assert (device_named("auto").type == "cpu") == (len(ABSENT) == 2)


def test_settings_are_written_without_their_device() -> None:
    settings = NetworkSettings(steps=7)
    assert lasting(settings) == lasting(replace(settings, device="cuda"))
    assert lasting(settings)["steps"] == 7
    assert "device" not in lasting(settings)


def test_tensors_are_made_where_they_are_wanted() -> None:
    with placing(META):
        assert torch.zeros(2).device == META
        assert torch.as_tensor([1.0]).device == META
    with placing(torch.device("cpu")):
        assert torch.zeros(2).device.type == "cpu"


def test_a_card_works_in_whole_numbers_of_32_bits_and_by_no_timing() -> None:
    before = torch.backends.cudnn.deterministic
    with steady(META):
        assert torch.backends.cudnn.deterministic
        assert not torch.backends.cudnn.benchmark
        assert not torch.backends.cudnn.allow_tf32
    assert torch.backends.cudnn.deterministic == before
    with steady(torch.device("cpu")), steady(torch.device("cpu")):  # no lock: threads work side by side there
        pass


def test_copies_are_made_once_for_each_device() -> None:
    own = torch.ones(3)
    copies = Copies(own)
    assert copies.beside(torch.zeros(1)) is own
    there = copies.beside(torch.zeros(1, device=META))
    assert there.device == META
    assert copies.beside(torch.zeros(1, device=META)) is there
    assert copies.beside(torch.zeros(1)) is own
