"""URLs: their parts, and that nothing secret is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.errors import UsageError
from pointillist.files.urls import Url

WORDS = st.text('ab &=%?#/@:+;ü"', max_size=12)


def test_what_is_an_address() -> None:
    for text in ("postgresql://h/d", "s3://b/k", "https://h/f.csv", "S3://b"):
        assert Url.is_one(text)
    for other in ("people.csv", "/a/b", "c://windows", "a:b", 5, None):
        assert not Url.is_one(other)


def test_parts() -> None:
    url = Url.parse("PostgreSQL://bob:pw@host:5432/db?table=my%20people&schema=s&sslmode=require")
    assert (url.scheme, url.host, url.path, url.name) == ("postgresql", "host:5432", "/db", "my people")
    assert url.without("table", "schema").secret == "postgresql://bob:pw@host:5432/db?sslmode=require"
    assert url.place == ("postgresql://host:5432/db", "s", "my people")
    assert Url.parse("s3://bucket/a/b%20c.parquet").name == "b c.parquet"
    below = Url.parse("s3://bucket/a/").below("deeper/b c.csv")
    assert (str(below), below.name) == ("s3://bucket/a/deeper/b%20c.csv", "b c.csv")


@given(st.lists(st.tuples(WORDS.filter(len), WORDS), max_size=3))
def test_parameters_come_back(parameters: list[tuple[str, str]]) -> None:
    url = Url("postgresql", "", "host", "/db", tuple(parameters))
    assert Url.parse(url.secret) == url


@given(
    user=st.text("abc%", max_size=5),
    secret=st.sampled_from(["Qw3rty", "Qw3r@ty", "Qw/3rty", "Qw?3rty", "12/3Qw", "#Qw3"]),
)
def test_a_password_never_shows(user: str, secret: str) -> None:
    text = f"postgresql://{user}:{secret}@host/db?table=t&password={secret.replace('?', '')}"
    try:
        url = Url.parse(text)
        shown = f"{url} {url!r} {url.place} {url.name}"
    except UsageError as error:
        shown = f"{error} {error.__cause__}"
    assert "Qw" not in shown


@pytest.mark.parametrize(
    "text", ["postgresql://[::1/db", "https://host:port/x", "s3://key:se/cret@bucket/x", "s3://b/x?a"]
)
def test_what_can_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="address"):
        Url.parse(text)
