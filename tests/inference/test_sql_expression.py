"""Formulas: one value of each row, nothing from outside, and errors that say where."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.errors import UsageError
from pointillist.inference.sql_expression import Expression, as_numbers, quoted

TABLE = pa.table(
    {
        "income": [1.0, 2.0, None],
        "hours": [1, 0, 3],
        "sex": ["a", "b", None],
        "my col": [1, 2, 3],
        "seen": [dt.date(1970, 1, 2), None, dt.date(1970, 1, 11)],
    }
)


@pytest.mark.parametrize(
    ("text", "columns", "values"),
    [
        ("income * 2", {"income"}, [2, 4, np.nan]),
        ("income / hours", {"income", "hours"}, [1, np.nan, np.nan]),  # what is infinite is no number
        ('"my col" + HOURS', {"my col", "hours"}, [2, 2, 6]),
        ("case when hours > 0 then ln(exp(hours)) end", {"hours"}, [1, np.nan, 3]),
        ("hours between 1 and 3", {"hours"}, [1, 0, 1]),
        ("sex in ('a') -- a comment", {"sex"}, [1, 0, np.nan]),
        ("seen", {"seen"}, [1, np.nan, 10]),
        ("coalesce(income, 0) + 1", {"income"}, [2, 3, 1]),
        ("3", set(), [3, 3, 3]),
    ],
)
def test_a_formula_makes_a_number_of_each_row(text: str, columns: set[str], values: list[float]) -> None:
    formula = Expression.parse(text, TABLE.column_names)
    assert formula.columns == columns
    assert formula.numbers(TABLE) == pytest.approx(values, nan_ok=True)


def test_a_condition_does_not_hold_where_it_is_unknown() -> None:
    assert Expression.parse("sex = 'a' or hours = 3", TABLE.column_names).holds(TABLE).tolist() == [True, False, True]
    assert Expression.parse("not sex = 'a'", TABLE.column_names).holds(TABLE).tolist() == [False, True, False]
    with pytest.raises(UsageError, match="not a condition"):
        Expression.parse("hours", TABLE.column_names).holds(TABLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("incom", r"'incom' is not a column at position 1.*mean 'income'.*Columns: income, hours"),
        ("hours + wage", r"'wage' is not a column at position 9"),
        ("sex = female", r"'female' is not a column.*single quotes: 'female'"),
        ("source.hours", "not a column"),
        ("income +", r"not complete at position 9"),
        ("(income", "not complete"),
        ("income ) * 2", "bracket too many"),
        ("  ", "an expression is missing"),
        ("sum(income)", "'sum' is an aggregate"),
        ("row_number() over ()", "a window function cannot"),
        ("(select 1)", "a subquery cannot"),
        ("*", r"\* cannot be part"),
        ("income; drop table source", "not well formed"),
        ("income) from source; select (1", "more than one expression"),
        ("1) as value from source union all select (2", "more than one expression"),
        ("read_text('/etc/passwd')", "cannot be part|no function"),
        ("random()", "'random' cannot be part"),
        ("current_setting('threads')", "cannot be part"),
        ("nothing(income)", "no function 'nothing'"),
    ],
)
def test_what_is_no_formula_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Expression.parse(text, TABLE.column_names)


@pytest.mark.parametrize(
    "text",
    [
        "list_sum(range(100000000)) > 0",
        "length(repeat(sex, 1000000000))",
        "length(lpad(sex, 1000000000, 'x'))",
        "replace(replace(sex, 'F', 'FFFFFFFF'), 'F', 'FFFFFFFF')",
        "format('{:1000000000}', 1)",
        "sleep_ms(100000)",
        "[1, 2][1]",
        "error('x')",
    ],
)
def test_what_grows_or_waits_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"the function '\w+' cannot be part of an expression"):
        Expression.parse(text, ["age", "sex"])


def test_a_formula_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("1" * 10_001, "abs(" * 2_000 + "1" + ")" * 2_000, "'\ud800'"):
        with pytest.raises(UsageError):
            Expression.parse(text, ["age"])
    monkeypatch.setattr("pointillist.inference.sql_expression._MOST_SECONDS", 1.0)
    long = Expression.parse(" + ".join(f"sin(sqrt(age + {k}))" for k in range(300)), ["age"])
    with pytest.raises(UsageError, match="takes longer than"):
        long.evaluate(pa.table({"age": np.arange(3_000_000)}))


def test_numbers_beyond_two_to_the_53rd_are_rounded() -> None:
    assert Expression.parse("9007199254740993", ["age"]).numbers(pa.table({"age": [1]})) == [2.0**53]


def test_nothing_outside_is_reached(tmp_path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a\n1\n")
    for text in (f"(select count(*) from read_csv('{file}'))", f"(from '{file}')", f"read_blob('{file}')"):
        with pytest.raises(UsageError):
            Expression.parse(text, TABLE.column_names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex + 1", r"'sex \+ 1' cannot be worked out"),
        ("sex", "'sex' is not a number"),
        ("cast(sex as int)", "cannot be worked out"),
    ],
)
def test_what_cannot_be_worked_out_is_explained(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Expression.parse(text, TABLE.column_names).numbers(TABLE)


def test_lengths_of_time_count_in_seconds() -> None:
    assert set(Expression.parse("INTERVAL 1 day", TABLE.column_names).numbers(TABLE)) == {86_400.0}


@given(st.text(min_size=1, max_size=12).filter(lambda name: "\0" not in name))
def test_any_name_can_be_quoted(name: str) -> None:
    table = pa.table({name: [1.5, 2.5]})
    assert Expression.parse(quoted(name), [name]).numbers(table).tolist() == [1.5, 2.5]


ODD = {
    "flc.grp": 1,
    "lambda": 2,
    "order": 3,
    "x.1": 4,
    ".id": 5,
    "1st": 6,
    "größe": 7,
    "my col": 8,
    "and": 9,
    "a`b": 10,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("flc.grp + 1", 2),
        ("FLC.Grp", 1),
        ("-lambda * order", -6),
        ("x.1 + .id + 1st", 15),
        ("größe", 7),
        ('"flc.grp" + `my col`', 9),
        ('`and` + "and"', 18),
        ("`a``b`", 10),
        ("case when lambda > 1.5 and order in (3) then flc.grp end", 1),
        ("length('flc.grp') + length($$lambda$$) -- flc.grp", 13),
        ("1.5e2", 150),
    ],
)
def test_odd_names_are_understood_where_nothing_else_can_be_meant(text: str, value: float) -> None:
    table = pa.table({name: [number] for name, number in ODD.items()})
    assert Expression.parse(text, table.column_names).numbers(table).tolist() == [value]


@pytest.mark.parametrize(
    ("text", "known", "message"),
    [
        (
            "my col + 1",
            ["my col", "other"],
            r'not well formed.*Did you mean "my col"\? Such a name goes in double quotes',
        ),
        ("a-b > 1", ["a-b", "c"], r"'a' is not a column at position 1 .*Did you mean \"a-b\"\?"),
        ('"flc"."grp"', ["flc.grp"], r"""'flc.grp' is not a column.*Write "flc.grp", with one pair of quotes"""),
        ("flc.grp + flc.gpr", ["flc.grp"], r"'flc.gpr' is not a column at position 11.*Did you mean 'flc.grp'\?"),
        ("`my col` + wages", ["my col", "wage"], r"'wages' is not a column at position 12 .*Did you mean 'wage'\?"),
        ("and > 1", ["and"], r'not well formed.*Did you mean "and"\?'),
        ("`flc grp`", ["flc.grp"], r"'flc grp' is not a column.*Did you mean 'flc.grp'\?"),
    ],
)
def test_a_hint_says_how_a_name_is_written(text: str, known: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Expression.parse(text, known)


@given(st.sampled_from(sorted(ODD)), st.text(alphabet='abl.`" -1', max_size=8))
def test_no_hint_is_the_very_name_that_was_typed(name: str, other: str) -> None:
    for text in (name, quoted(name), f"{other} + {name}", f"{name}{other}"):
        try:
            message = Expression.parse(text, [name, other]).text
        except UsageError as error:
            message = str(error)
        assert f"Did you mean {text!r}" not in message


@given(st.text(max_size=30))
def test_whatever_is_written_ends_in_a_number_or_a_message(text: str) -> None:
    try:
        found = Expression.parse(text, TABLE.column_names).numbers(TABLE)
    except UsageError:
        return
    assert found.shape == (3,)


def test_times_count_in_seconds() -> None:
    assert as_numbers(pa.array([dt.datetime(1970, 1, 1, 0, 1)]), "t").tolist() == [60]
