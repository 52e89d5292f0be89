"""Faulty schemas: every command that reads one refuses it, and names the rule."""

from pathlib import Path

import pytest
from tests.fixtures.command_line import Run, refused_free, release_args, synth_args, write

from pointillist.privacy.ledger import Ledger

ONE = 'name = "people"\n[columns.age]\n'


SCHEMA_FAULTS: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "not-toml": ("name = [\n", ("not valid TOML",)),
    "prose": ("This is not a schema.", ("not valid TOML", "line 1")),
    "not-text": (b"\xff\xfe\x00", ("not a text file", "UTF-8")),
    "empty": ("", ("name: is required", "columns: is required")),
    "unknown-kind": (f'{ONE}kind = "colour"', ("'age'", "kind 'colour' is not known", "categorical, ordinal")),
    "no-kind": (f"{ONE}min = 0", ("'age'", "kind is not given", "categorical, ordinal")),
    "unknown-setting": (f'{ONE}kind = "boolean"\ncolor = 1', ("'age'", "color", "check its spelling")),
    "no-max": (f'{ONE}kind = "integer"\nmin = 0', ("'age'", "max: is required")),
    "min-over-max": (f'{ONE}kind = "integer"\nmin = 9\nmax = 2', ("'age'", "min 9 is not below max 2")),
    "log-of-zero": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nscale = "log"', ("'age'", "needs min > 0")),
    "no-categories": (f'{ONE}kind = "categorical"\ncategories = []', ("'age'", "list every category")),
    "mixed-categories": (f'{ONE}kind = "ordinal"\ncategories = ["a", 1]', ("'age'", "not a mixture")),
    "all-ignored": (f'{ONE}kind = "ignore"', ("no column is left to measure",)),
    "format-99": (f'format = 99\n{ONE}kind = "boolean"', ("format 99 is not known", "Upgrade")),
    "person-measured": (f'person = {{ column = "age", max_rows = 1 }}\n{ONE}kind = "boolean"', ("'age'", '"ignore"')),
    "person-no-rows": (f'person = {{ column = "id", max_rows = 0 }}\n{ONE}kind = "boolean"', ("person.max_rows",)),
    "nan-special": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nspecial = [nan]', ("'age'", "special", "not finite")),
    "inf-special": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nspecial = [inf]', ("'age'", "special", "not finite")),
    "list-special": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nspecial = [[1]]', ("'age'", "special")),
}


@pytest.mark.parametrize("fault", SCHEMA_FAULTS)
def test_release_refuses_a_faulty_schema(run: Run, table: Path, fault: str) -> None:
    content, words = SCHEMA_FAULTS[fault]
    write("people.toml", content)
    refused_free(run, release_args(), 3, "people.toml", *words)
    assert not Ledger().path.exists()


@pytest.mark.parametrize("fault", ["not-toml", "unknown-kind", "empty"])
def test_plan_synth_and_inspect_refuse_a_faulty_schema_too(run: Run, table: Path, fault: str) -> None:
    content, words = SCHEMA_FAULTS[fault]
    write("people.toml", content)
    commands: list[list[object]] = [release_args("--plan"), synth_args(), ["inspect", "people.toml"]]
    for args in commands:
        refused_free(run, args, 3, "people.toml", *words)


def test_a_schema_file_that_is_not_there_is_named(run: Run, table: Path) -> None:
    advice = ("nowhere.toml", "no such schema file", "pointillist schema draft")
    refused_free(run, release_args(schema="nowhere.toml"), 3, *advice)
    refused_free(run, ["inspect", "nowhere.toml"], 3, *advice)


def test_a_schema_that_is_a_folder_is_refused(run: Run, table: Path) -> None:
    Path("folder.toml").mkdir()
    refused_free(run, release_args(schema="folder.toml"), 3, "folder.toml", "cannot be read")


def test_a_target_that_is_not_in_the_schema_is_refused(run: Run, table: Path) -> None:
    for args in (release_args(), release_args("--plan"), synth_args()):
        refused_free(
            run, [*args, "--target", "income"], 3, "target 'income'", "Measured columns: age, pay, job, member"
        )
