"""The command line for images: where they may be written, and what is said about it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fixtures.command_line import Outcome

import pointillist as pt
from pointillist.generators.image_generator import USUAL, ImageGenerator, Outline
from pointillist.model import Model
from pointillist.reading.opening import open_source

SCHEMA = pt.Schema(
    name="faces",
    columns={
        "image": pt.Image(height=6, width=5, colour=True),
        "label": pt.Categorical(categories=("anna", "ben"), missing=False, out_of_domain="error"),
    },
)
TABLE = pt.Schema(name="t", columns={"a": pt.Boolean()})
Run = Callable[..., tuple[int, str]]


class Noise(ImageGenerator):
    """Images that are nothing but noise."""

    kind: ClassVar[str] = "stub"

    @property
    def outline(self) -> Outline:
        return Outline((6, 5, 3), (0.5, 0.5), USUAL)

    def describe(self) -> str:
        return "noise"

    def to_facts(self) -> Any:
        return {}, {}

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: pt.Schema) -> Self:
        return cls()

    def pixels(self, count: int, codes: NDArray[np.uint16] | None, rng: np.random.Generator) -> NDArray[np.uint8]:
        return rng.integers(0, 256, (count, 6, 5, 3), dtype=np.uint8)


@pytest.fixture
def run(run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command where every model file is a model of noise; its code, and what it printed on one line."""
    model = Model(SCHEMA, pt.plan(TABLE, epsilon=1.0).guarantee, "none", "pyarrow", 8.0, Noise())
    monkeypatch.setattr(Model, "load", lambda path: model)

    def call(*args: object) -> tuple[int, str]:
        outcome = run(*args)
        return outcome.code, " ".join((outcome.out + outcome.err).split())

    return call


def test_sample_to_a_folder(run: Run) -> None:
    assert run("sample", "faces.model", "-o", "out") == (0, "8 synthetic images written to out.")
    assert sorted(path.name for path in Path("out/anna").iterdir()) == [f"00000{n}.png" for n in range(1, 5)]
    code, shown = run("sample", "faces.model", "-o", "out")
    assert code == 2
    assert "--overwrite" in shown
    assert run("sample", "faces.model", "-n", 2, "-o", "out", "--overwrite", "-q") == (0, "")
    assert len(list(Path("out").rglob("*.png"))) == 2


@pytest.mark.parametrize("name", ["out.npz", "out.parquet"])
def test_sample_to_a_file(name: str, run: Run) -> None:
    code, shown = run("sample", "faces.model", "-n", 5, "--given", "label=ben", "--seed", 1, "-o", name)
    assert code == 0, shown
    found = [
        label
        for batch in open_source(name).batches(["label"], SCHEMA, lambda share: None)
        for label in batch.column(0).to_pylist()
    ]
    assert found == ["ben"] * 5
    code, shown = run("sample", "faces.model", "-o", name)
    assert (code, "is there already" in shown) == (2, True)


@pytest.mark.parametrize(
    ("args", "words"),
    [(("-o", "out.csv"), "not known for images"), (("-o", "out", "--given", "image=1"), "is not of the form"),
     (("-o", "nowhere/out"), "folder does not exist")],
)  # fmt: skip
def test_mistakes(args: tuple[str, ...], words: str, run: Run) -> None:
    code, shown = run("sample", "faces.model", *args)
    assert code in (2, 6)
    assert words in shown
    assert not Path("out").exists()
