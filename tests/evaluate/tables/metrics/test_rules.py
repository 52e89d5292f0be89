"""Rules as a whole: found, graded by the worst, shown with what to do; each thing is said once."""

import numpy as np
import pyarrow as pa
from tests.fixtures.spoiled import FAULTS, SCHEMA, registry, spoiled, table

from pointillist.evaluate.tables.metrics.rules import Rules, rules
from pointillist.evaluate.tables.rules.base import Rule
from pointillist.evaluate.tables.sample import read

REAL = read(table(registry(1)), SCHEMA)


def test_the_rules_of_the_registry() -> None:
    found = rules(REAL, read(table(registry(2)), SCHEMA))
    texts = {rule.text for rule in found.rules if rule.kind != "range"}
    assert texts == {
        "building follows from ward",
        "hour = time // 100",
        "time is a clock time (HHMM): its last two digits are below 60",
        "lower <= upper",
        "sex = male is never with pregnant = True",
        "cause is missing exactly when alive is True",
    }
    assert found.broken == ()
    (point,) = found.points()
    assert (point.question, point.grade, point.advice) == ("rules", "good", ())
    assert found.lines() == ()


def test_broken_ones_come_first_with_their_rate_and_what_to_do() -> None:
    found = rules(REAL, read(spoiled(FAULTS["function broken"]), SCHEMA))
    assert found.rules[0].text == "building follows from ward"
    assert 0.1 < found.rules[0].broken < 0.3
    assert any("building follows from ward" in line for line in found.lines())
    (point,) = found.points()
    assert point.advice == found.rules[0].advice[:1]
    (section,) = found.sections()
    page = str(section.__html__())
    assert page.index("building follows from ward") < page.index("lower &lt;= upper")
    assert "kind = &#34;ignore&#34;" in page


def test_grades_at_their_edges() -> None:
    def graded(*broken: float) -> str:
        found = Rules(tuple(Rule("order", "a <= b", ("a", "b"), each) for each in broken), 10_000)
        return found.points()[0].grade

    assert [graded(0.004), graded(0.02, 0.001), graded(0.2, 0.02)] == ["good", "fair", "poor"]


def test_few_rows_have_no_rules() -> None:
    few = REAL.take(np.arange(50))
    assert rules(few, few) == Rules((), 50)
    assert Rules((), 50).points() == Rules((), 50).sections() == ()


def test_a_table() -> None:
    found = Rules((Rule("order", "a <= b", ("a", "b"), 0.5),), 1_000).table()
    assert found.equals(pa.table({"rule": ["a <= b"], "kind": ["order"], "broken": [0.5]}))
