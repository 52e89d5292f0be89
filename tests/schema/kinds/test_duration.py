"""Lengths of time: every way of writing them is read, and the whole walk from a private file to a synthetic one."""

import datetime as dt
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import DataError, SchemaError
from pointillist.files.table_output import write_table
from pointillist.reading.encoding import Encoder
from pointillist.sampling.constraints import Rules
from pointillist.sampling.decoding import decode
from pointillist.schema.constraints import Order
from pointillist.schema.given_syntax import from_text, plain, select
from pointillist.schema.kinds.duration import SECONDS, in_words, length_of
from pointillist.schema.levels import Levels
from pointillist.schema.selection import Selection

MANY = settings(deadline=None, max_examples=50)
STAY = pt.Duration(min="1m", max="7d", scale="log", special=("0s",), resolution="minute")
HOUR = dt.timedelta(hours=1)
seconds = st.integers(0, 400 * 86_400)


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ("90s", 90), ("15m", 900), ("2h", 7200), ("3d", 259_200), ("1h 30m", 5400), ("1h30m", 5400), (" 1d 1s ", 86_401),
        ("01:30:00", 5400), ("49:00:01", 176_401), ("1 day, 2:03:04", 93_784), ("2 days 01:03:04", 176_584),
        ("0 days 00:00:01.999999", 1), ("PT1H30M", 5400), ("P2DT1H", 176_400), ("P1W", 604_800), ("PT0.5S", 0),
        ("5400", 5400), ("1.5", 1), ("-PT1H", -3600), ("-1 day, 23:00:00", -3600), ("-1 days +23:00:00", -3600),
        (5400, 5400), (1.9, 1), (dt.timedelta(hours=1, microseconds=5), 3600),
    ],
)  # fmt: skip
def test_a_length_is_read_however_it_is_written(written: Any, length: int) -> None:
    assert length_of(written) == dt.timedelta(seconds=length)


@pytest.mark.parametrize(
    "written",
    ["", "x", "1:30", "P1Y", "P1M", "P", "PT", "1h 2d", "d", "1e3", "١h", True, None, float("nan"), 1e300, [1]],
)
def test_what_is_no_length_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match="length of time"):
        length_of(written)


@given(st.timedeltas(-dt.timedelta(days=10_000), dt.timedelta(days=10_000)))
def test_a_length_in_words_is_read_again(length: dt.timedelta) -> None:
    length -= dt.timedelta(microseconds=length.microseconds)
    assert length_of(in_words(length)) == length


@st.composite
def durations(draw: st.DrawFn) -> pt.Duration:
    resolution = draw(st.sampled_from(sorted(SECONDS)))
    tick = SECONDS[resolution]
    low, high = sorted(draw(st.lists(st.integers(0, 400), min_size=2, max_size=2, unique=True)))
    special = draw(st.lists(st.integers(0, 500), max_size=3, unique=True))
    return pt.Duration(
        min=dt.timedelta(seconds=low * tick),
        max=dt.timedelta(seconds=high * tick + draw(st.integers(0, tick - 1))),
        special=tuple(dt.timedelta(seconds=each * tick) for each in special),
        scale=draw(st.sampled_from(["linear", "log"] if low else ["linear"])),
        resolution=resolution,
        bins=draw(st.integers(2, 300)),
        missing=draw(st.booleans()),
        format=draw(st.sampled_from(["clock", "days", "iso", "seconds"])),
        out_of_domain=draw(st.sampled_from(["clip", "error"])),
    )


@MANY
@given(durations())
def test_a_schema_survives_toml_and_json(column: pt.Duration) -> None:
    schema = pt.Schema(name="s", columns={"x": column})
    assert pt.Schema.parse(tomllib.loads(schema.to_toml())) == schema
    assert pt.Schema.from_json(json.loads(json.dumps(schema.to_json(), allow_nan=False))) == schema


