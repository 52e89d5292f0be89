"""Generators by name or by their settings, and refused in words where impossible."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.generators import GENERATORS, fittable, generator_class, generator_for, generator_named
from pointillist.generators.base import GeneratorSettings

Shapes = Callable[..., pa.Table]
Releases = Callable[..., pt.Release]


def test_generators_have_names() -> None:
    assert generator_named("mixture") == pt.MixtureSettings()
    assert generator_named("network") == pt.NetworkSettings()
    assert generator_named("points") == pt.PointsSettings()
    for name in fittable():
        settings = generator_named(name)
        assert isinstance(settings, GeneratorSettings)
        assert generator_named(settings) is settings


@pytest.mark.parametrize("wrong", ["dots", "", None, 3, pt.NetworkSettings])
def test_unknown_generators_are_named(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"is not known\. Known generators: mixture, network"):
        generator_named(wrong)


@pytest.mark.parametrize("name", GENERATORS)
def test_model_files_know_generators_by_the_same_names(name: str) -> None:
    assert generator_class(name).kind == name


@pytest.mark.parametrize("name", ["", "os.system", "mixture.mixture.Mixture"])
def test_unknown_kinds_in_files_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not known here"):
        generator_class(name)


@pytest.mark.parametrize("name", fittable())
def test_tables_and_images_have_generators_of_their_own(name: str) -> None:
    table = pt.Schema(name="rows", columns={"a": pt.Boolean()})
    images = pt.Schema(name="faces", columns={"image": pt.Image(height=2, width=2)})
    settings = generator_named(name)
    fits, other = (table, images) if settings.suits(table) else (images, table)
    assert generator_for(fits, name) == settings
    with pytest.raises(UsageError, match=rf"generator '{name}' is for .*Choose one of .*, or none"):
        generator_for(other, settings)
