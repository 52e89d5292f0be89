"""A model, of a table or of images: what it says of itself, what it gives and refuses; all of it after a file, too."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.fitting.class_shares import record_count
from pointillist.generators.gaussians.gaussians import Gaussians
from pointillist.generators.image_generator import ImageColumns
from pointillist.generators.points.points import Points
from pointillist.progress import silent
from pointillist.records import Records
from pointillist.sampling.table_decoder import MOST_ROWS

LABEL = pt.Categorical(categories=("cat", "dog"), missing=False, out_of_domain="error")
IMAGES = {
    "labelled": pt.Schema(name="images", columns={"photo": pt.Image(height=4, width=3), "sort": LABEL}),
    "plain": pt.Schema(name="images", columns={"photo": pt.Image(height=4, width=3)}),
}


def images(kind: str = "labelled", columns: str = "labelled") -> pt.Model:
    """Each class is a grey of its own, with a little noise."""
    number, schema = (2 if kind == "labelled" else 1), IMAGES[kind]
    waves = np.eye(12, dtype=np.float32)
    places = np.repeat(0.2 + 0.4 * np.arange(number, dtype=np.float32)[:, None], 12, axis=1)
    kinds, factors = np.ones((number, 1), dtype=np.float32), np.stack([0.02 * waves] * number)
    generator = Gaussians(
        (4, 3, 1),
        (0.75, 0.25) if kind == "labelled" else (),
        waves,
        factors,
        kinds,
        places[:, None],
        np.ones_like(places[:, None]),
        columns=ImageColumns.of(IMAGES[columns]),
    )
    return pt.Model(schema, pt.plan(schema, epsilon=1.0).guarantee, "release", "images", 100.0, generator)


@pytest.fixture
def model(schema: pt.Schema, random_model: Callable[..., pt.Model]) -> pt.Model:
    return random_model(schema, rows=40.4)


def test_what_it_says_of_itself(model: pt.Model) -> None:
    assert repr(model) == "<Model of 'people': 6 columns, ε = 1>"
    assert model.default_count == 40
    assert len(model.sample(seed=1)) == 40
    assert model.summary()["kind"] == "model"


@pytest.mark.parametrize(("frame", "kind"), [("pyarrow", pa.Table), ("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_every_kind_of_frame_holds_the_same_rows(model: pt.Model, frame: str, kind: type) -> None:
    found = model.sample(30, seed=3, frame=frame)
    assert isinstance(found, kind)
    table = found if frame == "pyarrow" else found.to_arrow() if frame == "polars" else pa.Table.from_pandas(found)
    assert table["age"].to_pylist() == model.sample_table(30, seed=3)["age"].to_pylist()


def test_types_of_a_pandas_frame_do_not_depend_on_missing_values(model: pt.Model) -> None:
    few, many = model.sample(1, seed=0, frame="pandas"), model.sample(500, seed=0, frame="pandas")
    assert dict(few.dtypes) == dict(many.dtypes)
    assert str(many["member"].dtype) == "boolean"


def test_a_file_gives_the_same_rows(model: pt.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "people.model")
    again = pt.Model.load(tmp_path / "people.model")
    assert again.to_bytes() == model.to_bytes()
    assert again.sample(20, seed=5).equals(model.sample(20, seed=5))


def test_more_constraints_make_another_model(model: pt.Model) -> None:
    strict = model.constrained({"impossible": {"sex": "male", "grade": "high"}})
    assert len(strict.schema.constraints) == 1
    assert model.schema.constraints == ()
    rows = strict.sample(300, seed=1).to_pylist()
    assert not [row for row in rows if row["sex"] == "male" and row["grade"] == "high"]


def test_what_makes_no_sense_is_refused(model: pt.Model, tmp_path: Path) -> None:
    for words, options in (
        ("must not be negative", {"count": -1}),
        ("too many at a time", {"count": MOST_ROWS + 1}),
        ("frame 'excel' is not known", {"count": 1, "frame": "excel"}),
        ("balance: 'height' is not a column", {"count": 1, "balance": "height"}),
    ):
        with pytest.raises(UsageError, match=words):
            model.sample(**options)
    (tmp_path / "no.model").write_bytes(model.to_bytes()[:100])
    with pytest.raises(ArtefactError):
        pt.Model.load(tmp_path / "no.model")


def test_tables_and_images_come_out_of_one_class(model: pt.Model) -> None:
    assert type(model) is type(images()) is pt.Model
    assert isinstance(images().sample(seed=0), pt.Images)
    assert len(images().sample(seed=0)) == 100
    assert repr(images()) == "<Model of 'images': 2 columns, ε = 1>"


def test_columns_are_found_by_their_own_names() -> None:
    made = images().sample(40, seed=0)
    assert made.classes == ("cat", "dog")
    assert made.codes is not None
    greys = made.pixels.reshape(40, -1).mean(axis=1) / 255
    np.testing.assert_allclose(greys, 0.2 + 0.4 * made.codes, atol=0.05)
    assert images("plain", "plain").sample(3, seed=0).codes is None


def test_a_fit_by_settings_knows_its_release(
    shapes: Callable[..., pa.Table], shapes_schema: pt.Schema, seeded_release: Callable[..., pt.Release]
) -> None:
    release = seeded_release(shapes(300), shapes_schema, method=pt.Merf(features=10), target="kind")
    model = pt.Model.fitted(release, pt.MixtureSettings(components=3, steps=2), seed=0, progress=silent)
    assert (model.release, model.schema, model.rows) == (release.id, release.schema, record_count(release))


class TestFiles:
    @pytest.mark.parametrize("kind", IMAGES)
    def test_keep_the_model(self, kind: str, tmp_path: Path) -> None:
        made = images(kind, kind)
        made.save(tmp_path / "a.model")
        back = pt.Model.load(tmp_path / "a.model")
        assert (back.schema, back.guarantee, back.rows) == (made.schema, made.guarantee, made.rows)
        assert repr(back) == repr(made)
        first, again = made.sample(30, seed=5), back.sample(30, seed=5)
        np.testing.assert_array_equal(first.pixels, again.pixels)
        assert first.classes == again.classes
        if kind != "plain":
            np.testing.assert_array_equal(first.codes, again.codes)

    def test_the_same_model_is_the_same_bytes(self) -> None:
        assert images().to_bytes() == images().to_bytes()

    def test_arrays_that_do_not_fit_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        made = images()
        facts, arrays = made.generator.to_facts()
        broken = (facts, {**arrays, "places": arrays["places"][:, :-1]})
        monkeypatch.setattr(Gaussians, "to_facts", lambda self: broken)
        made.save(tmp_path / "a.model")
        with pytest.raises(ArtefactError, match="places and spreads"):
            pt.Model.load(tmp_path / "a.model")

    def test_a_generator_of_other_images_is_refused(self, tmp_path: Path) -> None:
        wrong = pt.Model(IMAGES["plain"], images("plain", "plain").guarantee, "r", "images", 1.0, images().generator)
        wrong.save(tmp_path / "a.model")
        with pytest.raises(ArtefactError, match="does not fit the schema"):
            pt.Model.load(tmp_path / "a.model")


def test_rows_are_no_images(tmp_path: Path) -> None:
    """A file whose generator gives rows, and whose schema has an image, is refused when it is read."""
    records = Records(2, {"sort": np.array([0, 1], dtype=np.uint16)}, {})
    model = images()
    broken = pt.Model(IMAGES["labelled"], model.guarantee, "r", "pyarrow", 2.0, Points(records, np.full(2, 0.5)))
    broken.save(tmp_path / "m")
    with pytest.raises(ArtefactError, match="does not fit"):
        pt.Model.load(tmp_path / "m")


@pytest.mark.parametrize("balance", [None, "sex", "grade"])
def test_parts_add_up_to_the_whole(
    schema: pt.Schema, random_model: Callable[..., pt.Model], balance: str | None
) -> None:
    model = random_model(schema)
    parts = list(model.sample_parts(107, part=25, balance=balance, seed=3))
    assert [part.num_rows for part in parts] == [25, 25, 25, 25, 7]
    whole = pa.concat_tables(parts)
    assert whole.schema == model.sample_table(1).schema
    if balance is not None:
        counts = whole.column(balance).drop_null().value_counts().field("counts").to_pylist()
        assert max(counts) - min(counts) <= 1
    for threads in (1, 3):
        again = pa.concat_tables(model.sample_parts(107, part=25, balance=balance, seed=3, threads=threads))
        assert whole.equals(again)
    assert parts[0].to_pylist() != parts[1].to_pylist()


def test_parts_of_nothing_and_of_too_little(schema: pt.Schema, random_model: Callable[..., pt.Model]) -> None:
    model = random_model(schema)
    assert [part.num_rows for part in model.sample_parts(0)] == [0]
    for count, part in ((-1, 5), (5, 0)):
        with pytest.raises(UsageError, match="count must not be negative and part at least 1"):
            list(model.sample_parts(count, part=part))
    with pytest.raises(UsageError, match="threads must be at least 1"):
        list(model.sample_parts(5, threads=0))
