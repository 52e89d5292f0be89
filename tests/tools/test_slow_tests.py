"""The list of slow tests: what is measured replaces what was known, and the rest stays."""

from pathlib import Path

from tools.slow_tests import LIST, merged, read, write


def test_what_was_measured_replaces_what_was_known() -> None:
    spent = {"tests/a.py::test_quick": 0.1, "tests/a.py::TestIt::test_slow": 3.0, "tests/b.py::test_was_slow": 0.2}
    assert merged({"test_was_slow", "test_elsewhere"}, spent) == {"test_slow", "test_elsewhere"}


def test_the_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    write({"test_b", "test_a"}, tmp_path / "slow.txt")
    assert (tmp_path / "slow.txt").read_text().splitlines()[1:] == ["test_a", "test_b"]
    assert read(tmp_path / "slow.txt") == {"test_a", "test_b"}
    assert read(LIST)
