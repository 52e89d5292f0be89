"""Images where tables are meant, and tables where images are: what does not apply is refused in words."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

import pointillist as pt
from pointillist.cli import main
from pointillist.cli.show.model import show_model
from pointillist.cli.show.plan import show_plan
from pointillist.cli.show.release import show_release
from pointillist.cli.show.schema import show_schema
from pointillist.errors import SchemaError, UsageError
from pointillist.features import Extractor
from pointillist.features.images.extractor import Input
from pointillist.features.images.public_network import small_network
from pointillist.generators import generator_for
from pointillist.generators.image_network.image_network import ImageNetwork

CLASSES = ("bright", "dark")
SCHEMA = pt.Schema(
    name="lamps",
    rows=120,
    columns={
        "image": pt.Image(height=8, width=8),
        "label": pt.Categorical(categories=CLASSES, missing=False, out_of_domain="error"),
    },
)
PLAIN = pt.Schema(name="unlabelled", columns={"image": pt.Image(height=8, width=8)})
TABLE = pt.Schema(name="table", columns={"a": pt.Boolean(missing=False)})
QUICK = pt.ImageNetworkSettings(steps=4, batch=8, breadth=8, check=2)


def lamps(count: int = 120) -> pt.Images:
    """Bright and dark images."""
    codes = (np.arange(count) % 2).astype(np.uint16)
    low, high = np.where(codes == 0, 150, 0), np.where(codes == 0, 256, 80)
    size = (8, 8, 1)
    pixels = np.random.default_rng(0).integers(low[:, None, None, None], high[:, None, None, None], (count, *size))
    return pt.Images(pixels.astype(np.uint8), codes, CLASSES)


def extractor() -> Extractor:
    torch.manual_seed(0)
    return Extractor.small("tiny", Input(8, 8, 1, (0.5,), (0.5,)), ((4,), (6,)), small_network(1, ((4,), (6,))))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lamps().save(tmp_path / "lamps")
    return tmp_path / "lamps"


@pytest.fixture
def release(folder: Path) -> pt.Release:
    return pt.release(folder, SCHEMA, epsilon=5)


@pytest.fixture
def table_release() -> pt.Release:
    return pt.release(pa.table({"a": [True, False] * 50}), TABLE, epsilon=1)


VERBS: dict[str, Callable[[pt.Release, Path], object]] = {
    "uncertainty": lambda release, folder: pt.uncertainty(release),
    "receive": lambda release, folder: pt.receive(release),
    "choose": lambda release, folder: pt.choose(folder, SCHEMA, [folder, folder], epsilon=1),
    "audit": lambda release, folder: pt.audit(None, SCHEMA, epsilon=1),
    "audit of images": lambda release, folder: pt.audit(folder, SCHEMA, epsilon=1, attacks=["canaries"]),
    "public_points": lambda release, folder: pt.public_points(folder, SCHEMA),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_for_tables_says_so(verb: str, release: pt.Release, folder: Path) -> None:
    spent = pt.Ledger(None).accounts()
    with pytest.raises(UsageError, match=rf"{verb.split(maxsplit=1)[0]} is for tables, and 'lamps' has images"):
        VERBS[verb](release, folder)
    assert pt.Ledger(None).accounts() == spent


def test_evaluations_point_to_each_other(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"compare them with pointillist\.evaluate_images"):
        pt.evaluate(folder, folder, SCHEMA)
    with pytest.raises(UsageError, match="has no column of images"):
        pt.evaluate_images(folder, folder, TABLE)


@pytest.mark.parametrize("name", ["mosaic", "landmarks", "reduced-set", pt.Mosaic(), pt.Merf()])
def test_methods_for_tables(name: object, folder: Path) -> None:
    with pytest.raises(UsageError, match="Known methods: spectral, merf, hermite, perceptual"):
        pt.release(folder, SCHEMA, epsilon=1, method=name)  # type: ignore[arg-type]
    assert pt.Ledger(None).accounts() == ()


@pytest.mark.parametrize("name", ["spectral", "perceptual", pt.Spectral(), pt.ImageMerf()])
def test_methods_for_images(name: object) -> None:
    with pytest.raises(UsageError, match="Known methods: mosaic"):
        pt.plan(TABLE, epsilon=1, method=name)  # type: ignore[arg-type]


@pytest.mark.parametrize("generator", ["mixture", "network", "points", pt.MixtureSettings()])
def test_generators_for_tables(generator: object, release: pt.Release, folder: Path) -> None:
    with pytest.raises(UsageError, match=r"is for tables, and 'lamps' has images\. Choose one of image-network"):
        pt.fit(release, generator=generator)  # type: ignore[arg-type]
    before = pt.Ledger(None).accounts()
    with pytest.raises(UsageError, match="is for tables"):
        pt.Synthesizer(SCHEMA, epsilon=1, generator=generator).fit(folder)  # type: ignore[arg-type]
    assert pt.Ledger(None).accounts() == before


@pytest.mark.parametrize("generator", ["image-network", QUICK])
def test_generators_for_images(generator: object, table_release: pt.Release) -> None:
    with pytest.raises(
        UsageError, match=r"is for images, and 'table' has none\. Choose one of mixture, network, points"
    ):
        pt.fit(table_release, generator=generator)  # type: ignore[arg-type]


def test_a_generator_passes_where_it_suits() -> None:
    assert generator_for(SCHEMA, "image-network") == pt.ImageNetworkSettings()
    assert generator_for(TABLE, "points") == pt.PointsSettings()


@pytest.mark.parametrize(
    "method",
    ["spectral", pt.ImageMerf(features=20), pt.ImageHermite(order=3), pt.Perceptual(extractor=extractor())],
    ids=["spectral", "merf", "hermite", "perceptual"],
)
@pytest.mark.parametrize("schema", [SCHEMA, PLAIN], ids=["labelled", "plain"])
def test_an_image_network_fits_every_release_of_images(
    method: object, schema: pt.Schema, folder: Path, tmp_path: Path
) -> None:
    data = pt.images(np.load(_npz(tmp_path))["x"]) if schema is PLAIN else folder
    made = pt.release(data, schema, epsilon=5, method=method)  # type: ignore[arg-type]
    checkpoint = tmp_path / "fit.checkpoint"
    model = pt.fit(made, generator=QUICK, checkpoint=checkpoint)
    assert isinstance(model.generator, ImageNetwork)
    assert checkpoint.exists()
    model.save(tmp_path / "lamps.model")
    again = pt.Model.load(tmp_path / "lamps.model").sample(6, seed=1)
    assert np.array_equal(again.pixels, model.sample(6, seed=1).pixels)
    with pytest.raises(UsageError, match='Pass generator="image-network" as well'):
        pt.fit(made, checkpoint=checkpoint)


def _npz(folder: Path) -> Path:
    lamps().save(folder / "lamps.npz")
    return folder / "lamps.npz"


def test_a_network_learns_brightness_from_moments(folder: Path) -> None:
    """Little noise, so the mean brightness of the classes (203 and 40) must be told apart by far."""
    made = pt.release(folder, SCHEMA, epsilon=100, ledger=_roomy(folder.parent))
    settings = pt.ImageNetworkSettings(steps=150, batch=40, breadth=20, architecture="dense")
    found = pt.fit(made, generator=settings).sample(200, balance="label", seed=0)
    assert found.codes is not None
    bright, dark = (found.pixels[found.codes == code].mean() for code in (0, 1))
    assert bright > dark + 80


def _roomy(folder: Path) -> pt.Ledger:
    book = pt.Ledger(folder / "roomy.sqlite")
    book.set_cap("lamps", pt.Budget(200, 1e-5))
    return book


def test_synthesizer_gives_images(folder: Path) -> None:
    made = pt.Synthesizer(SCHEMA, epsilon=5).fit(folder)
    images = made.sample(7, given={"label": "dark"}, seed=0)
    assert isinstance(images, pt.Images)
    assert images.labels is not None
    assert list(images.labels) == ["dark"] * 7
    with pytest.raises(UsageError, match="leave frame out"):
        made.sample(3, frame="pandas")
    with pytest.raises(UsageError, match=r"use sample\(\)"):
        made.model_.sample_table(3)
    with pytest.raises(SchemaError, match="constraints are for tables"):
        made.model_.constrained({"impossible": {"label": "dark", "image": "x"}})


def test_images_are_saved_and_read_back(tmp_path: Path) -> None:
    images = lamps(12)
    for name in ("folder", "file.npz", "file.parquet"):
        images.save(tmp_path / name)
        found = pt.evaluate_images(images, tmp_path / name, SCHEMA, models=["logistic regression"], most_images=10)
        assert found.images["synthetic"] == 12
    with pytest.raises(UsageError, match="is there already"):
        images.save(tmp_path / "folder")
    images.save(tmp_path / "folder", overwrite=True)


def test_a_target_that_is_not_the_label(folder: Path) -> None:
    assert pt.plan(SCHEMA, epsilon=1, target="label").request.target == "label"
    with pytest.raises(UsageError, match="is not the label of the images"):
        pt.plan(SCHEMA, epsilon=1, target="image")
    with pytest.raises(SchemaError, match="not a measured column"):
        pt.release(folder, SCHEMA, epsilon=1, target="x")


def test_cards_and_plans_speak_of_images(release: pt.Release, capsys: pytest.CaptureFixture[str]) -> None:
    card = pt.Card.of(release)
    for text in (card.to_markdown(), card.to_html()):
        assert "if one image were added or removed" in text
        assert "moments by class" in text
        said = re.sub(r"<[^>]*>", "", text.split("<body")[-1])  # without tags: a table has rows of its own
        assert "row" not in said.replace("browser", "")
    assert [each.name for each in card.measured] == [
        "mean images by class",
        "class counts",
        "moments by class",
        "distances from the mean by class",
    ]
    assert sum(each.budget for each in card.measured) == pytest.approx(1)
    assert abs(card.rows - 120) < 8 * card.rows_error
    facts = card.to_json()
    assert facts["measured"][0]["error"] is None
    show_plan(pt.plan(SCHEMA, epsilon=1))
    show_schema(SCHEMA)
    show_release(release)
    show_model(pt.fit(release))
    shown = " ".join(capsys.readouterr().out.split())
    assert "8 x 8 pixels, grey" in shown
    assert "tables" not in shown
    assert "Privacy unit: one image" in shown


def test_the_number_of_unlabelled_images_is_on_the_card(tmp_path: Path) -> None:
    made = pt.release(pt.images(lamps().pixels), PLAIN, epsilon=5, method=pt.ImageHermite(order=2))
    card = pt.Card.of(made)
    assert card.rows_error > 0
    assert abs(card.rows - 120) < 8 * card.rows_error


def test_a_guarantee_of_images_survives_its_file(release: pt.Release, table_release: pt.Release) -> None:
    assert pt.Guarantee.from_json(release.guarantee.to_json()) == release.guarantee
    assert release.guarantee.unit == "one image"
    assert "record" not in table_release.guarantee.to_json()


COMMANDS = {
    "errors": ("errors", "{release}"),
    "query": ("query", "{release}", "count()"),
    "audit": ("audit", "--release", "{release}"),
    "audit by schema": ("audit", "--schema", "{schema}", "--epsilon", 1),
    "generator": ("fit", "{release}", "-o", "x.model", "--generator", "points"),
    "checkpoint": ("fit", "{release}", "-o", "x.model", "--checkpoint", "x"),
    "method": ("release", "{data}", "--schema", "{schema}", "--epsilon", 1, "--method", "mosaic", "--plan"),
    "public": ("release", "{data}", "--schema", "{schema}", "--epsilon", 1, "--method", "landmarks", "--public", "x"),
    "extractor": ("release", "{data}", "--schema", "{schema}", "--epsilon", 1, "--extractor", "x", "--plan"),
    "no extractor": ("release", "{data}", "--schema", "{schema}", "--epsilon", 1, "--method", "perceptual",
                     "--extractor", "magic", "--plan"),
    "synth": ("synth", "{data}", "--schema", "{schema}", "--epsilon", 1, "-o", "out", "--generator", "network"),
    "target": ("evaluate", "{data}", "{data}", "--schema", "{schema}", "--target", "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_end_in_a_message(
    name: str, release: pt.Release, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    release.save("lamps.release")
    Path("lamps.toml").write_text(SCHEMA.to_toml())
    places = {"release": "lamps.release", "schema": "lamps.toml", "data": "lamps"}
    spent = pt.Ledger(None).accounts()
    monkeypatch.setattr(sys, "argv", ["pointillist", *(str(each).format(**places) for each in COMMANDS[name])])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert end.value.code == 2
    assert "Error: " in printed.err
    assert "Traceback" not in printed.err
    assert pt.Ledger(None).accounts() == spent
    assert not Path("out").exists()


def test_the_command_line_takes_an_extractor(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    Path("lamps.toml").write_text(SCHEMA.to_toml())
    for ending in (".extractor", ".network"):
        extractor().save(f"tiny{ending}")
        line = f"release lamps --schema lamps.toml --epsilon 5 --method perceptual --extractor tiny{ending} --plan"
        assert "of tiny (2 layers" in _run(line, monkeypatch, capsys)
    assert "Layers that are read" in _run("inspect tiny.extractor", monkeypatch, capsys)
    assert extractor().sha256 in _run("inspect tiny.network --json", monkeypatch, capsys)


def _run(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["pointillist", *line.split()])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    return " ".join(capsys.readouterr().out.split())
