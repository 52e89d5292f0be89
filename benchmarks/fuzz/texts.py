"""Texts: schemas in TOML, and questions to a release."""

import re
from pathlib import Path
from random import Random

from benchmarks.fuzz import base
from benchmarks.fuzz.kind import Attempt, Kind
from benchmarks.fuzz.mutation import NUMBERS, TEXTS, garbled, other_value
from benchmarks.fuzz.reading import IMAGES, TABLE
from pointillist.cli.show.answers import show_answers
from pointillist.cli.show.plan import show_plan
from pointillist.cli.show.schema import show_schema
from pointillist.curator.releasing import plan
from pointillist.files.toml_text import written
from pointillist.inference.query_language import answer
from pointillist.schema import Person, Schema
from pointillist.schema.constraints import Impossible, Order
from pointillist.schema.levels import levels_of

_BASES = (
    TABLE,
    TABLE.model_copy(
        update={
            "person": Person(column="id", max_rows=3),
            "constraints": (
                Order(columns=("age", "income")),
                Impossible(impossible={"sex": "male", "age": {"min": 3, "max": 9}}),
            ),
        }
    ),
    IMAGES,
)


def _toml(rng: Random, folder: Path) -> Attempt:
    lines = rng.choice(_BASES).to_toml().splitlines(keepends=True)
    for _ in range(rng.randint(0, 4)):
        place = rng.randrange(len(lines))
        kind = rng.randrange(5)
        if kind == 0:
            lines[place] = re.sub(r"= .*", lambda _: f"= {_value(rng)}", lines[place])
        elif kind == 1:
            lines[place] = ""
        elif kind == 2:
            lines.insert(place, rng.choice(lines))
        elif kind == 3:
            lines[place] = garbled(lines[place], rng, 2)
        else:
            name = rng.choice(
                ("min", "max", "special", "categories", "missing", "scale", "format", "rows", "kind", "levels")
            )
            lines.insert(place, f"{name} = {_value(rng)}\n")
    text = "".join(lines)
    if rng.random() < 0.02:
        text += f"\nx = {'[' * 5000}{']' * 5000}\n"
    path = folder / "t.toml"
    path.write_bytes(garbled(text, rng, 1).encode("utf-8", "surrogatepass") if rng.random() < 0.3 else text.encode())
    return lambda: _schema(path)


def _value(rng: Random) -> str:
    value = other_value(rng)
    try:
        return "1" * 400 if value is None else written(value)
    except ValueError:
        return rng.choice(TEXTS)


def _schema(path: Path) -> None:
    """What every command does with a schema first."""
    schema = Schema.load(path)
    again = path.with_suffix(".again.toml")
    again.write_text(schema.to_toml(), encoding="utf-8")
    if Schema.load(again) != schema:
        raise AssertionError("a schema is another one after it was written and read")
    levels_of(schema)
    show_schema(schema)
    show_plan(plan(schema, epsilon=1.0))


_NUMBERS = ("age", "income", "age + income", "ln(age + 1)", "abs(income - 50)", "case when sex = 'male' then age end")
_EVENTS = ("age > 40", "sex = 'male'", '"a b"', "income is null", "seen < DATE '2022-01-01'", "age between 20 and 30")
_NAMES = ("sex", "age", "income", "seen", '"a b"', "AGE", "nope", "base.age", "lambda", '"', "*")
_CONSTANTS = (
    "'female'",
    "'x'",
    "40",
    "0.5",
    "DATE '2021-01-01'",
    "NULL",
    "true",
    "INTERVAL 1 day",
    "9007199254740993",
    "1e400",
)
_PATTERNS = (
    "{0} + {1}", "{0} / {1}", "{0} > {1}", "{0} = {1}", "{0} and {1}", "not {0}", "({0})", "{0} in ({1}, {1})",
    "{0} is null", "{0} between {1} and {1}", "case when {0} then {1} end",
    "cast({0} as integer)", "{0}::varchar", "abs({0})", "ln({0})",
    "year({0})", "concat({0}, {1})", "coalesce({0}, {1})", "range({0})", "repeat({0}, {1})", "sum({0})", "{0} like {1}",
    "(select {0})", "{0} over ()", "{0} ^ {1}", "{0} || {1}", "-{0}", "[{0}]", "list_sum(range(100000000))", "random()",
    "date_diff('day', {0}, {1})", "{0} -> {1}", "{0}[{1}]", "strftime({0}, {1})", "regexp_matches({0}, {1})",
)  # fmt: skip
_ASKED = (
    "count()",
    "share()",
    "mean({0})",
    "sum({0})",
    "median({0})",
    "quantile({0}, {1})",
    "correlation({0}, {0})",
    "max({0})",
)


def _formula(rng: Random, depth: int, usual: tuple[str, ...] = ()) -> str:
    if usual and rng.random() < 0.6:
        return rng.choice(usual)
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(_NAMES if rng.random() < 0.7 else _CONSTANTS)
    if rng.random() < 0.03:
        return rng.choice(("(", "-", "not ", "abs(")) * rng.choice((50, 2_000)) + _formula(rng, 0)
    return rng.choice(_PATTERNS).replace("{0}", _formula(rng, depth - 1)).replace("{1}", _formula(rng, depth - 1))


def _question(rng: Random) -> str:
    asked = [
        rng.choice(_ASKED)
        .replace("{0}", _formula(rng, rng.randint(0, 2), _NUMBERS))
        .replace("{1}", str(0.9 if rng.random() < 0.7 else rng.choice(NUMBERS)))
        for _ in range(rng.choice((1, 1, 1, 2, 5)))
    ]
    text = ", ".join(asked)
    if rng.random() < 0.5:
        text += f" where {_formula(rng, 2, _EVENTS)}"
    if rng.random() < 0.3:
        text += f" group by {', '.join(rng.choice(_NAMES) for _ in range(rng.randint(1, 3)))}"
    return garbled(text, rng, 2) if rng.random() < 0.3 else text


def _query(rng: Random, _: Path) -> Attempt:
    text = _question(rng)

    def ask() -> None:
        found = answer(base.received(), text)
        found.to_json()
        show_answers("base", found)

    return ask


KINDS = (Kind("toml", _toml, 4), Kind("query", _query, 4))