def test_a_schema_file_says_lengths_in_words() -> None:
    toml = pt.Schema(name="s", columns={"x": STAY}).to_toml()
    assert 'kind = "duration"\n' in toml
    assert 'min = "1m"\nmax = "7d"\nspecial = ["0s"]\n' in toml


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"min": "2h"}, "min 2h is not shorter than max 2h by a second or more"),
        ({"min": "1h", "max": "1h 59m", "resolution": "hour"}, "by a hour or more"),
        ({"min": -5}, "min or max is below 0s or beyond"),
        ({"max": "4000000d"}, "min or max is below 0s or beyond"),
        ({"min": "soon"}, "min: 'soon' is not a length of time such as"),
        ({"min": "0s", "scale": "log"}, 'scale = "log" needs min > 0'),
        ({"special": ["90s"], "resolution": "minute"}, "no whole number of minutes"),
        ({"special": [5, "5s"]}, "special has an entry twice"),
        ({"resolution": "week"}, "resolution"),
        ({"format": "%H"}, "format"),
    ],
)
def test_what_cannot_be_is_refused_by_its_rule(facts: dict[str, Any], rule: str) -> None:
    with pytest.raises(SchemaError) as caught:
        pt.Schema.parse({"name": "s", "columns": {"x": {"kind": "duration", "min": "1m", "max": "2h", **facts}}})
    assert str(caught.value).startswith("schema: column 'x'")
    assert rule in str(caught.value)


def intervals(lengths: list[int | None]) -> pa.Array:
    table = pa.table({"x": pa.array(lengths, pa.int64())})
    return duckdb.from_arrow(table).project("to_seconds(x) AS x").to_arrow_table()["x"].combine_chunks()


WAYS: dict[str, Callable[[list[int | None]], pa.Array]] = {
    **{unit: lambda x, unit=unit: pa.array(x, pa.int64()).cast(pa.duration("s")).cast(pa.duration(unit))
       for unit in ("s", "ms", "us", "ns")},
    "integers": lambda x: pa.array(x, pa.int64()),
    "floats": lambda x: pa.array([None if v is None else v + 0.5 for v in x], pa.float64()),
    "python": lambda x: pa.array([None if v is None else str(dt.timedelta(seconds=v)) for v in x], pa.string()),
    "pandas": lambda x: pa.array([None if v is None else str(pd.Timedelta(seconds=v)) for v in x], pa.string()),
    "iso": lambda x: pa.array([None if v is None else pd.Timedelta(seconds=v).isoformat() for v in x], pa.string()),
    "numbers as texts": lambda x: pa.array(["NA" if v is None else str(v) for v in x], pa.large_string()),
    "dictionary": lambda x: pa.array([None if v is None else f"{v}s" for v in x], pa.string()).dictionary_encode(),
    "objects": lambda x: STAY.from_objects([None if v is None else dt.timedelta(seconds=v) for v in x]),
    "mixed objects": lambda x: STAY.from_objects(
        [(pd.NaT, None, "NA", float("nan"))[i % 4] if v is None else (v, f"{v}s", np.timedelta64(v, "s"))[i % 3]
         for i, v in enumerate(x)]
    ),
    "intervals": intervals,
}  # fmt: skip


def encoded(column: Any, array: pa.Array) -> list[int]:
    encode = Encoder((Levels("x", column),), frozenset({"x"}), frozenset(), "t")
    return encode(pa.RecordBatch.from_arrays([array], names=["x"])).codes["x"].tolist()


@pytest.mark.parametrize("way", WAYS)
@MANY
@given(st.lists(st.none() | seconds, min_size=1))
def test_every_way_is_read_alike(way: str, lengths: list[int | None]) -> None:
    found = encoded(STAY, WAYS[way](lengths))
    assert found == encoded(STAY, WAYS["us"](lengths))
    levels = Levels("x", STAY)
    for code, length in zip(found, lengths, strict=True):
        if length is None:
            assert code == levels.missing
        elif length < 60:  # the atom: no whole minute
            assert code == levels.regular
        else:
            place = np.searchsorted(levels.edges, length // 60, side="right") - 1
            assert code == min(place, levels.regular - 1)


@pytest.mark.parametrize("way", WAYS)
def test_no_row_changes_how_another_is_read(way: str) -> None:
    lengths = [3600, 59, None, 86_400 * 300, 61, 7200]
    whole = encoded(STAY, WAYS[way](lengths))
    assert whole == [encoded(STAY, WAYS[way]([each]))[0] for each in lengths]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["3:00"]), pa.array(["P1Y"]), pa.array([True]), pa.array([dt.date(2020, 1, 1)]), pa.array([b"1h"]),
        pa.array([pa.MonthDayNano((1, 0, 0))]),
    ],
    ids=["clock without seconds", "years", "truths", "dates", "bytes", "months"],
)  # fmt: skip
def test_what_is_no_length_stops_the_call_without_a_value(array: pa.Array) -> None:
    with pytest.raises(DataError, match=r"^t: column 'x' (holds a value that cannot be read as duration|is stored as)"):
        encoded(STAY, array)


