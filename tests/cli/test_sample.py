"""`pointillist sample`."""

from pathlib import Path

import pytest
from pyarrow import parquet
from tests.fixtures.command_line import JOBS, Made, Run, read, refused_free, synth_args


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_sample_gives_the_same_file_for_the_same_seed(run: Run, made: Made, ending: str) -> None:
    files = [Path(f"{name}{ending}") for name in ("first", "second", "other")]
    for file, seed in zip(files, (3, 3, 4), strict=True):
        outcome = run("sample", "people.model", "-o", file, "-n", 70, "--seed", seed)
        assert outcome.code == 0
        assert f"70 synthetic rows written to {file}" in outcome.shown
    first, second, other = (read(file) for file in files)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert first.equals(second)
    assert not first.equals(other)
    assert first.num_rows == 70
    assert first.column_names == ["age", "pay", "job", "member"]
    assert set(first["job"].to_pylist()) <= {*JOBS, "other", None, ""}
    assert all(value is None or 0 <= value <= 120 for value in first["age"].to_pylist())


def test_sample_makes_about_as_many_rows_as_there_were(run: Run, made: Made) -> None:
    assert run("sample", "people.model", "-o", "made.csv", "--quiet").code == 0
    assert 20 < read("made.csv").num_rows < 400


@pytest.mark.parametrize("count", [0, -5])
def test_sampling_fewer_than_one_row_is_refused(run: Run, table: Path, made: Made, count: int) -> None:
    words = ("-n / --rows must be at least 1", str(count))
    refused_free(run, ["sample", "people.model", "-o", "made.csv", "-n", count], 2, *words)
    refused_free(run, synth_args("-n", count), 2, *words)


def test_a_name_without_ending_is_a_folder_for_any_number_of_rows(run: Run, made: Made) -> None:
    assert run("sample", "people.model", "-n", 70, "-o", "many/").code == 0
    assert [path.name for path in Path("many").iterdir()] == ["part-00000.parquet"]
    assert parquet.read_table("many").num_rows == 70
    refused_free(run, ["sample", "people.model", "-n", 70, "-o", "many"], 2, "many", "not empty", "--overwrite")
    refused_free(run, ["sample", "people.model", "-n", 10**9, "-o", "many.csv"], 2, "at most 20,000,000", "a folder")
