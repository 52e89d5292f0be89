"""`pointillist contribute`: one owner's part."""

import json
from pathlib import Path

import pytest
from tests.fixtures.command_line import (
    Run,
    refused,
    refused_free,
    schema_text,
    spends,
    write,
)

import pointillist as pt
from pointillist.owners.part import Part

PART: list[object] = ["contribute", "people.csv", "--plan", "people.plan", "--owner", 2, "-o", "2.part"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("plan")
    return pt.shared_plan(write(folder / "people.toml", schema_text()), owners=3, epsilon=1.0).to_bytes()


@pytest.fixture(autouse=True)
def plan(table: Path, made: bytes) -> Path:
    return write("people.plan", made)


def test_a_part_is_written_and_booked(run: Run) -> None:
    shown = run(*PART).shown
    assert "Promise: ε = 1" in shown
    assert "trust nobody" in shown
    assert "Round 1 of 3: owner 2's part is written to 2.part." in shown
    assert "pointillist merge *.part --plan people.plan" in shown
    (spend,) = spends()
    assert (spend.dataset, spend.epsilon, spend.state) == ("people", 1.0, "done")
    assert "owner 2 of 3, round 1 of 3" in spend.purpose
    assert Part.load("2.part").owner == 2


def test_facts_for_a_program_and_an_account_of_ones_own(run: Run) -> None:
    told = json.loads(run(*PART, "--json", "--account", "own").out)
    assert (told["part"], told["owner"], told["round"], told["of"]) == ("2.part", 2, 1, 3)
    assert [each.dataset for each in spends()] == ["own"]


def test_a_second_part_is_refused_and_spends_nothing(run: Run) -> None:
    run(*PART, "-q")
    refused(run, [*PART, "-o", "again.part"], 5, "has contributed to round 1 of this plan already", "Nothing was spent")
    assert len(spends()) == 1


REFUSED: list[tuple[list[object], int, str]] = [
    (["--owner", 4], 2, "numbered from 1"),
    (["--owner", 0], 2, "numbered from 1"),
    (["--plan", "people.toml"], 6, "people.toml: not a pointillist file"),
    (["--plan", "none.plan"], 6, "none.plan: no such file"),
    (["--key", "2.key"], 2, "no key is needed"),
    (["-o", "people.csv"], 2, "would be written over"),
    (["-o", "none/2.part"], 6, "folder does not exist"),
]


def test_arguments_that_are_refused(run: Run) -> None:
    for options, code, words in REFUSED:
        refused_free(run, [*PART, *options], code, words)


def test_a_table_of_another_schema(run: Run) -> None:
    write("people.csv", "id,age,job,member\n1,30,cook,yes\n")
    refused_free(run, PART, 4, "column 'pay' of the schema is not in the table")


def test_a_plan_that_stops_at_a_value_is_refused(run: Run) -> None:
    write("strict.toml", schema_text(job='kind = "categorical"\ncategories = ["cook"]\nout_of_domain = "error"'))
    run("plan", "strict.toml", "--epsilon", 1, "--owners", 3, "-o", "people.plan", "-q", "--overwrite")
    refused_free(run, PART, 2, "job")


def test_a_damaged_plan(run: Run) -> None:
    content = bytearray(Path("people.plan").read_bytes())
    content[len(content) // 2] ^= 255
    write("people.plan", bytes(content))
    refused_free(run, PART, 6, "people.plan")


def test_a_part_is_made_by_the_engine_that_is_asked_for(run: Run) -> None:
    refused_free(run, [*PART, "--engine", "abacus"], 2, "engine 'abacus' is not known", "spark, dask, local")
    refused_free(run, [*PART, "--threads", 0], 2, "--threads must be at least 1")
    refused_free(run, [*PART, "--master", "spark://host"], 2, "--master goes with --engine")
    refused_free(run, [*PART, "--engine", "spark", "--master", "spark://127.0.0.1:9"], 2, "nobody answers there")
    assert run(*PART, "--engine", "local", "--threads", 2, "-q").code == 0
    assert Part.load("2.part").owner == 2