@MANY
@given(durations())
def test_what_is_decoded_is_encoded_as_it_was(column: pt.Duration) -> None:
    levels = Levels("x", column)
    occupied = [c for c in range(levels.size) if c >= levels.regular or _free(levels, c)]
    values = decode(levels, np.array(occupied, dtype=np.uint16), np.random.default_rng(0))
    assert values.type == pa.duration("us")
    assert encoded(column, values) == occupied
    texts = column.to_text(pa.chunked_array([values])).combine_chunks()
    assert encoded(column, texts) == occupied


def _free(levels: Levels, code: int) -> bool:
    """Whether some number of a bin is no special value."""
    return any(n not in levels.specials for n in range(int(levels.edges[code]), int(levels.edges[code + 1])))


@pytest.mark.parametrize(
    ("form", "text"), [("clock", "26:03:04"), ("days", "1 days 02:03:04"), ("iso", "P1DT2H3M4S"), ("seconds", 93784)]
)
def test_texts_are_written_as_the_format_says(form: Any, text: Any) -> None:
    column = pt.Duration(min=0, max="9d", format=form)
    array = pa.chunked_array([pa.array([dt.timedelta(days=1, hours=2, minutes=3, seconds=4), None])])
    assert column.to_text(array).to_pylist() == [text, None]


MEANT: list[tuple[Any, Any]] = [
    (("1h", "3h"), (HOUR, 3 * HOUR)),
    ((HOUR, np.timedelta64(3, "h")), (HOUR, 3 * HOUR)),
    ({"min": 3600, "max": "3:00:00"}, (HOUR, 3 * HOUR)),
    (("1h", None), (HOUR, dt.timedelta(days=7))),
    ((None, "1h"), (dt.timedelta(), HOUR)),
    ("PT1H", (HOUR, HOUR)),
    (0, (dt.timedelta(), dt.timedelta())),
]


@pytest.mark.parametrize(("written", "ends"), MEANT)
def test_conditions_take_lengths(written: Any, ends: Any) -> None:
    assert select("x", STAY, written) == Selection(ranges=(ends,))
    assert select("x", STAY, json.loads(json.dumps(plain(written)))) == Selection(ranges=(ends,))


def test_the_command_line_takes_lengths() -> None:
    assert select("x", STAY, from_text("x", STAY, "1h..90m")) == select("x", STAY, ("1h", "90m"))
    assert from_text("x", STAY, "") is None


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        (("3h", "1h"), "the range 3h to 1h is reversed"),
        ("8d", "8d is outside its bounds 1m to 7d"),
        ("90s", "no value lies in 1m 30s: the column counts in minutes"),
        ("later", "'later' is not a length of time"),
        (True, "True is not a length of time"),
    ],
)
def test_conditions_without_sense_are_refused(written: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=r"^column 'x': ") as caught:
        select("x", STAY, written)
    assert rule in str(caught.value)


