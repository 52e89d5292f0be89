"""URLs: tables and files that are not on this machine's disk, and how they are shown.

A URL may carry a user's name, a password, or a signature in its parameters. So whatever shows one (messages, names, next
steps) gets it without user and parameters; the whole is fetched by name, `secret`, by what opens a connection.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pointillist.errors import UsageError

_FORM = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]*\]|[\w.,-]*)(:[0-9]*)?(,[\w.-]+(:[0-9]+)?)*")


@dataclass(frozen=True, repr=False)
class Url:
    """A place that has a scheme, such as postgresql:// or s3://."""

    scheme: str
    user: str
    """What stands before the @: a name, perhaps a password. Secret."""
    host: str
    path: str
    """As it is written, from the / on."""
    parameters: tuple[tuple[str, str], ...] = ()
    """What stands behind the ?. Secret."""

    @staticmethod
    def is_one(text: Any) -> bool:
        """Whether this is the text of a URL, and no path."""
        return isinstance(text, str) and _FORM.match(text) is not None

    @classmethod
    def parse(cls, text: str) -> Self:
        """The parts of a URL. One that could be read in two ways is refused, and not shown: it may hold a password."""
        try:
            parts = urlsplit(text, allow_fragments=False)
            user, _, host = parts.netloc.rpartition("@")
            parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise UsageError(f"the {_scheme(text)}:// address is malformed. {_MEND}") from None
        # A password with a slash in it would end up in the path: there, an @ is a sign of that.
        if not _HOST.fullmatch(host) or ((user or ":" in host) and "@" in parts.path + parts.query):
            raise UsageError(f"the {_scheme(text)}:// address has signs in it that do not belong there. {_MEND}")
        return cls(parts.scheme.lower(), user, host, parts.path, tuple(parameters))

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"

    __repr__ = __str__

    @property
    def secret(self) -> str:
        """The whole of it, for what opens a connection, and nothing else."""
        user = f"{self.user}@" if self.user else ""
        asked = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in self.parameters)
        return f"{self.scheme}://{user}{self.host}{self.path}{'?' * bool(asked)}{asked}"

    @property
    def place(self) -> tuple[str | None, ...]:
        """What two addresses of one table or file have in common, whoever asks for it."""
        return str(self), self.parameter("schema"), self.parameter("table")

    def parameter(self, name: str) -> str | None:
        """The value of a parameter; none if it has none of that name."""
        return dict(self.parameters).get(name)

    def without(self, *names: str) -> Self:
        """The same without some parameters."""
        return replace(self, parameters=tuple(each for each in self.parameters if each[0] not in names))

    def below(self, path: str) -> Self:
        """The place of a file in this folder."""
        return replace(self, path=f"{self.path.rstrip('/')}/{quote(path)}")

    @property
    def name(self) -> str:
        """A table's or file's own name: the last part of it."""
        return self.parameter("table") or unquote(self.path.rstrip("/").rpartition("/")[2])


_MEND = "In passwords and parameters, write @ : / ? # & and % as %40 %3A %2F %3F %23 %26 and %25; or leave the password out."


def _scheme(text: str) -> str:
    found = _FORM.match(text)
    return found[1].lower() if found else ""
