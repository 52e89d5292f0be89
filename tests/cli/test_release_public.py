"""The command line's public rows: landmarks weight them, other methods refuse them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from tests.fixtures.command_line import Outcome

import pointillist as pt
from pointillist.privacy.ledger import Ledger

SCHEMA = pt.Schema(
    name="people",
    rows=600,
    columns={
        "sex": pt.Categorical(categories=("F", "M"), missing=False, out_of_domain="error"),
        "age": pt.Integer(min=0, max=110, missing=False),
    },
)
Run = Callable[..., tuple[int, str]]


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({"sex": rng.choice(["F", "M"], rows, p=[0.8, 0.2]), "age": rng.integers(20, 60, rows)})


@pytest.fixture
def run(run: Callable[..., Outcome]) -> Run:
    """Run a command beside people.csv, people.toml and public.csv; its code, and what it printed on one line."""
    Path("people.toml").write_text(SCHEMA.to_toml())
    pacsv.write_csv(people(600, 0), "people.csv")
    pacsv.write_csv(people(50, 1), "public.csv")

    def call(*args: object) -> tuple[int, str]:
        outcome = run(*args)
        return outcome.code, " ".join((outcome.out + outcome.err).split())

    return call


LANDMARKS = ("people.csv", "--schema", "people.toml", "--epsilon", 2, "--method", "landmarks", "--public", "public.csv")


def test_release_fit_and_sample_with_public_rows(run: Run) -> None:
    code, shown = run("release", *LANDMARKS, "-o", "people.release")
    assert code == 0, shown
    assert "among 50 public points" in shown
    assert run("fit", "people.release", "-o", "people.model", "-q") == (0, "")
    assert run("sample", "people.model", "-n", 200, "--seed", 1, "-o", "made.csv", "-q") == (0, "")
    made = pacsv.read_csv("made.csv")
    assert made.num_rows == 200
    assert set(made["sex"].to_pylist()) == {"F", "M"}
    assert pt.Model.load("people.model").generator.records.rows == 50


def test_synth_in_one_go(run: Run) -> None:
    code, shown = run("synth", *LANDMARKS, "-n", 30, "-o", "made.csv")
    assert code == 0, shown
    assert pacsv.read_csv("made.csv").num_rows == 30


def test_a_plan_shows_the_landmarks_and_touches_no_private_data(run: Run) -> None:
    Path("people.csv").unlink()
    code, shown = run("release", *LANDMARKS, "--plan", "--json")
    assert code == 0, shown
    facts = json.loads(shown)
    assert facts["options"]["points"]["rows"] == 50
    assert 1 <= facts["options"]["number"] <= 50
    assert "public points" in facts["notes"][0]


def test_without_a_file_points_come_from_the_schema(run: Run) -> None:
    code, shown = run("release", *LANDMARKS[:-2], "--plan")
    assert code == 0, shown
    assert "among 4,096 public points" in shown


@pytest.mark.parametrize("command", ["release", "synth"])
@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("--method", "merf"), 2, ("--public", "--method landmarks", "merf")),
        (("--public", "absent.csv"), 4, ("absent.csv",)),
        (("--public", "narrow.csv"), 4, ("narrow.csv", "'age'")),
        (("--public", "odd.csv"), 4, ("odd.csv", "'sex'")),
        (("--public", "empty.csv"), 4, ("empty.csv", "no rows")),
    ],
)
def test_mistakes_are_named_and_spend_nothing(
    run: Run, command: str, change: tuple[str, str], code: int, said: tuple[str, ...]
) -> None:
    pacsv.write_csv(people(5, 1).drop_columns("age"), "narrow.csv")
    pacsv.write_csv(people(2, 1).set_column(0, "sex", pa.array(["F", "SECRETVALUE"])), "odd.csv")
    pacsv.write_csv(people(0, 1), "empty.csv")
    output = "made.csv" if command == "synth" else "people.release"
    ended, shown = run(command, *LANDMARKS, *change, "-o", output)
    assert ended == code, shown
    for each in said:
        assert each in shown
    assert "SECRETVALUE" not in shown
    assert not Path(output).exists()
    assert not Ledger().accounts()


def test_public_rows_are_not_written_over(run: Run) -> None:
    before = Path("public.csv").read_bytes()
    code, shown = run("release", *LANDMARKS, "-o", "public.csv", "--overwrite")
    assert code == 2, shown
    assert Path("public.csv").read_bytes() == before


@pytest.mark.parametrize("command", ["release", "synth"])
@pytest.mark.parametrize("name", ["people.csv", "./people.csv", "link.csv"])
def test_the_private_table_is_never_taken_for_public(run: Run, command: str, name: str) -> None:
    """Public rows are copied into the release: the same file for both would publish every row."""
    Path("link.csv").symlink_to("people.csv")
    code, shown = run(command, *LANDMARKS[:-1], name, "-o", "out.csv" if command == "synth" else "people.release")
    assert code != 0
    assert "--public names the private table itself" in shown
    assert not Path("people.release").exists()
    assert not Path("out.release").exists()


@pytest.mark.parametrize("command", ["release", "synth"])
def test_a_copy_of_the_private_table_is_refused_unless_it_is_said_to_be_public(run: Run, command: str) -> None:
    pacsv.write_csv(people(600, 0).take(np.random.default_rng(2).permutation(600)), "copy.csv")
    output = "out.csv" if command == "synth" else "people.release"
    code, shown = run(command, *LANDMARKS[:-1], "copy.csv", "-o", output)
    assert code == 2, shown
    assert "--public-overlap" in shown
    assert not Path(output).exists()
    assert not Ledger().accounts()
    code, shown = run(command, *LANDMARKS[:-1], "copy.csv", "--public-overlap", "-o", output)
    assert code == 0, shown


def test_an_overlap_needs_public_rows(run: Run) -> None:
    code, shown = run("release", *LANDMARKS[:-2], "--public-overlap", "-o", "people.release")
    assert code == 2, shown
    assert "--public" in shown
