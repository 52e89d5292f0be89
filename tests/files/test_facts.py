"""Facts from a file: each is of its kind and within its limits, or refused by name."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from pointillist.files import facts

GOOD: list[tuple[Callable[[dict[str, Any], str], Any], Any, Any]] = [
    (lambda f, n: facts.whole(f, n, 0, 9), 9, 9),
    (facts.real, 3, 3.0),
    (lambda f, n: facts.real(f, n, 0, 1), 0.5, 0.5),
    (facts.text, "name", "name"),
    (facts.flag, False, False),
    (facts.texts, ["a", "b"], ("a", "b")),
    (lambda f, n: facts.wholes(f, n, -1, 1), [1, -1, 1], (1, -1, 1)),
    (lambda f, n: facts.wholes(f, n, 0, 1), [], ()),
    (lambda f, n: facts.reals(f, n, 0, 1), [0, 0.5], (0.0, 0.5)),
    (facts.table, {"a": 1}, {"a": 1}),
    (lambda f, n: facts.optional(f, n, facts.text), None, None),
    (lambda f, n: facts.optional(f, n, facts.text), "x", "x"),
]
BAD: list[tuple[Callable[[dict[str, Any], str], Any], list[Any]]] = [
    (lambda f, n: facts.whole(f, n, 0, 9), [True, 10, -1, 1.0, "1", None, 10**400]),
    (facts.real, [True, math.nan, math.inf, "1", None]),
    (lambda f, n: facts.real(f, n, 0, 1), [-1e-9, 1.1, 10**300]),
    (facts.text, [1, None, "x" * (facts.LONGEST + 1), ["x"]]),
    (facts.flag, [0, 1, "true", None]),
    (facts.texts, [["a", "a"], "ab", [1], None, {"a": "b"}]),
    (lambda f, n: facts.wholes(f, n, 0, 1), [[2], [True], [0.0], "01", None]),
    (lambda f, n: facts.reals(f, n, 0, 1), [[2], [True], [math.nan], 0.5]),
    (facts.table, [[], "a", None, 3]),
    (lambda f, n: facts.optional(f, n, facts.text), [3, []]),
    (lambda f, n: facts.listed(f, n, facts.text, most=1), [["a", "b"]]),
]


@pytest.mark.parametrize(("read", "value", "found"), GOOD)
def test_what_holds_is_read(read: Callable[[dict[str, Any], str], Any], value: Any, found: Any) -> None:
    got = read({"fact": value}, "fact")
    assert got == found
    assert type(got) is type(found)


@pytest.mark.parametrize(("read", "value"), [(read, value) for read, values in BAD for value in values])
def test_what_does_not_hold_is_refused_by_name(read: Callable[[dict[str, Any], str], Any], value: Any) -> None:
    with pytest.raises((ValueError, OverflowError)) as caught:
        read({"fact": value}, "fact")
    assert "fact" in str(caught.value) or isinstance(caught.value, OverflowError)


def test_a_fact_that_is_not_there_is_missed() -> None:
    with pytest.raises(KeyError):
        facts.text({}, "fact")
