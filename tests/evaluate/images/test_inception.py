"""Inception: FID's network, by its published shape, and a file of weights that is FID's or is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from pointillist.errors import UsageError
from pointillist.evaluate.images.inception import CLASSES, FEATURES, FidInception, fid_space

PUBLISHED = 23_834_568 - 1000 * 2048 - 1000
"""Weights of torchvision's inception_v3 without its auxiliary head and its classifier of 1,000 classes."""


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    """Weights by chance, of the right names and shapes, as in pytorch-fid's file."""
    torch.manual_seed(0)
    module = FidInception()
    for each in module.modules():
        if isinstance(each, nn.BatchNorm2d):  # statistics that are none of torch's defaults
            each.running_var.uniform_(0.5, 2.0)  # type: ignore[union-attr]
            each.running_mean.normal_()  # type: ignore[union-attr]
    kept = {name: value for name, value in module.state_dict().items() if not name.endswith("num_batches_tracked")}
    return {**kept, "fc.weight": torch.zeros(CLASSES, FEATURES), "fc.bias": torch.zeros(CLASSES)}


@pytest.fixture(scope="module")
def file(weights: dict[str, torch.Tensor], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fid") / "inception.safetensors"
    save_file(weights, path)
    return path


def test_it_has_the_published_names_and_number_of_weights(weights: dict[str, torch.Tensor]) -> None:
    module = FidInception()
    assert sum(each.numel() for each in module.parameters()) == PUBLISHED
    shapes = {name: tuple(value.shape) for name, value in weights.items()}
    assert shapes["Conv2d_1a_3x3.conv.weight"] == (32, 3, 3, 3)
    assert shapes["Mixed_6b.branch7x7_2.conv.weight"] == (128, 128, 1, 7)
    assert shapes["Mixed_6e.branch7x7dbl_5.conv.weight"] == (192, 192, 1, 7)
    assert shapes["Mixed_7a.branch7x7x3_3.bn.running_var"] == (192,)
    assert shapes["Mixed_7c.branch3x3dbl_3b.conv.weight"] == (384, 384, 3, 1)
    assert {each.eps for each in module.modules() if isinstance(each, nn.BatchNorm2d)} == {0.001}


def test_pooling_is_that_of_fid() -> None:
    """Means leave the border out, and the last block takes the largest: where torchvision's network differs."""
    module, seen = FidInception().eval(), {}
    for name in ("Mixed_5b", "Mixed_7b", "Mixed_7c"):
        block = getattr(module, name)
        block.branch_pool.register_forward_pre_hook(lambda _, given, name=name: seen.update({name: given[0]}))
        block.register_forward_pre_hook(lambda _, given, name=name: seen.update({f"{name} in": given[0]}))
    with torch.no_grad():
        module(torch.rand(1, 3, 20, 20))
    for name in ("Mixed_5b", "Mixed_7b"):
        wanted = functional.avg_pool2d(seen[f"{name} in"], 3, stride=1, padding=1, count_include_pad=False)
        assert torch.equal(seen[name], wanted)
    assert torch.equal(seen["Mixed_7c"], functional.max_pool2d(seen["Mixed_7c in"], 3, stride=1, padding=1))
    assert seen["Mixed_5b in"].shape == (1, 192, 35, 35)
    assert seen["Mixed_7c in"].shape == (1, 2048, 8, 8)


def test_features_of_a_file(file: Path) -> None:
    """One row for each image; grey is as good as three equal channels."""
    pixels = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 1)).astype(np.uint8)
    space = fid_space(file)
    found = space(pixels)
    assert found.shape == (2, FEATURES)
    assert not np.array_equal(found[0], found[1])
    np.testing.assert_allclose(space(np.repeat(pixels[:1], 3, axis=3)), found[:1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("fault", ["no file", "no safetensors", "torchvision's", "a name", "a shape", "no number"])
def test_other_files_are_refused(fault: str, weights: dict[str, torch.Tensor], tmp_path: Path) -> None:
    path, wrong = tmp_path / "w.safetensors", dict(weights)
    first = "Conv2d_1a_3x3.conv.weight"
    match fault:
        case "no safetensors":
            path.write_bytes(b"no weights")
        case "torchvision's":
            wrong["fc.weight"] = torch.zeros(1000, FEATURES)
        case "a name":
            wrong["other.weight"] = wrong.pop(first)
        case "a shape":
            wrong[first] = torch.zeros(32, 3, 5, 5)
        case "no number":
            wrong[first] = torch.full((32, 3, 3, 3), torch.nan)
    if fault not in ("no file", "no safetensors"):
        save_file(wrong, path)
    message = {
        "no file": "no such file",
        "no safetensors": "is no safetensors file. Make one",
        "torchvision's": "no Inception network of 1,008 outputs",
        "no number": "no numbers",
    }.get(fault, "not those of FID's Inception network")
    with pytest.raises(UsageError, match=message):
        FidInception.load(path)
