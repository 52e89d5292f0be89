"""The program itself: its commands' root, and how it ends. The commands register themselves here."""

import gc
import os
import sys
import traceback
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from pointillist.cli.completion import InstallCompletion, ShowCompletion
from pointillist.errors import PointillistError
from pointillist.visible import visible
from pointillist.watching import taken

NAME = "pointillist"


class Panel(StrEnum):
    """What a command is for. Help lists the panels in this order, which is that of the work."""

    TRY = "Try it"
    PREPARE = "Prepare"
    PUBLISH = "Publish: spends budget"
    TOGETHER = "Publish with other owners: contribute spends budget"
    MAKE = "Make synthetic data: free, as often as you like"
    ASK = "Ask a release: free, as often as you like"
    JUDGE = "Judge"
    KEEP = "Keep track"


class _InOrder(TyperGroup):
    """Commands in the order of their panels; within one, as they were registered."""

    def list_commands(self, ctx: Any) -> list[str]:
        order: list[str] = list(Panel)
        return sorted(self.commands, key=lambda name: order.index(getattr(self.commands[name], "rich_help_panel", "")))


def _say_next(step: str | None, **_: Any) -> None:
    """A command returns what comes after it, and the command that the user called has the last word."""
    if step is not None:
        from pointillist.cli import console

        console.say(f"Next: {step}")


app = typer.Typer(
    name=NAME,
    cls=_InOrder,
    result_callback=_say_next,
    add_completion=False,  # the options below complete for a shell that is named, not guessed
    help="Synthetic data with a differential-privacy guarantee.\n\n"
    "You see the picture; no single dot matters. Start with: pointillist demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 2 wrong usage, 3 schema, 4 data, 5 budget or ledger, 6 release or model file, "
    "70 a fault of ours.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version(NAME))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
    show_completion: ShowCompletion = None,
    install_completion: InstallCompletion = None,
) -> None:
    """Synthetic data with a differential-privacy guarantee.

    You see the picture; no single dot matters. Start with: pointillist demo
    """


def _show_usage_error(error: Any) -> None:
    """As typer shows it, but for what a terminal would obey."""
    from typer.rich_utils import rich_format_error

    error.message = visible(error.message)
    rich_format_error(error)


@cache
def _command() -> Any:
    """The parser of all commands, built once: a process may run several."""
    return get_command(app)


def main() -> None:
    """Run the command line. Mistakes end in one clear message, never in a traceback."""
    message, code = "", 0
    try:
        # Named, whatever it was started by: help and completion speak of the command.
        with taken():  # commands show their progress themselves
            code = _command()(prog_name=NAME, standalone_mode=False) or 0
    except PointillistError as error:
        message, code = f"Error: {error}", error.exit_code
    except KeyboardInterrupt:
        message, code = "Stopped.", 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except typer.Abort:
        message, code = "Stopped.", 1
    except OSError as error:
        # A disk, a network or a permission failed us. Which file it was is not said: its name may be a person's.
        reason = error.strerror or type(error).__name__
        message, code = f"Error: a file could not be used ({reason}). Check paths, permissions and free space.", 4
    except Exception as error:
        if hasattr(error, "format_message"):  # the parser's own: a wrong option or argument
            _show_usage_error(error)
            sys.exit(getattr(error, "exit_code", 2))
        # The message or a traceback might quote a private value: name only what kind of fault it is, and where.
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = (
            f"Error: a fault in pointillist ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}). "
            "Please report it with the command you ran; leave the data out."
        )
        code = 70
    # Outside the handlers: what the error's traceback held on to (readers, connections) is gone before we leave.
    if message:
        gc.collect()
        typer.secho(message, err=True, fg="red")
    sys.exit(code)
