"""Share: card, release and synthetic data in one archive. All of it is public; the report is not in it."""

import zipfile
from dataclasses import replace
from pathlib import Path

from starlette.datastructures import FormData
from starlette.responses import FileResponse, Response

from pointillist.errors import UsageError
from pointillist.files.hashed_file import HashedFile
from pointillist.pages.account_statement import AccountStatement
from pointillist.pages.card import Card
from pointillist.pages.deployment import Deployment
from pointillist.studio.plan_folder import PlanFolder
from pointillist.studio.routes import At

_README = """{name}: synthetic data with a differential-privacy guarantee.

{sentence}

  card.html        what it promises, how it was made, what to use it for and what not
  card.json        the same for programs
  {name}.release   the noisy measurements: ask it for figures with intervals
{synthetic}
With Pointillist installed, `pointillist studio {name}.release` opens the release on a page, and
`pointillist query {name}.release "count()"` asks it from a terminal. Neither needs the private data.
"""

_STATED = (
    ("by", "Who hands the data out?"),
    ("to", "Who gets them?"),
    ("purpose", "What may they be used for?"),
    ("vouched_by", "Who declared facts public that were read from the data?"),
)
"""What the card can name, and how the page asks for it."""


def show(at: At) -> Response:
    """What goes into the archive."""
    plan = at.project.plan
    if plan is None or not plan.release_file.exists():
        return at.to("release")
    stated = _stated(at)
    return at.page(
        "share",
        card=Card.of(plan.release(), deployment=stated),
        synthetic=plan.synthetic,
        files=_files(at, plan),
        fields=[(name, label, getattr(stated, name)) for name, label in _STATED],
    )


def download(at: At, form: FormData) -> Response:
    """The archive. Who hands out what to whom, and what for, are the owner's words: the card repeats them."""
    plan = at.project.plan
    if plan is None or not plan.release_file.exists():
        raise UsageError("there is no release yet.")
    stated = Deployment(**{name: str(form.get(name, "")).strip() for name, _ in _STATED})
    at.project.update(deployment=stated.to_json())
    path = plan.folder / "share.zip"
    pack(at, plan, path)
    return FileResponse(path, filename=f"{at.project.name}.zip", media_type="application/zip")


def card_of(at: At, plan: PlanFolder) -> Card:
    """The card as the command makes it: with the owner's words, the ledger's account, and the files that it covers."""
    release = plan.release()
    covered = HashedFile.of(plan.release_file, "release")
    named = replace(covered, name=f"{safe_name(at.project.name)}.release")  # as it is called in the archive
    synthetic = () if plan.synthetic is None else (HashedFile.of(plan.synthetic, "synthetic data"),)
    return Card.of(
        release,
        deployment=_stated(at),
        account=None if at.project.received else AccountStatement.of(at.studio.ledger(at.project), release),
        files=(named, *synthetic),
    )


def pack(at: At, plan: PlanFolder, path: Path) -> None:
    """Write the archive. Only what came from the release goes in, and what its owner says of it."""
    card, safe = card_of(at, plan), safe_name(at.project.name)
    card.save(plan.folder / "card.html")
    card.save(plan.folder / "card.json")
    synthetic = plan.synthetic
    line = "" if synthetic is None else f"  {synthetic.name}    synthetic rows, made from the release alone\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", _README.format(name=safe, sentence=card.guarantee.sentence(), synthetic=line))
        archive.write(plan.folder / "card.html", "card.html")
        archive.write(plan.folder / "card.json", "card.json")
        archive.write(plan.release_file, f"{safe}.release")
        if synthetic is not None:
            archive.write(synthetic, synthetic.name)


def _stated(at: At) -> Deployment:
    return Deployment.from_json({**Deployment().to_json(), **at.project.facts.get("deployment", {})})


def safe_name(name: str) -> str:
    """A name that is a file's on every system."""
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name) or "table"


def _files(at: At, plan: PlanFolder) -> list[tuple[str, str]]:
    files = [
        ("card.html, card.json", "what it promises, how it was made, what to use it for"),
        (f"{safe_name(at.project.name)}.release", "the noisy measurements"),
    ]
    return files if plan.synthetic is None else [*files, (plan.synthetic.name, "the synthetic data")]
