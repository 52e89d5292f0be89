"""Project: one table on its way, as files in a folder. Whatever happened is on disk, so a reload shows where it is.

Every plan has a folder of its own with the schema as it was then, and with what was made by it. So what is confirmed is
what was shown, and a later plan leaves an earlier release alone.
"""

import json
import os
import secrets
import threading
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pointillist.errors import DataError, SchemaError, UsageError
from pointillist.files import container
from pointillist.files.urls import Url
from pointillist.privacy.ledger import Ledger
from pointillist.reading.base import Source
from pointillist.reading.opening import open_source
from pointillist.schema import Schema
from pointillist.studio.plan_folder import PlanFolder

_writing = threading.Lock()
"""Two requests may change a project at a time, each in a thread of its own."""
_masked = threading.Lock()
CHANGED = "the schema was changed meanwhile, perhaps in another tab. Nothing was saved: look at it as it is now."


@dataclass(frozen=True)
class Project:
    """A folder that is kept, and one that is not."""

    folder: Path
    scratch: Path

    @property
    def id(self) -> str:
        return self.folder.name

    # What is known about it

    @property
    def facts(self) -> dict[str, Any]:
        """What was said about it so far."""
        try:
            return dict(json.loads((self.folder / "project.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}

    def update(self, **facts: Any) -> None:
        """Say more about it."""
        with _writing:
            write_private(self.folder / "project.json", json.dumps({**self.facts, **facts}))

    @cached_property
    def name(self) -> str:
        """How it is called on the page."""
        return str(self.facts.get("name") or "table")

    @property
    def demo(self) -> bool:
        """Whether its people are simulated."""
        return bool(self.facts.get("demo"))

    @property
    def received(self) -> bool:
        """Whether it is a release that somebody received, without its table."""
        return bool(self.facts.get("received"))

    # The private table

    def source(self) -> Source:
        """The private table, opened."""
        return open_source(self.place())

    def place(self) -> str | Path:
        """Where the private table is: a path, or an address with all that opens it. A message if that is gone."""
        facts = self.facts
        if "upload" in facts:
            path = self.upload_file(facts["upload"])
            if not path.exists():
                raise DataError(
                    f"{facts['upload']}: was removed when the studio ended, as all uploads are. Open it again."
                )
            return path
        if "place" not in facts:
            raise DataError("this is a release without its table. Open the table for this step.")
        if "address" not in facts:
            return str(facts["place"])
        if self.address_gone:
            raise DataError(
                f"{facts['place']}: its whole address may hold a password, and was forgotten when the studio ended. Choose "
                "the table on the first page: it is asked for there."
            )
        return self._address_file.read_text(encoding="utf-8")

    def upload_file(self, name: str) -> Path:
        """Where an upload lies: in a folder of its own, so that its name may be any."""
        return self.scratch / "uploads" / name

    def keep_address(self, url: Url) -> None:
        """Say where the table is. User, password and parameters of an address are kept no longer than the studio runs."""
        known = url.without("schema", "table")
        if not known.user and not known.parameters:
            self.update(place=url.secret)  # nothing in it is secret
            return
        write_private(self._address_file, url.secret)
        self.update(place=str(url), address=list(url.place))

    @property
    def address_gone(self) -> bool:
        """Whether the address must be asked for again."""
        return "address" in self.facts and not self._address_file.exists()

    @property
    def _address_file(self) -> Path:
        return self.scratch / "address.txt"

    # The schema, with every state that it had

    @property
    def schema_file(self) -> Path:
        return self.folder / "schema.toml"

    def schema(self) -> Schema:
        """The schema as it is now."""
        if not self.schema_file.exists():
            raise SchemaError("there is no schema yet: open a table first.")
        return Schema.load(self.schema_file)

    def write_schema(self, text: str, before: Schema | None = None) -> None:
        """Another schema, which can be undone; a text that is none is refused, and changes nothing.

        With what it was made from, it is refused if another tab changed the schema meanwhile.
        """
        parsed(text)
        with _writing:
            if before is not None and self.schema() != before:
                raise SchemaError(CHANGED)
            if self.schema_file.exists():
                earlier = self.folder / "earlier"
                earlier.mkdir(mode=0o700, exist_ok=True)
                # A copy, and then another file in its place: whoever reads meanwhile finds one or the other.
                write_private(earlier / f"{len(self.earlier()):06}.toml", self.schema_file.read_text(encoding="utf-8"))
            write_private(self.schema_file, text)

    def earlier(self) -> list[Path]:
        """Schemas that can be gone back to, the oldest first."""
        folder = self.folder / "earlier"
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def undo(self) -> None:
        """The schema as it was before the last change."""
        with _writing:
            if found := self.earlier():
                os.replace(found[-1], self.schema_file)

    # Plans, and what was made by them

    def plans(self) -> list[PlanFolder]:
        """All plans, the oldest first."""
        names = self.facts.get("plans", [])
        return [PlanFolder(self.folder / "plans" / name) for name in names]

    @property
    def plan(self) -> PlanFolder | None:
        """The latest plan."""
        found = self.plans()
        return found[-1] if found else None

    def plan_of(self, name: str) -> PlanFolder:
        """The plan of that id, whichever is the latest by now."""
        found = next((each for each in self.plans() if each.id == name), None)
        if found is None:
            raise UsageError("there is no such plan in this project. Plan it again.")
        return found

    def new_plan(self, schema: str, **asked: Any) -> PlanFolder:
        """A plan by what was asked, with the schema as it is now."""
        name = secrets.token_hex(6)
        made = PlanFolder(self.folder / "plans" / name)
        made.folder.mkdir(mode=0o700, parents=True)
        write_private(made.schema_file, schema)
        write_private(made.asked_file, json.dumps(asked))
        self.update(plans=[*self.facts.get("plans", []), name])
        return made

    def ledger(self, default: Path | None) -> Ledger:
        """Where its spends are recorded. The demo's people do not exist, so their account is not the user's."""
        return Ledger(self.folder / "ledger.sqlite" if self.demo else default)


def parsed(text: str) -> Schema:
    """The schema that a TOML text is."""
    try:
        facts = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said = str(error) if isinstance(error, ValueError) else "values are nested too deep in it"
        raise SchemaError(f"schema: not valid TOML: {said}.") from None
    return Schema.parse(facts)


def write_private(path: Path, text: str) -> None:
    """Write a file for its owner alone, whole or not at all."""
    with _masked:  # to learn the mask of new files it is set for a moment, and is the whole process's
        container.write(path, text.encode())
    path.chmod(0o600)
