"""Plan folder: what was planned, confirmed and made, in files of known names."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointillist.plan import Plan
from pointillist.release import Release
from pointillist.schema import Schema


@dataclass(frozen=True)
class PlanFolder:
    """One plan of a project."""

    folder: Path

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def schema_file(self) -> Path:
        return self.folder / "schema.toml"

    @property
    def asked_file(self) -> Path:
        return self.folder / "asked.json"

    @property
    def release_file(self) -> Path:
        return self.folder / "table.release"

    @property
    def model_file(self) -> Path:
        return self.folder / "table.model"

    @property
    def report_file(self) -> Path:
        return self.folder / "report.html"

    @property
    def verdict_file(self) -> Path:
        return self.folder / "verdict.json"

    @property
    def asked(self) -> dict[str, Any]:
        """Epsilon, delta, target and neighbours."""
        return dict(json.loads(self.asked_file.read_text(encoding="utf-8")))

    def schema(self) -> Schema:
        return Schema.load(self.schema_file)

    def planned(self) -> Plan:
        """What will be measured. Sees no data."""
        from pointillist.curator.releasing import plan

        return plan(self.schema(), **self.asked)

    def release(self) -> Release:
        return Release.load(self.release_file)

    @property
    def synthetic(self) -> Path | None:
        """The synthetic data that were made last."""
        found = [each for each in self.folder.glob("synthetic.*") if each.is_file()]
        return max(found, key=lambda each: each.stat().st_mtime, default=None)

    def confirm(self) -> bool:
        """Whether this is the first to confirm the plan. A plan is released once, however often it is confirmed.

        A file says so that only one can make, whichever thread or process is first.
        """
        try:
            os.close(os.open(self.folder / "confirmed", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        return True

    def withdraw(self) -> None:
        """Take a confirmation back of which nothing has come: its work could not be started."""
        (self.folder / "confirmed").unlink(missing_ok=True)

    @property
    def confirmed(self) -> bool:
        return (self.folder / "confirmed").exists()
