"""Settings: the fields of a dataclass, with their types, defaults and the texts that stand after them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from pointillist.errors import UsageError
from pointillist.generators import fittable
from pointillist.methods import METHODS
from pointillist.settings import of_fit, parsed, refusing, require_types, settings_of


@dataclass(frozen=True, kw_only=True)
class Brush:
    """A brush."""

    size: int = 3
    """How wide it is,
    in dots."""
    soft: bool = False
    nothing: int | None = None
    """May be nothing."""


@dataclass(frozen=True, kw_only=True)
class Fine(Brush):
    """A finer one."""

    size: int = 1
    """How narrow it is."""
    shades: tuple[float, ...] = (0.5,)
    """How dark."""
    ink: Literal["black", "blue"] = of_fit("black")
    """What is in it."""
    name: str | Mapping[str, Any] = "plain"
    """What it is called."""
    _kept: list[int] = field(default_factory=list, init=False)
    """No setting."""


def test_settings_are_the_fields_with_the_texts_after_them() -> None:
    found = {each.name: each for each in settings_of(Fine)}
    assert [*found] == ["size", "soft", "nothing", "shades", "ink", "name"]
    assert found["size"].meaning == "How narrow it is."
    assert settings_of(Brush)[0].meaning == "How wide it is, in dots."
    assert found["soft"].meaning == ""
    assert found["nothing"].takes == "whole number or none"
    assert found["shades"].takes == "numbers with commas between them"
    assert found["ink"].takes == "black or blue"
    assert (found["shades"].shown_default, found["ink"].shown_default, found["soft"].shown_default) == (
        "[0.5]",
        "black",
        "false",
    )
    assert [each.name for each in found.values() if each.of_fit] == ["ink"]
    assert Fine().ink == "black"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("size=5", 5),
        ("soft=true", True),
        ("soft=False", False),
        ("nothing=none", None),
        ("nothing=7", 7),
        ("shades=0.25", [0.25]),
        ("shades=0.1,2", [0.1, 2]),
        ("shades=[1, 2.5]", [1, 2.5]),
        ("ink=blue", "blue"),
        ("name=a=b", "a=b"),
        ("name=12", "12"),
        ('name={"a": 1}', {"a": 1}),
    ],
)
def test_texts_are_read_by_the_type_of_their_field(text: str, value: object) -> None:
    assert parsed(Fine, "fine", [text]) == {text.partition("=")[0]: value}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["sizes=5"], r"fine has no setting 'sizes'\. Its settings:\n  size \(whole number; default 1\): How narrow it"),
        (["size=5.5"], "size takes whole number, not '5.5'. How narrow it is."),
        (["soft=maybe"], "soft takes true or false, not 'maybe'"),
        (["ink=red"], "ink takes black or blue, not 'red'"),
        (["shades=dark"], "shades takes numbers"),
        (["size"], "'size' is not of the form NAME=VALUE"),
        (["size=1", "size=2"], "size is given twice"),
        (["_kept=1"], "no setting '_kept'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(given: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parsed(Fine, "fine", given)


def test_types_of_what_comes_in_a_file() -> None:
    require_types(Fine, {"size": 3, "shades": [0.5, 1]})
    for wrong in ({"size": 3.5}, {"size": True}, {"ink": "red"}, {"_kept": []}, {"shades": "0.5"}):
        with pytest.raises(ValueError, match=r"none of its settings|not of the right type"):
            require_types(Fine, wrong)


def test_faults_of_settings_are_the_users() -> None:
    with pytest.raises(UsageError, match=r"fine does not take these settings \(KeyError"), refusing("fine"):
        raise KeyError("a")


@pytest.mark.parametrize(
    ("name", "kind"), [*METHODS.entries, *fittable().items()], ids=lambda each: getattr(each, "__name__", each)
)
def test_every_setting_is_explained_and_its_default_is_of_its_own_type(name: str, kind: type) -> None:
    assert kind.__doc__
    for each in settings_of(kind):
        assert each.meaning, f"{name}: {each.name}"
        assert each.takes, f"{name}: {each.name}"
        assert each.accepts(each.default)
