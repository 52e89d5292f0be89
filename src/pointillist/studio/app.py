"""App: the studio's pages and what their forms ask for, by address."""

from importlib.resources import files

from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pointillist.studio.rendering import page, style
from pointillist.studio.routes import At, does, does_outside, shows, shows_outside
from pointillist.studio.security import Guard
from pointillist.studio.steps import judge, ledger, make, open, plan, receiver, release, review, share
from pointillist.studio.studio import Studio
from pointillist.studio.uploads import upload

_SCRIPTS = ("htmx.min.js", "studio.js")


def make_app(studio: Studio) -> Starlette:
    """The studio, ready to be served."""
    app = Starlette(routes=_routes(), middleware=[Middleware(Guard, security=studio.security)])
    app.state.studio = studio
    return app


def _routes() -> list[Route]:
    at = "/p/{project}"
    return [
        shows_outside("/", open.show),
        does_outside("/open", open.open_place),
        does_outside("/demo", open.open_demo),
        Route("/upload", upload, methods=["PUT"]),
        shows_outside("/ledger", ledger.show),
        does_outside("/ledger/cap", ledger.cap),
        Route("/static/{name}", static, methods=["GET"]),
        shows(f"{at}/opened", open.opened),
        does(f"{at}/address", open.address),
        shows(f"{at}/review", review.show),
        shows(f"{at}/review/{{column:int}}", review.card),
        does(f"{at}/review/{{column:int}}", review.change),
        does(f"{at}/review/safer", review.safer),
        does(f"{at}/review/unit", review.unit),
        does(f"{at}/review/rule", review.drop_rule),
        does(f"{at}/review/text", review.write),
        does(f"{at}/review/undo", review.undo),
        does(f"{at}/review/accept", review.accept),
        shows(f"{at}/plan", plan.show),
        does(f"{at}/plan/forecast", plan.forecast),
        does(f"{at}/plan", plan.settle),
        shows(f"{at}/release", release.show),
        does(f"{at}/release", release.confirm),
        shows(f"{at}/release/file", release.download),
        shows(f"{at}/make", make.show),
        does(f"{at}/make", make.start),
        shows(f"{at}/make/file", make.download),
        shows(f"{at}/judge", judge.show),
        does(f"{at}/judge", judge.start),
        shows(f"{at}/judge/report", judge.report),
        shows(f"{at}/share", share.show),
        does(f"{at}/share/file", share.download),
        shows(f"{at}/receiver", receiver.show),
        does(f"{at}/receiver", receiver.question),
        shows(f"{at}/receiver/file", receiver.export),
        shows(f"{at}/jobs/{{step}}", progress),
        does(f"{at}/jobs/{{step}}/stop", stop),
        does(f"{at}/jobs/{{step}}/start", start),
    ]


def progress(at: At) -> Response:
    """How far a job is: the page asks again and again, and is loaded anew at the end."""
    job = at.job(at.request.path_params["step"])
    response = page(at.request, "progress.html", project=at.project, job=job)
    if job is None or not job.active:
        response.headers["HX-Refresh"] = "true"
    return response


def stop(at: At, form: FormData) -> Response:
    """End a job."""
    step = at.request.path_params["step"]
    at.studio.jobs.stop(at.project, step)
    return at.to("opened" if step == "open" else step)


def start(at: At, form: FormData) -> Response:
    """Do work again that failed or was stopped, and that spends nothing."""
    step = at.request.path_params["step"]
    before = at.job(step)
    if step in ("open", "make", "judge", "receiver") and before is not None:
        at.studio.jobs.start(at.project, step, plan=before.plan)  # the same plan again
    return at.to("opened" if step == "open" else step)


async def static(request: Request) -> Response:
    """Style and scripts, from the package alone."""
    name = request.path_params["name"]
    if name == "studio.css":
        return Response(style(), media_type="text/css")
    if name not in _SCRIPTS:
        return PlainTextResponse("There is no such file.", 404)
    content = (files("pointillist.studio") / "static" / name).read_bytes()
    return Response(content, media_type="text/javascript", headers={"Cache-Control": "private, max-age=3600"})
