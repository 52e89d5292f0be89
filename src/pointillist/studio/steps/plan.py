"""Plan: what an epsilon means, what it buys, and what is left of the budget. Nothing here touches the data."""

import math
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData
from starlette.responses import Response

from pointillist.curator.releasing import plan as planned
from pointillist.errors import BudgetError, PointillistError, UsageError
from pointillist.pages.person_risk import PRIORS
from pointillist.plan import Plan
from pointillist.privacy.disclosure import guess
from pointillist.privacy.guarantee import Guarantee
from pointillist.privacy.ledger import DEFAULT_CAP, Account, Ledger
from pointillist.privacy.trade_off import promised
from pointillist.schema import Schema
from pointillist.studio.rendering import page
from pointillist.studio.routes import At


@dataclass(frozen=True)
class Odds:
    """How likely a guess about a person is right: without that person's data, and with them at most."""

    without: float
    within: float


def odds(guarantee: Guarantee) -> list[Odds]:
    """Bounds, by formula alone: the officer's card has the same."""
    return [Odds(prior, guess(promised(guarantee), prior)) for prior in PRIORS]


def show(at: At) -> Response:
    """The sliders, with what was planned last, or with what is usual."""
    schema = at.project.schema()
    last = {} if at.project.plan is None else at.project.plan.asked
    usual = {"epsilon": 1.0, "delta": 1e-5, "target": at.project.facts.get("target"), "neighbours": "add-remove"}
    asked = {**usual, **last}
    if asked["target"] not in schema.measured:
        asked["target"] = None
    return at.page("plan", schema=schema, asked=asked, **_forecast(at, schema, asked))


def forecast(at: At, form: FormData) -> Response:
    """What the sliders say now."""
    schema = at.project.schema()
    return page(at.request, "forecast.html", project=at.project, **_forecast(at, schema, asked_in(form)))


def settle(at: At, form: FormData) -> Response:
    """Keep the plan, and go on to its release."""
    schema = at.project.schema()
    schema.require_reviewed("schema")
    job = at.job("release")
    if job is not None and job.active:
        raise UsageError(
            "a release of this table is under way. Wait for its end, or stop it, before you plan another one."
        )
    asked = asked_in(form)
    planned(schema, **asked)
    at.project.new_plan(at.project.schema_file.read_text(encoding="utf-8"), **asked)
    return at.to("release")


def asked_in(form: FormData) -> dict[str, Any]:
    """What a form asks for."""
    try:
        epsilon, delta = (float(str(form.get(name, ""))) for name in ("epsilon", "delta"))
    except ValueError:
        raise UsageError("epsilon and delta must be numbers, such as 1 and 1e-5.") from None
    target = str(form.get("target", "")) or None
    neighbours = str(form.get("neighbours", "add-remove"))
    return {"epsilon": epsilon, "delta": delta, "target": target, "neighbours": neighbours}


def _forecast(at: At, schema: Schema, asked: dict[str, Any]) -> dict[str, Any]:
    try:
        made = planned(schema, **asked)
    except PointillistError as error:
        return {"plan": None, "problem": str(error)}
    return {"plan": made, "problem": "", **said(made), **account(at.studio.ledger(at.project), made)}


def said(made: Plan) -> dict[str, Any]:
    """A plan in words and figures."""
    guarantee = made.guarantee
    blocks = [(number, each, block) for number, each in enumerate(made.rounds) for block in each.blocks]
    first = next((made.noise_rows(number, block) for number, _, block in blocks if block.counts), None)
    return {
        "guarantee": guarantee,
        "factor": math.exp(guarantee.epsilon),
        "odds": odds(guarantee),
        "noise": first,
        "blocks": [
            {
                "name": block.name,
                "tables": block.count,
                "share": each.share * block.part,
                "noise": made.noise_rows(number, block),
                "error": made.expected_error(number, block),
            }
            for number, each, block in blocks
        ],
    }


def account(book: Ledger, made: Plan) -> dict[str, Any]:
    """What the ledger says of a plan."""
    name = made.request.schema.name
    found = next((each for each in book.accounts() if each.dataset == name), None)
    kept = found or Account(name, None, None, DEFAULT_CAP, 0.0, ())
    try:
        book.check(name, made.guarantee)
    except BudgetError as error:
        return {"account": kept, "over": str(error)}
    return {"account": kept, "over": ""}
