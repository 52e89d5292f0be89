"""What evaluations of tables and of images share: what is given with them is checked before anything is read."""

from pathlib import Path
from typing import Any

import pytest

import pointillist as pt
from pointillist.errors import DataError, UsageError
from pointillist.evaluate.audit.finding import Audit
from pointillist.evaluate.evaluation import opened_release, read_each, schema_of

SCHEMA = pt.Schema(name="s", columns={"x": pt.Boolean(missing=False)})
OTHER = pt.Schema(name="s", columns={"x": pt.Boolean()})


@pytest.fixture
def release() -> pt.Release:
    import pyarrow as pa

    return pt.release(pa.table({"x": [True, False] * 20}), SCHEMA, epsilon=1.0)


def test_a_release_may_be_a_file(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r.release")
    found = opened_release(tmp_path / "r.release", None)
    assert found is not None
    assert found.id == release.id
    assert opened_release(None, None) is None
    assert opened_release(release, None) is release


def test_an_audit_of_something_else_is_refused(release: pt.Release) -> None:
    audit = Audit("people", "abc", None, "mosaic", "add-remove", "one row", 3.0, 1e-5, 0.268, (), ())
    with pytest.raises(UsageError, match="the audit is of people with ε = 3"):
        opened_release(release, audit)


def test_the_schema_is_that_of_the_release(release: pt.Release) -> None:
    assert schema_of(None, release) is release.schema
    assert schema_of(SCHEMA, release) is SCHEMA
    with pytest.raises(UsageError, match="another schema"):
        schema_of(OTHER, release)
    with pytest.raises(UsageError, match="a schema is needed"):
        schema_of(None, None)


def test_errors_name_the_role_unless_the_file_does() -> None:
    def read(table: Any, schema: pt.Schema) -> int:
        if table == "bad":
            raise DataError("bad: has no rows.")
        return 1

    assert read_each({"real": "good"}, SCHEMA, read, "table", str) == {"real": 1}
    with pytest.raises(DataError, match=r"^bad: has no rows\.$"):
        read_each({"real": "good", "synthetic": "bad"}, SCHEMA, read, "table", str)
    with pytest.raises(DataError, match=r"^the synthetic table: bad: has no rows\.$"):
        read_each({"real": "good", "synthetic": "bad"}, SCHEMA, read, "table", lambda table: "")
