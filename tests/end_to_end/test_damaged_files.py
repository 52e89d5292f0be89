"""Damaged and mistaken files: every command that reads a release or a model refuses them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.command_line import WORD, Made, Run, line, refused_free, write

import pointillist as pt
from pointillist.errors import ArtefactError

READERS: dict[str, list[object]] = {
    "fit": ["fit", "people.release", "-o", "new.model"],
    "sample": ["sample", "people.model", "-o", "made.csv"],
    "inspect-release": ["inspect", "people.release"],
    "inspect-model": ["inspect", "people.model", "--json"],
}


def its_file(command: str) -> Path:
    """The file that a command of `READERS` reads."""
    return Path(str(READERS[command][1]))


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("kept", [0, 1, 0.5, 0.99], ids=["nothing", "a byte", "half", "most"])
def test_a_file_that_was_cut_short_is_refused(run: Run, made: Made, command: str, kept: float) -> None:
    file = its_file(command)
    content = file.read_bytes()
    write(file, content[: kept if isinstance(kept, int) else int(len(content) * kept)])
    refused_free(run, READERS[command], 6, file.name, "cut short", "Get a fresh copy")


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("member", ["facts.json", "arrays.safetensors"])
def test_a_file_with_flipped_bytes_is_refused(run: Run, made: Made, command: str, member: str) -> None:
    file = its_file(command)
    with zipfile.ZipFile(file) as archive:
        info = archive.getinfo(member)
    content = bytearray(file.read_bytes())
    middle = info.header_offset + 30 + len(member) + info.compress_size // 2
    for place in range(middle, middle + 8):  # one flipped bit can, now and then, unpack to the very same content
        content[place] ^= 0xFF
    write(file, bytes(content))
    refused_free(run, READERS[command], 6, file.name, member, "damaged", "Get a fresh copy")


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_damage_to_the_table_of_contents_is_never_a_fault_of_ours(run: Run, made: Made, mask: int) -> None:
    with zipfile.ZipFile("people.release") as archive:
        start = archive.start_dir
    size = len(made.release)
    refused = []
    for place in (*range(start, start + 59), *range(size - 22, size)):  # the first entry, and the end
        content = bytearray(made.release)
        content[place] ^= mask
        write("people.release", bytes(content))
        try:
            pt.Release.load("people.release")  # some bytes, such as the time of a member, mean nothing to us
        except ArtefactError:
            refused.append(bytes(content))
    assert len(refused) > 20
    for content in refused[::10]:
        write("people.release", content)
        assert run("inspect", "people.release", "--json").code == 6


@pytest.mark.parametrize("member", ["manifest.json", "facts.json", "arrays.safetensors"])
@pytest.mark.parametrize("method", [12, 14, 99], ids=["bzip2", "lzma", "unknown"])
def test_a_member_that_claims_another_compression_is_refused(run: Run, made: Made, method: int, member: str) -> None:
    for command in ("inspect-release", "inspect-model"):
        file = its_file(command)
        content = bytearray(file.read_bytes())
        content[content.rindex(member.encode()) - 36] = method  # in the table of contents, names come last
        write(file, bytes(content))
        refused_free(run, READERS[command], 6, file.name, "damaged", "Get a fresh copy")


def test_a_member_with_broken_lzma_is_refused(run: Run) -> None:
    with zipfile.ZipFile("people.release", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", b"\x09\x04\x05\x00" + b"\xff" * 60)
    content = bytearray(Path("people.release").read_bytes())
    content[8] = content[content.rindex(b"manifest.json") - 36] = zipfile.ZIP_LZMA
    write("people.release", bytes(content))
    refused_free(run, ["inspect", "people.release"], 6, "people.release", "damaged", "Get a fresh copy")


def rewritten(content: bytes, changes: dict[str, Any]) -> bytes:
    """An artefact with some facts of its manifest changed."""
    before, after = write("before.zip", content), Path("after.zip")
    with zipfile.ZipFile(before) as source, zipfile.ZipFile(after, "w") as target:
        for name in source.namelist():
            member = source.read(name)
            if name == "manifest.json":
                member = json.dumps(json.loads(member) | changes).encode()
            target.writestr(name, member)
    changed = after.read_bytes()
    before.unlink()
    after.unlink()
    return changed


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("version", [0, 99, "next"])
def test_an_unknown_format_version_is_refused(run: Run, made: Made, command: str, version: object) -> None:
    file = its_file(command)
    write(file, rewritten(file.read_bytes(), {"format": version}))
    refused_free(run, READERS[command], 6, file.name, f"format {version!r} is not known", "Upgrade pointillist")


@pytest.mark.parametrize("changes", [{"kind": 3}, {"sha256": []}, {"sha256": {}}], ids=["kind", "list", "no-hashes"])
def test_a_manifest_without_sense_is_refused(run: Run, made: Made, changes: dict[str, Any]) -> None:
    write("people.release", rewritten(made.release, changes))
    refused_free(run, READERS["fit"], 6, "people.release")


def test_an_edited_fact_is_refused(run: Run, made: Made) -> None:
    with zipfile.ZipFile("people.release") as source:
        members = {name: source.read(name) for name in source.namelist()}
    members["facts.json"] = members["facts.json"].replace(b'"epsilon": 1.0', b'"epsilon": 0.1')
    with zipfile.ZipFile("people.release", "w") as target:
        for name, content in members.items():
            target.writestr(name, content)
    refused_free(run, READERS["fit"], 6, "people.release", "facts.json does not match its hash", "Get a fresh copy")


def test_a_release_is_not_a_model_and_the_other_way_round(run: Run, made: Made) -> None:
    sample: list[object] = ["sample", "people.release", "-o", "made.csv"]
    refused_free(run, sample, 6, "people.release", "is a release file, where a model file is needed")
    fit: list[object] = ["fit", "people.model", "-o", "new.model"]
    refused_free(run, fit, 6, "people.model", "is a model file, where a release file is needed")


def test_a_table_is_neither_a_release_nor_a_model(run: Run) -> None:
    write("people.csv", line(f"1,2,3,{WORD},yes"))
    commands: list[list[object]] = [
        ["fit", "people.csv", "-o", "new.model"],
        ["sample", "people.csv", "-o", "made.csv"],
        ["inspect", "people.csv"],
    ]
    for args in commands:
        refused_free(run, args, 6, "people.csv", "not a pointillist file")


def test_a_zip_of_something_else_is_refused(run: Run) -> None:
    with zipfile.ZipFile("people.release", "w") as archive:
        archive.writestr("people.csv", line(f"1,2,3,{WORD},yes"))
    refused_free(run, READERS["fit"], 6, "people.release", "manifest.json is not in it")


def test_an_artefact_of_another_kind_cannot_be_shown(run: Run, made: Made) -> None:
    write("people.release", rewritten(made.release, {"kind": "painting"}))
    refused_free(run, ["inspect", "people.release"], 6, "people.release", "is a painting file")


@pytest.mark.parametrize("command", READERS)
def test_a_release_or_model_that_is_not_there_is_named(run: Run, command: str) -> None:
    refused_free(run, READERS[command], 6, its_file(command).name, "no such file")
