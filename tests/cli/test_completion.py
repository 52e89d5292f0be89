"""Completion for a shell that is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.command_line import Run, refused_free


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell", "pwsh"])
def test_completion_is_shown_for_a_shell_that_is_named(run: Run, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: pytest.fail("no shell has to be guessed"))
    outcome = run("--show-completion", shell)
    assert (outcome.code, outcome.err) == (0, "")
    assert "_POINTILLIST_COMPLETE" in outcome.out


def test_completion_is_installed_for_a_shell_that_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: pytest.fail("no shell has to be guessed"))
    assert run("--install-completion", "bash").code == 0
    assert "complete_bash" in (tmp_path / ".bash_completions" / "pointillist.sh").read_text()
    assert ".bash_completions/pointillist.sh" in (tmp_path / ".bashrc").read_text()


def test_completion_of_no_shell_or_an_unknown_one_is_refused(run: Run) -> None:
    refused_free(run, ["--show-completion"], 2, "--show-completion")
    refused_free(run, ["--show-completion", "tcsh"], 2, "tcsh", "bash")


def test_completion_answers_a_shell() -> None:
    words = {"COMP_WORDS": "pointillist re", "COMP_CWORD": "1", "_POINTILLIST_COMPLETE": "complete_bash"}
    ended = subprocess.run(
        [sys.executable, "-c", "from pointillist.cli import main; main()"],
        capture_output=True, text=True, check=False, env={**os.environ, **words},
    )  # fmt: skip
    assert ended.stdout.split() == ["release"]
