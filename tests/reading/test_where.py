"""Where: only what is sure to mean the same on a server, and what all rows must meet."""

import pytest

from pointillist.reading.rowwise import RowWise
from pointillist.reading.where import Condition


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("age > 17", [("age", ">", (17,))]),
        ("17 < Age AND job = 'cook'", [("age", ">", (17,)), ("job", "=", ("cook",))]),
        ("age BETWEEN -1 AND 5", [("age", ">=", (-1,)), ("age", "<=", (5,))]),
        ("job IN ('cook', 'smith') AND (age = 1 OR age = 2)", [("job", "=", ("cook", "smith"))]),
        ("(age = 1 AND pay < 2) AND age <= 3", [("age", "=", (1,)), ("pay", "<", (2,)), ("age", "<=", (3,))]),
    ],
)
def test_conditions_are_found(where: str, told: list[tuple[str, str, tuple[int, ...]]]) -> None:
    found = RowWise(f"SELECT * FROM people WHERE {where}").conditions
    assert found == tuple(Condition(*each) for each in told)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM people",
        "SELECT * FROM people WHERE age = 1 OR job = 'cook'",
        "SELECT * FROM people WHERE NOT age > 17",
        "SELECT * FROM people WHERE age <> 17",
        "SELECT * FROM people WHERE age = 1.5",
        "SELECT * FROM people WHERE age = 12345678901234567890",
        "SELECT * FROM people WHERE age = pay",
        "SELECT * FROM people WHERE age = NULL",
        "SELECT * FROM people WHERE people.age = 1",
        "SELECT * FROM people WHERE age IN (1, 'a')",
        "SELECT * FROM people WHERE job > 'cook'",
        "SELECT * FROM people WHERE job = 'l''été'",
        "SELECT * FROM people WHERE job = 'it''s'",
        "SELECT * FROM people WHERE job = 'a\\b'",
        "SELECT * FROM people WHERE job COLLATE nocase = 'cook'",
        "SELECT * FROM people WHERE job NOT IN ('cook')",
        "SELECT pay AS age FROM people WHERE age = 1",
        "SELECT * FROM people AS x(age, pay) WHERE age = 1",
        "SELECT * FROM (SELECT pay AS age FROM people) WHERE age = 1",
        "WITH few AS (SELECT pay AS age FROM people) SELECT * FROM few WHERE age = 1",
    ],
)
def test_what_may_mean_something_else_is_not_told(query: str) -> None:
    assert RowWise(query).conditions == ()
