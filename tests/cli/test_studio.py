from pathlib import Path

import pytest
from typer.testing import CliRunner

from pointillist.cli.app import app
from pointillist.errors import UsageError


def test_the_command_tells_its_address_and_warns_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def served(folder: Path, *, ready: object, **options: object) -> None:
        assert folder == tmp_path
        assert options == {"place": "x.csv", "demo": False, "host": "0.0.0.0", "port": 9, "ledger": None}
        ready("http://0.0.0.0:9/?token=t", folder)  # type: ignore[operator]

    monkeypatch.setattr("pointillist.studio.server.serve", served)
    asked = ["studio", "x.csv", "--folder", str(tmp_path), "--host", "0.0.0.0", "--port", "9", "--no-browser"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert "http://0.0.0.0:9/?token=t" in result.output
    assert "nothing is encrypted" in " ".join(result.output.split())


def test_a_demo_and_a_file_contradict_each_other() -> None:
    result = CliRunner().invoke(app, ["studio", "x.csv", "--demo"])
    assert isinstance(result.exception, UsageError)
