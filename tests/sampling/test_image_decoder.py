"""Image decoder: images of the schema's size, classes as asked for, and plain words for what cannot be."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.generators.gaussians.gaussians import Gaussians
from pointillist.sampling import image_decoder
from pointillist.sampling.image_decoder import class_names

SIZE = (4, 3, 1)
IMAGE = pt.Image(height=4, width=3)
STRICT = pt.Categorical(categories=("cat", "dog", "eel"), missing=False, out_of_domain="error")
LOOSE = pt.Categorical(categories=(3, 5), missing=True, other_label="rest")
LABELS: dict[str, pt.Categorical | None] = {"strict": STRICT, "loose": LOOSE, "none": None}


def schema(kind: str = "strict") -> pt.Schema:
    label = LABELS[kind]
    return pt.Schema(name="images", columns={"image": IMAGE} if label is None else {"image": IMAGE, "label": label})


@cache
def promised(kind: str) -> pt.Guarantee:
    return pt.plan(schema(kind), epsilon=1.0).guarantee


def model(kind: str = "strict", rows: float = 100.0, shares: tuple[float, ...] | None = None) -> pt.Model:
    """Each class is a grey of its own, with a little noise."""
    facts = schema(kind)
    classes = len(class_names(facts))
    if shares is None:
        shares = tuple(np.arange(classes, 0, -1) / max(1, np.arange(1, classes + 1).sum()))
    number = max(1, classes)
    waves = np.eye(12, dtype=np.float32)
    places = np.repeat(0.2 + 0.2 * np.arange(number, dtype=np.float32)[:, None], 12, axis=1)
    kinds, factors = np.ones((number, 1), dtype=np.float32), np.stack([0.02 * waves] * number)
    gaussians = Gaussians(SIZE, shares, waves, factors, kinds, places[:, None], np.ones_like(places[:, None]))
    return pt.Model(facts, promised(kind), "release", "images", rows, gaussians)


@pytest.mark.parametrize("kind", LABELS)
@given(count=st.integers(0, 40), seed=st.integers(0, 2**32 - 1))
def test_images_are_of_the_schema(kind: str, count: int, seed: int) -> None:
    images = model(kind).sample(count, seed=seed)
    assert isinstance(images, pt.Images)
    assert len(images) == count
    assert images.pixels.shape == (count, *SIZE)
    assert images.pixels.dtype == np.uint8
    assert (images.codes is None) == (kind == "none")
    assert images.classes == class_names(schema(kind))


def test_levels_beside_the_named_classes_have_names() -> None:
    assert class_names(schema("strict")) == ("cat", "dog", "eel")
    assert class_names(schema("loose"))[:3] == (3, 5, "rest")
    assert len(set(class_names(schema("loose")))) == 4
    assert class_names(schema("none")) == ()


def test_the_same_seed_gives_the_same_images() -> None:
    first, again, other = (model().sample(50, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.pixels, again.pixels)
    np.testing.assert_array_equal(first.codes, again.codes)
    assert not np.array_equal(first.pixels, other.pixels)
    assert not np.array_equal(model().sample(50).pixels, model().sample(50).pixels)


def test_images_go_with_their_labels() -> None:
    """Greys of 0.2, 0.4 and 0.6 with a deviation of 0.02 for a pixel: 0.1 is 5 of them for a pixel, 17 for an image."""
    images = model().sample(300, seed=0)
    assert images.codes is not None
    greys = images.pixels.reshape(300, -1).mean(axis=1) / 255
    np.testing.assert_allclose(greys, 0.2 + 0.2 * images.codes, atol=0.1)


@pytest.mark.parametrize(("rows", "count"), [(100.2, 100), (0.0, 1), (-7.0, 1), (1e12, 120)])
def test_the_number_of_images_is_that_of_the_private_set(
    rows: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_decoder, "MOST_BYTES", 120 * 12)
    assert model(rows=rows).default_count == count
    assert len(model(rows=rows).sample(seed=0)) == count


class TestGiven:
    @pytest.mark.parametrize("wanted", ["dog", ["dog"], ("dog",), {"dog"}])
    def test_one_class(self, wanted: Any) -> None:
        images = model().sample(20, given={"label": wanted}, seed=0)
        assert images.labels is not None
        assert images.labels.tolist() == ["dog"] * 20

    def test_several_classes_by_their_shares(self) -> None:
        """3 to 1 among 4,000: 750 of 1,000 with a deviation of 0.007; 0.05 is 7 of them."""
        images = model().sample(4_000, given={"label": ["cat", "eel"]}, seed=0)
        assert images.codes is not None
        assert set(images.codes.tolist()) == {0, 2}
        assert abs(np.mean(images.codes == 0) - 0.75) < 0.05

    def test_a_class_of_numbers(self) -> None:
        images = model("loose").sample(6, given={"label": 5}, seed=0)
        assert images.labels is not None
        assert images.labels.tolist() == [5] * 6

    def test_a_class_that_the_release_found_empty(self) -> None:
        """Asked for, it is drawn: the user knows why."""
        images = model(shares=(0.5, 0.5, 0.0)).sample(5, given={"label": "eel"}, seed=0)
        assert images.labels is not None
        assert images.labels.tolist() == ["eel"] * 5
        plain = model(shares=(0.5, 0.5, 0.0)).sample(100, seed=0)
        assert plain.codes is not None
        assert plain.codes.max() == 1

    @pytest.mark.parametrize("wanted", ["cow", ["cat", "cow"], [], None])
    def test_an_unknown_class_is_refused(self, wanted: Any) -> None:
        with pytest.raises(UsageError, match=r"class of .label. ?(is asked for)?. Classes: cat, dog, eel\."):
            model().sample(5, given={"label": wanted})

    def test_another_column_is_refused(self) -> None:
        with pytest.raises(UsageError, match=r"'sort' is not the images' label\. The label is 'label'"):
            model().sample(5, given={"sort": "cat"})
        with pytest.raises(UsageError, match="There is no label"):
            model("none").sample(5, given={"label": "cat"})


class TestBalance:
    @given(count=st.integers(0, 50))
    def test_every_class_gets_the_same_number(self, count: int) -> None:
        images = model().sample(count, balance="label", seed=0)
        assert images.codes is not None
        counts = np.bincount(images.codes, minlength=3)
        assert counts.max() - counts.min() <= 1

    def test_only_named_classes(self) -> None:
        """Unlisted values and gaps are no class to balance."""
        images = model("loose").sample(50, balance="label", seed=0)
        assert images.labels is not None
        assert set(images.labels) == {3, 5}

    def test_among_the_classes_that_are_given(self) -> None:
        images = model().sample(40, given={"label": ["cat", "eel"]}, balance="label", seed=0)
        assert images.codes is not None
        assert np.bincount(images.codes, minlength=3).tolist() == [20, 0, 20]

    @pytest.mark.parametrize("kind", ["strict", "none"])
    def test_another_column_is_refused(self, kind: str) -> None:
        with pytest.raises(UsageError, match="not the images' label"):
            model(kind).sample(5, balance="image")


class TestRefusals:
    @pytest.mark.parametrize("frame", ["pandas", "pyarrow", "images"])
    def test_frames(self, frame: str) -> None:
        with pytest.raises(UsageError, match="leave frame out"):
            model().sample(5, frame=frame)

    def test_tables(self) -> None:
        with pytest.raises(UsageError, match="use sample"):
            model().sample_table(5)

    @pytest.mark.parametrize("count", [-1, 10**12])
    def test_counts(self, count: int) -> None:
        with pytest.raises(UsageError, match="the number of images must lie between 0 and"):
            model().sample(count)
