"""Artefacts: release and model files, damaged, or edited by somebody who keeps the hashes right."""

import hashlib
import io
import json
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import save

from benchmarks.fuzz import base
from benchmarks.fuzz.kind import Attempt, Kind
from benchmarks.fuzz.mutation import damaged, garbled, other_value
from pointillist.cli.show.model import show_model
from pointillist.cli.show.release import show_release
from pointillist.files import container
from pointillist.model import Model
from pointillist.pages.card import Card
from pointillist.release import Release


@cache
def _content(kind: str) -> bytes:
    return base.release().to_bytes() if kind == "release" else base.model().to_bytes()


def _edited(content: bytes, kind: str, rng: Random, folder: Path) -> bytes:
    """Other facts or arrays, with hashes that fit."""
    path = folder / "whole"
    path.write_bytes(content)
    facts, arrays = container.unpack(path, kind, 1)
    path.unlink()
    for _ in range(rng.randint(1, 2)):
        if rng.random() < 0.7:
            _change_facts(facts, rng)
        else:
            _change_arrays(arrays, rng)
    text = json.dumps(facts)  # NaN and infinities as Python writes them: files are read in the same way
    return _packed(kind, text, arrays)


def _packed(kind: str, text: str, arrays: container.Arrays) -> bytes:
    """As `container.pack` does, which refuses to write some of this."""
    tensors = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    members = {"facts.json": text.encode(), "arrays.safetensors": tensors}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    members["manifest.json"] = json.dumps({"kind": kind, "format": 1, "sha256": hashes}).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _change_facts(facts: Any, rng: Random) -> None:
    """Some value, somewhere, becomes another, goes away, or is there twice."""
    node = facts
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.85:
            node = node[key]
            continue
        choice = rng.randrange(5)
        if choice == 0:
            del node[key]
        elif choice == 1 and isinstance(node, list):
            node.insert(key, node[key])
        elif isinstance(node[key], str) and choice == 2:
            node[key] = garbled(node[key], rng, 2).encode("utf-8", "replace").decode()
        elif isinstance(node[key], int | float) and choice < 4:
            node[key] = rng.choice((-node[key], node[key] * 2, node[key] + 1, node[key] * 10**9, 0))
        else:
            node[key] = other_value(rng)
        return


def _change_arrays(arrays: container.Arrays, rng: Random) -> None:
    name = rng.choice(list(arrays))
    array = arrays[name]
    choice = rng.randrange(6)
    if choice == 0:
        del arrays[name]
    elif choice == 1:
        arrays[name] = array[: len(array) // 2]
    elif choice == 2:
        arrays[name] = array.astype(rng.choice((np.float32, np.int8, np.bool_, np.float64, np.int64)))
    elif choice == 3:
        arrays[name] = array.reshape(*array.shape, 1)
    elif choice == 4 and array.size:
        changed = array.copy().reshape(-1)
        whole = changed.dtype.kind in "iu"
        values = (np.iinfo(changed.dtype).max, 0) if whole else (np.nan, np.inf, -1, 1e300)
        changed[rng.randrange(changed.size)] = rng.choice(values)
        arrays[name] = changed.reshape(array.shape)
    else:
        arrays[f"{name}x"] = array


def _file(kind: str, rng: Random, folder: Path) -> Path:
    content = _content(kind)
    content = _edited(content, kind, rng, folder) if rng.random() < 0.7 else damaged(content, rng)
    path = folder / f"t.{kind}"
    path.write_bytes(content)
    return path


def _release(rng: Random, folder: Path) -> Attempt:
    path = _file("release", rng, folder)
    return lambda: _look_at_release(path)


def _look_at_release(path: Path) -> None:
    release = Release.load(path)
    release.summary()
    show_release(release)
    card = Card.of(release)
    card.to_html()
    card.to_markdown()
    json.dumps(card.to_json())
    release.to_bytes()


def _model(rng: Random, folder: Path) -> Attempt:
    path = _file("model", rng, folder)
    return lambda: _look_at_model(path)


def _look_at_model(path: Path) -> None:
    model = Model.load(path)
    model.summary()
    show_model(model)
    model.sample_table(20, seed=1)
    model.to_bytes()


KINDS = (Kind("release", _release, 3), Kind("model", _model, 3))
