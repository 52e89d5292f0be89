import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.reading.opening import open_source
from pointillist.schema.levels import levels_of
from pointillist.studio import histograms

SCHEMA = pt.Schema(
    name="t",
    columns={
        "pay": pt.Real(min=0, max=100, special=(-1.0,)),
        "job": pt.Categorical(categories=tuple("abcdefghij")),
        "id": pt.Ignore(),
    },
)
TABLE = pa.table({"pay": [-1.0] * 3 + list(np.linspace(0, 100, 7)), "job": [*"aaaabbcde", None], "id": range(10)})


def test_rows_are_counted_at_their_levels() -> None:
    counts = histograms.counted(SCHEMA, open_source(TABLE))
    assert set(counts) == {"pay", "job"}
    assert [sum(each) for each in counts.values()] == [10, 10]
    assert counts["job"][:3] == [4, 2, 1]
    assert counts["job"][-1] == 1  # missing
    assert counts["pay"][-2] == 3  # the special value, before missing


def test_only_the_first_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histograms, "FIRST", 4)
    assert sum(histograms.counted(SCHEMA, open_source(TABLE))["job"]) == 4


def test_a_chart_says_in_words_what_it_shows() -> None:
    counts = histograms.counted(SCHEMA, open_source(TABLE))
    pay, job = (histograms.chart(each, counts[each.name]) for each in levels_of(SCHEMA))
    assert "Values of pay from 0 to 100" in pay
    assert "= -1: 30 %" in pay
    assert "a 40 %" in job
    assert "f " not in job.partition("aria-label")[2].partition('">')[0].replace("Values of", "")


def test_counts_are_kept_for_a_column_as_it_is_described() -> None:
    wider = SCHEMA.model_copy(update={"columns": {**SCHEMA.columns, "pay": pt.Real(min=0, max=200)}})
    assert histograms.key_of(SCHEMA, "pay") != histograms.key_of(wider, "pay")
    assert histograms.key_of(SCHEMA, "job") == histograms.key_of(wider, "job")
