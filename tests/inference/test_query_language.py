"""Queries: what is understood, and errors that name the place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.inference.query_language import Aggregate, Query, answer, ask
from pointillist.inference.sql_expression import Expression

KNOWN = ["age", "income", "sex", "my col"]


def asked(name: str, *formulas: str, order: float | None = None, known: list[str] = KNOWN) -> Aggregate:
    return Aggregate(name, tuple(Expression.parse(each, known) for each in formulas), order)


def where(query: Query) -> str:
    assert query.where is not None
    return query.where.text


def test_a_query_is_taken_apart() -> None:
    query = Query.parse(
        "mean(income / age), count() WHERE age > 40 and sex in ('a','b') Group  By sex, \"my col\"", KNOWN
    )
    assert query.aggregates == (asked("mean", "income / age"), asked("count"))
    assert where(query) == "age > 40 and sex in ('a','b')"
    assert query.groups == ("sex", "my col")


def test_words_inside_quotes_and_brackets_are_not_keywords() -> None:
    query = Query.parse("""share() where sex = ' where group by ' and (case when age > 1 then 2 end) = 2""", KNOWN)
    assert where(query) == "sex = ' where group by ' and (case when age > 1 then 2 end) = 2"
    assert query.groups == ()


def test_odd_names_stand_in_every_part_of_a_query() -> None:
    known = ["flc.grp", "lambda", "my col", "x.where"]
    query = Query.parse(
        "mean(lambda), sum(x.where) where flc.grp > 1 and `my col` = 2 group by flc.grp, `my col`", known
    )
    assert query.aggregates == (asked("mean", "lambda", known=known), asked("sum", "x.where", known=known))
    assert where(query) == "flc.grp > 1 and `my col` = 2"
    assert query.groups == ("flc.grp", "my col")
    with pytest.raises(UsageError, match=r'"my col"'):
        Query.parse("count() group by my col + 1", known)


@pytest.mark.parametrize(
    ("text", "aggregate", "shown"),
    [
        ("Quantile(age, .9)", asked("quantile", "age", order=0.9), "quantile(age, 0.9)"),
        (
            "median(greatest(age, income))",
            asked("median", "greatest(age, income)", order=0.5),
            "median(greatest(age, income))",
        ),
        ("correlation(age, income)", asked("correlation", "age", "income"), "correlation(age, income)"),
        (" sum ( age ) ", asked("sum", "age"), "sum(age)"),
        ("share( )", asked("share"), "share()"),
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


def test_groups(counted: pt.Received) -> None:
    found = answer(counted, "count(), mean(x) where y > -1 group by kind")
    assert [group.values for group in found.groups] == [("a",), ("b",), ("c",)]
    for group in found.groups:
        condition = f"y > -1 and kind = '{group.values[0]}'"
        assert group.estimates[1].value == pytest.approx(counted.expect("x", where=condition).value)
        assert group.estimates[0].low <= group.estimates[0].high
    first = found.to_json()[0]
    assert (first["group"], first["aggregate"]) == ({"kind": "a"}, "count()")
    assert first["name"] == "count of y > -1 and \"kind\" = 'a'"


def test_every_aggregate(counted: pt.Received) -> None:
    text = "count(), share(), mean(x), sum(x), median(y), quantile(y, 0.9), correlation(x, y)"
    (group,) = answer(counted, text).groups
    names = [each.name for each in group.estimates]
    assert names[0] == "count"
    assert names[3:] == ["sum of x", "median of y", "quantile 0.9 of y", "correlation of x and y"]
    assert group.estimates[1].value == 1


def test_groups_without_rows_are_left_out(counted: pt.Received) -> None:
    found = answer(counted, "count() where kind = 'a' group by kind")
    assert [group.values for group in found.groups] == [("a",)]
    assert "2 groups without a synthetic row are not shown" in found.notes[0]


def test_a_number_has_no_groups(counted: pt.Received) -> None:
    with pytest.raises(UsageError, match="'x' is real and has no groups"):
        answer(counted, "count() group by x")


def test_gaps_are_a_group(schema: pt.Schema, people) -> None:
    made = pt.release(people(300), schema, epsilon=9.0, method=pt.Mosaic(components=4, steps=5, most_tiles=5))
    received = pt.receive(made, rows=2_000)
    found = answer(received, "share() group by member")
    assert [group.values for group in found.groups] == [(False,), (True,), (None,)]
    assert sum(group.estimates[0].value for group in found.groups) == pytest.approx(1)
    dates = received.expect("seen")
    assert dates.shown(dates.value).startswith("202")


def test_a_slip_is_told_before_anything_is_fitted(counted: pt.Received) -> None:
    def fitted(step: str, fraction: float) -> None:
        raise AssertionError("no fit yet")

    with pytest.raises(UsageError, match="'wage' is not a column at position 6"):
        ask(counted.release, "mean(wage)", progress=fitted)


def test_a_release_is_enough(counted: pt.Received) -> None:
    text = "mean(x), count() where y > 0 group by kind"
    received = pt.receive(counted.release, model=counted.model)
    assert ask(counted.release, text, model=counted.model) == answer(received, text)
