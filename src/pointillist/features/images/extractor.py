"""Extractor: a frozen public network whose activations are features of images.

What it knows it learned from public data, so it costs no privacy; and it must be public, because the receiver of a release
rebuilds it. A SHA-256 over its architecture, its input rule, its layers and its weights stands in every release: whoever
rebuilds it gets the same network or a clear message. Small networks of our own travel inside the release; well-known ones
are named, and found again by their name. Running one needs torch, reading about one does not.
"""

import copy
import hashlib
import json
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.device import CPU, device_named, steady
from pointillist.errors import UsageError
from pointillist.features.images.public_network import (
    KNOWN,
    LITE,
    OWN,
    SMALL,
    architecture_from_facts,
    build,
    convolutions,
    plain_name,
    remedy,
    require_small,
    require_torch,
    weights_of,
)
from pointillist.files import container
from pointillist.files.facts import reals, table, text, texts, whole

if TYPE_CHECKING:
    from torch import Tensor, nn

Arrays = dict[str, NDArray[Any]]
Shape = tuple[int, int, int]

KIND, FORMAT = "extractor", 1
LEAST_SIZE, DEFAULT_SIZE, MOST_SIZE = 8, 64, 256
"""Of the images that go into a named network; most of these halve an image five times."""
_LARGEST_SIDE = 4096
_GREY = (0.299, 0.587, 0.114)
"""What red, green and blue count for in a grey image (ITU-R BT.601)."""
_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True)
class Input:
    """The rule that brings images to what a network takes.

    Channels first: grey is repeated for red, green and blue, or colour weighed to grey. Then the size, stretched bilinearly
    (with smoothing where it shrinks). Then (value - mean) / deviation for each channel, with values from 0 to 1.
    """

    height: int
    width: int
    channels: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (*self.mean, *self.deviation))):
            raise ValueError("an extractor's means and deviations must be finite")
        if self.channels not in (1, 3) or not (len(self.mean) == len(self.deviation) == self.channels):
            raise ValueError("an extractor takes one or three channels, each with a mean and a deviation")
        if min(self.height, self.width) < 1 or not min(self.deviation) > 0:
            raise ValueError("an extractor's input has no size, or a deviation of 0")

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """As it comes back from a file."""
        height, width = (whole(facts, name, 1, _LARGEST_SIDE) for name in ("height", "width"))
        return cls(height, width, whole(facts, "channels", 1, 3), reals(facts, "mean"), reals(facts, "deviation"))

    def __call__(self, images: "Tensor") -> "Tensor":
        """Images (n, channels, height, width) with values from 0 to 1, as the network takes them."""
        torch = require_torch()
        if images.shape[1] != self.channels:
            if self.channels == 3:
                images = images.expand(-1, 3, -1, -1)
            else:
                images = (images * images.new_tensor(_GREY)[:, None, None]).sum(dim=1, keepdim=True)
        if images.shape[2:] != (self.height, self.width):
            shrinks = images.shape[2] > self.height or images.shape[3] > self.width
            images = torch.nn.functional.interpolate(
                images, (self.height, self.width), mode="bilinear", align_corners=False, antialias=shrinks
            )
        mean, deviation = images.new_tensor(self.mean), images.new_tensor(self.deviation)
        return (images - mean[:, None, None]) / deviation[:, None, None]


