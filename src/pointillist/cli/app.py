"""The program itself: its commands' root, and how it ends. The commands register themselves here."""

import gc
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from pointillist.errors import PointillistError
from pointillist.visible import visible

app = typer.Typer(
    name="pointillist",
    help="Synthetic data with a differential-privacy guarantee.\n\n"
    "You see the picture; no single dot matters. Start with: pointillist demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 2 wrong usage, 3 schema, 4 data, 5 budget or ledger, 6 release or model file, "
    "70 a fault of ours.",
)
schema_app = typer.Typer(no_args_is_help=True, help="Draft a schema: what is public about a table.")
app.add_typer(schema_app, name="schema")
ledger_app = typer.Typer(invoke_without_command=True)
app.add_typer(ledger_app, name="ledger")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("pointillist"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Synthetic data with a differential-privacy guarantee.

    You see the picture; no single dot matters. Start with: pointillist demo
    """


def _show_usage_error(error: Any) -> None:
    """As typer shows it, but for what a terminal would obey."""
    from typer.rich_utils import rich_format_error

    error.message = visible(error.message)
    rich_format_error(error)


def main() -> None:
    """Run the command line. Mistakes end in one clear message, never in a traceback."""
    message, code = "", 0
    try:
        code = app(standalone_mode=False) or 0
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
