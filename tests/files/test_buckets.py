"""Buckets: where addresses lead, and synthetic files that are written there."""

import pyarrow as pa
import pytest
from pyarrow import fs
from pyarrow import parquet as pq
from tests.fixtures.servers import Store, free_port

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.buckets import check, filesystem, write
from pointillist.files.table_output import check_path, write_table
from pointillist.files.urls import Url

ROWS = pa.table({"a": [1, 2], "b": ["x", None]})


def test_where_addresses_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "account")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "a2V5")
    for text, kind, path in (
        ("az://box/a%20b.csv", fs.AzureFileSystem, "box/a b.csv"),
        ("abfss://box@other.dfs.core.windows.net/a/b.csv", fs.AzureFileSystem, "box/a/b.csv"),
        ("gs://bucket/a/", fs.GcsFileSystem, "bucket/a"),
        ("https://host/a/b.csv?signature=s", fs.PyFileSystem, "a/b.csv"),
    ):
        store, found = filesystem(Url.parse(text))
        assert isinstance(store, kind)
        assert found == path
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT")
    with pytest.raises(UsageError, match="AZURE_STORAGE_ACCOUNT"):
        filesystem(Url.parse("az://box/a.csv"))


def test_tables_are_written(store: Store) -> None:
    for name in ("made/t.parquet", "made/t.csv.gz"):
        url = Url.parse(f"s3://{store.bucket}/{name}")
        check_path(url)
        write_table(ROWS, url)
        with pytest.raises(UsageError, match="is there already"):
            check(url, overwrite=False)
        check(url, overwrite=True)
        with pytest.raises(UsageError, match="is there already"):
            write_table(ROWS[:1], url)
    files, path = filesystem(Url.parse(f"s3://{store.bucket}/made/t.parquet"))
    assert pq.read_table(path, filesystem=files).equals(ROWS)
    write_table(ROWS[:1], Url.parse(f"s3://{store.bucket}/made/t.parquet"), overwrite=True)
    assert pq.read_table(path, filesystem=files).num_rows == 1


def test_where_nothing_can_be_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArtefactError, match="cannot be written"):
        write(Url.parse("s3://no-such-bucket-here/t.csv"), b"x")
    with pytest.raises(UsageError, match="not written there"):
        check(Url.parse("https://host/t.csv"), overwrite=True)
    with pytest.raises(UsageError, match="the ending is not known"):
        check_path(Url.parse(f"s3://{store.bucket}/t.docx"))
    with pytest.raises(UsageError, match="not known"):
        check_path(Url.parse("ftp://host/t.csv"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ArtefactError, match="cannot be reached"):
        check(Url.parse("s3://bucket/t.csv"), overwrite=False)
