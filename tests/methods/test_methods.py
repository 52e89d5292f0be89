"""Methods by name: the one that suits a schema, its default, and what is said of the others."""

import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.methods import METHODS, kind_for, method_for, methods_of

TABLE = pt.Schema(name="t", columns={"a": pt.Boolean(missing=False)})
IMAGES = pt.Schema(name="i", columns={"image": pt.Image(height=4, width=4)})


def test_each_kind_of_data_has_its_methods_and_a_default() -> None:
    assert [*methods_of("tables")] == ["mosaic", "chronicle", "merf", "hermite", "landmarks", "reduced-set"]
    assert [*methods_of("images")] == ["spectral", "merf", "hermite", "perceptual", "gallery"]
    of_rows = {name: kind for name, kind in methods_of("tables").items() if name != "chronicle"}
    assert METHODS.suiting(TABLE) == of_rows  # it has no persons
    assert METHODS.suiting(IMAGES) == methods_of("images")
    assert isinstance(method_for(TABLE, None), pt.Mosaic)
    assert isinstance(method_for(IMAGES, None), pt.Spectral)


def test_one_name_means_what_suits_the_schema() -> None:
    assert kind_for(TABLE, "merf") is pt.Merf
    assert kind_for(IMAGES, "merf") is pt.ImageMerf
    assert method_for(TABLE, "merf", {"features": 10}) == pt.Merf(features=10)


def test_methods_know_their_names() -> None:
    for name, kind in METHODS.entries:
        assert kind().name == name

    class Own(pt.Mosaic):
        """Derived from a method that has a name."""

    assert Own().name == "mosaic"


@pytest.mark.parametrize("method", ["spectral", "perceptual", "tiles", 3, pt.Mosaic])
def test_others_are_refused_for_tables(method: object) -> None:
    with pytest.raises(
        UsageError, match=r"is not known for tables\. Known methods: mosaic, merf, hermite, landmarks, red"
    ):
        method_for(TABLE, method)  # type: ignore[arg-type]


def test_a_method_passes_through_if_it_suits() -> None:
    method = pt.Mosaic(steps=3)
    assert method_for(TABLE, method) is method
    with pytest.raises(
        UsageError, match=r"Mosaic is not a method for images\. Known methods: spectral, merf, hermite, per"
    ):
        method_for(IMAGES, method)
