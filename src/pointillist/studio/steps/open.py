"""Open: a file, a folder, a table of a database or the demo; what was found, and its first schema."""

import json
import time
from pathlib import Path

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pointillist.curator.table_drafting import draft
from pointillist.demo.people import SCHEMA, TARGET, simulate
from pointillist.errors import DataError, UsageError
from pointillist.files.table_output import write_table
from pointillist.files.urls import Url
from pointillist.progress import Progress
from pointillist.reading.opening import open_source
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.studio import findings, histograms
from pointillist.studio.plan_folder import PlanFolder
from pointillist.studio.project import Project, write_private
from pointillist.studio.rendering import page
from pointillist.studio.routes import At
from pointillist.studio.studio import Studio


def show(request: Request) -> Response:
    """The first page: what to open, and what was opened before."""
    return page(request, "open.html", step="open", projects=Studio.of(request).workspace.projects()[:12])


def open_place(request: Request, form: FormData) -> Response:
    """Open what lies on this machine, or at an address."""
    studio = Studio.of(request)
    place, schema = str(form.get("place", "")).strip(), str(form.get("schema", "")).strip()
    if not place:
        raise UsageError("name a file, a folder or an address to open.")
    project = opened_at(studio, place, schema)
    return RedirectResponse(f"/p/{project.id}/opened", 303)


def opened_at(studio: Studio, place: str, schema: str = "") -> Project:
    """A project for a table of this machine; a mistake in its name is told at once."""
    known = Url.is_one(place)
    name = str(Url.parse(place)).rsplit("/", 1)[-1] if known else Path(place).expanduser().name
    full = place if known else str(Path(place).expanduser().absolute())
    if not known and full.endswith(".release"):
        return opened_release(studio, Path(full))
    open_source(full)
    if schema:
        Schema.load(Path(schema).expanduser())
    given = {} if not schema else {"schema": str(Path(schema).expanduser().absolute())}
    given |= {} if known else {"place": full}
    project = studio.workspace.new(name=name.split(".")[0] or "table", opened=time.time(), **given)
    if known:
        project.keep_address(Url.parse(place))
    return project


def address(at: At, form: FormData) -> Response:
    """The address of a table once more: it may hold a password, so it went when the studio ended."""
    text = str(form.get("place", "")).strip()
    if not Url.is_one(text) or list(Url.parse(text).place) != at.project.facts.get("address"):
        raise UsageError(f"this is not the address of {at.project.name}. To open another table, go to the first page.")
    open_source(text)
    at.project.keep_address(Url.parse(text))
    return at.to("opened")


def opened_release(studio: Studio, path: Path) -> Project:
    """A project for a release that somebody received: it has no table."""
    release = Release.load(path)
    project = studio.workspace.new(name=release.schema.name, received=True, opened=time.time())
    plan = project.new_plan(release.schema.to_toml(), received=True)
    plan.release_file.write_bytes(path.read_bytes())
    return project


def open_demo(request: Request, form: FormData) -> Response:
    """Open the simulated people."""
    return RedirectResponse(f"/p/{opened_demo(Studio.of(request)).id}/opened", 303)


def opened_demo(studio: Studio) -> Project:
    """A project on the demo's table, made anew. Its spends are no one's: it has a ledger of its own."""
    project = studio.workspace.new(name=SCHEMA.name, demo=True, target=TARGET, opened=time.time())
    table = project.folder / "people.csv"
    write_table(simulate() if studio.demo_rows is None else simulate(studio.demo_rows), table, SCHEMA)
    project.update(place=str(table))
    return project


def opened(at: At) -> Response:
    """Look at what was opened, unless that was done; a release goes to the receiver's page."""
    facts = at.project.facts
    upload = facts.get("upload", "")
    if upload.endswith(".release") and not facts.get("received"):
        project = opened_release(at.studio, at.project.upload_file(upload))
        return RedirectResponse(f"/p/{project.id}/receiver", 303)
    if facts.get("received"):
        return at.to("receiver")
    if at.project.address_gone:
        return at.page("address", place=facts["place"])
    job = at.job("open")
    if job is None:
        at.studio.jobs.start(at.project, "open")
    if at.project.schema_file.exists() and (job is None or not job.active):
        return at.to("review")
    return at.page("open", job=at.job("open"), projects=[])


def work(project: Project, plan: PlanFolder | None, tell: Progress, ledger: Path | None) -> None:
    """Draft a schema, and count for the owner's eyes what it says."""
    source = project.source()
    tell("draft", 0.0)
    if not project.schema_file.exists():
        given = project.facts.get("schema")
        text = Path(given).read_text(encoding="utf-8") if given else draft(source, name=project.name).to_toml()
        project.write_schema(text)
    count(project, tell)
    if not project.schema().measured:
        raise DataError(f"{source.name}: no column is measured.")


def count(project: Project, tell: Progress) -> None:
    """What the review page shows: how many rows share each fact, and how values are spread."""
    schema, source = project.schema(), project.source()
    tell("review", 0.4)
    findings.note(project, schema, source)
    tell("histograms", 0.6)
    counts = histograms.counted(schema, source, lambda step, part: tell(step, 0.6 + 0.4 * part))
    kept = {histograms.key_of(schema, name): each for name, each in counts.items()}
    write_private(project.scratch / "histograms.json", json.dumps(kept))
