"""Receiver: a release alone. Figures with intervals, a chart, and an export; no private data, and no cost."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.responses import Response

from pointillist.errors import PointillistError, UsageError
from pointillist.inference.query_language import ARGUMENTS, Answers, ask
from pointillist.inference.sql_expression import quoted
from pointillist.pages import charts
from pointillist.pages.card import Card
from pointillist.progress import Progress
from pointillist.schema import Integer, Real, Schema
from pointillist.studio.plan_folder import PlanFolder
from pointillist.studio.project import Project, write_private
from pointillist.studio.routes import At
from pointillist.studio.steps.make import fitted

_MOST_MARKS = 40
_FIELDS = ("figure", "column", "second", "order", "where", "group", "text")


def show(at: At, error: str = "", answers: Answers | None = None) -> Response:
    """The question, and its answer."""
    plan = _plan(at)
    release = plan.release()
    release.schema.require_table("the receiver's page")
    if not plan.model_file.exists() and at.job("receiver") is None:
        at.studio.jobs.start(at.project, "receiver", plan=plan.id)
    columns = release.schema.measured
    groups = [name for name, each in columns.items() if 0 < len(each.every_value(100)) <= 100]
    asked = {"figure": "count", **dict.fromkeys(_FIELDS[1:], ""), **at.project.facts.get("asked", {})}
    return at.page(
        "receiver", card=Card.of(release), ready=plan.model_file.exists(), asked=asked, figures=list(ARGUMENTS),
        columns=list(columns), groups=groups, example=example(release.schema, groups),
        answers=answers, chart=None if answers is None else chart(answers), error=error, job=at.job("receiver"),
    )  # fmt: skip


def question(at: At, form: FormData) -> Response:
    """Answer a question that was written, or put together by the form."""
    plan = _plan(at)
    at.project.update(asked={name: str(form.get(name, "")).strip() for name in _FIELDS})
    if not plan.model_file.exists():
        return show(at, "The model is not ready yet.")
    try:
        answers = ask(plan.release(), written(at.project.facts["asked"]), model=plan.model_file)
    except PointillistError as error:
        return show(at, str(error))
    write_private(plan.folder / "answers.json", json.dumps(answers.to_json()))
    return show(at, answers=answers)


def written(asked: dict[str, str]) -> str:
    """The question in the query language."""
    if asked.get("text"):
        return asked["text"]
    figure, column = asked.get("figure", "count"), asked.get("column", "")
    if figure not in ARGUMENTS:
        raise UsageError(f"figure {figure!r} is not known.")
    if ARGUMENTS[figure] and not column:
        raise UsageError(f"{figure}: choose the column that it is taken of.")
    arguments = [quoted(column)] if ARGUMENTS[figure] else []
    if figure == "quantile":
        arguments.append(asked.get("order") or "0.9")
    if figure == "correlation":
        second = asked.get("second", "")
        if second in ("", column):
            raise UsageError("correlation: choose a second column, another than the first.")
        arguments.append(quoted(second))
    text = f"{figure}({', '.join(arguments)})"
    text += f" where {asked['where']}" if asked.get("where") else ""
    return text + (f" group by {quoted(asked['group'])}" if asked.get("group") else "")


def example(schema: Schema, groups: list[str]) -> str:
    """A question in the query language that can be asked of these columns."""
    number = next((name for name, each in schema.measured.items() if isinstance(each, Integer | Real)), None)
    figures = "count(), share()" if number is None else f"median({quoted(number)}), count()"
    where = "" if number is None else f" where {quoted(number)} > {schema.measured[number].bounds[0]:g}"
    return figures + where + (f" group by {quoted(groups[0])}" if groups else "")


def chart(answers: Answers) -> Markup:
    """The first figure of every group, with its interval."""
    rows = []
    for group in answers.groups[:_MOST_MARKS]:
        found = group.estimates[0]
        label = ", ".join("missing" if each is None else str(each) for each in group.values) or found.name
        rows.append((label, found.value, *((found.low, found.high) if found.known else (found.value, found.value))))
    said = "; ".join(f"{label}: {value:.4g}, between {low:.4g} and {high:.4g}" for label, value, low, high in rows)
    return charts.intervals(rows, said)


def export(at: At) -> Response:
    """The last answers as a CSV file."""
    path = _plan(at).folder / "answers.json"
    if not path.exists():
        raise UsageError("nothing was asked yet.")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    text = io.StringIO()
    groups = list(found[0]["group"]) if found else []
    fields = ("aggregate", "value", "low", "high", "confidence", "basis")
    lines = csv.writer(text)
    lines.writerow([*groups, *fields])
    lines.writerows([*(each["group"][name] for name in groups), *(each[field] for field in fields)] for each in found)
    headers = {"Content-Disposition": 'attachment; filename="answers.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


def work(project: Project, plan: PlanFolder | None, tell: Progress, ledger: Path | None) -> None:
    """Fit the release's model, once."""
    assert plan is not None
    fitted(plan, tell)


def _plan(at: At) -> PlanFolder:
    plan = at.project.plan
    if plan is None or not plan.release_file.exists():
        raise UsageError("there is no release in this project yet.")
    return plan
