"""The command line's conditions, balance and constraints."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.fixtures.command_line import Outcome

import pointillist as pt

SCHEMA = pt.Schema(
    name="people",
    columns={
        "sex": pt.Categorical(categories=("F", "M"), missing=False, out_of_domain="error"),
        "age": pt.Integer(min=0, max=110, missing=False),
        "income": pt.Ordinal(categories=("<=50K", ">50K"), missing=False, out_of_domain="error"),
        "a=b": pt.Boolean(),
        "seen": pt.Datetime(min="2020-01-01", max="2020-12-31"),
    },
)
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(run: Callable[..., Outcome], random_model: Callable[..., pt.Model]) -> Run:
    """Run a command beside a model, as people.model; its code, and all that it printed on one line."""
    random_model(SCHEMA).save("people.model")

    def call(*args: object) -> tuple[int, str]:
        outcome = run(*args)
        return outcome.code, " ".join((outcome.out + outcome.err).split())

    return call


def sampled(run: Run, *options: object) -> pa.Table:
    code, shown = run("sample", "people.model", "-n", 60, "-o", "made.parquet", *options)
    assert code == 0, shown
    return parquet.read_table("made.parquet")


def test_conditions_and_balance(run: Run) -> None:
    table = sampled(run, "--given", "sex=F", "--given", "age=30..40", "--balance", "income", "--seed", 1)
    assert set(table["sex"].to_pylist()) == {"F"}
    assert all(30 <= age <= 40 for age in table["age"].to_pylist())
    assert sorted(table["income"].to_pylist()) == ["<=50K"] * 30 + [">50K"] * 30


def test_alternatives_gaps_open_ends_and_names_with_an_equals_sign(run: Run) -> None:
    table = sampled(
        run, "--given", "age=5", "--given", "age=100..", "--given", "a=b=", "--given", "seen=..2020-03-01"
    )  # fmt: skip
    assert all(age == 5 or age >= 100 for age in table["age"].to_pylist())
    assert table["a=b"].null_count == 60
    assert all(str(day) <= "2020-03-01" for day in table["seen"].to_pylist())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--given", "weight=3"], ("--given 'weight=3'", "COLUMN=VALUE", "Columns: sex, age, income")),
        (["--given", "age"], ("--given 'age'", "COLUMN=VALUE")),
        (["--given", "age=old"], ("column 'age'", "'old' is neither a number nor a range such as 30..40")),
        (["--given", "age=40..30"], ("column 'age'", "is reversed")),
        (["--given", "sex=female"], ("column 'sex'", "'female' is not one of its values: 'F', 'M'")),
        (["--given", "sex="], ("column 'sex'", "never missing")),
        (["--balance", "seen"], ("balance: column 'seen' is datetime", "no classes")),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(
    run: Run, options: list[object], words: tuple[str, ...]
) -> None:
    code, shown = run("sample", "people.model", "-n", 5, "-o", "made.csv", *options)
    assert code == 2
    for word in words:
        assert word in shown
    assert not Path("made.csv").exists()


def test_constraints_of_a_schema_file_reach_the_sample(run: Run) -> None:
    """From the TOML file through release and fit to the rows; `inspect` shows them."""
    constraints = '[[constraints]]\nimpossible = { sex = "M", age = { min = 50 } }\n'
    Path("people.toml").write_text(SCHEMA.to_toml() + "\n" + constraints)
    rows = "".join(f"{'FM'[i % 2]},{i % 99},>50K,true,2020-05-0{1 + i % 9}\n" for i in range(300))
    Path("people.csv").write_text("sex,age,income,a=b,seen\n" + rows)
    code, shown = run(
        "synth", "people.csv", "--schema", "people.toml", "--epsilon", 1, "-n", 400, "-o", "made.parquet",
    )  # fmt: skip
    assert code == 0, shown
    made = parquet.read_table("made.parquet").to_pylist()
    assert len(made) == 400
    assert not any(row["sex"] == "M" and row["age"] >= 50 for row in made)
    assert any(row["sex"] == "M" for row in made)
    assert "Constraint: sex = M and age = 50.. is impossible." in run("inspect", "people.toml")[1]


def test_a_faulty_constraint_is_refused_before_anything_is_read(run: Run) -> None:
    Path("people.toml").write_text(SCHEMA.to_toml() + '\n[[constraints]]\nrule = "age <= seen"\n')
    code, shown = run("release", "nowhere.csv", "--schema", "people.toml", "--epsilon", 1, "-o", "a.release")
    assert code == 3
    assert "people.toml: constraint 1 (age <= seen): column 'age' is a number and column 'seen' a date" in shown


def test_a_file_in_another_form(run: Run) -> None:
    code, shown = run("sample", "people.model", "-n", 5, "-o", "made.csv", "--delimiter", ";", "--decimal", ",")
    assert code == 0, shown
    assert Path("made.csv").read_text().splitlines()[0] == '"sex";"age";"income";"a=b";"seen"'
    code, shown = run("sample", "people.model", "-n", 5, "-o", "other.csv", "--delimiter", "ab")
    assert code == 2, shown
    assert "--delimiter must be one character" in shown
