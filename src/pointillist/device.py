"""Device: what runs a network, this machine's processor or a graphics card.

A device makes a network quicker. It is no part of any guarantee: sums over private records are integers, on the processor,
wherever the features came from, and what is fitted to a release is post-processing wherever it runs. Release and model
files do not say it. Nothing but a network runs on one. Needs torch, and loads it late.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, get_args

from pointillist.errors import UsageError

if TYPE_CHECKING:
    import torch

DeviceName = Literal["auto", "cpu", "cuda", "mps"]
DEVICES: tuple[str, ...] = get_args(DeviceName)
CPU: Literal["cpu"] = "cpu"
"""The default: the same seed gives the same bits there on every machine of one kind."""
_WHY = {
    "cuda": "torch finds no Nvidia card with a driver, or is a build for processors alone",
    "mps": "torch finds no Apple graphics processor, or is a build without it",
}
_one_at_a_time = threading.Lock()


def require_device_name(name: str) -> None:
    """Refuse what is no name of a device. Whether it is there is another question: the settings may be for elsewhere."""
    if name not in DEVICES:
        raise UsageError(f"device {name!r} is not known. Devices: {', '.join(DEVICES)}.")


def device_named(name: str) -> "torch.device":
    """The device of a name, if this machine has it; auto: a graphics card if there is one, else the processor."""
    require_device_name(name)
    try:
        import torch
    except ModuleNotFoundError:
        raise UsageError(f"device {name} needs torch. Install it with: pip install 'pointillist[network]'") from None
    there: dict[str, Callable[[], bool]] = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    if name == "auto":
        return torch.device(next((each for each, found in there.items() if found()), CPU))
    if name in there and not there[name]():
        raise UsageError(f'{name} is not available here: {_WHY[name]}. Use --device cpu (device="cpu"), or auto.')
    return torch.device(name)


def is_cpu(name: str) -> bool:
    """Whether a name stands for the processor on this machine."""
    return name == CPU or device_named(name).type == CPU


def lasting(settings: Any) -> dict[str, Any]:
    """Settings as a file holds them: by name, without the device, which is a matter of the machine."""
    return {name: value for name, value in asdict(settings).items() if name != "device"}


def placing(device: "torch.device") -> "AbstractContextManager[Any]":
    """Within it, tensors that are made without a device are made on this one."""
    return nullcontext() if device.type == CPU else device


@contextmanager
def steady(device: "torch.device") -> Iterator[None]:
    """Within it a graphics card works on one thing at a time, in whole 32-bit numbers, by kernels that time does not choose.

    What a network says of an image is then a function of the image, as far as the card's library keeps its word; and what
    else a process has under way does not matter to it.
    """
    if device.type == CPU:
        yield
        return
    import torch

    exact = {"benchmark": False, "deterministic": True, "allow_tf32": False}
    with _one_at_a_time, torch.backends.cudnn.flags(enabled=True, **exact):
        yield


class Copies:
    """A tensor, with a copy on each device where it was wanted."""

    def __init__(self, tensor: "torch.Tensor"):
        self._held = {tensor.device: tensor}

    def beside(self, other: "torch.Tensor") -> "torch.Tensor":
        """The copy where another tensor is."""
        if other.device not in self._held:
            self._held[other.device] = next(iter(self._held.values())).to(other.device)
        return self._held[other.device]
