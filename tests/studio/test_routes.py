from typing import Any


def test_mistakes_are_told_on_a_page(visitor: Any) -> None:
    answer = visitor.client.post("/open", data={"csrf": visitor.studio.security.csrf, "place": "/nowhere/x.csv"})
    assert answer.status_code == 400
    assert "/nowhere/x.csv: no such file." in answer.text
    assert 'role="alert"' in answer.text


def test_steps_that_are_done_are_marked(walked: Any) -> None:
    page = walked.get("share").text
    for step in ("Review", "Plan", "Release", "Make", "Judge"):
        assert f'class="ready">{step}' in page


def test_steps_before_their_time_lead_back(visitor: Any) -> None:
    visitor.work("open")
    for step in ("release", "make", "judge", "share"):
        assert visitor.get(step).url.path.endswith("/plan"), step
