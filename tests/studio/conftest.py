"""A studio without a server: requests are answered in this process, and workers' work is done in it, too.

One walk along all steps is made once and looked at by many tests; a test that changes anything has a studio of its own.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from starlette.testclient import TestClient

from pointillist.schema.fingerprint import fingerprint
from pointillist.studio import jobs
from pointillist.studio.app import make_app
from pointillist.studio.project import Project
from pointillist.studio.security import Security
from pointillist.studio.steps.open import opened_at
from pointillist.studio.studio import Studio
from pointillist.studio.worker import run
from pointillist.studio.workspace import Workspace

PORT = 8420
RARE = "astronaut"
"""A job that one row has: the review must find it."""


@dataclass(frozen=True)
class Visitor:
    """A browser that has shown the token, and what it talks to."""

    client: TestClient
    studio: Studio
    project: Project
    table: Path

    def get(self, step: str) -> Any:
        return self.client.get(f"/p/{self.project.id}/{step}")

    def post(self, step: str, **fields: str) -> Any:
        return self.client.post(f"/p/{self.project.id}/{step}", data={"csrf": self.studio.security.csrf, **fields})

    def work(self, step: str, plan: str | None = None) -> jobs.Job:
        """Do a worker's work here, on a plan: the latest unless another is named."""
        latest = self.project.plan
        named = plan if plan is not None else "" if latest is None else latest.id
        folder = jobs.folder_of(self.project, step)
        folder.mkdir(parents=True, exist_ok=True)
        run(step, self.project, self.studio.ledger_file, named)
        job = jobs.read(folder)
        assert job is not None
        return job

    def accept(self) -> Any:
        """Accept the schema as it is now."""
        return self.post("review/accept", public="yes", shown=fingerprint(self.project.schema()))

    def review(self) -> None:
        """Get through the review."""
        assert self.work("open").state == jobs.DONE
        assert self.accept().url.path.endswith("/plan")

    def plan(self, epsilon: str = "1") -> str:
        """Plan a release: the plan's id."""
        assert self.post("plan", epsilon=epsilon, delta="1e-5", target="member").url.path.endswith("/release")
        plan = self.project.plan
        assert plan is not None
        return plan.id


def rows(count: int = 300) -> pa.Table:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 90, count)
    return pa.table(
        {
            "sex": np.where(rng.random(count) < 0.5, "female", "male"),
            "age": age,
            "job": np.where(np.arange(count) == 7, RARE, np.where(age > 50, "smith", "cook")),
            "member": (age + rng.normal(0, 10, count)) > 55,
        }
    )


def started(folder: Path) -> Visitor:
    """A studio on a small table."""
    table = folder / "people.parquet"
    parquet.write_table(rows(), table)
    (folder / "scratch").mkdir()
    workspace = Workspace.at(folder / "studio", folder / "scratch")
    studio = Studio(workspace, Security("127.0.0.1", PORT), folder / "ledger.sqlite", demo_rows=300)
    client = TestClient(make_app(studio), base_url=f"http://127.0.0.1:{PORT}")
    client.get("/", params={"token": studio.security.token})
    client.headers["origin"] = f"http://127.0.0.1:{PORT}"
    return Visitor(client, studio, opened_at(studio, str(table)), table)


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    """A studio of the test's own, with a table that nobody has looked at."""
    made = started(tmp_path)
    yield made
    made.studio.jobs.close()


@pytest.fixture(scope="session")
def confirmations() -> list[Any]:
    """What two who confirm at the same time are answered."""
    return []


@pytest.fixture(scope="session")
def walked(tmp_path_factory: pytest.TempPathFactory, confirmations: list[Any]) -> Iterator[Visitor]:
    """A studio in which every step was taken. Two tabs confirm the release at once. Look, and change nothing."""
    made = started(tmp_path_factory.mktemp("walked"))
    made.review()
    plan = made.plan()
    with ThreadPoolExecutor(2) as tabs:
        confirm: Callable[[int], Any] = lambda tab: made.post("release", plan=plan, confirm="yes")  # noqa: E731
        confirmations += list(tabs.map(confirm, range(2)))
    for _ in range(1200):
        job = made.studio.jobs.state(made.project, "release")
        assert job is not None
        if not job.active:
            break
        time.sleep(0.1)
    assert job.state == jobs.DONE, job
    # Only what a worker would do is done here: its start would load all libraries again.
    made.project.update(make={"rows": "200", "seed": "1", "format": "csv", "given": [], "balance": ""})
    assert made.work("make").state == jobs.DONE
    assert made.work("judge").state == jobs.DONE
    yield made
    made.studio.jobs.close()
