"""Faults of ours: one message, no private value, and a spend that was begun stays."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.command_line import NUMBER, WORD, Run, refused, release_args, spends, synth_args

from pointillist.curator import releasing
from pointillist.privacy.ledger import State


def fail(*args: Any, **options: Any) -> Any:
    """A fault whose message quotes a private value."""
    raise ValueError(WORD)


def on_call(number: int, whole: Callable[..., Any]) -> Callable[..., Any]:
    """`whole`, but for call `number`, which fails."""
    calls = itertools.count(1)

    def call(*args: Any, **options: Any) -> Any:
        return fail() if next(calls) == number else whole(*args, **options)

    return call


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("args", [release_args(), synth_args()], ids=["release", "synth"])
def test_a_fault_while_noise_is_drawn_counts_as_spent(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch, args: list[object], number: int
) -> None:
    monkeypatch.setattr(releasing, "add_noise", on_call(number, releasing.add_noise))
    outcome = refused(
        run, args, 70, "a fault in pointillist", "ValueError at test_faults_of_ours.py", "Please report it"
    )
    assert "leave the data out" in outcome.err
    assert [spend.state for spend in spends()] == [State.OPEN]
    assert "open: counted as spent" in run("ledger").shown


@pytest.mark.parametrize("number", [1, 2])
def test_a_fault_while_rows_are_read_spends_nothing_before_noise_is_drawn(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(releasing, "embed", on_call(number, releasing.embed))
    refused(run, release_args(), 70, "a fault in pointillist", "ValueError", "Please report it")
    assert len(spends()) == number - 1  # once noise was drawn, the spend stands


@pytest.mark.parametrize("error", [KeyError, RuntimeError, MemoryError, AssertionError, UnicodeError, RecursionError])
def test_every_kind_of_fault_keeps_its_message_to_itself(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail_so(*args: Any, **options: Any) -> Any:
        raise error(WORD) from ValueError(NUMBER)

    monkeypatch.setattr(releasing, "add_noise", fail_so)
    refused(run, release_args(), 70, f"a fault in pointillist ({error.__name__} at test_faults_of_ours.py")
    assert len(spends()) == 1


def test_an_interrupt_ends_quietly_and_a_spend_stays(run: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(releasing, "add_noise", interrupt)
    refused(run, release_args(), 130)
    assert [spend.state for spend in spends()] == [State.OPEN]