def test_lengths_are_compared_in_the_coarser_resolution() -> None:
    columns = {"wait": pt.Duration(min=0, max="2d"), "stay": pt.Duration(min=0, max="9d", resolution="hour")}
    pt.Schema(name="s", columns=columns, constraints=(Order(columns=("wait", "stay")),))
    rules = Rules.of((Order(columns=("wait", "stay")),), [Levels(name, column) for name, column in columns.items()])
    codes = {name: np.zeros(3, dtype=np.uint16) for name in columns}
    numbers = {"wait": np.array([3599.0, 3601.0, 7200.0]), "stay": np.array([0.0, 1.0, 1.0])}
    assert rules.broken(codes, numbers).tolist() == [False, False, True]
    with pytest.raises(
        SchemaError, match="'n' is a number and column 'stay' a length of time: they cannot be compared"
    ):
        pt.Schema.parse(
            {"name": "s", "columns": {**columns, "n": pt.Integer(min=0, max=9)}, "constraints": [{"rule": "n <= stay"}]}
        )


def test_it_speaks_in_words() -> None:
    levels = Levels("x", STAY)
    assert STAY.brief() == "1m … 7d, 0s (log)"
    assert STAY.describe().startswith(
        "1m to 7d; also 0s as a value of its own; measured on a log scale; values outside"
    )
    assert levels.label(0) == "1m"
    assert levels.label(levels.regular - 1).endswith("7d 1m)")
    assert levels.label(levels.regular) == "= 0s"
    assert STAY.show(90.5) == "1h 30m 30s"


def people(count: int = 2000, seed: int = 0) -> pa.Table:
    generator = np.random.default_rng(seed)
    stay = np.exp(generator.normal(9, 1.2, count)).astype(np.int64)
    wait = (stay * generator.random(count)).astype(np.int64)
    gaps = generator.random(count) < 0.05
    lengths = {"stay": pa.array(stay, mask=gaps), "wait": pa.array(wait)}
    columns = {name: array.cast(pa.duration("s")).cast(pa.duration("us")) for name, array in lengths.items()}
    return pa.table({**columns, "ward": generator.choice(["a", "b"], count)})


SCHEMA = pt.Schema(
    name="stays",
    columns={
        "stay": STAY,
        "wait": pt.Duration(min=0, max="2d", missing=False),
        "ward": pt.Categorical(categories=("a", "b"), missing=False),
    },
    constraints=(Order(columns=("wait", "stay")),),
)


