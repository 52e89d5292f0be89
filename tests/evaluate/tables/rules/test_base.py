"""What those that look for rules are given: values of both tables under one numbering, gaps, numbers where there are."""

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.rules.base import RULES, Rule, facts_of
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(
    name="base",
    columns={
        "x": pt.Real(min=0, max=10),
        "k": pt.Categorical(categories=("a", "b"), missing=False),
        "n": pt.Categorical(categories=(1, 5), missing=True, out_of_domain="error"),
    },
)


def test_values_of_both_tables() -> None:
    real = read(pa.table({"x": [1.0, 2.5, None], "k": ["a", "b", "a"], "n": [5, None, 1]}), SCHEMA)
    made = read(pa.table({"x": [2.5, None], "k": ["b", "b"], "n": [1, 5]}), SCHEMA)
    x, k, n = facts_of(real, made).columns
    assert x.real[1] == x.synthetic[0]
    assert x.real[2] == x.synthetic[1]
    assert (x.size, x.distinct, x.whole, x.counted) == (3, 3, False, True)
    assert [gaps.tolist() for gaps in x.gaps] == [[False, False, True], [False, True]]
    assert (k.counted, k.distinct, k.counts.tolist()) == (False, 2, [2, 1, 0])
    assert n.counted
    np.testing.assert_array_equal(n.numbers[0], [5.0, np.nan, 1.0])


def test_whole_numbers_among_reals_are_whole() -> None:
    schema = pt.Schema(name="reals", columns={"x": pt.Real(min=0.3, max=2_400, scale="log", missing=False)})
    sample = read(pa.table({"x": np.arange(1.0, 500.0)}), schema)
    (column,) = facts_of(sample, sample).columns
    assert column.whole
    np.testing.assert_array_equal(column.numbers[0], np.arange(1.0, 500.0))


def test_kinds_of_rules_are_files() -> None:
    assert list(RULES) == ["formula", "gap", "function", "order", "never together", "clock time", "range"]


def test_beyond_chance() -> None:
    assert Rule("order", "a <= b", ("a", "b"), 0.25, (), 0.5).beyond == 0.0
    assert Rule("order", "a <= b", ("a", "b"), 0.75, (), 0.5).beyond == 0.25
