"""Inception: the network that published FID and KID are taken in, with weights that the user has. Needs torch.

Inception v3 as Google published it in 2015 (1,008 outputs) and as pytorch-fid runs it: names of weights as in torchvision's
inception_v3, means that leave the border out, a maximum in the last block, no auxiliary head; images stretched to 299 x 299
(bilinear), values from -1 to 1, and the 2,048 means before the classifier. Weights come from a safetensors file. Those of
torchvision, which were trained anew, make another network and another figure: they are refused.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pointillist.device import CPU, device_named
from pointillist.errors import UsageError
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.images.feature_space import Space

NAME = "Inception (FID's)"
SIDE, FEATURES, CLASSES = 299, 2048, 1008
_BATCH = 32
_CONVERT = (
    "Make one of pytorch-fid's file: safetensors.torch.save_file(torch.load('pt_inception-2015-12-05-6726825d.pth', "
    "weights_only=True), 'inception.safetensors')"
)


def fid_space(path: str | Path, device: str = CPU) -> Space:
    """Where FID is taken: the network with the weights of a safetensors file, run on a device."""
    place = device_named(device)
    module = FidInception.load(path).to(place)

    def features(pixels: NDArray[np.uint8]) -> Floats:
        found = []
        with torch.no_grad():
            for start in range(0, len(pixels), _BATCH):
                part = torch.from_numpy(pixels[start : start + _BATCH].transpose(0, 3, 1, 2).copy()).to(place)
                found.append(module(part.float() / 255).cpu().numpy())
        return np.concatenate(found).astype(np.float64)

    return Space(NAME, features)


class FidInception(nn.Module):
    """Images (number, 1 or 3, height, width) with values from 0 to 1 to (number, 2048)."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = _Convolution(3, 32, 3, stride=2)
        self.Conv2d_2a_3x3 = _Convolution(32, 32, 3)
        self.Conv2d_2b_3x3 = _Convolution(32, 64, 3, padding=1)
        self.Conv2d_3b_1x1 = _Convolution(64, 80, 1)
        self.Conv2d_4a_3x3 = _Convolution(80, 192, 3)
        self.Mixed_5b = _A(192, 32)
        self.Mixed_5c = _A(256, 64)
        self.Mixed_5d = _A(288, 64)
        self.Mixed_6a = _B(288)
        self.Mixed_6b = _C(768, 128)
        self.Mixed_6c = _C(768, 160)
        self.Mixed_6d = _C(768, 160)
        self.Mixed_6e = _C(768, 192)
        self.Mixed_7a = _D(768)
        self.Mixed_7b = _E(1280, largest=False)
        self.Mixed_7c = _E(2048, largest=True)

    @classmethod
    def load(cls, path: str | Path) -> "FidInception":
        """With the weights of a file; refused unless they are FID's in number, name and shape."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            found = load_file(str(path))
        except FileNotFoundError:
            raise UsageError(f"{path}: no such file.") from None
        except (OSError, SafetensorError):
            raise UsageError(f"{path}: is no safetensors file. {_CONVERT}.") from None
        outputs = found.pop("fc.weight", torch.empty(0)).shape
        if tuple(outputs) != (CLASSES, FEATURES):
            raise UsageError(
                f"{path}: holds no Inception network of {CLASSES:,} outputs (fc.weight), which FID is taken in: other "
                f"weights give another figure. {_CONVERT}."
            )
        module = cls()
        kept = {name: value for name, value in found.items() if not name.startswith(("fc.", "AuxLogits."))}
        counters = {name for name in module.state_dict() if name.endswith("num_batches_tracked")}
        try:
            left = module.load_state_dict(kept, strict=False)
        except RuntimeError:
            left = None
        if left is None or left.unexpected_keys or set(left.missing_keys) - counters:
            raise UsageError(f"{path}: its weights are not those of FID's Inception network. {_CONVERT}.")
        if not all(bool(value.isfinite().all()) for value in module.state_dict().values()):
            raise UsageError(f"{path}: has weights that are no numbers. Get a fresh copy.")
        return module.eval().requires_grad_(False)

    def forward(self, images: Tensor) -> Tensor:
        found = images.expand(-1, 3, -1, -1)
        found = functional.interpolate(found, (SIDE, SIDE), mode="bilinear", align_corners=False)
        found = 2 * found - 1
        for name, block in self.named_children():
            found = block(found)
            if name in ("Conv2d_2b_3x3", "Conv2d_4a_3x3"):
                found = functional.max_pool2d(found, 3, stride=2)
        return found.mean(dim=(2, 3))


class _Convolution(nn.Module):
    """A convolution, its normalisation, ReLU."""

    def __init__(self, before: int, after: int, size: int | tuple[int, int], **options: int | tuple[int, int]):
        super().__init__()
        self.conv = nn.Conv2d(before, after, size, bias=False, **options)  # type: ignore[arg-type]
        self.bn = nn.BatchNorm2d(after, eps=0.001)

    def forward(self, images: Tensor) -> Tensor:
        return functional.relu(self.bn(self.conv(images)))


def _chain(images: Tensor, *blocks: nn.Module) -> Tensor:
    for each in blocks:
        images = each(images)
    return images


def _mean(images: Tensor) -> Tensor:
    """Of 3 x 3 places; what lies outside the image does not count, unlike in torchvision."""
    return functional.avg_pool2d(images, 3, stride=1, padding=1, count_include_pad=False)


def _wide(before: int, sizes: Sequence[tuple[int, bool]]) -> list[_Convolution]:
    """Convolutions along rows (1 x 7) or columns (7 x 1), one after the other."""
    found = []
    for after, rows in sizes:
        size, padding = ((1, 7), (0, 3)) if rows else ((7, 1), (3, 0))
        found.append(_Convolution(before, after, size, padding=padding))
        before = after
    return found


class _A(nn.Module):
    def __init__(self, before: int, pooled: int):
        super().__init__()
        self.branch1x1 = _Convolution(before, 64, 1)
        self.branch5x5_1 = _Convolution(before, 48, 1)
        self.branch5x5_2 = _Convolution(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = _Convolution(before, 64, 1)
        self.branch3x3dbl_2 = _Convolution(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _Convolution(96, 96, 3, padding=1)
        self.branch_pool = _Convolution(before, pooled, 1)

    def forward(self, images: Tensor) -> Tensor:
        five = _chain(images, self.branch5x5_1, self.branch5x5_2)
        three = _chain(images, self.branch3x3dbl_1, self.branch3x3dbl_2, self.branch3x3dbl_3)
        return torch.cat([self.branch1x1(images), five, three, self.branch_pool(_mean(images))], dim=1)


class _B(nn.Module):
    def __init__(self, before: int):
        super().__init__()
        self.branch3x3 = _Convolution(before, 384, 3, stride=2)
        self.branch3x3dbl_1 = _Convolution(before, 64, 1)
        self.branch3x3dbl_2 = _Convolution(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _Convolution(96, 96, 3, stride=2)

    def forward(self, images: Tensor) -> Tensor:
        double = _chain(images, self.branch3x3dbl_1, self.branch3x3dbl_2, self.branch3x3dbl_3)
        return torch.cat([self.branch3x3(images), double, functional.max_pool2d(images, 3, stride=2)], dim=1)


class _C(nn.Module):
    def __init__(self, before: int, inner: int):
        super().__init__()
        self.branch1x1 = _Convolution(before, 192, 1)
        self.branch7x7_1 = _Convolution(before, inner, 1)
        self.branch7x7_2, self.branch7x7_3 = _wide(inner, [(inner, True), (192, False)])
        self.branch7x7dbl_1 = _Convolution(before, inner, 1)
        twice = _wide(inner, [(inner, False), (inner, True), (inner, False), (192, True)])
        self.branch7x7dbl_2, self.branch7x7dbl_3, self.branch7x7dbl_4, self.branch7x7dbl_5 = twice
        self.branch_pool = _Convolution(before, 192, 1)

    def forward(self, images: Tensor) -> Tensor:
        once = _chain(images, self.branch7x7_1, self.branch7x7_2, self.branch7x7_3)
        twice = _chain(
            *(images, self.branch7x7dbl_1, self.branch7x7dbl_2),
            *(self.branch7x7dbl_3, self.branch7x7dbl_4, self.branch7x7dbl_5),
        )
        return torch.cat([self.branch1x1(images), once, twice, self.branch_pool(_mean(images))], dim=1)


class _D(nn.Module):
    def __init__(self, before: int):
        super().__init__()
        self.branch3x3_1 = _Convolution(before, 192, 1)
        self.branch3x3_2 = _Convolution(192, 320, 3, stride=2)
        self.branch7x7x3_1 = _Convolution(before, 192, 1)
        self.branch7x7x3_2, self.branch7x7x3_3 = _wide(192, [(192, True), (192, False)])
        self.branch7x7x3_4 = _Convolution(192, 192, 3, stride=2)

    def forward(self, images: Tensor) -> Tensor:
        three = _chain(images, self.branch3x3_1, self.branch3x3_2)
        seven = _chain(images, self.branch7x7x3_1, self.branch7x7x3_2, self.branch7x7x3_3, self.branch7x7x3_4)
        return torch.cat([three, seven, functional.max_pool2d(images, 3, stride=2)], dim=1)


class _E(nn.Module):
    def __init__(self, before: int, *, largest: bool):
        super().__init__()
        self.largest = largest
        """Whether the last branch takes the largest of its neighbours, as in the last block, or their mean."""
        self.branch1x1 = _Convolution(before, 320, 1)
        self.branch3x3_1 = _Convolution(before, 384, 1)
        self.branch3x3_2a = _Convolution(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3_2b = _Convolution(384, 384, (3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = _Convolution(before, 448, 1)
        self.branch3x3dbl_2 = _Convolution(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = _Convolution(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = _Convolution(384, 384, (3, 1), padding=(1, 0))
        self.branch_pool = _Convolution(before, 192, 1)

    def forward(self, images: Tensor) -> Tensor:
        once = self.branch3x3_1(images)
        twice = _chain(images, self.branch3x3dbl_1, self.branch3x3dbl_2)
        near = functional.max_pool2d(images, 3, stride=1, padding=1) if self.largest else _mean(images)
        parts = [self.branch1x1(images), self.branch3x3_2a(once), self.branch3x3_2b(once)]
        parts += [self.branch3x3dbl_3a(twice), self.branch3x3dbl_3b(twice), self.branch_pool(near)]
        return torch.cat(parts, dim=1)
