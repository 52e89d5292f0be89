"""Servers: drivers that are missing, and errors by what they are about."""

import sys

import pytest

from pointillist.errors import DataError, UsageError
from pointillist.files.servers import server, subject
from pointillist.files.urls import Url


@pytest.mark.parametrize(
    ("code", "text", "about"),
    [
        ("28P01", "", "password"),
        ("", 'fatal: password authentication failed for user "bob"', "password"),
        ("", 'fatal: database "x" does not exist', "database"),
        ("42P01", "relation does not exist", "table"),
        ("42501", "permission denied", "permission"),
        ("22003", "value 17 out of range", "value"),
        ("57P01", "terminating", "lost"),
        ("", "connection refused", "reach"),
        ("XX000", "anything", "else"),
    ],
)
def test_what_an_error_is_about(code: str, text: str, about: str) -> None:
    assert subject(code, text) == about


@pytest.mark.parametrize("scheme", ["postgresql", "snowflake", "bigquery"])
def test_a_missing_driver_is_named(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (f"adbc_driver_{scheme}", f"adbc_driver_{scheme}.dbapi"):
        monkeypatch.setitem(sys.modules, name, None)
    wanted = rf"pip install 'pointillist\[{scheme}\]'"
    with pytest.raises(UsageError, match=wanted), server(Url(scheme, "", "host", "/db")):
        pass


def test_messages_of_the_driver_are_not_passed_on() -> None:
    pytest.importorskip("adbc_driver_postgresql")
    with (
        pytest.raises(DataError) as caught,
        server(Url.parse("postgresql://bob:Qw3rty@127.0.0.1:1/db?sslmode=disable")),
    ):
        pass
    assert str(caught.value).startswith("postgresql://127.0.0.1:1/db: the server cannot be reached")
    assert caught.value.__cause__ is None
