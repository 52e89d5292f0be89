"""`pointillist verify`: whether what a receiver holds is what was approved."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import CardArgument, Json, Quiet
from pointillist.cli.outputs import print_json

ReleaseOption = Annotated[Path | None, typer.Option("--release", help="The release that you hold.", show_default=False)]
SchemaOption = Annotated[Path | None, typer.Option("--schema", help="The schema that you hold.", show_default=False)]
DataOption = Annotated[
    list[Path] | None,
    typer.Option("--data", help="A synthetic file or folder that you hold. Repeat it for more.", show_default=False),
]
SignerOption = Annotated[
    list[str] | None,
    typer.Option("--signer", metavar="KEY", help="The public key of one who must have signed.", show_default=False),
]


@app.command(rich_help_panel=Panel.JUDGE)
def verify(
    card: CardArgument,
    release: ReleaseOption = None,
    schema: SchemaOption = None,
    data: DataOption = None,
    signer: SignerOption = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Check a card's signatures, and that the files you hold are those that were approved. Exit code 1 if not.

    Example: pointillist verify card.json --release people.release --data synthetic.csv --signer KEY
    """
    from pointillist.cli import console
    from pointillist.owners.card_check import checked_card
    from pointillist.pages.card_file import CardFile

    file = CardFile.load(card)
    checks = checked_card(file, release=release, schema=schema, data=data or (), signers=signer or ())
    sound = all(each.holds for each in checks)
    if as_json:
        print_json({"holds": sound, "checks": [vars(each) for each in checks]})
    elif not quiet:
        for each in checks:
            console.say(f"{'yes' if each.holds else 'NO '}  {each.sentence}", style=None if each.holds else "red")
        if sound and not signer:
            console.say("Compare the keys with what the signers told you by another way, or name them with --signer.")
    if not sound:
        raise typer.Exit(1)
