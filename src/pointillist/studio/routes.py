"""Routes: how a step's functions are reached. All that changes anything is posted, and its form is checked first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from pointillist.errors import PointillistError
from pointillist.studio.project import Project
from pointillist.studio.rendering import page
from pointillist.studio.security import header_word
from pointillist.studio.studio import Studio

Handler = Callable[..., Response]
_MOST_FIELDS = 2_000


@dataclass(frozen=True)
class At:
    """A request to a project."""

    request: Request
    studio: Studio
    project: Project

    def page(self, step: str, **facts: Any) -> Response:
        """The page of a step, with where the project is."""
        return page(
            self.request,
            f"{step}.html",
            **{"project": self.project, "step": step, "done": done(self.project), "job": self.job(step), **facts},
        )

    def job(self, step: str) -> Any:
        return self.studio.jobs.state(self.project, step)

    def to(self, step: str) -> Response:
        """On to another page of the project."""
        return RedirectResponse(f"/p/{self.project.id}/{step}", 303)


def done(project: Project) -> tuple[str, ...]:
    """The steps that are behind a project."""
    found = []
    plan = project.plan
    if project.schema_file.exists() and project.schema().reviewed:
        found.append("review")
    if plan is not None:
        found.append("plan")
        made = {"release": plan.release_file, "make": plan.synthetic, "judge": plan.verdict_file}
        found += [step for step, path in made.items() if path is not None and path.exists()]
    return tuple(found)


def shows(path: str, handler: Handler) -> Route:
    """A page of a project."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_at_project, request, handler)

    return Route(path, answer, methods=["GET"])


def does(path: str, handler: Handler) -> Route:
    """Something that a form of a project asks for."""

    async def answer(request: Request) -> Response:
        form = await _checked(request)
        return _NOT_OURS if form is None else await run_in_threadpool(_at_project, request, handler, form)

    return Route(path, answer, methods=["POST"])


def shows_outside(path: str, handler: Handler) -> Route:
    """A page that belongs to no project."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_answered, request, handler, request)

    return Route(path, answer, methods=["GET"])


def does_outside(path: str, handler: Handler) -> Route:
    """Something that a form of no project asks for."""

    async def answer(request: Request) -> Response:
        form = await _checked(request)
        return _NOT_OURS if form is None else await run_in_threadpool(_answered, request, handler, request, form)

    return Route(path, answer, methods=["POST"])


_NOT_OURS = PlainTextResponse("This form is not one of this run of the studio. Load the page again.", 403)


async def _checked(request: Request) -> FormData | None:
    """The form, if it is one of ours."""
    form = await request.form(max_files=0, max_fields=_MOST_FIELDS, max_part_size=1 << 24)
    word = form.get("csrf") or header_word(request.headers)
    return form if isinstance(word, str) and Studio.of(request).security.form_is_ours(word) else None


def _at_project(request: Request, handler: Handler, *arguments: Any) -> Response:
    studio = Studio.of(request)
    project = studio.workspace.project(request.path_params["project"])
    if project is None:
        return page(request, "message.html", 404, error="There is no such project in this studio's folder.")
    return _answered(request, handler, At(request, studio, project), *arguments)


def _answered(request: Request, handler: Handler, *arguments: Any) -> Response:
    """What a handler answers; a mistake that the user can mend is told on a page."""
    try:
        return handler(*arguments)
    except PointillistError as error:
        return page(request, "message.html", 400, error=str(error))
