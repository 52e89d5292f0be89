"""A terminal of 80 columns: no word may be broken in it."""

from collections.abc import Callable

import pytest

from pointillist.cli import console


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "width", 80)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """The lines that were printed."""

    def read() -> list[str]:
        return capsys.readouterr().out.splitlines()

    return read
