"""Values that no row can have are a slip, told with the values that there are."""

import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.inference.condition_values import require_known
from pointillist.inference.sql_expression import Expression

COLUMNS = {
    "sex": pt.Categorical(categories=("F", "M")),
    "Grade": pt.Categorical(categories=(1, 2, 3)),
    "age": pt.Integer(min=0, max=99),
    "smoker": pt.Boolean(),
}


def check(text: str) -> None:
    require_known(Expression.parse(text, list(COLUMNS)), COLUMNS)


@pytest.mark.parametrize(
    "text",
    ["sex = 'F'", "'M' = sex", "sex in ('F', 'M')", "sex <> 'M' and age = 200", "grade = 2", "Grade = 2.0", "smoker"],
)
def test_values_that_are_there_pass(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ["sex = 'X'", "sex in ('F', 'X')", "not (age > 3 and sex = 'X')", "sex <> 'X'"])
def test_others_are_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(UsageError, match=r"'X' is not a value of column 'sex'.*'F', 'M'"):
        check(text)
    with pytest.raises(UsageError, match=r"'4' is not a value of column 'Grade'.*1, 2, 3"):
        check("grade = 4")


def test_a_query_and_a_question_are_refused(counted: pt.Received) -> None:
    for ask in (
        lambda: pt.inference.answer(counted, "mean(x) where kind = 'z'"),
        lambda: counted.probability("kind = 'z'"),
        lambda: counted.expect("x", where="kind = 'z'"),
    ):
        with pytest.raises(UsageError, match="'z' is not a value of column 'kind'"):
            ask()
