"""Buckets: every kind of file in a real S3 server's bucket and behind a web server, and what changes or is not there."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.fixtures.servers import SECRET_KEY, Store, free_port
from tests.fixtures.sources import (
    SCHEMA,
    SECRET,
    encoded,
    make_table,
    refusal,
    texts,
    write_csv,
    write_feather,
    write_folder,
    write_parquet,
)

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.privacy.ledger import Ledger
from pointillist.reading.opening import open_source

WRITERS: dict[str, Callable[[Path, pa.Table], Path]] = {
    "t.csv": write_csv,
    "t.csv.gz": write_csv,
    "t.tsv.zst": lambda path, table: write_csv(path, table, "\t"),
    "t.parquet": write_parquet,
    "t.arrow": write_feather,
}
SMALL = pt.Schema(
    name="small", rows=200, columns={"a": pt.Categorical(categories=("p", "q", "r")), "b": pt.Integer(min=0, max=9)}
)


def spent() -> float:
    return sum(spend.epsilon for account in Ledger().accounts() for spend in account.spends)


class TestStore:
    @pytest.mark.parametrize("name", WRITERS)
    def test_what_is_read_is_what_is_there(
        self, store: Store, table: pa.Table, expected: Counter[Any], tmp_path: Path, name: str
    ) -> None:
        assert encoded(store.put(f"a b/{name}", WRITERS[name](tmp_path / name, table)), SCHEMA) == expected

    def test_a_folder_a_query_a_draft_and_people(
        self, store: Store, table: pa.Table, expected: Counter[Any], tmp_path: Path
    ) -> None:
        url = store.put("folder", write_folder(tmp_path / "folder", table))
        assert encoded(url, SCHEMA) == encoded(url + "/", SCHEMA) == expected
        people = SCHEMA.model_copy(update={"person": pt.Person(column="person", max_rows=2)})
        assert encoded(url, people) == encoded(table, people)
        (tmp_path / "texts").mkdir()
        write_csv(tmp_path / "texts" / "a b.csv", table[:100])
        write_csv(tmp_path / "texts" / "b.csv.gz", table[100:])
        text = store.put("texts", tmp_path / "texts")
        assert encoded(text, SCHEMA) == expected
        for each in (url, text):
            query = pt.sql("SELECT upper(town) AS town FROM source WHERE town = 'Ay'", each)
            assert set(texts(query, ["town"])) == {("AY",)}
        assert pt.draft(text, name="t").columns.keys() == pt.draft(url, name="t").columns.keys()

    def test_semicolons_and_commas(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("a;b\np;1,5\nq;2,5\n")
        real = pt.Schema(name="s", columns={"b": pt.Real(min=0, max=10)})
        assert sum(encoded(store.put("t.csv", path), real).values()) == 2

    def test_what_is_not_there(self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for url in (f"s3://{store.bucket}/no.csv", "s3://no-such-bucket-here/t.csv"):
            assert refusal(lambda url=url: open_source(url)) == f"{url}: no such file, or no such bucket."
        path = tmp_path / "t.docx"
        path.write_text(SECRET)
        assert "the ending is not known" in refusal(lambda: open_source(store.put("t.docx", path)))
        assert "must hold CSV files" in refusal(lambda: open_source(f"s3://{store.bucket}"))
        url = store.put("t.parquet", path)
        assert "cannot be read" in refusal(lambda: open_source(url))
        with pytest.raises(UsageError, match="credentials") as caught:
            open_source(f"s3://someone:{SECRET_KEY}@{store.bucket}/t.csv")
        assert SECRET_KEY not in str(caught.value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
        assert "the store cannot be reached" in refusal(lambda: open_source(url))


class TestChanges:
    @pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
    def test_an_object_that_changes_between_passes(self, store: Store, tmp_path: Path, name: str) -> None:
        rows = pa.table({"a": ["p", "q"] * 50, "b": [1, 2] * 50})
        url = store.put(name, WRITERS[name](tmp_path / name, rows))
        other = WRITERS[name](tmp_path / f"other-{name}", pa.table({"a": ["q", "p"] * 50, "b": [1, 2] * 50}))
        message = refusal(lambda: pt.release(url, SMALL, epsilon=1.0, progress=when("spend", store, name, other)))
        assert message.startswith(f"{url}: was changed while it was read.")
        assert "The spend was already recorded" in message
        assert spent() == 1

    def test_a_local_file_that_changes_within_the_first_pass_costs_nothing(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", pa.table({"a": ["p", "q"] * 50, "b": [1, 2] * 50}))

        def progress(step: str, part: float) -> None:
            if step.startswith("pass 1"):
                write_csv(path, pa.table({"a": ["p", "q"] * 50, "b": [1, 2] * 50}))

        message = refusal(lambda: pt.release(path, SMALL, epsilon=1.0, progress=progress))
        assert message.startswith(f"{path}: was changed while it was read.")
        assert spent() == 0

    def test_a_local_folder_and_a_query_on_it(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path / "t", make_table(30))
        for source in (open_source(folder), pt.sql("SELECT * FROM source", folder)):
            with source.held() as held:
                held.require_unchanged()
                write_parquet(folder / "a.parquet", make_table(40))
                assert "was changed" in refusal(held.require_unchanged)
            source.require_unchanged()  # between releases it may change


def when(at: str, store: Store, name: str, other: Path) -> Callable[[str, float], None]:
    """Puts another file in an object's place at a step."""

    def progress(step: str, part: float) -> None:
        if step == at:
            store.put(name, other)

    return progress


class TestWeb:
    @pytest.mark.parametrize("name", WRITERS)
    def test_what_is_read_is_what_is_there(
        self, web: tuple[Path, str], table: pa.Table, expected: Counter[Any], name: str
    ) -> None:
        folder, address = web
        WRITERS[name](folder / name, table)
        assert encoded(f"{address}/{name}", SCHEMA) == expected

    def test_signatures_are_never_shown(self, web: tuple[Path, str], table: pa.Table) -> None:
        folder, address = web
        write_csv(folder / "secret.csv", table)
        source = open_source(f"{address}/secret.csv?signature=Qw3rty")
        assert sum(encoded(source, SCHEMA).values()) == table.num_rows
        assert source.name == f"{address}/secret.csv"
        assert "may not be read" in refusal(lambda: open_source(f"{address}/secret.csv?signature=wrong"))
        assert "no such file" in refusal(lambda: open_source(f"{address}/no.csv?signature=Qw3rty"))

    def test_a_file_that_changes_is_refused(self, web: tuple[Path, str], table: pa.Table) -> None:
        folder, address = web
        write_parquet(folder / "t.parquet", table)
        with open_source(f"{address}/t.parquet").held() as held:
            assert encoded(held, SCHEMA)
            held.require_unchanged()
            write_parquet(folder / "t.parquet", table[:100])
            assert "was changed" in refusal(held.require_unchanged)
