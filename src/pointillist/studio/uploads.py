"""Uploads: files that a browser sends, streamed to the scratch folder. They are gone when the studio ends."""

import os
import time
from pathlib import Path
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from pointillist.studio.security import header_word
from pointillist.studio.studio import Studio


def file_name(text: str) -> str:
    """The last part of a name that a browser sent, with nothing in it that a path could be made of."""
    name = unquote(text).replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(sign for sign in name if sign.isprintable() and sign not in '<>:"|?*').strip(". ")
    return kept[-100:] or "table.csv"


async def upload(request: Request) -> Response:
    """Take a file in: its bytes are the body, its name is in a header, so that no address has it."""
    studio = Studio.of(request)
    if not studio.security.form_is_ours(header_word(request.headers)):
        return JSONResponse({"error": "This form is not one of this run of the studio. Load the page again."}, 403)
    name = file_name(request.headers.get("x-name", ""))
    project = studio.workspace.new(name=name.split(".")[0], upload=name, opened=time.time())
    path = project.upload_file(name)
    path.parent.mkdir(mode=0o700)
    try:
        await _stream(request, path)
    except OSError as error:
        path.unlink(missing_ok=True)
        return JSONResponse({"error": f"{name}: could not be stored ({error.strerror}). Is there room for it?"}, 507)
    except ClientDisconnect:
        path.unlink(missing_ok=True)
        return JSONResponse({"error": f"{name}: did not arrive as a whole."}, 400)
    return JSONResponse({"location": f"/p/{project.id}/opened"})


async def _stream(request: Request, path: Path) -> None:
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        async for chunk in request.stream():
            file.write(chunk)
