from typing import Any

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
    visitor.studio.ledger().set_cap("people", Budget(0.5, 1e-5))
    job = visitor.work("release")
    assert job.state == jobs.FAILED
    assert not job.spent
    assert "over its cap" in job.message
    assert not visitor.project.plan.release_file.exists()
    assert visitor.studio.ledger().accounts()[0].spends == ()
