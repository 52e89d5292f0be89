import time
from dataclasses import replace
from typing import Any

from pointillist.studio import jobs


def test_a_worker_is_started_once_and_can_be_stopped(visitor: Any) -> None:
    own, project = visitor.studio.jobs, visitor.project
    assert own.start(project, "open")
    assert not own.start(project, "open")
    assert own.state(project, "open").active
    visitor.post("jobs/open/stop")
    job = own.state(project, "open")
    assert (job.state, job.active) == (jobs.STOPPED, False)
    assert "Nothing was lost" in job.message
    assert "Try again" in visitor.client.get(f"/p/{project.id}/opened").text


def test_a_worker_that_died_is_seen_by_another_server(visitor: Any) -> None:
    """Its lock is gone with it, whatever its last word was."""
    folder = jobs.folder_of(visitor.project, "release")
    folder.mkdir(parents=True)
    running = jobs.Job("release", jobs.RUNNING, "drawing noise", 0.5, began=time.time())
    for spent, said in ((False, "before anything was spent"), (True, "it counts")):
        with jobs.held(folder):
            jobs.write(folder, replace(running, spent=spent))
            assert jobs.Jobs().state(visitor.project, "release").active  # type: ignore[union-attr]
        found = jobs.Jobs().state(visitor.project, "release")
        assert found is not None
        assert found.state == jobs.STOPPED
        assert said in found.message


def test_a_state_that_is_no_state_is_none(visitor: Any) -> None:
    folder = jobs.folder_of(visitor.project, "make")
    folder.mkdir(parents=True)
    (folder / "state.json").write_text("{")
    assert jobs.read(folder) is None


def test_words_of_a_job() -> None:
    job = jobs.Job("make", jobs.DONE, fraction=1.7, began=10.0, at=14.2)
    assert (job.percent, job.seconds, job.active) == (100, 4, False)
