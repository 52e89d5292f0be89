"""Paths that Spark reads: of one kind and one state, watched while they are read; and what they may not be."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pointillist.engines.spark import Spark
from pointillist.errors import DataError, PointillistError
from pointillist.files.urls import Url
from pointillist.reading.csv_folders import CsvFolder
from pointillist.reading.spark_frames import SparkFrame
from pointillist.reading.spark_paths import _folders, _for_spark, _kind, at_path

ROWS = pa.table({"a": [1, 2, 3]})


def put(path: Path) -> Path:
    """A file of rows, or of something else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(ROWS, path)
    else:
        path.write_text("a\n1\n")
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hdfs://host/data/people", None),
        ("hdfs://host/data/people.csv", "csv"),
        ("s3a://bucket/people.tsv.gz", "csv"),
        ("people.csv.bz2", "csv"),
        ("s3a://bucket/people.orc/", "orc"),
        ("people.Parquet/*", "parquet"),
        ("people.arrow", "ipc"),
        ("people.xlsx", None),
    ],
)
def test_the_name_says_what_a_file_holds(name: str, kind: str | None) -> None:
    assert _kind(name) == kind


def test_spark_gets_parquet_and_orc_alone(tmp_path: Path) -> None:
    for name in (
        "csv/a.csv",
        "csv/_SUCCESS",
        "photos/cat/1.png",
        "some [1] %20/a.parquet",
        "mixed/a.parquet",
        "mixed/b.csv",
    ):
        put(tmp_path / name)
    for name in ("csv", "csv/a.csv", "photos", "mixed", "absent", "absent.csv"):
        assert _for_spark(tmp_path / name) is None
    assert _for_spark(tmp_path / "some [1] %20") == f"file://{tmp_path}/some \\[1\\] %20"
    assert _for_spark(Path("data/*.parquet")) == "data/*.parquet"


@pytest.mark.parametrize(
    ("place", "above"),
    [
        ("hdfs://host/t/", []),
        ("hdfs://host/t/*", ["hdfs://host/t"]),
        ("hdfs://host/t/day=1/h=2", ["hdfs://host/t/day=1", "hdfs://host/t"]),
        ("s3a://bucket/t.parquet", ["s3a://bucket"]),
        ("s3a://user=1@bucket", []),
    ],
)
def test_what_may_be_a_part_of_a_table(place: str, above: list[str]) -> None:
    assert _folders(place) == [place.rstrip("/"), *above]


@pytest.mark.parametrize("name", ["people.csv", "people.tsv.gz", "people.txt"])
def test_csv_at_an_address_is_refused_before_spark_is_asked(name: str) -> None:
    with pytest.raises(DataError, match=rf"^hdfs://host/{name}: Spark takes each line of a CSV file for a row"):
        at_path(None, Url.parse(f"hdfs://me:SECRET@host/{name}"))


@pytest.mark.parametrize("text", ["s3a://AKIA:SE/CRET@bucket/p.parquet", " s3a://AKIA:SE/CRET@bucket/p.parquet"])
def test_an_address_whose_secret_has_a_slash_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(PointillistError, match=":// address") as caught:
        Spark().open(text)
    assert "CRET" not in str(caught.value)
    assert "AKIA" not in str(caught.value)


@pytest.mark.xdist_group("spark")
class TestOnSpark:
    """What Spark itself must be asked for."""

    @pytest.mark.parametrize(
        ("sign", "kind"), [("_delta_log/00000000000000000000.json", "Delta"), ("metadata/v1.metadata.json", "Iceberg")]
    )
    def test_tables_of_many_states_are_refused(self, spark: Any, tmp_path: Path, sign: str, kind: str) -> None:
        put(tmp_path / "t" / "day=1" / "a.parquet")
        put(tmp_path / "t" / sign)
        parts = ("t", "t/day=1", "t/day=1/a.parquet", "t/*", "*")
        for place in (*(str(tmp_path / each) for each in parts[:3]), *(f"file://{tmp_path}/{each}" for each in parts)):
            with pytest.raises(DataError, match=f"is a {kind} table, or a part of one"):
                Spark().open(place)

    def test_folders_of_several_kinds_are_refused_wherever_they_are(self, spark: Any, tmp_path: Path) -> None:
        put(tmp_path / "t" / "a.parquet")
        put(tmp_path / "t" / "b.csv")
        with pytest.raises(DataError, match="and not several of them"):
            Spark().open(tmp_path / "t")
        with pytest.raises(DataError, match="Spark takes each line of a CSV file for a row"):
            Spark().open(f"file://{tmp_path}/t*")  # a pattern: it is Spark that looks for files
        (tmp_path / "t" / "b.csv").rename(tmp_path / "t" / "b.orc")
        with pytest.raises(DataError, match="must hold Parquet files, or ORC files, and nothing else"):
            Spark().open(f"file://{tmp_path}/t*")

    def test_files_of_this_disk_are_watched(self, spark: Any, tmp_path: Path) -> None:
        file = put(tmp_path / "a b[1]" / "p %20.parquet")
        for place in (str(file.parent), file.parent.as_uri(), f"file://{tmp_path}/a*"):
            source = Spark().open(place)
            assert isinstance(source, SparkFrame)
            with source.held() as held:
                held.require_unchanged()
                pq.write_table(pa.concat_tables([ROWS, ROWS]), file)
                with pytest.raises(DataError, match="was changed while it was read"):
                    held.require_unchanged()
            pq.write_table(ROWS, file)

    def test_csv_files_are_left_to_workers(self, spark: Any, tmp_path: Path) -> None:
        put(tmp_path / "t" / "a.csv")
        for place in (tmp_path / "t", f"file://{tmp_path}/t"):
            source = Spark().open(place)
            assert isinstance(source, CsvFolder)
            assert source.stamp() is not None
