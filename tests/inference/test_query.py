"""Queries: what is understood, and errors that name the place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.errors import UsageError
from pointillist.inference.query import Aggregate, Query

KNOWN = ["age", "income", "sex", "my col"]


def test_a_query_is_taken_apart() -> None:
    query = Query.parse(
        "mean(income / age), count() WHERE age > 40 and sex in ('a','b') Group  By sex, \"my col\"", KNOWN
    )
    assert query.aggregates == (Aggregate("mean", ("income / age",)), Aggregate("count", ()))
    assert query.where == "age > 40 and sex in ('a','b')"
    assert query.groups == ("sex", "my col")


def test_words_inside_quotes_and_brackets_are_not_keywords() -> None:
    query = Query.parse("""share() where sex = ' where group by ' and (case when age > 1 then 2 end) = 2""", KNOWN)
    assert query.where == "sex = ' where group by ' and (case when age > 1 then 2 end) = 2"
    assert query.groups == ()


def test_odd_names_stand_in_every_part_of_a_query() -> None:
    known = ["flc.grp", "lambda", "my col", "x.where"]
    query = Query.parse(
        "mean(lambda), sum(x.where) where flc.grp > 1 and `my col` = 2 group by flc.grp, `my col`", known
    )
    assert query.aggregates == (Aggregate("mean", ("lambda",)), Aggregate("sum", ("x.where",)))
    assert query.where == "flc.grp > 1 and `my col` = 2"
    assert query.groups == ("flc.grp", "my col")
    with pytest.raises(UsageError, match=r'"my col"'):
        Query.parse("count() group by my col + 1", known)


@pytest.mark.parametrize(
    ("text", "aggregate", "shown"),
    [
        ("Quantile(age, .9)", Aggregate("quantile", ("age",), 0.9), "quantile(age, 0.9)"),
        (
            "median(greatest(age, income))",
            Aggregate("median", ("greatest(age, income)",), 0.5),
            "median(greatest(age, income))",
        ),
        ("correlation(age, income)", Aggregate("correlation", ("age", "income")), "correlation(age, income)"),
        (" sum ( age ) ", Aggregate("sum", ("age",)), "sum(age)"),
        ("share( )", Aggregate("share", ()), "share()"),
    ],
)
def test_aggregates(text: str, aggregate: Aggregate, shown: str) -> None:
    query = Query.parse(text, KNOWN)
    assert query == Query((aggregate,), None, ())
    assert str(aggregate) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an aggregate is missing at position 1"),
        ("mean(age),", "an aggregate is missing at position 11"),
        ("mean age", "'mean age' is not an aggregate at position 1"),
        ("count(), max(age)", r"'max' is not an aggregate at position 10 .*Known are count\(\)"),
        ("mean()", r"mean takes 1 argument, not 0 at position 1.*Write mean\(x\)"),
        ("count(age)", r"count takes no arguments, not 1"),
        ("correlation(age)", r"takes 2 arguments, not 1.*Write correlation\(x, y\)"),
        ("quantile(age, 2)", "number from 0 to 1, not '2' at position 15"),
        ("mean(wage)", "'wage' is not a column at position 6.*Columns: age, income"),
        ("mean(age +)", "at position 11"),
        ("mean(age) where wage > 1", "'wage' is not a column at position 17"),
        ("mean(age) where", "an expression is missing at position 16"),
        ("mean(age) where age > ", "not complete"),
        ("mean(age) where age > 1 where age > 2", "a second 'where' at position 25"),
        ("mean(age) group by wage", "group by: 'wage' is not a column at position 20"),
        ("mean(age) group by", "group by: '' is not a column"),
        ("mean(age", "never closed"),
        ("mean(age))", "never opened at position 10"),
        ("mean(age) where sex = 'a", "never closed at position 23"),
        ("mean(age) where sum(age) > 1", "'sum' is an aggregate at position 17"),
    ],
)
def test_slips_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Query.parse(text, KNOWN)


@given(st.text(alphabet="mean(age) where,group by'\"sx<1", max_size=40))
def test_whatever_is_written_is_understood_or_refused(text: str) -> None:
    try:
        found = Query.parse(text, KNOWN)
    except UsageError:
        return
    assert found.aggregates
