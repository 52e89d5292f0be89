"""Persons: one normal form for all spellings and types of a name, and numbers that do not give it away."""

import datetime as dt
import secrets
import sys
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
        [
            "ann",
            "a\ufe0fnn",
            "a\u034fnn",
            "\u180bann",
            "ann\u3164",
            "\uffa0ann",
            "a\x00nn",
            "ann\x7f",
            "an\x9fn",
            "an\U000e0101n",
        ],
        ["\u1fb3\u0301", "\u1fb4", "\u03b1\u0345\u0301", "\u03ac\u03b9", "\u0386\u0399"],
        ["José", "Jose\u0301", "JOSÉ", "jose\u0301"],
        ["Straße", "STRASSE", "strasse", "STRAẞE"],
        ["Ann Lee", "Ann\nLee", "Ann\x1fLee", "Ann\x85Lee", "ann  lee", "Ann\u00a0Lee", "Ann\tLee"],
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


MARKS = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code))]
COMPOUND = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.decomposition(chr(code))]
CASED = [chr(code) for code in range(sys.maxunicode + 1) if chr(code) != chr(code).casefold()]
UNSEEN = "\u00ad\u034f\u115f\u180b\u200d\u3164\ufe0f\uffa0\x00\x9f"
HARD = "\u0345\u0301\u0327\u3099\uff9e\u00b4\u037a\u0344\u1fb3\u1fb7\u03b1\u0391\u0130\u0149\u01f0\u1e9e\u1100\u1161"
SIGNS = st.sampled_from(MARKS) | st.sampled_from(COMPOUND) | st.sampled_from(CASED) | st.sampled_from(HARD + UNSEEN)
NAMES = (
    st.text()
    | st.text(SIGNS, max_size=6)
    | st.text("0123456789.+-eE \u0660\uff17\u200b\x00", max_size=8)
    | st.from_regex(r"[+-]?0*\d{1,5}(\.0*)?")
)


@given(NAMES)
def test_the_form_of_a_form_is_itself(name: str) -> None:
    assert normal_form(normal_form(name)) == normal_form(name)


@given(NAMES, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), st.sampled_from(["", " ", "\t\u00a0", "\u200b", "\x00"]))
def test_unicode_forms_and_blanks_do_not_matter(name: str, form: Any, blank: str) -> None:
    assert normal_form(blank + unicodedata.normalize(form, name) + blank) == normal_form(name)


@given(NAMES)
def test_case_does_not_matter(name: str) -> None:
    """In Python's own ways, which go sign by sign and so need marks in their order. To Unicode, `I` is no dotless i."""
    seen = [sign for sign in unicodedata.normalize("NFKD", name) if normal_form(sign) not in ("", "\u0131")]
    ordered = unicodedata.normalize("NFKD", "".join(seen))
    for changed in (ordered.upper(), ordered.lower(), ordered.title(), ordered.casefold()):
        assert normal_form(changed) == normal_form(ordered)


@given(NAMES, st.text(UNSEEN, min_size=1, max_size=3), st.integers(0, 6))
def test_signs_that_do_not_show_do_not_matter(name: str, unseen: str, place: int) -> None:
    assert normal_form(name[:place] + unseen + name[place:]) == normal_form(name)


def test_every_sign_by_itself() -> None:
    """All that Unicode has assigned: forms are final, and no form holds a sign that does not show."""
    for sign in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(sign) in ("Cn", "Co", "Cs"):
            continue
        form = normal_form(sign)
        assert not form or normal_form(form) == form
        assert not any(unicodedata.category(each) in ("Cf", "Cc") for each in form)


@given(st.integers(-(10**25), 10**25), st.integers(0, 4), st.integers(0, 3))
def test_whole_numbers_by_value(number: int, ahead: int, behind: int) -> None:
    digits = "0" * ahead + str(abs(number)) + ("." + "0" * behind if behind else "")
    assert normal_form(("-" if number < 0 else "") + digits) == str(number)


@given(st.lists(NAMES | st.none(), min_size=1, max_size=20))
def test_a_name_is_read_alike_whatever_stands_beside_it(names: list[str | None]) -> None:
    assert people(names, pa.string()) == [people([name], pa.string())[0] for name in names]


@given(st.lists(NAMES | st.none(), min_size=1, max_size=20), st.integers(0, 20))
def test_a_person_has_one_number_in_every_batch(names: list[str | None], cut: int) -> None:
    key = Pseudonyms(secrets.token_bytes(32))
    found: dict[Any, Any] = {}
    for part in (names[:cut], names[cut:]):
        column = owners(pa.array(part, pa.string()), "id", "t")
        upper, lower = key.of(column)
        for name, *number in zip(column.to_pylist(), upper.to_pylist(), lower.to_pylist(), strict=True):
            assert found.setdefault(name, number) == number
            assert (name is None) == (number == [None, None])
    assert len({tuple(number) for number in found.values()}) == len(found)
