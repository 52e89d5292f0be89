"""The console at 80 columns: no word is broken, and a draft of many columns is a screenful."""

from pathlib import Path

import pytest

import pointillist as pt
from pointillist.cli import console
from pointillist.demo import people


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "width", 80)


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that were printed, none too long for the terminal."""
    return capsys.readouterr().out.splitlines()


WIDE = pt.Schema(
    name="wide",
    columns={
        name: column
        for number in range(14)
        for name, column in {
            f"household_income_before_tax_{number}": pt.Real(min=0, max=1e6, read_from_data=("kind", "min", "max")),
            f"marital_status_{number}": pt.Categorical(
                categories=("divorced or separated", "married", "never married")
            ),
            f"children_{number}": pt.Integer(min=0, max=20),
            f"interviewed_{number}": pt.Datetime(min="2020-01-01", max="2025-12-31"),
            f"remarks_{number}": pt.Ignore(description="many different texts"),
        }.items()
    },
)


def test_a_draft_of_70_columns_is_a_screenful(capsys: pytest.CaptureFixture[str]) -> None:
    console.show_draft(WIDE, Path("wide.toml"))
    lines = shown(capsys)
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80
    assert "… and 50 more columns: see wide.toml." in lines
    assert "Left out: remarks_0, remarks_1, remarks_2, remarks_3, … (14 columns): many" in " ".join(lines)


def test_a_schema_has_a_line_for_each_column_and_whole_names(capsys: pytest.CaptureFixture[str]) -> None:
    console.show_schema(WIDE)
    lines = shown(capsys)
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[3:73]] == list(WIDE.columns)


def test_a_name_that_is_too_long_is_broken_and_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    name = "".join(chr(ord("a") + number % 26) for number in range(100))
    console.show_schema(pt.Schema(name="long", columns={name: pt.Boolean()}))
    assert name in "".join(line.split()[0] for line in shown(capsys))


@pytest.mark.parametrize("target", [None, people.TARGET])
def test_no_word_of_a_plan_is_broken(target: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    plan = pt.plan(people.SCHEMA, epsilon=1.0, target=target)
    console.show_plan(plan)
    lines = shown(capsys)
    assert max(map(len, lines)) <= 80
    expected = ["measured", "tables", "most", "share", "budget", "noise", "cell", "(rows)", "expected", "raw", "error"]
    expected += [word for each in plan.rounds for block in each.blocks for word in block.name.split()]
    assert set(expected) <= set(" ".join(lines).split())


def test_no_word_of_a_ledger_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    promise = pt.plan(people.SCHEMA, epsilon=0.25, delta=1e-6).guarantee
    ledger = pt.Ledger()
    ledger.record(
        "national-household-survey", promise, release="0123456789", purpose="mosaic, target employment_status"
    )
    console.show_accounts(ledger.accounts())
    lines = shown(capsys)
    assert max(map(len, lines)) <= 80
    for word in ("employment_status", "01234567", "0.25", "1e-06", "open:", "counted", "spent"):
        assert word in " ".join(lines).split()
