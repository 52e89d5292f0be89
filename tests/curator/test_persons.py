"""Persons: one normal form for all spellings and types of a name, and numbers that do not give it away."""

import datetime as dt
import unicodedata
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.curator.persons import Pseudonyms, normal_form, owners
from pointillist.errors import DataError


def people(values: list[Any], kind: pa.DataType | None = None) -> list[str | None]:
    return owners(pa.array(values, kind), "id", "t").to_pylist()


@pytest.mark.parametrize(
    "spellings",
    [
        ["7", "07", "007", "7.0", "7.", "7.000", "+7", " 7\t", "7e0", "0.7E1", "７", "٧", "7\u00a0", "\ufeff7"],
        ["0", "-0", "00", "0.0", "-0.0", "0e5"],
        ["-3", "-03", "-3.0"],
        ["100000000000000000000", "1e20", "100000000000000000000.0", "0100000000000000000000"],
        ["0.5", ".5", "00.50", "5e-1"],
        ["Ann", "ann", "ANN", " ann ", "Ａｎｎ", "a\u00adnn", "an\u200dn"],
        ["José", "Jose\u0301", "JOSÉ", "jose\u0301"],
        ["Straße", "STRASSE", "strasse", "STRAẞE"],
        ["Ann Lee", "ann  lee", "Ann\u00a0Lee", "Ann\tLee"],
        ["ſam", "Sam", "SAM"],
        ["2020-01-02", "2020-01-02 00:00:00", "2020-01-02T00:00", "2020-01-02T00:00:00.000Z"],
        ["2020-01-02 03:04:00", "2020-01-02T03:04", "2020-01-02 03:04:00.0"],
    ],
)
def test_spellings_of_one_person(spellings: list[str]) -> None:
    assert len({normal_form(each) for each in spellings}) == 1
    assert len(set(people(spellings))) == 1


@pytest.mark.parametrize(
    "names",
    [
        ["7", "70", "-7", "0.7", "7a", "7-0", "7 0", "7.0.0", "1e7", "0x7", "7e"],
        ["ann", "anna", "an n", "än", "an"],
        ["2020-01-02", "2020-01-02 00:01", "2020-02-01", "20200102"],
        ["inf", "nan2", "e5", "1e1000", "1" + "0" * 999],
    ],
)
def test_different_people(names: list[str]) -> None:
    assert len({normal_form(each) for each in names}) == len(names)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([7, 8], pa.int8()),
        pa.array([7, 8], pa.uint64()),
        pa.array([7.0, 8.0], pa.float32()),
        pa.array([Decimal("7.00"), Decimal("8.00")], pa.decimal128(20, 2)),
        pa.array(["07", "8.0"]),
        pa.array(["7", "8"], pa.large_string()),
        pa.array(["7 ", "+8"]).dictionary_encode(),
        pa.array([7, 8]).dictionary_encode(),
        pa.array([b"7", b"8"], pa.binary()),
    ],
    ids=lambda column: str(column.type),
)
def test_the_type_of_a_column_does_not_matter(column: pa.Array) -> None:
    assert owners(column, "id", "t").to_pylist() == ["7", "8"]


def test_days_and_times() -> None:
    assert people([dt.date(2020, 1, 2)]) == ["2020-01-02"]
    assert people([dt.datetime(2020, 1, 2)], pa.timestamp("us")) == ["2020-01-02"]
    assert people([dt.datetime(2020, 1, 2, 3, 4)], pa.timestamp("ns")) == people(["2020-01-02T03:04"])


def test_large_numbers_stay_apart() -> None:
    assert len(set(people([2**63 - 1, 2**63 - 2], pa.int64()))) == 2
    assert len(set(people([Decimal(10**30), Decimal(10**30 + 1)], pa.decimal128(38, 0)))) == 2


@pytest.mark.parametrize("column", [pa.array([0.5]), pa.array([2.0**53]), pa.array([b"\xff"]), pa.array([[1]])])
def test_what_names_nobody_for_sure_is_refused(column: pa.Array) -> None:
    with pytest.raises(DataError, match="'id' cannot be read as names of persons"):
        owners(column, "id", "t")


def test_rows_that_name_nobody() -> None:
    assert people([None, "", " ", "NA", "\u200b", "x"]) == [None] * 5 + ["x"]


NAMES = st.text() | st.text("0123456789.+-eE \u0660\uff17", max_size=8) | st.from_regex(r"[+-]?0*\d{1,5}(\.0*)?")


@given(NAMES)
def test_the_form_of_a_form_is_itself(name: str) -> None:
    assert normal_form(normal_form(name)) == normal_form(name)


@given(NAMES, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), st.sampled_from(["", " ", "\t\u00a0", "\u200b"]))
def test_unicode_forms_case_and_blanks_do_not_matter(name: str, form: Any, blank: str) -> None:
    found = normal_form(name)
    assert normal_form(blank + unicodedata.normalize(form, name) + blank) == found
    assert normal_form(name.casefold()) == found


@given(st.integers(-(10**25), 10**25), st.integers(0, 4), st.integers(0, 3))
def test_whole_numbers_by_value(number: int, ahead: int, behind: int) -> None:
    digits = "0" * ahead + str(abs(number)) + ("." + "0" * behind if behind else "")
    assert normal_form(("-" if number < 0 else "") + digits) == str(number)


@given(st.lists(NAMES | st.none(), min_size=1, max_size=20))
def test_a_name_is_read_alike_whatever_stands_beside_it(names: list[str | None]) -> None:
    assert people(names, pa.string()) == [people([name], pa.string())[0] for name in names]


@given(st.lists(NAMES | st.none(), min_size=1, max_size=20), st.integers(0, 20))
def test_a_person_has_one_number_in_every_batch(names: list[str | None], cut: int) -> None:
    key = Pseudonyms()
    found: dict[Any, Any] = {}
    for part in (names[:cut], names[cut:]):
        column = owners(pa.array(part, pa.string()), "id", "t")
        upper, lower = key.of(column)
        for name, *number in zip(column.to_pylist(), upper.to_pylist(), lower.to_pylist(), strict=True):
            assert found.setdefault(name, number) == number
            assert (name is None) == (number == [None, None])
    assert len({tuple(number) for number in found.values()}) == len(found)


def test_every_pass_has_a_key_of_its_own() -> None:
    column = owners(pa.array(["ann"]), "id", "t")
    assert len({Pseudonyms().of(column)[0][0].as_py() for _ in range(20)}) == 20
