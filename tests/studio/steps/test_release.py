import subprocess
from dataclasses import replace
from typing import Any

import pytest

from pointillist.privacy.budget import Budget
from pointillist.release import Release
from pointillist.studio import jobs


def test_two_tabs_that_confirm_at_once_spend_once(walked: Any, confirmations: list[Any]) -> None:
    assert [each.status_code for each in confirmations] == [200, 200]
    (account,) = walked.studio.ledger().accounts()
    assert len(account.spends) == 1
    assert account.spends[0].epsilon == 1.0
    walked.post("release", plan=walked.project.plan.id, confirm="yes")
    assert len(walked.studio.ledger().accounts()[0].spends) == 1


def test_what_was_released_is_what_was_planned(walked: Any) -> None:
    release = Release.load(walked.project.plan.release_file)
    assert (release.guarantee.epsilon, release.target) == (1.0, "member")
    assert release.schema == walked.project.plan.schema()
    page = walked.get("release").text
    assert "Released" in page
    assert "differentially private" in page
    assert walked.get("release/file").content == walked.project.plan.release_file.read_bytes()


def test_nothing_is_released_without_a_word(visitor: Any) -> None:
    visitor.review()
    plan = visitor.plan()
    page = visitor.get("release").text
    assert "Before anything is spent" in page
    assert "categories" in page  # what the draft read off the data is listed once more
    assert "tick the box first" in visitor.post("release", plan=plan).text
    assert "not the latest" in visitor.post("release", plan="0" * 12, confirm="yes").text
    later = visitor.plan("2")
    assert "not the latest" in visitor.post("release", plan=plan, confirm="yes").text
    assert later == visitor.project.plan.id
    assert visitor.studio.jobs.state(visitor.project, "release") is None
    assert visitor.studio.ledger().accounts() == ()


def test_the_ledger_has_the_last_word(visitor: Any) -> None:
    """Somebody else may have spent the budget between the page and its confirmation."""
    visitor.review()
    visitor.plan()
    visitor.project.plan.confirm()
    visitor.studio.ledger().set_cap("people", Budget(0.5, 1e-5))
    job = visitor.work("release")
    assert job.state == jobs.FAILED
    assert not job.spent
    assert "over its cap" in job.message
    assert not visitor.project.plan.release_file.exists()
    assert visitor.studio.ledger().accounts()[0].spends == ()


def test_a_plan_that_nobody_confirmed_is_not_released(visitor: Any) -> None:
    """The confirmed plan is released, whatever is planned before its worker has loaded."""
    visitor.review()
    confirmed, later = visitor.plan("1"), visitor.plan("9")
    visitor.project.plan_of(confirmed).confirm()
    job = visitor.work("release", later)
    assert job.state == jobs.FAILED
    assert "nobody confirmed this plan" in job.message
    assert visitor.work("release", "").state == jobs.FAILED
    assert visitor.studio.ledger().accounts() == ()
    assert visitor.work("release", confirmed).state == jobs.DONE
    assert Release.load(visitor.project.plan_of(confirmed).release_file).guarantee.epsilon == 1.0
    assert not visitor.project.plan_of(later).release_file.exists()

    again = visitor.work("release", confirmed)
    assert again.state == jobs.FAILED
    assert "released already" in again.message
    assert [each.epsilon for each in visitor.studio.ledger().accounts()[0].spends] == [1.0]


def test_the_worker_is_told_which_plan(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[str]] = []

    class Started(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: list[str], **options: Any) -> None:
            told.append(command)
            super().__init__([command[0], "-c", "import time; time.sleep(60)"], **options)

    visitor.review()
    plan = visitor.plan()
    monkeypatch.setattr(subprocess, "Popen", Started)
    visitor.post("release", plan=plan, confirm="yes")
    assert told[0][6] == plan
    assert visitor.studio.jobs.state(visitor.project, "release").plan == plan
    assert "under way" in visitor.post("plan", epsilon="2", delta="1e-5").text
    assert visitor.project.plan.id == plan


def test_while_another_plan_is_released_none_is_confirmed(visitor: Any) -> None:
    visitor.review()
    first, second = visitor.plan("1"), visitor.plan("2")
    folder = jobs.folder_of(visitor.project, "release")
    folder.mkdir(parents=True)
    with jobs.held(folder):
        jobs.write(folder, jobs.Job("release", jobs.RUNNING, plan=first))
        assert 'name="confirm"' not in visitor.get("release").text
        assert "another plan of this table" in visitor.post("release", plan=second, confirm="yes").text
    assert not visitor.project.plan.confirmed


def test_a_release_that_cannot_start_leaves_its_plan_free(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    visitor.review()
    plan = visitor.plan()
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", full)
        answer = visitor.post("release", plan=plan, confirm="yes")
    assert "could not be started (Resource temporarily unavailable)" in answer.text
    assert not visitor.project.plan.confirmed
    assert visitor.studio.jobs.state(visitor.project, "release").state == jobs.FAILED
    assert 'name="confirm"' in visitor.get("release").text


def test_a_plan_that_was_released_is_not_confirmed_again(walked: Any) -> None:
    assert "released already" in walked.post("release", plan=walked.project.plan.id, confirm="yes").text


def test_what_befell_another_plan_is_not_told_of_this_one(visitor: Any) -> None:
    visitor.review()
    first = visitor.plan("1")
    folder = jobs.folder_of(visitor.project, "release")
    folder.mkdir(parents=True)
    failed = jobs.Job("release", jobs.FAILED, message="It went wrong.", plan=first)
    jobs.write(folder, failed)
    assert "It went wrong." in visitor.get("release").text
    jobs.write(folder, replace(failed, plan="0" * 12))
    assert "It went wrong." not in visitor.get("release").text


def test_a_plan_whose_table_is_gone_is_not_confirmed(visitor: Any) -> None:
    visitor.review()
    plan = visitor.plan()
    visitor.project.update(upload="people.csv")
    assert "Open it again" in visitor.post("release", plan=plan, confirm="yes").text
    assert not visitor.project.plan.confirmed


def test_the_last_look_has_the_facts_about_persons(visitor: Any) -> None:
    visitor.project.write_schema(
        """
        name = "visits"
        reviewed = true
        read_from_data = ["rows", "order", "persons"]
        rows = 4000
        person = { column = "patient", max_rows = 5, order = "age", persons = 1500 }
        [columns.age]
        kind = "integer"
        min = 0
        max = 120
        [columns.member]
        kind = "boolean"
        """
    )
    visitor.plan()
    page = visitor.get("release").text
    assert "None" not in page.partition("published on your word")[2].partition("</table>")[0]
    for words in ("</span> 4000", "order</span> age", "persons</span> 1500"):
        assert words in page