@dataclass(frozen=True, eq=False, repr=False)
class Extractor:
    """A network, the layers of it that are read, and their hash."""

    name: str
    architecture: Mapping[str, Any]
    """What it is built from, as JSON values: its kind, and what that kind needs."""
    input: Input
    layers: tuple[str, ...]
    """The modules whose outputs are read, in order."""
    sha256: str
    """Over architecture, input rule, layers and weights."""
    weights: Mapping[str, NDArray[Any]] | None = field(default=None)
    """Of a small network, which travels with the release; others are found by their name."""
    module: Any = field(default=None)
    """A user's own network, which cannot be found by a name."""
    device: str = CPU
    """Where `look` runs it. No file says it: another machine may not have it."""

    @classmethod
    def open(cls, given: "str | Path | Extractor") -> "Extractor":
        """An extractor by its name or from its file; an extractor passes through."""
        if isinstance(given, Extractor):
            return given
        if isinstance(given, Path) or str(given).endswith(".extractor"):
            return cls.load(given)
        if not isinstance(given, str):
            raise UsageError(f"extractor must be a name, a file or an Extractor, not {type(given).__name__}.")
        return cls.named(given)

    @classmethod
    def named(cls, name: str, *, download: bool = False) -> Self:
        """A well-known public network: one of `KNOWN`; NAME@SIZE for images of another size than 64.

        Its weights must be on this machine. With `download` they are fetched if they are not, once; nothing else fetches.
        """
        plain, _, size = name.partition("@")
        if size and not (size.isdigit() and LEAST_SIZE <= int(size) <= MOST_SIZE):
            raise UsageError(
                f"extractor {name!r}: the size after @ must be a whole number from {LEAST_SIZE} to {MOST_SIZE}."
            )
        side = int(size or DEFAULT_SIZE)
        library, _, model = plain.partition(":")
        if plain in LITE:
            architecture = {"kind": "efficientnet-lite", "name": plain, "size": side}
            mean, deviation = (127 / 255,) * 3, (128 / 255,) * 3
        elif library in ("torchvision", "timm") and plain_name(model):
            architecture = {"kind": library, "name": model}
            mean, deviation = _IMAGENET
        else:
            raise UsageError(
                f"extractor {name!r} is not known. Known: {KNOWN}; or a file made by pointillist extractor train."
            )
        module = build(name, architecture, download=download)
        return cls._of(name, architecture, Input(side, side, 3, mean, deviation), module, None)

    @classmethod
    def of(
        cls,
        module: "nn.Module",
        name: str,
        taken: Input,
        *,
        layers: Sequence[str] | None = None,
        weights: str | Path | None = None,
    ) -> Self:
        """A network of your own, with its weights as they are or from a safetensors file.

        It must work on each image by itself. A release names it and holds its hash: receivers must be given the same.
        """
        if weights is not None:
            require_torch()
            from safetensors.torch import load_file

            try:
                module.load_state_dict(load_file(str(weights)))
            except FileNotFoundError:
                raise UsageError(f"{weights}: no such file.") from None
            except Exception:  # safetensors and torch each have errors of their own
                raise UsageError(
                    f"{weights}: does not hold weights of this network, or is no safetensors file."
                ) from None
        return cls._of(name, {"kind": OWN, "name": name}, taken, module, None, layers)

    @classmethod
    def small(cls, name: str, taken: Input, widths: Sequence[Sequence[int]], module: "nn.Module") -> Self:
        """A small convolutional network, as `small_network` makes it, once it is trained."""
        architecture = {"kind": SMALL, "channels": taken.channels, "widths": [list(each) for each in widths]}
        return cls._of(name, architecture, taken, module, weights_of(module))

    @classmethod
    def _of(
        cls,
        name: str,
        architecture: Mapping[str, Any],
        taken: Input,
        module: "nn.Module",
        weights: Arrays | None,
        layers: Sequence[str] | None = None,
    ) -> Self:
        read = _checked(name, module, convolutions(module) if layers is None else layers)
        found = cls(
            name, architecture, taken, read, _hash(architecture, taken, read, weights_of(module)), weights, module
        )
        found.shapes  # noqa: B018  (runs it once: what cannot be run is refused here)
        return found

    def reading(self, layers: Sequence[str]) -> Self:
        """The same network, with other layers read."""
        module = self.network.module
        read = _checked(self.name, module, layers)
        sha256 = _hash(self.architecture, self.input, read, weights_of(module))
        found = replace(self, layers=read, sha256=sha256, module=module)
        found.shapes  # noqa: B018
        return found

    def on(self, device: str) -> Self:
        """The same network, which looks at images on a device: one of `DEVICES`, refused if it is not here."""
        found = device_named(device).type
        return self if found == self.device else replace(self, device=found, module=self.network.module)

    def look(self, pixels: NDArray[np.uint8]) -> "list[Tensor]":
        """Outputs of the layers for one image, (height, width, channels), by itself; they come back to the processor.

        One image at a time on every device: what is measured of it depends on it alone.
        """
        torch = require_torch()
        image = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].contiguous().to(torch.float32) / 255
        device = torch.device(self.device)
        with steady(device):
            return [layer.cpu() for layer in self.network(self.input(image.to(device)))]

    def __repr__(self) -> str:
        return f"<Extractor {self.name}: {len(self.layers)} layers, sha256 {self.sha256[:12]}>"

    @cached_property
    def network(self) -> "Frozen":
        """The network itself, ready to run; refused if it is not the one that was hashed."""
        module = self.module
        if module is None:
            module = build(self.name, self.architecture, self.weights)
        _checked(self.name, module, self.layers)
        if _hash(self.architecture, self.input, self.layers, weights_of(module)) != self.sha256:
            raise UsageError(
                f"extractor {self.name}: the network that is here has other weights than the one that the release was made "
                f"with (sha256 {self.sha256[:12]}...). {remedy(self.architecture)}"
            )
        return Frozen(module, self.layers, together=self.architecture["kind"] in (SMALL, "efficientnet-lite"))

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Channels, height and width of each layer."""
        torch = require_torch()
        taken = torch.zeros(1, self.input.channels, self.input.height, self.input.width)
        try:
            with torch.no_grad():
                return tuple((int(x.shape[1]), int(x.shape[2]), int(x.shape[3])) for x in self.network(taken))
        except (RuntimeError, IndexError, KeyError):
            raise UsageError(
                f"extractor {self.name}: cannot be run on images of {self.input.height} x {self.input.width} pixels, or its "
                "layers do not give one image each for some channels. Choose a larger size, or other layers."
            ) from None

    def describe(self) -> tuple[dict[str, Any], Arrays]:
        """Itself as JSON values and arrays; a network that can be found by name goes without its weights."""
        facts = {
            "name": self.name,
            "architecture": dict(self.architecture),
            "input": asdict(self.input),
            "layers": list(self.layers),
            "sha256": self.sha256,
        }
        return facts, dict(self.weights or {})

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], weights: Arrays) -> Self:
        """The inverse of `describe`. Nothing is built or looked up yet: that may need what is not installed."""
        taken = Input.from_facts(table(facts, "input"))
        layers = texts(facts, "layers")
        architecture = architecture_from_facts(table(facts, "architecture"))
        own = architecture["kind"] == SMALL
        name, sha256 = text(facts, "name"), text(facts, "sha256", 64)
        if not layers or re.fullmatch("[0-9a-f]{64}", sha256) is None:
            raise ValueError("an extractor needs layers and a hash")
        if own:
            require_small(architecture, taken.channels, layers, weights)
            if _hash(architecture, taken, layers, weights) != sha256:
                raise ValueError("the extractor does not match its hash")
        return cls(name, architecture, taken, layers, sha256, weights if own else None)

    def save(self, path: str | Path) -> None:
        """Write a small network to a file, whole or not at all."""
        if self.weights is None:
            raise UsageError(f"extractor {self.name}: only networks made by pointillist extractor train have a file.")
        facts, arrays = self.describe()
        container.write(path, container.pack(KIND, FORMAT, facts, arrays))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read one. Runs no code from the file."""
        facts, arrays = container.unpack(path, KIND, FORMAT)
        with container.sound(path):
            found = cls.from_facts(facts, arrays)
            if found.weights is None:
                raise ValueError("only small networks have a file")
            return found


