"""Security: who may ask the studio anything, and what its pages may do.

The studio can read whatever its user can, so it answers only requests that come from its own pages in a browser that was
given its token. Another page of the same browser has neither the token nor the cookie (`SameSite=Strict`); it cannot
borrow our name by a DNS answer of its own, because the Host header must be one of ours; and it cannot send our forms,
because every form carries a word that only our pages show, and the Origin header must be ours, too.
"""

import hashlib
import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pointillist.studio.worker import said

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
"""Of a page that is complete in itself and stands in a frame of ours: it has no script, and may run none."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with "no-referrer" a browser would not tell us a form's origin
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE = frozenset({"GET", "HEAD"})
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Security:
    """The secrets of one run of the studio, and the names it answers to."""

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def hosts(self) -> frozenset[str]:
        """What a Host header may be."""
        names = {*_LOOPBACK} if is_loopback(self.host) else {*_LOOPBACK, *_names_of(self.host)}
        return frozenset({f"{name}:{self.port}" for name in names} | (names if self.port == 80 else set()))

    @property
    def origins(self) -> frozenset[str]:
        return frozenset(f"http://{host}" for host in self.hosts)

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers do not tell ports apart."""
        return f"pointillist-studio-{self.port}"

    @property
    def session(self) -> str:
        """The cookie's value."""
        return self._derived(b"session")

    @property
    def csrf(self) -> str:
        """The word that our forms carry."""
        return self._derived(b"form")

    def _derived(self, use: bytes) -> str:
        return hmac.new(self._key, use, hashlib.sha256).hexdigest()

    def url(self) -> str:
        """The address to open, with the token."""
        shown = (
            "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else f"[{self.host}]" if ":" in self.host else self.host
        )
        return f"http://{shown}:{self.port}/?token={self.token}"

    def form_is_ours(self, word: str) -> bool:
        """Whether a form, or a request of our script, carries the right word."""
        return hmac.compare_digest(word.encode(), self.csrf.encode())

    def refusal(self, request: Request) -> str | None:
        """Why a request is not answered; none if it may be, once it has shown its cookie."""
        if request.headers.get("host", "") not in self.hosts:
            return "This is not an address of the studio. Open the one that the terminal shows."
        origin = request.headers.get("origin")
        if origin is not None and origin not in self.origins:
            return "Another page may not ask the studio anything."
        if request.method not in _SAFE and origin is None:
            return "A form must say which page it comes from."
        return None

    def knows(self, request: Request) -> bool:
        """Whether the browser has shown the token before."""
        return hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self.session.encode())

    def admitted(self, request: Request) -> Response | None:
        """The way in for who brings the token: a cookie, and the same page without the token in its address."""
        token = request.query_params.get("token")
        if token is None or request.method != "GET" or not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        rest = [(name, value) for name, value in parse_qsl(request.url.query) if name != "token"]
        response = RedirectResponse(request.url.path + (f"?{urlencode(rest)}" if rest else ""), 303)
        response.set_cookie(self.cookie, self.session, httponly=True, samesite="strict", path="/")
        return response


class Guard:
    """Around all of the studio: refuses what is not ours, and adds to every answer what a browser must keep to."""

    def __init__(self, app: ASGIApp, security: Security):
        self._app, self._security = app, security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        response = self._answer(Request(scope))
        if response is not None:
            await response(scope, receive, guarded)
            return
        try:
            await self._app(scope, receive, guarded)
        except Exception as error:
            # The server's own log would show a traceback, and that may quote a private value.
            await PlainTextResponse(said(error), 500)(scope, receive, guarded)

    def _answer(self, request: Request) -> Response | None:
        reason = self._security.refusal(request)
        if reason is not None:
            return PlainTextResponse(reason, 403)
        if (admitted := self._security.admitted(request)) is not None:
            return admitted
        if not self._security.knows(request):
            return PlainTextResponse("Open the address that the terminal shows: it has a token that lets you in.", 403)
        return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can ask there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _names_of(host: str) -> set[str]:
    """What others may call a machine that listens there."""
    if host not in ("0.0.0.0", "::", ""):
        return {f"[{host}]" if ":" in host else host}
    name = socket.gethostname()
    try:
        addresses = {str(each[4][0]) for each in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return {name, socket.getfqdn(), *(f"[{each}]" if ":" in each else each for each in addresses)}


def header_word(headers: Headers) -> str:
    """The word that our script sends in a header."""
    return headers.get("x-csrf", "")
