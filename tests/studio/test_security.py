"""Who is let in, and what pages may do."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from pointillist.studio.app import make_app
from pointillist.studio.security import POLICY, Security, is_loopback


def stranger(visitor: Any, **headers: str) -> TestClient:
    """A browser without the cookie."""
    return TestClient(
        make_app(visitor.studio), base_url="http://127.0.0.1:8420", headers=headers, follow_redirects=False
    )


def test_nobody_is_let_in_without_the_token(visitor: Any) -> None:
    client = stranger(visitor)
    for path in ("/", "/ledger", f"/p/{visitor.project.id}/review", "/static/studio.js", "/?token=wrong"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "people" not in answer.text


def test_the_token_becomes_a_cookie_and_leaves_the_address(visitor: Any) -> None:
    client = stranger(visitor)
    answer = client.get("/ledger", params={"token": visitor.studio.security.token, "a": "1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/ledger?a=1")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert visitor.studio.security.token not in cookie
    assert client.get("/ledger").status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8420", "127.0.0.1:1", "127.0.0.1", "localhost.evil.example:8420", ""])
def test_another_name_is_refused_even_with_the_cookie(visitor: Any, host: str) -> None:
    """As a page does whose name was made to lead here (DNS rebinding)."""
    assert visitor.client.get("/", headers={"host": host}).status_code == 403


def test_our_own_names_are_known(visitor: Any) -> None:
    assert visitor.client.get("/", headers={"host": "127.0.0.1:8420"}).status_code == 200
    assert {"127.0.0.1:8420", "localhost:8420", "[::1]:8420"} == visitor.studio.security.hosts
    assert "data.example:80" in Security("data.example", 80).hosts
    assert "data.example" in Security("data.example", 80).hosts


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8420", "http://127.0.0.1:9999"])
def test_another_page_may_not_ask(visitor: Any, origin: str) -> None:
    fields = {"csrf": visitor.studio.security.csrf}
    assert visitor.client.get("/", headers={"origin": origin}).status_code == 403
    assert visitor.client.post("/demo", data=fields, headers={"origin": origin}).status_code == 403


def test_a_form_without_origin_is_refused(visitor: Any) -> None:
    del visitor.client.headers["origin"]
    assert visitor.client.post("/demo", data={"csrf": visitor.studio.security.csrf}).status_code == 403


def test_every_form_needs_the_word(visitor: Any) -> None:
    """All addresses that are posted to, so that a new one is not forgotten."""
    posted = [route for route in visitor.client.app.routes if route.methods & {"POST", "PUT", "DELETE", "PATCH"}]
    assert len(posted) > 10
    for route in posted:
        path = (
            route.path.replace("{project}", visitor.project.id).replace("{column:int}", "0").replace("{step}", "open")
        )
        for fields in ({}, {"csrf": "wrong"}):
            method = next(iter(route.methods))
            assert visitor.client.request(method, path, data=fields).status_code == 403, path
    assert len(visitor.studio.workspace.projects()) == 1


def test_every_answer_says_what_a_browser_must_keep_to(visitor: Any) -> None:
    for answer in (visitor.client.get("/"), visitor.get("nothing"), stranger(visitor).get("/")):
        assert answer.headers["content-security-policy"] == POLICY
        assert "unsafe" not in POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_a_fault_quotes_nothing(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("SECRETVALUE")

    monkeypatch.setattr("pointillist.studio.workspace.Workspace.project", fail)
    answer = visitor.get("review")
    assert answer.status_code == 500
    assert "SECRETVALUE" not in answer.text
    assert "RuntimeError at" in answer.text


def test_secrets_do_not_show() -> None:
    security = Security("127.0.0.1", 1)
    assert security.token not in repr(security)
    assert security.url() == f"http://127.0.0.1:1/?token={security.token}"
    assert len({security.token, security.session, security.csrf}) == 3


def test_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost", "127.9.9.9")))
    assert not any(map(is_loopback, ("0.0.0.0", "10.0.0.1", "example.org")))
