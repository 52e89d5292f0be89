"""Registry: things register themselves by name, and say what they suit."""

import sys
from pathlib import Path

import pytest

from pointillist.errors import UsageError
from pointillist.registry import Registry


@pytest.fixture
def brushes() -> Registry[type]:
    found: Registry[type] = Registry("brush")

    @found.register("round")
    class Round: ...

    @found.register("flat", place=1)
    class Flat: ...

    return found


class Even:
    @classmethod
    def suits(cls, number: int) -> bool:
        return number % 2 == 0


class Odd:
    @classmethod
    def suits(cls, number: int) -> bool:
        return number % 2 == 1


def test_things_are_found_by_name_in_the_order_of_their_places(brushes: Registry[type]) -> None:
    assert [*brushes] == ["flat", "round"]
    assert len(brushes) == 2
    assert brushes["round"].__name__ == brushes.named("round").__name__ == "Round"
    assert brushes.name_of(brushes["flat"]) == "flat"


@pytest.mark.parametrize("name", ["square", None, 3, []])
def test_an_unknown_name_is_refused_with_those_that_are_known(brushes: Registry[type], name: object) -> None:
    with pytest.raises(UsageError, match=r"brush .* is not known\. Known brushs: flat, round\."):
        brushes.named(name)
    assert brushes.get("square") is None


def test_what_is_not_registered_has_no_name(brushes: Registry[type]) -> None:
    with pytest.raises(UsageError, match="'Even' is not a registered brush"):
        brushes.name_of(Even)


def test_a_name_is_taken_once(brushes: Registry[type]) -> None:
    with pytest.raises(ValueError, match="there is a brush 'round' already"):
        brushes.register("round")(Even)


def test_one_name_for_two_things_that_suit_different_subjects() -> None:
    numbers: Registry[type] = Registry("number")
    numbers.register("own")(Even)
    numbers.register("own")(Odd)
    assert numbers.suiting(2) == {"own": Even}
    assert numbers.suiting(3) == {"own": Odd}
    assert [*numbers] == ["own"]


def test_what_says_nothing_suits_everything(brushes: Registry[type]) -> None:
    brushes.register("even", place=0)(Even)
    assert [*brushes.suiting(2)] == ["even", "flat", "round"]
    assert [*brushes.suiting(3)] == ["flat", "round"]


def test_a_new_file_of_the_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "painters"
    (package / "old").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from pointillist.registry import Registry\nPAINTERS = Registry('painter', __name__)\n"
    )
    (package / "old" / "__init__.py").touch()
    for path, name in (("seurat.py", "Seurat"), ("old/giotto.py", "Giotto")):
        (package / path).write_text(
            f"from painters import PAINTERS\n@PAINTERS.register({name.lower()!r})\nclass {name}: ...\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        from painters import PAINTERS  # type: ignore[import-not-found]

        assert [*PAINTERS] == ["giotto", "seurat"]
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "painters"]:
            del sys.modules[name]
