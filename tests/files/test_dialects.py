"""Dialects: what is sent to servers, where none is here to ask; PostgreSQL's own is tested on a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.errors import UsageError
from pointillist.files.dialects import DIALECTS, BigQuery, Found, PostgreSql, Snowflake
from pointillist.files.urls import Url


@given(st.text(min_size=1).filter(lambda name: "\0" not in name))
def test_a_quoted_name_ends_where_it_should(name: str) -> None:
    quoted = PostgreSql().quote(name)
    assert quoted[1:-1].replace('""', "").count('"') == 0
    assert quoted[1:-1].replace('""', '"') == name


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_what_can_be_no_name(dialect: PostgreSql) -> None:
    for name in ("", "a\0b"):
        with pytest.raises(UsageError):
            dialect.quote(name)
    with pytest.raises(UsageError):
        BigQuery().quote("a`b")


def test_postgresql_is_asked_with_an_end() -> None:
    url = Url.parse("postgresql://h/d?table=t&schema=s&sslmode=require")
    waits = {"uri": "postgresql://h/d?sslmode=require&connect_timeout=15"}
    assert PostgreSql().options(url, {}) == waits
    assert PostgreSql().options(url, {"PGCONNECT_TIMEOUT": "3"}) == {"uri": "postgresql://h/d?sslmode=require"}


def test_credentials_come_from_the_environment() -> None:
    url = Url.parse("snowflake://account/db/space?table=t&warehouse=w")
    given = {"SNOWFLAKE_USER": "bob", "SNOWFLAKE_PASSWORD": "pw"}
    options = Snowflake().options(url, given)["db_kwargs"]
    assert options == {
        "username": "bob", "password": "pw", "adbc.snowflake.sql.account": "account", "adbc.snowflake.sql.db": "db",
        "adbc.snowflake.sql.schema": "space", "adbc.snowflake.sql.warehouse": "w",
    }  # fmt: skip
    key = Snowflake().options(url, {**given, "SNOWFLAKE_PRIVATE_KEY_PATH": "k.p8"})["db_kwargs"]
    assert "password" not in key
    assert key["adbc.snowflake.sql.auth_type"] == "auth_jwt"
    project = BigQuery().options(Url.parse("bigquery://project/data?table=t"), {})["db_kwargs"]
    assert project == {"adbc.bigquery.sql.project_id": "project", "adbc.bigquery.sql.dataset_id": "data"}


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("snowflake://account/db/space", '"db"."space"."people"'),
        ("bigquery://project/data", "`project`.`data`.`people`"),
    ],
)
def test_tables_are_looked_up_by_their_name(address: str, name: str) -> None:
    url = Url.parse(address)
    dialect, asked = DIALECTS[url.scheme], []

    def ask(sql: str) -> list[tuple[str]]:
        asked.append(sql)
        return [("BASE TABLE",)] if ".TABLES" in sql else [("age",), ("pay",)]

    found = dialect.find(ask, url, None, "people")
    sign = name[0]
    assert found == Found(name, None, {"age": f"{sign}age{sign}", "pay": f"{sign}pay{sign}"})
    assert all("table_name = 'people'" in sql for sql in asked)
    view = dialect.find(lambda sql: [("VIEW",)], url, None, "people")
    assert view is not None
    assert view.odd == "of the kind view"
    assert dialect.find(lambda sql: [], url, None, "people") is None
    with pytest.raises(UsageError, match="quotes"):
        dialect.find(ask, url, None, "people' OR 1=1 --")
