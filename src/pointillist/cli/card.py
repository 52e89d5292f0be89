"""`pointillist card`: the page that an officer signs, and that may travel with the data."""

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import LedgerFile, Overwrite, Quiet
from pointillist.cli.outputs import free
from pointillist.errors import ArtefactError, UsageError

if TYPE_CHECKING:
    from pointillist.pages.audited import Audited
    from pointillist.pages.card import Card
    from pointillist.release import Release

Source = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="A release file, or a card (.json) to show.", show_default=False)
]
CardOutput = Annotated[
    Path, typer.Option("-o", "--output", help="The card to write: .html, .md or .json.", show_default=False)
]
By = Annotated[str, typer.Option("--by", help="Who hands the data out.", show_default=False)]
To = Annotated[str, typer.Option("--to", help="Who gets them.", show_default=False)]
Purpose = Annotated[str, typer.Option("--purpose", help="What they may be used for.", show_default=False)]
VouchedBy = Annotated[
    str,
    typer.Option("--vouched-by", help="Who declared facts public that were read from the data.", show_default=False),
]
Kind = Annotated[str, typer.Option(help="For the registry: Government, Industry or Nonprofit.", show_default=False)]
Region = Annotated[str, typer.Option(help="For the registry: the data's region, or whose law applies.")]
Sector = Annotated[str, typer.Option(help="For the registry: Healthcare, Education, Finance, …", show_default=False)]
Synthetic = Annotated[
    list[Path] | None,
    typer.Option("--data", help="A synthetic file or folder that the card covers. Repeat it for more."),
]
AuditFile = Annotated[
    Path | None,
    typer.Option(
        "--audit", help="What `pointillist audit` found for this release on made-up rows.", show_default=False
    ),
]


@app.command(rich_help_panel=Panel.JUDGE)
def card(
    release: Source,
    output: CardOutput,
    by: By = "",
    to: To = "",
    purpose: Purpose = "",
    vouched_by: VouchedBy = "",
    data: Synthetic = None,
    account: Annotated[bool, typer.Option("--account", help="Show the ledger's account of the data set.")] = False,
    ledger: LedgerFile = None,
    audit: AuditFile = None,
    registry: Annotated[bool, typer.Option("--registry", help="Write an entry for the DP registry instead.")] = False,
    kind: Kind = "",
    region: Region = "",
    sector: Sector = "",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> str | None:
    """Write the page that an officer signs, and that may travel with the data: what it is, what it promises to whom.

    It comes from the release, which is public, and from what you add. Show a signed card with: card card.json -o card.html

    Example: pointillist card people.release --by "City Hospital" --data synthetic.csv -o card.json
    """
    from pointillist.cli import console
    from pointillist.files import container
    from pointillist.pages.deployment import Deployment
    from pointillist.pages.registry_entry import registry_entry

    free(output, overwrite, release, ledger, audit, *(data or ()))
    stated = Deployment(by, to, purpose, vouched_by, kind, region, sector)
    extra = {
        "data": data,
        "account": ledger or account,  # the ledger that is named, or else the user's own
        "audit": audit,
    }
    found = _card(release, stated, extra)
    if registry:
        if output.suffix.lower() != ".json":
            raise UsageError(f"{output}: an entry of the registry is written as .json.")
        entry = json.dumps(registry_entry(found), ensure_ascii=False, indent=2, allow_nan=False)
        container.write(output, f"{entry}\n".encode())
    else:
        found.save(output)
    if quiet:
        return None
    console.say(f"Written to {output}. It may be shared together with the data.")
    unsigned = output.suffix.lower() == ".json" and not registry and not found.signatures
    return f"pointillist sign {output} --key KEY --name NAME" if unsigned else None


def _card(source: Path, stated: Any, extra: dict[str, Any]) -> "Card":
    """A release's card with what the options add, or the card that a file holds."""
    from pointillist.files.hashed_file import HashedFile
    from pointillist.pages.account_statement import AccountStatement
    from pointillist.pages.card import Card
    from pointillist.pages.deployment import Deployment
    from pointillist.privacy.ledger import Ledger
    from pointillist.release import Release

    if source.suffix.lower() == ".json" and not (source.is_file() and zipfile.is_zipfile(source)):
        if stated != Deployment() or any(extra.values()):
            raise UsageError(f"{source}: is a card, and says what it says. Only a release's card can be added to.")
        return _signed_card(source)
    public = Release.load(source)
    book = extra["account"]
    return Card.of(
        public,
        deployment=stated,
        account=AccountStatement.of(Ledger(None if book is True else book), public) if book else None,
        audited=None if extra["audit"] is None else _audited(extra["audit"], source, public),
        files=(
            HashedFile.of(source, "release"),
            *(HashedFile.of(each, "synthetic data") for each in extra["data"] or ()),
        ),
    )


def _audited(path: Path, source: Path, public: "Release") -> "Audited":
    """What an audit of this very release's settings may say in public."""
    from pointillist.evaluate.audit import Audit

    audit = Audit.load(path)
    if not audit.matches(public):
        raise UsageError(
            f"{path}: was made with other settings than this release. Make one with: pointillist audit --release {source} "
            f"-o {path}"
        )
    return audit.published()


def _signed_card(path: Path) -> "Card":
    """A card's file. Signatures that do not hold are not shown to anyone as if they did."""
    from pointillist.owners.card_signing import holds
    from pointillist.pages.card import Card
    from pointillist.pages.card_file import CardFile

    file = CardFile.load(path)
    if not all(holds(file, each) for each in file.signatures):
        raise ArtefactError(f"{path}: a signature under this card does not hold: it was altered since it was signed.")
    try:
        return Card.from_file(file)
    except (ValueError, LookupError, TypeError):
        raise ArtefactError(f"{path}: is not a card that this version of pointillist can show, or damaged.") from None
