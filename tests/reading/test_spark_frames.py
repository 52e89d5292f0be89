"""Spark frames as sources. Those that run a cluster are in tests/engines/test_spark.py; here is what needs none."""

import re
import socket
import warnings
from typing import Any

import pytest
from tests.fixtures.passes import SCHEMA, passes, table

from pointillist.errors import DataError, UsageError
from pointillist.reading.opening import open_source
from pointillist.reading.spark_frames import SparkFrame, _explained, _shown, session_at, translated


@pytest.mark.parametrize("master", ["spark://127.0.0.1:9", "sc://127.0.0.1:9", "spark://127.0.0.1:9,127.0.0.1:8"])
def test_a_master_that_does_not_answer_is_named_at_once(master: str) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    with pytest.raises(UsageError, match="nobody answers there"):
        session_at(master)


def test_one_master_of_several_is_enough() -> None:
    from pointillist.reading.spark_frames import _require_answer

    with socket.create_server(("127.0.0.1", 0)) as server:
        _require_answer(f"spark://127.0.0.1:9,127.0.0.1:{server.getsockname()[1]}")
    _require_answer("yarn")


@pytest.mark.parametrize(
    ("master", "shown"),
    [
        ("sc://127.0.0.1:9/;token=SECRET;user_id=me@here", "sc://127.0.0.1:9"),
        ("sc://127.0.0.1:9;token=SECRET", "sc://127.0.0.1:9"),
        ("sc://me:SEC/RET@127.0.0.1:9", "sc://…"),
        ("k8s://https://host:443", "k8s://https://host:443"),
        ("local[*]", "local[*]"),
        ("yarn;token=SECRET", "yarn"),
    ],
)
def test_a_master_is_shown_without_its_token(master: str, shown: str) -> None:
    assert _shown(master) == shown
    if master.startswith("sc://"):
        pytest.importorskip("pyspark", reason="pyspark is not installed")
        with pytest.raises(UsageError, match=f"^--master {re.escape(shown)}: nobody"):
            session_at(master)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ModuleNotFoundError: No module named 'pointillist'", "no Python package 'pointillist'. Install pointillist"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has 3.12", "another Python"),
        ("[PATH_NOT_FOUND] Path does not exist", "no such file or folder"),
        ("[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] SECRETVALUE", "same columns of the same types"),
        ("[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] SECRETVALUE", "same columns of the same types"),
        ("anything at all: SECRETVALUE", "Spark could not do it (Exception)"),
    ],
)
def test_what_spark_says_is_said_in_our_words(text: str, words: str) -> None:
    said = _explained(Exception(text))
    assert words in said
    assert "SECRETVALUE" not in said


def test_errors_that_are_not_sparks_pass() -> None:
    with pytest.raises(KeyError), translated("t"):
        raise KeyError("ours")


@pytest.mark.xdist_group("spark")
def test_a_spark_frames_rows_can_be_read_here_too(spark: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = spark.createDataFrame(table(50))
    source = open_source(frame)
    assert isinstance(source, SparkFrame)
    assert (source.engine, source.whole) == ("spark", False)
    assert str(source.types()["age"]) == "int64"
    (each, *_) = passes("hermite", SCHEMA, table(50))
    assert each.agrees(frame, "local")
    with pytest.raises(DataError, match="column 'nothing' of the schema is not in the table"):
        source.selected(["nothing"])
