"""Review: every fact of the schema before the owner's eyes, what was read off the data first."""

import json
import threading
from typing import Any

from starlette.datastructures import FormData
from starlette.responses import Response

from pointillist.errors import PointillistError, SchemaError
from pointillist.schema import Schema
from pointillist.schema.fingerprint import fingerprint
from pointillist.schema.levels import levels_of
from pointillist.studio import column_form, findings, histograms
from pointillist.studio.jobs import DONE
from pointillist.studio.project import CHANGED, Project, parsed, write_private
from pointillist.studio.rendering import page
from pointillist.studio.routes import At

_CARDS = 24
"""Columns on a page: a table of 300 is quick to show."""
_FOUND = 12
_counting = threading.Lock()
"""A page asks for many cards at once: one after the other reads the table, and adds what it counted."""


def show(at: At, error: str = "", text: str | None = None) -> Response:
    """Findings, cards, the question who a row belongs to, and the file itself."""
    schema = at.project.schema()
    wanted = at.request.query_params.get("find", "").casefold()
    names = [name for name in schema.columns if wanted in name.casefold()]
    pages = max(1, -(-len(names) // _CARDS))
    number = min(pages, max(1, _whole(at.request.query_params.get("page", "1"))))
    job = _counting_anew(at)
    found = findings.noted(at.project, schema)
    order = {name: at for at, name in enumerate(schema.columns)}
    return at.page(
        "review",
        schema=schema,
        shown=fingerprint(schema),
        job=job,
        complete=findings.complete(at.project, schema),
        cards=[(order[name], name, schema.columns[name]) for name in names[(number - 1) * _CARDS : number * _CARDS]],
        kinds=column_form.kinds(),
        number=number,
        pages=pages,
        wanted=wanted,
        found=found[:_FOUND],
        more=max(0, len(found) - _FOUND),
        revealing=sum(each.revealing for each in found),
        mendable=sum(each.revealing and each.mendable for each in found),
        order=order,
        text=at.project.schema_file.read_text(encoding="utf-8") if text is None else text,
        earlier=len(at.project.earlier()),
        error=error,
    )


def _counting_anew(at: At) -> Any:
    """The work that counts rows: started again where counts went with an earlier run of the studio."""
    job = at.job("open")
    if findings.gone(at.project) and (job is None or job.state == DONE):
        at.studio.jobs.start(at.project, "open")
    return at.job("open")


def card(at: At) -> Response:
    """The inside of a column's card: its histogram and what can be set, fetched when it comes into view."""
    schema, (number, name) = at.project.schema(), _column(at)
    column = schema.columns[name]
    kind = at.request.query_params.get("kind", column.kind)
    return page(
        at.request, "column.html",
        project=at.project, number=number, name=name, column=column, kind=kind, kinds=column_form.kinds(),
        fields=column_form.fields_of(column, kind), chart=_chart(at.project, schema, name),
    )  # fmt: skip


def _chart(project: Project, schema: Schema, name: str) -> Any:
    """The histogram of a column as the schema has it now, counted anew if it has changed."""
    levels = next((each for each in levels_of(schema) if each.name == name), None)
    if levels is None:
        return None
    path, now = project.scratch / "histograms.json", histograms.key_of(schema, name)
    only = schema.model_copy(update={"columns": {name: schema.columns[name]}, "constraints": (), "person": None})
    with _counting:
        counts = histograms.load(path)
        if now not in counts:
            try:
                counts[now] = histograms.counted(only, project.source())[name]
            except PointillistError:
                return None
            write_private(path, json.dumps(counts))
    return histograms.chart(levels, counts[now])


def change(at: At, form: FormData) -> Response:
    """A column as it was filled in."""
    schema, (_, name) = at.project.schema(), _column(at)
    filled = {key: str(value) for key, value in form.items()}
    return _saved(at, schema, lambda: column_form.changed(schema, name, filled))


def safer(at: At, form: FormData) -> Response:
    """What was suggested in place of one fact, or of all that few rows share."""
    schema = at.project.schema()
    found = findings.noted(at.project, schema)
    if form.get("all"):
        wanted = [(each.column, each.fact) for each in found if each.revealing and each.mendable]
    else:
        name = list(schema.columns)[_whole(str(form.get("column", "0")))]
        wanted = [(name, str(form.get("fact", "")))]
    return _saved(at, schema, lambda: findings.safer(at.project, schema, wanted))


def unit(at: At, form: FormData) -> Response:
    """Who a row belongs to."""
    schema = at.project.schema()
    facts = schema.model_dump(mode="json")
    if form.get("unit") == "row":
        facts |= {"one_row_per_person": True, "person": None}
    else:
        rows = _whole(str(form.get("max_rows", "1")))
        facts |= {"one_row_per_person": False, "person": {"column": str(form.get("person", "")), "max_rows": rows}}
    return _saved(at, schema, lambda: Schema.parse(facts, origin="schema"))


def drop_rule(at: At, form: FormData) -> Response:
    """Take a rule out."""
    schema = at.project.schema()
    number = _whole(str(form.get("rule", "0")))
    facts = schema.model_dump(mode="json")
    facts["constraints"] = [each for place, each in enumerate(facts["constraints"]) if place != number]
    return _saved(at, schema, lambda: Schema.parse(facts, origin="schema"))


def write(at: At, form: FormData) -> Response:
    """The file as it was edited."""
    text = str(form.get("text", "")).replace("\r\n", "\n")
    if form.get("shown", "") not in ("", fingerprint(at.project.schema())):
        return show(at, CHANGED, text)
    try:
        at.project.write_schema(text)
    except SchemaError as error:
        return show(at, str(error), text)
    return at.to("review")


def undo(at: At, form: FormData) -> Response:
    """Back by one change."""
    at.project.undo()
    return at.to("review")


def accept(at: At, form: FormData) -> Response:
    """The owner's word that anyone may know all that is left."""
    schema = at.project.schema()
    if form.get("public") != "yes":
        return show(at, "Tick the box first: a release publishes every fact of the schema.")
    if form.get("shown") != fingerprint(schema):
        return show(at, CHANGED)
    made = schema.model_copy(update={"reviewed": True})
    try:
        made.require_reviewed("schema")
        _write(at.project, schema, made)
    except SchemaError as error:
        return show(at, str(error))
    return at.to("plan")


def _saved(at: At, before: Schema, make: Any) -> Response:
    try:
        _write(at.project, before, make())
    except SchemaError as error:
        return show(at, str(error))
    return at.to("review")


def _write(project: Project, before: Schema, made: Schema) -> None:
    """Into the file as it is, so that comments stay; where that cannot be done, the file is written anew."""
    if made == before:
        return
    try:
        text = made.written_over(project.schema_file.read_text(encoding="utf-8"), before)
        kept = parsed(text) == made
    except (SchemaError, KeyError, ValueError):
        kept = False
    project.write_schema(text if kept else made.to_toml(), before)


def _column(at: At) -> tuple[int, str]:
    """The column that an address names, by its number: a name may be private."""
    names = list(at.project.schema().columns)
    number = at.request.path_params["column"]
    if not 0 <= number < len(names):
        raise SchemaError("schema: there is no such column. Load the page again.")
    return number, names[number]


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
