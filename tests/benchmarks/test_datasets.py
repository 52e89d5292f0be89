from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.tables.datasets import GROUPS, OPEN, UNSEEN, Dataset, chosen, datasets, split

from pointillist.errors import UsageError
from pointillist.evaluate.tables.sample import read
from pointillist.sampling.decoding import decode_table
from pointillist.schema.levels import levels_of

ALL = list(datasets().values())


@pytest.mark.parametrize("dataset", ALL, ids=lambda each: each.name)
def test_rows_of_the_schema_are_read_back_as_the_levels_they_were_made_of(dataset: Dataset) -> None:
    levels = levels_of(dataset.schema)
    rng = np.random.default_rng(1)
    codes = {each.name: rng.integers(0, each.size, 200).astype(np.uint16) for each in levels}
    for each in levels:  # a bin whose only number is an atom holds no number of its own
        if each.numeric and each.whole:
            lonely = np.isin(each.edges[:-1], each.specials) & (np.diff(each.edges) == 1)
            codes[each.name] = np.where(
                np.isin(codes[each.name], np.flatnonzero(lonely)), each.regular, codes[each.name]
            )
    sample = read(decode_table(levels, codes, rng), dataset.schema)
    for each in levels:
        decimals = getattr(each.column, "decimals", None)
        if decimals is None:
            assert np.array_equal(sample.codes(each.name), codes[each.name]), each.name
            continue
        regular = codes[each.name] < each.regular
        bins, values = codes[each.name][regular].astype(int), sample.values(each.name)[regular]
        step = 10.0**-decimals  # rounding may carry a value over an edge, but no further than half a step
        assert (each.edges[bins] - step <= values).all(), each.name
        assert (values <= each.edges[bins + 1] + step).all(), each.name


@pytest.mark.parametrize("dataset", [each for each in ALL if each.target], ids=lambda each: each.name)
def test_the_target_has_classes_and_no_gaps(dataset: Dataset) -> None:
    (target,) = (each for each in levels_of(dataset.schema) if each.name == dataset.target)
    assert not target.numeric
    assert not target.has_missing
    assert 2 <= target.size <= 7


def test_the_split_is_fixed_and_loses_no_row() -> None:
    table = pa.table({"x": np.arange(101)})
    one, two = split(table), split(table)
    assert one.train.equals(two.train)
    assert one.train.num_rows == 80
    assert sorted(one.train["x"].to_pylist() + one.test["x"].to_pylist()) == list(range(101))


def test_the_registry_needs_no_folder_and_the_others_ask_for_one(tmp_path: Path) -> None:
    known = datasets()
    assert known["registry"].load(None).num_rows > 1000
    with pytest.raises(UsageError, match="POINTILLIST_DATA"):
        known["adult"].load(None)
    with pytest.raises(UsageError, match=r"adult_train\.parquet: no such file"):
        known["adult"].load(tmp_path)


def _store(folder: Path, name: str, columns: dict[str, list[object]]) -> Path:
    (folder / "tables").mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), folder / "tables" / f"{name}.parquet")
    return folder


def test_indicators_are_joined_to_one_code(tmp_path: Path) -> None:
    columns: dict[str, list[object]] = {f"Wilderness_Area{i}": [int(i == 2), int(i == 4)] for i in range(1, 5)}
    columns |= {f"Soil_Type{i}": [int(i == 1), int(i == 40)] for i in range(1, 41)}
    table = datasets()["covtype"].load(_store(tmp_path, "covtype", columns))
    assert table.to_pydict() == {"Wilderness_Area": [2, 4], "Soil_Type": [1, 40]}


def test_attacks_are_grouped(tmp_path: Path) -> None:
    labels: list[object] = ["smurf", "normal", "satan", "spy", "perl"]
    table = datasets()["intrusion"].load(_store(tmp_path, "intrusion", {"label": labels}))
    assert table["label"].to_pylist() == ["dos", "normal", "probe", "r2l", "u2r"]


def test_rows_are_chosen_as_in_the_papers(tmp_path: Path) -> None:
    kinds: list[object] = ["fraud", "prefix", "random"]
    credit = datasets()["credit"].load(_store(tmp_path, "credit_partial", {"kind": kinds}))
    assert credit["kind"].to_pylist() == ["fraud", "random"]
    columns: dict[str, list[object]] = {f"c{i}": [1, 1 if i < 1 else None, 1 if i < 2 else None] for i in range(11)}
    cervical = datasets()["cervical"].load(_store(tmp_path, "cervical", columns))
    assert cervical["c1"].to_pylist() == [1, 1]  # rows with 0 and 9 gaps stay, the one with 10 goes


def test_unseen_tables_are_split_in_two_halves_that_share_nothing() -> None:
    tune, report = set(GROUPS["tune"]), set(GROUPS["report"])
    assert tune | report == {each.name for each in UNSEEN}
    assert not tune & report
    assert abs(len(tune) - len(report)) <= 1
    assert not (tune | report) & set(OPEN)


def test_a_group_stands_for_its_data_sets() -> None:
    assert chosen("simulated, adult") == [*GROUPS["simulated"], "adult"]
    assert set(chosen(",".join(GROUPS))) <= set(datasets())
    with pytest.raises(UsageError, match="'nowhere' is not known"):
        chosen("tune,nowhere")


def test_flights_that_never_landed_are_left_out(tmp_path: Path) -> None:
    late = np.arange(60_000) % 40
    columns = {name: [1] * 60_000 for name in datasets()["flights"].schema.columns if name != "late"}
    columns["arr_delay"] = [None if each == 39 else int(each) for each in late]
    table = datasets()["flights"].load(_store(tmp_path, "flights", columns))
    assert table.num_rows == 50_000
    assert table.column_names == list(datasets()["flights"].schema.columns)
    assert np.mean(table["late"].to_numpy()) == pytest.approx(23 / 39, abs=0.01)  # 16 to 38 of 0 to 38
