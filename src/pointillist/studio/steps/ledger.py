"""Ledger: accounts, spends and caps; who, when and for what."""

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pointillist.errors import UsageError
from pointillist.privacy.budget import Budget
from pointillist.privacy.ledger import Ledger
from pointillist.studio.rendering import page
from pointillist.studio.studio import Studio


def show(request: Request) -> Response:
    """The user's ledger, and those of demos."""
    studio = Studio.of(request)
    demos = [each for each in studio.workspace.projects() if each.demo]
    books = [("", studio.ledger()), *((each.id, studio.ledger(each)) for each in demos)]
    shown = [(name, book, book.accounts()) for name, book in books]
    return page(request, "ledger.html", step="ledger", books=[each for each in shown if each[2] or not each[0]])


def cap(request: Request, form: FormData) -> Response:
    """Set the most that may ever be spent on a data set."""
    try:
        budget = Budget(*(float(str(form.get(name, ""))) for name in ("epsilon", "delta")))
    except ValueError:
        raise UsageError("a cap needs two numbers, such as 3 and 1e-5.") from None
    dataset = str(form.get("dataset", ""))
    book = _book(request, str(form.get("project", "")))
    if dataset not in {each.dataset for each in book.accounts()}:
        raise UsageError(f"there is no account of {dataset!r} in this ledger.")
    book.set_cap(dataset, budget)
    return RedirectResponse("/ledger", 303)


def _book(request: Request, name: str) -> Ledger:
    studio = Studio.of(request)
    return studio.ledger(studio.workspace.project(name) if name else None)