class Frozen:
    """A network in use: evaluated, never trained, its layers' outputs caught on the way."""

    def __init__(self, module: "nn.Module", layers: tuple[str, ...], *, together: bool):
        torch = require_torch()
        # A pixel's channels together in memory are quicker; but not every network can be run like that.
        self.order = torch.channels_last if together else torch.contiguous_format
        self.module = module.eval().requires_grad_(False)
        self.module.to(memory_format=self.order)  # type: ignore[call-overload]
        self.layers = layers
        self._caught = threading.local()  # several threads may be under way at once
        self._elsewhere: dict[Any, nn.Module] = {}
        self._copying = threading.Lock()
        places = dict(module.named_modules())
        for name in layers:
            places[name].register_forward_hook(self._hook(name))

    def _hook(self, name: str) -> Callable[..., None]:
        def catch(module: Any, arguments: Any, output: Any) -> None:
            if getattr(self._caught, "outputs", None) is not None:
                self._caught.outputs[name] = output

        return catch

    def __call__(self, images: "Tensor") -> "list[Tensor]":
        """Outputs of the layers, in order, for images as the network takes them; it is run where these are."""
        module = self._on(images.device)
        module.eval()  # statistics of normalisations stay what they are
        self._caught.outputs = {}
        try:
            module(images.contiguous(memory_format=self.order))
            return [self._caught.outputs[name] for name in self.layers]
        finally:
            self._caught.outputs = None

    def _on(self, device: Any) -> "nn.Module":
        """The network on a device: a copy of its own, since others may be running it here."""
        if device.type == CPU:
            return self.module
        with self._copying:
            if device not in self._elsewhere:
                # Hooks are copied, too.
                self._elsewhere[device] = copy.deepcopy(self.module).to(device).requires_grad_(False)
            return self._elsewhere[device]


def _checked(name: str, module: "nn.Module", layers: Sequence[str]) -> tuple[str, ...]:
    """Layers that the network has, each once."""
    known = {each for each, _ in module.named_modules() if each}
    absent = [each for each in layers if each not in known]
    if absent or not layers or len(set(layers)) < len(layers):
        wrong = f" {absent[0]!r} is none." if absent else ""
        raise UsageError(
            f"extractor {name}: layers must be some of its modules, each once, and at least one.{wrong} Its convolutions: "
            f"{', '.join(convolutions(module)) or 'none'}."
        )
    return tuple(layers)


def _hash(architecture: Mapping[str, Any], taken: Input, layers: tuple[str, ...], weights: Mapping[str, Any]) -> str:
    plain = {"architecture": dict(architecture), "input": asdict(taken), "layers": list(layers)}
    found = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(weights):
        value = np.ascontiguousarray(weights[name])
        value = value.astype(value.dtype.newbyteorder("<"))
        found.update(json.dumps([name, value.dtype.str, list(value.shape)]).encode())
        found.update(value.tobytes())
    return found.hexdigest()
