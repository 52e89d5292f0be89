"""Clock times in texts are drafted as times of day, and written back in the same form."""

import datetime as dt
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

from pointillist.curator.table_drafting import draft
from pointillist.reading.opening import open_source
from pointillist.schema import Duration, Schema
from pointillist.schema.kinds.time_of_day import TimeOfDay, seconds_of, written

RNG = np.random.default_rng(5)
SECONDS = (RNG.integers(6 * 60, 23 * 60, 2_000) * 60 + RNG.integers(0, 60, 2_000)).tolist()
FORMS = get_args(TimeOfDay)


def drafted(folder: Path, texts: list[str]) -> tuple[Schema, list[str]]:
    """The draft of a file, and its values as they leave."""
    path = folder / "t.csv"
    path.write_text("t,n\n" + "".join(f"{text},{n % 7}\n" for n, text in enumerate(texts)))
    schema = draft(path, name="t")
    column = schema.columns["t"]
    if not isinstance(column, Duration):
        return schema, []
    batches = open_source(path).batches(["t"], schema, lambda part: None)
    numbers = np.concatenate([column.from_arrow(batch["t"]) for batch in batches])
    return schema, column.to_text(pa.chunked_array([column.to_arrow(numbers, np.isnan(numbers))])).to_pylist()


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_found_and_written_alike(tmp_path: Path, form: str) -> None:
    texts = [written(each, form) for each in SECONDS]
    schema, back = drafted(tmp_path, texts)
    column = schema.columns["t"]
    assert column.kind == "duration"
    assert column.format == form
    assert back == texts
    assert column.resolution == ("second" if "%S" in form else "minute")
    last = dt.timedelta(hours=22, minutes=59, seconds=59 if "%S" in form else 0)
    assert (column.min, column.max) == (dt.timedelta(hours=6), last)


def test_lengths_over_a_day_are_lengths(tmp_path: Path) -> None:
    schema, back = drafted(tmp_path, [f"{n % 40}:{n % 60:02}:07" for n in range(300)])
    assert schema.columns["t"].format == "clock"
    assert back[39] == "39:39:07"


@pytest.mark.parametrize(
    "texts",
    [
        [f"{n % 90 + 10}:{n % 60:02}" for n in range(300)],  # minutes and seconds, or hours and minutes?
        [f"{n % 24:02}{n % 12 + 1:02}" for n in range(300)],  # codes, of which no minute is above 12
        ["0101", "0102", "0230"] * 100,
    ],
)
def test_what_may_be_something_else_is_none(tmp_path: Path, texts: list[str]) -> None:
    assert drafted(tmp_path, texts)[0].columns["t"].kind != "duration"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("20:15", 72_900), ("0015", 900), ("10:52 PM", 82_320), ("12:05 am", 300), ("12:00PM", 43_200)),
        *(("20:15:36.5", 72_936), ("24:00", 86_400), ("25:00", None), ("13:00 PM", None), ("10:61", None), ("x", None)),
    ],
)
def test_clock_times_are_read(text: str, seconds: int | None) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("form", FORMS)
def test_every_second_comes_back(form: str) -> None:
    step = 1 if "%S" in form else 60
    assert all(seconds_of(written(each, form)) == each for each in range(0, 86_400, step))
