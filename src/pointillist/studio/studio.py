"""Studio: what all requests share."""

from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request

from pointillist.privacy.ledger import Ledger
from pointillist.studio.jobs import Jobs
from pointillist.studio.project import Project
from pointillist.studio.security import Security
from pointillist.studio.workspace import Workspace


@dataclass(frozen=True)
class Studio:
    """A running studio."""

    workspace: Workspace
    security: Security
    ledger_file: Path | None = None
    """Where spends are recorded; none: where commands record them, too."""
    demo_rows: int | None = None
    """How many people the demo simulates; none: as many as the command does."""
    jobs: Jobs = field(default_factory=Jobs)

    @classmethod
    def of(cls, request: Request) -> "Studio":
        """That which a request was sent to."""
        found: Studio = request.app.state.studio
        return found

    def ledger(self, project: Project | None = None) -> Ledger:
        """The ledger of a project, or the user's own."""
        return Ledger(self.ledger_file) if project is None else project.ledger(self.ledger_file)
