"""Table folders: parts of a table, whole or not at all."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.table_folder import is_folder, write_folder


def parts(*values: int) -> Iterator[pa.Table]:
    return (pa.table({"a": [value]}) for value in values)


def test_parts_are_read_as_one_table(tmp_path: Path) -> None:
    write_folder(parts(1, 2, 3), tmp_path / "t")
    assert sorted(each.name for each in (tmp_path / "t").iterdir()) == [f"part-0000{n}.parquet" for n in range(3)]
    assert ds.dataset(tmp_path / "t").to_table().to_pydict() == {"a": [1, 2, 3]}
    assert is_folder(tmp_path / "t")
    assert is_folder(Path("new"))
    assert not is_folder(Path("new.csv"))


def test_a_folder_is_replaced_only_when_asked_and_only_if_it_is_ours(tmp_path: Path) -> None:
    write_folder(parts(1, 2), tmp_path / "t")
    with pytest.raises(UsageError, match="is there already"):
        write_folder(parts(3), tmp_path / "t")
    write_folder(parts(3), tmp_path / "t", overwrite=True)
    assert ds.dataset(tmp_path / "t").to_table().to_pydict() == {"a": [3]}
    (tmp_path / "t" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="other things"):
        write_folder(parts(4), tmp_path / "t", overwrite=True)
    with pytest.raises(ArtefactError, match="does not exist"):
        write_folder(parts(4), tmp_path / "nowhere" / "t")


def test_what_fails_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.Table]:
        yield from parts(1)
        raise UsageError("on the way")

    with pytest.raises(UsageError, match="on the way"):
        write_folder(broken(), tmp_path / "t")
    assert list(tmp_path.iterdir()) == []
