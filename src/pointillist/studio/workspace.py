"""Workspace: the folder in which the studio keeps projects, and the scratch folder for what must not outlive it."""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointillist.errors import UsageError
from pointillist.files.paths import checked
from pointillist.studio.project import Project

_ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True)
class Workspace:
    """Projects, each in a folder of its own that only its owner may enter."""

    folder: Path
    scratch: Path
    """For uploads, and for what was counted for the owner's eyes: removed when the studio ends."""

    @classmethod
    def at(cls, folder: Path, scratch: Path) -> "Workspace":
        """Make the folder, if it is not there, for its owner alone."""
        folder = checked(folder, UsageError).absolute()
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: is a file. Name a folder for the studio's files.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.chmod(folder, 0o700)
        except OSError as error:
            raise UsageError(f"{folder}: cannot be used for the studio's files ({error.strerror}).") from None
        return cls(folder, scratch)

    def new(self, **facts: Any) -> Project:
        """A project with these facts."""
        name = secrets.token_hex(6)
        folder, scratch = self.folder / name, self.scratch / name
        folder.mkdir(mode=0o700)
        scratch.mkdir(mode=0o700, exist_ok=True)
        project = Project(folder, scratch)
        project.update(**facts)
        return project

    def project(self, name: str) -> Project | None:
        """A project by its id, which a URL may hold: it is made up, and says nothing."""
        if _ID.fullmatch(name) is None or not (self.folder / name / "project.json").is_file():
            return None
        (self.scratch / name).mkdir(mode=0o700, exist_ok=True)
        return Project(self.folder / name, self.scratch / name)

    def projects(self) -> list[Project]:
        """All of them, the latest first."""
        found = [each for path in self.folder.iterdir() if (each := self.project(path.name)) is not None]
        return sorted(found, key=lambda each: each.facts.get("opened", 0.0), reverse=True)
