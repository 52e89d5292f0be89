"""Addresses, progress and stopping."""

from typing import Any

from pointillist.studio import jobs


def test_pages_that_are_not_there(visitor: Any) -> None:
    assert visitor.client.get("/nothing").status_code == 404
    assert visitor.client.get("/p/ffffffffffff/review").status_code == 404
    assert visitor.client.get("/p/..%2F..%2Fetc/review").status_code == 404
    assert visitor.client.get("/static/..%2Fapp.py").status_code == 404


def test_style_and_scripts_are_ours(visitor: Any) -> None:
    css, script = visitor.client.get("/static/studio.css"), visitor.client.get("/static/htmx.min.js")
    assert css.headers["content-type"].startswith("text/css")
    assert "--synthetic" in css.text
    assert script.headers["content-type"].startswith("text/javascript")
    page = visitor.client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert "http" not in page.replace("postgresql://", "").replace("s3://", "").replace('name="htmx-config"', "")


def test_a_job_that_is_done_loads_the_page_anew(walked: Any) -> None:
    assert walked.get("jobs/make").headers["hx-refresh"] == "true"
    assert "hx-refresh" not in _at_work(walked).headers


def _at_work(walked: Any) -> Any:
    folder = jobs.folder_of(walked.project, "receiver")
    folder.mkdir(parents=True, exist_ok=True)
    with jobs.held(folder):
        jobs.write(folder, jobs.Job("receiver", jobs.RUNNING, "fitting", 0.5))
        answer = walked.get("jobs/receiver")
    (folder / "state.json").unlink()
    assert "Fitting" in answer.text
    assert 'value="50"' in answer.text
    return answer


def test_only_what_spends_nothing_can_be_tried_again(visitor: Any) -> None:
    visitor.post("jobs/release/start")
    visitor.post("jobs/..%2Fx/start")
    assert visitor.studio.jobs.state(visitor.project, "release") is None
