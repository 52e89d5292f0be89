"""`pointillist sign`: a signature under a card."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import CardArgument, Quiet

Key = Annotated[
    Path, typer.Option("--key", help="Your secret key, in a file that only you may read.", show_default=False)
]
Signer = Annotated[str, typer.Option("--name", help="Who signs, and as what.", show_default=False)]


@app.command(rich_help_panel=Panel.JUDGE)
def sign(
    card: CardArgument,
    key: Key,
    name: Signer,
    new_key: Annotated[bool, typer.Option("--new-key", help="Make the key first, in a new file.")] = False,
    quiet: Quiet = False,
) -> str | None:
    """Sign a card: what it says, and the files whose hashes it states. The signature is added to the card's file.

    Example: pointillist sign card.json --key officer.key --name "A. Berg, data-protection officer" --new-key
    """
    from pointillist.cli import console
    from pointillist.owners.card_signing import make_key
    from pointillist.owners.card_signing import sign as put_signature
    from pointillist.owners.owner_key import OwnerKey
    from pointillist.pages.card_file import CardFile

    file = CardFile.load(card)
    own = make_key(key) if new_key else OwnerKey.load(key)
    put_signature(file, own, name).save(card)
    if quiet:
        return None
    if new_key:
        console.say(f"Your secret is in {key}: keep it, and show it to nobody.")
    console.say(f"Signed. Let receivers know your public key by another way: {own.public.to_text()}")
    return f"pointillist card {card} -o card.html"
