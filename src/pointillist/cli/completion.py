"""Completion for a shell that the user names: guessing it from the parent process fails where there is none."""

from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.completion import completion_init, install_callback, show_callback  # type: ignore[attr-defined]

completion_init()  # what answers when a shell asks for completions


class Shell(StrEnum):
    """Shells that can be completed for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"
    PWSH = "pwsh"


def _option(name: str, callback: Any, what: str) -> Any:
    words = f"{what}: {', '.join(Shell)}."
    return typer.Option(
        name, metavar="SHELL", callback=callback, is_eager=True, expose_value=False, show_default=False, help=words
    )


ShowCompletion = Annotated[Shell | None, _option("--show-completion", show_callback, "Show completion for a shell")]
InstallCompletion = Annotated[
    Shell | None, _option("--install-completion", install_callback, "Install completion for a shell")
]