class TestDraft:
    def test_an_arrow_column_is_drafted(self) -> None:
        drafted = pt.draft(people(), name="stays").columns["stay"]
        assert isinstance(drafted, pt.Duration)
        assert (drafted.resolution, drafted.scale, drafted.missing) == ("second", "log", True)
        assert set(drafted.read_from_data) == {"kind", "min", "max", "resolution", "missing", "scale"}

    @pytest.mark.parametrize("frame", ["pandas", "polars", "duckdb"])
    def test_other_frames_are_drafted_alike(self, frame: str) -> None:
        table = people()
        given = {
            "pandas": table.to_pandas,
            "polars": lambda: pl.from_arrow(table),
            "duckdb": lambda: duckdb.from_arrow(table),
        }
        assert pt.draft(given[frame](), name="stays") == pt.draft(table, name="stays")

    def test_the_coarsest_resolution_is_found(self) -> None:
        for name, tick in SECONDS.items():
            lengths = [dt.timedelta(seconds=tick * each) for each in (1, 5, 50)]
            assert pt.draft(pa.table({"x": lengths}), name="s").columns["x"].resolution == name

    @pytest.mark.parametrize("form", ["days", "iso"])
    def test_texts_that_can_be_nothing_else_are_drafted(self, form: Any, tmp_path: Path) -> None:
        schema = pt.Schema(name="s", columns={"stay": pt.Duration(min=0, max="9d", format=form)})
        write_table(people().select(["stay"]), tmp_path / "t.csv", schema)
        drafted = pt.draft(tmp_path / "t.csv", name="s").columns["stay"]
        assert isinstance(drafted, pt.Duration)
        assert drafted.format == form

    def test_a_few_times_are_categories(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("x,y\n1:00:00,a\n2:30:00,b\n1:00:00,a\n")
        assert pt.draft(tmp_path / "t.csv", name="s").columns["x"].kind == "categorical"

    def test_no_length_above_zero(self) -> None:
        table = pa.table({"x": pa.array([0, 0], pa.duration("s")), "y": ["a", "b"]})
        assert pt.draft(table, name="s").columns["x"].kind == "ignore"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> pt.Model:
    ledger = pt.Ledger(tmp_path_factory.mktemp("ledger") / "ledger.db")
    release = pt.release(people(), SCHEMA, epsilon=8.0, ledger=ledger)
    fitted = pt.fit(release)
    assert isinstance(fitted, pt.Model)
    return fitted


class TestWalk:
    def test_rows_keep_the_order_and_the_condition(self, model: pt.Model) -> None:
        rows = model.sample_table(300, seed=1, given={"stay": ("1h", "3h")})
        assert rows.schema.field("stay").type == pa.duration("us")
        lengths = rows["stay"].to_pylist()
        assert all(HOUR <= each <= 3 * HOUR for each in lengths)
        assert all(each % dt.timedelta(minutes=1) == dt.timedelta() for each in lengths)
        whole = model.sample_table(1000, seed=2).drop_null()
        minute = dt.timedelta(minutes=1)
        assert all(
            w // minute <= s // minute for w, s in zip(*(whole[n].to_pylist() for n in ("wait", "stay")), strict=True)
        )

    @pytest.mark.parametrize("frame", ["pandas", "polars"])
    def test_frames_have_their_own_type_and_can_be_read_again(self, model: pt.Model, frame: str) -> None:
        rows = model.sample(200, seed=1, frame=frame)
        assert rows["stay"].dtype == (pl.Duration("us") if frame == "polars" else np.dtype("m8[us]"))
        self.same_levels(rows, model.sample_table(200, seed=1))

    @pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "csv.gz"])
    def test_files_can_be_read_again(self, model: pt.Model, ending: str, tmp_path: Path) -> None:
        rows = model.sample_table(200, seed=1)
        write_table(rows, tmp_path / f"t.{ending}", SCHEMA)
        self.same_levels(tmp_path / f"t.{ending}", rows)

    def same_levels(self, found: Any, rows: pa.Table) -> None:
        from pointillist.evaluate.tables.sample import read

        for name in SCHEMA.measured:
            assert read(found, SCHEMA).codes(name).tolist() == read(rows, SCHEMA).codes(name).tolist()

    def test_the_owner_compares(self, model: pt.Model, tmp_path: Path) -> None:
        evaluation = pt.evaluate(people(500, 1), model.sample_table(500, seed=1), schema=SCHEMA)
        column = next(each for each in evaluation.to_json()["columns"] if each["name"] == "stay")
        assert column["kind"] == "duration"
        assert "h" in column["summary"]["mean"][0]

    def test_the_receiver_asks(self, tmp_path: Path) -> None:
        release = pt.release(people(), SCHEMA, epsilon=8.0, ledger=pt.Ledger(tmp_path / "ledger.db"))
        received = pt.receive(release, rows=2000)
        true = [each for each in people()["stay"].to_pylist() if each is not None]
        mean = received.mean("stay")
        assert mean.unit == "minutes"
        assert mean.low <= sum(true, dt.timedelta()) / len(true) / dt.timedelta(minutes=1) <= mean.high
        assert "h" in mean.shown(mean.value)
        long = sum(each > 2 * HOUR for each in true) / people().num_rows
        assert received.probability("stay > INTERVAL 2 HOUR").value == pytest.approx(long, abs=0.05)
        assert received.expect("epoch(stay) / 60").value == pytest.approx(mean.value, rel=0.01)
        assert received.expect("stay - wait").value > 0

    def test_a_length_far_outside_is_clipped(self) -> None:
        far = pa.array([STAY.beyond()], pa.duration("us"))
        assert encoded(STAY, far) == [Levels("x", STAY).regular - 1]


def test_parquet_of_pandas_has_nanoseconds(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": pd.to_timedelta([1, 61, None], unit="min").as_unit("ns")})
    frame.to_parquet(tmp_path / "t.parquet")
    assert pq.read_schema(tmp_path / "t.parquet").field("x").type == pa.duration("ns")
    assert encoded(STAY, pq.read_table(tmp_path / "t.parquet")["x"].combine_chunks())[-1] == Levels("x", STAY).missing
