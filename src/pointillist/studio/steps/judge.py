"""Judge: the report inside the page, the worst first, and for each finding the step where it can be mended."""

import json
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, Response

from pointillist.errors import UsageError
from pointillist.files import container
from pointillist.progress import Progress
from pointillist.studio.plan_folder import PlanFolder
from pointillist.studio.project import Project, write_private
from pointillist.studio.routes import At
from pointillist.studio.security import REPORT_POLICY


def show(at: At) -> Response:
    """The verdict with its remedies, and the report."""
    plan = at.project.plan
    if plan is None or plan.synthetic is None:
        return at.to("make")
    verdict = json.loads(plan.verdict_file.read_text("utf-8")) if plan.verdict_file.exists() else None
    return at.page("judge", verdict=verdict)


def start(at: At, form: FormData) -> Response:
    """Compare."""
    plan = at.project.plan
    if plan is None or plan.synthetic is None:
        return at.to("make")
    at.studio.jobs.start(at.project, "judge", plan=plan.id)
    return at.to("judge")


def report(at: At) -> Response:
    """The report itself, for the frame: it may run nothing."""
    plan = at.project.plan
    if plan is None or not plan.report_file.exists():
        raise UsageError("there is no report yet.")
    headers = {"Content-Security-Policy": REPORT_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(plan.report_file.read_text(encoding="utf-8"), headers=headers)


def work(project: Project, plan: PlanFolder | None, tell: Progress, ledger: Path | None) -> None:
    """Compare the synthetic data with the real ones."""
    assert plan is not None
    tell("evaluate", 0.0)
    release = plan.release()
    given: dict[str, Any] = {
        "real": project.source(),
        "synthetic": plan.synthetic,
        "release": release,
        "progress": tell,
    }
    if release.schema.image is None:
        from pointillist.evaluate.tables.evaluation import evaluate

        result: Any = evaluate(**given)
    else:
        from pointillist.evaluate.images.evaluation import evaluate_images

        result = evaluate_images(**given)
    container.write(plan.report_file, result.to_html().encode())
    plan.report_file.chmod(0o600)
    write_private(plan.verdict_file, json.dumps(verdict_of(result.verdict)))


def verdict_of(verdict: Any) -> dict[str, Any]:
    """A verdict for the page: points from the worst, and what to do with the step where it is done."""
    return {
        "grade": verdict.grade,
        "sentence": verdict.sentence,
        "points": [
            {
                **{name: getattr(each, name) for name in ("question", "grade", "figure", "sentence")},
                "step": step_of(each.advice[0]) if each.advice else "",
            }
            for each in verdict.worst_first
        ],
        "advice": [
            {"question": question, "grade": grade, "text": each.text, "code": each.code, "step": step_of(each)}
            for question, grade, each in verdict.advice
        ],
    }


def step_of(advice: Any) -> str:
    """Where advice is followed: what belongs in the schema at its review, what spends more at the plan."""
    if advice.in_schema or advice.code.startswith("["):
        return "review"
    return "plan" if "synth " in advice.code or "epsilon" in advice.code else "make"
