"""Methods and their settings, as a person reads them."""

import pytest

import pointillist as pt
from pointillist.cli.show.methods import show_methods, show_settings
from pointillist.settings import settings_of


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_a_list_has_the_first_line_of_what_each_does(capsys: pytest.CaptureFixture[str]) -> None:
    show_methods([("mosaic", "method for tables", pt.Mosaic)])
    text = shown(capsys)
    assert "mosaic" in text
    assert "pointillist methods NAME" in text


def test_settings_have_type_default_and_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    show_settings("mosaic, method", "It does.", settings_of(pt.Mosaic))
    text = shown(capsys)
    assert text.startswith("mosaic, method. It does.")
    for each in settings_of(pt.Mosaic):
        assert each.name in text
    assert "300" in text
