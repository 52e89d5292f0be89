"""Release: what will be published and what it costs, once more; then the one step that spends."""

import threading
from pathlib import Path

from starlette.datastructures import FormData
from starlette.responses import FileResponse, Response

from pointillist.curator.releasing import release
from pointillist.errors import UsageError
from pointillist.pages.card import Card
from pointillist.progress import Progress
from pointillist.studio.plan_folder import PlanFolder
from pointillist.studio.project import Project
from pointillist.studio.routes import At
from pointillist.studio.steps.plan import account, said

_confirming = threading.Lock()
"""Two tabs may confirm at once: one after the other is heard."""


def show(at: At) -> Response:
    """What is going to be published, or what was."""
    plan = at.project.plan
    if plan is None:
        return at.to("plan")
    if plan.release_file.exists():
        return at.page("release", plan_id=plan.id, card=Card.of(plan.release()), released=True)
    job = at.job("release")
    told = job if job is not None and (job.active or job.plan == plan.id) else None
    made = plan.planned()
    schema = made.request.schema
    facts = [
        (name, [(fact, _written(schema.fact(name, fact))) for fact in each]) for name, each in schema.vouched.items()
    ]
    return at.page(
        "release", plan_id=plan.id, card=None, released=False, plan=made, schema=schema, facts=facts,
        confirmed=plan.confirmed, job=told, **said(made), **account(at.studio.ledger(at.project), made),
    )  # fmt: skip


def confirm(at: At, form: FormData) -> Response:
    """Spend. A plan is released once: who confirms it a second time sees how far the first is."""
    plan = next((each for each in at.project.plans() if each.id == form.get("plan")), None)
    if plan is None or at.project.plan is None or plan.id != at.project.plan.id:
        raise UsageError("this plan is not the latest one. Load the page again, and look at what it says now.")
    if form.get("confirm") != "yes":
        raise UsageError("tick the box first: a release spends budget, and no spend is ever taken back.")
    plan.planned()
    at.project.place()  # a table that is gone is told before the plan counts as confirmed
    with _confirming:
        if plan.release_file.exists():
            raise UsageError("this plan was released already. To spend again, make another plan.")
        job = at.job("release")
        if job is not None and job.active and job.plan != plan.id:
            raise UsageError("another plan of this table is being released. Wait for its end, and look again.")
        if plan.confirm():
            _start(at, plan)
    return at.to("release")


def _start(at: At, plan: PlanFolder) -> None:
    """Start the release of a plan that was confirmed; a plan whose release cannot start is not left as confirmed."""
    started = False
    try:
        started = at.studio.jobs.start(at.project, "release", at.studio.ledger_file, plan.id)
    finally:
        if not started:
            plan.withdraw()
    if not started:
        raise UsageError("the release could not be started, as another one is at work. Nothing was spent.")


def download(at: At) -> Response:
    """The release itself."""
    plan = at.project.plan
    if plan is None or not plan.release_file.exists():
        raise UsageError("there is no release yet.")
    return FileResponse(plan.release_file, filename=f"{at.project.name}.release", media_type="application/octet-stream")


def work(project: Project, plan: PlanFolder | None, tell: Progress, ledger: Path | None) -> None:
    """Measure the table once, with noise, by the plan that was confirmed: a later one is nobody's word yet."""
    if plan is None or not plan.confirmed:
        raise UsageError("nobody confirmed this plan, so it is not released. Confirm it on its page.")
    if plan.release_file.exists():
        raise UsageError("this plan was released already: nothing is spent on it again.")
    release(
        project.source(),
        plan.schema(),
        **plan.asked,
        ledger=project.ledger(ledger),
        output=plan.release_file,
        progress=tell,
    )


def _written(value: object) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return shown if len(shown) <= 300 else f"{shown[:300]} …"
