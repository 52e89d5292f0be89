"""Share: card, release and synthetic data in one archive. All of it is public; the report is not in it."""

import zipfile
from pathlib import Path

from starlette.responses import FileResponse, Response

from pointillist.errors import UsageError
from pointillist.pages.card import Card
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


def show(at: At) -> Response:
    """What goes into the archive."""
    plan = at.project.plan
    if plan is None or not plan.release_file.exists():
        return at.to("release")
    return at.page("share", card=Card.of(plan.release()), synthetic=plan.synthetic, files=_files(at, plan))


def download(at: At) -> Response:
    """The archive."""
    plan = at.project.plan
    if plan is None or not plan.release_file.exists():
        raise UsageError("there is no release yet.")
    path = plan.folder / "share.zip"
    pack(plan, at.project.name, path)
    return FileResponse(path, filename=f"{at.project.name}.zip", media_type="application/zip")


def pack(plan: PlanFolder, name: str, path: Path) -> None:
    """Write the archive. Only what came from the release goes in."""
    release = plan.release()
    card, safe = Card.of(release), safe_name(name)
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


def safe_name(name: str) -> str:
    """A name that is a file's on every system."""
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name) or "table"


def _files(at: At, plan: PlanFolder) -> list[tuple[str, str]]:
    files = [
        ("card.html, card.json", "what it promises, how it was made, what to use it for"),
        (f"{safe_name(at.project.name)}.release", "the noisy measurements"),
    ]
    return files if plan.synthetic is None else [*files, (plan.synthetic.name, "the synthetic data")]
