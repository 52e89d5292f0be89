"""Make: fit, and sample as often as you like, under conditions or balanced. It costs no privacy."""

import json
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData
from starlette.responses import FileResponse, Response

from pointillist.errors import UsageError
from pointillist.files import image_files
from pointillist.files.table_output import write_table
from pointillist.methods.fit import fit
from pointillist.model import Model
from pointillist.progress import Progress
from pointillist.schema import Schema
from pointillist.schema.given_syntax import from_text, plain
from pointillist.studio.plan_folder import PlanFolder
from pointillist.studio.project import Project, write_private
from pointillist.studio.routes import At

FORMATS = ("csv", "tsv", "parquet", "arrow")
IMAGES = ("npz", "parquet")
_SHOWN, _MOST = 12, 10_000_000
CONDITIONS = 3


def show(at: At) -> Response:
    """The form, and the first rows of what was made last."""
    plan = _released(at.project)
    if plan is None:
        return at.to("release")
    release = plan.release()
    columns = [name for name, each in release.schema.measured.items() if each.has_levels]
    classes = [name for name in columns if release.schema.measured[name].every_value(100)]
    preview = plan.folder / "preview.json"
    return at.page(
        "make",
        schema=release.schema,
        columns=columns,
        classes=classes,
        formats=FORMATS if release.schema.image is None else IMAGES,
        wanted={"rows": "", "balance": "", "format": "", "seed": "", "given": [], **at.project.facts.get("make", {})},
        slots=range(CONDITIONS),
        synthetic=plan.synthetic,
        preview=json.loads(preview.read_text("utf-8")) if preview.exists() else None,
    )


def start(at: At, form: FormData) -> Response:
    """Fit, if that was not done, and sample."""
    plan = _released(at.project)
    if plan is None:
        return at.to("release")
    schema = plan.release().schema
    wanted = asked_in(form, schema)
    at.project.update(make=wanted)
    at.studio.jobs.start(at.project, "make", plan=plan.id)
    return at.to("make")


def asked_in(form: FormData, schema: Schema) -> dict[str, Any]:
    """What a form asks for; a mistake in it is told at once."""
    rows, seed = str(form.get("rows", "")).strip(), str(form.get("seed", "")).strip()
    for name, text in (("rows", rows), ("seed", seed)):
        if text and not (text.isascii() and text.isdigit() and int(text) <= _MOST):
            raise UsageError(f"{name} must be a whole number up to {_MOST:,}, not {text!r}.")
    known = FORMATS if schema.image is None else IMAGES
    chosen = str(form.get("format", known[0]))
    if chosen not in known:
        raise UsageError(f"format {chosen!r} is not known. Known are {', '.join(known)}.")
    given = [
        [column, str(form.get(f"value{number}", ""))]
        for number in range(CONDITIONS)
        if (column := str(form.get(f"column{number}", "")))
    ]
    conditions(given, schema)
    balance = str(form.get("balance", ""))
    if balance and balance not in schema.measured:
        raise UsageError(f"balance: {balance!r} is not a measured column.")
    return {"rows": rows, "seed": seed, "format": chosen, "given": given, "balance": balance}


def conditions(given: list[list[str]], schema: Schema) -> dict[str, Any]:
    """Conditions by column; several values of one column are alternatives."""
    found: dict[str, list[Any]] = {}
    for name, text in given:
        if name not in schema.measured:
            raise UsageError(f"condition: {name!r} is not a measured column.")
        try:
            value = from_text(name, schema.measured[name], text.strip())
            schema.measured[name].select(plain(value))
        except ValueError as error:
            raise UsageError(f"condition: {error}.") from None
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def download(at: At) -> Response:
    """The synthetic data."""
    plan = at.project.plan
    path = None if plan is None else plan.synthetic
    if path is None:
        raise UsageError("nothing was made yet.")
    return FileResponse(path, filename=f"{at.project.name}-{path.name}", media_type="application/octet-stream")


def work(project: Project, plan: PlanFolder | None, tell: Progress, ledger: Path | None) -> None:
    """Fit and sample."""
    assert plan is not None
    wanted = project.facts["make"]
    model = fitted(plan, tell)
    tell("sample", 0.9)
    count = int(wanted["rows"] or 0) or model.default_count
    options: dict[str, Any] = {
        "given": conditions(wanted["given"], model.schema) or None,
        "balance": wanted["balance"] or None,
        "seed": int(wanted["seed"]) if wanted["seed"] else None,
    }
    output = plan.folder / f"synthetic.{wanted['format']}"
    if model.schema.image is None:
        table = model.sample_table(count, **options)
        write_table(table, output, model.schema)
        _preview(plan, table)
    else:
        image_files.write(model.sample(count, **options), output, overwrite=True)
    for stale in (plan.report_file, plan.verdict_file, *plan.folder.glob("synthetic.*")):
        if stale != output:
            stale.unlink(missing_ok=True)


def _preview(plan: PlanFolder, table: Any) -> None:
    first = table.slice(0, _SHOWN)
    rows = [["" if value is None else str(value) for value in row.values()] for row in first.to_pylist()]
    facts = {"columns": table.column_names, "rows": rows, "count": table.num_rows}
    write_private(plan.folder / "preview.json", json.dumps(facts))


def fitted(plan: PlanFolder, tell: Progress) -> Model:
    """The model of a plan's release: fitted once."""
    if plan.model_file.exists():
        return Model.load(plan.model_file)
    tell("fit", 0.0)
    model = fit(plan.release(), progress=tell)
    model.save(plan.model_file)
    return model


def _released(project: Project) -> PlanFolder | None:
    plan = project.plan
    return plan if plan is not None and plan.release_file.exists() else None
