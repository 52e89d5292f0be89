"""Exchanges: columns keep their values, pair tables come nearer, and what pairs do not hold fast is forgotten."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.generators.held_tables import HeldClique, HeldTables, PairsByClass
from pointillist.sampling import exchanges
from pointillist.sampling.exchanges import exchange, exchange_all

STARTS = np.array([0, 3, 6])


def marked(rows: np.ndarray, each: int) -> np.ndarray:
    """A mark in every row for each of its tiles, of columns with so many tiles side by side."""
    marks = np.zeros((len(rows), each * rows.shape[1]), dtype=np.float32)
    for column in range(rows.shape[1]):
        marks[np.arange(len(rows)), each * column + rows[:, column]] = 1
    return marks


def pairs(rows: np.ndarray, each: int = 3) -> np.ndarray:
    """Counts of all pairs of tiles, columns side by side."""
    marks = marked(rows, each)
    return marks.T @ marks


def held(rows: np.ndarray, each: int = 3, by_class: Sequence[PairsByClass] = ()) -> HeldTables:
    """The tables of some rows, to be held."""
    return HeldTables((each,) * rows.shape[1], pairs(rows, each) / max(len(rows), 1), tuple(by_class))


def between(table: np.ndarray) -> np.ndarray:
    """Without the blocks of a column with itself."""
    found = table.copy()
    for start in STARTS:
        found[start : start + 3, start : start + 3] = 0
    return found


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(1, 3000))
def test_every_column_keeps_its_values(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (count, 3)).astype(np.int32)
    before = np.sort(rows, axis=0)
    exchange(rows, held(rng.integers(0, 3, (count, 3))), rng)
    np.testing.assert_array_equal(np.sort(rows, axis=0), before)


def test_pair_tables_become_those_of_the_model() -> None:
    """From independent columns to two that are nearly the same."""
    rng = np.random.default_rng(0)
    wanted_rows = rng.integers(0, 3, (6000, 3))
    wanted_rows[:, 1] = np.where(rng.random(6000) < 0.9, wanted_rows[:, 0], wanted_rows[:, 1])
    rows = wanted_rows.astype(np.int32).copy()
    for column in range(3):
        rows[:, column] = rng.permutation(rows[:, column])
    wanted = pairs(wanted_rows)
    before = np.abs(between(pairs(rows) - wanted)).sum()
    exchange(rows, held(wanted_rows), rng)
    assert np.abs(between(pairs(rows) - wanted)).sum() < 0.25 * before


def test_what_pairs_do_not_hold_fast_is_forgotten() -> None:
    """Parity ties three columns together, and no two of them: it fades, and pairs stay as they were."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (8000, 3)).astype(np.int32)
    rows[:, 2] = rows[:, 0] ^ rows[:, 1]
    wanted = pairs(rows)
    exchange(rows, held(rows), rng)
    assert np.mean(rows[:, 2] == rows[:, 0] ^ rows[:, 1]) < 0.9
    assert np.abs(between(pairs(rows) - wanted)).max() < 10


def test_sparse_tables_are_left_alone() -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 3, (30, 3)).astype(np.int32)
    before = rows.copy()
    exchange(rows, held(rows), rng)
    np.testing.assert_array_equal(rows, before)


def test_the_same_generator_gives_the_same_rows() -> None:
    made = []
    for _ in range(2):
        rng = np.random.default_rng(3)
        rows = rng.integers(0, 3, (3000, 3)).astype(np.int32)
        exchange(rows, held(rng.integers(0, 3, (3000, 3))), rng)
        made.append(rows)
    np.testing.assert_array_equal(*made)


def parity(rows: np.ndarray) -> float:
    return float(np.mean(rows[:, 2] == rows[:, 0] ^ rows[:, 1]))


def by_class(rows: np.ndarray, label: int) -> PairsByClass:
    """Pair tables of rows of zeros and ones within each class of a label, over all other columns."""
    marks = marked(rows, 2)
    place_of = np.arange(marks.shape[1], dtype=np.int32)
    place_of[2 * label : 2 * label + 2] = -1
    marks[:, place_of < 0] = 0
    wanted = np.stack([marks.T @ (marks * (rows[:, label] == each)[:, None]) for each in range(2)]) / len(rows)
    held = ~np.eye(rows.shape[1], dtype=bool)
    held[label] = held[:, label] = False
    return PairsByClass(label, np.arange(2, dtype=np.int32), place_of, wanted.astype(np.float32), held)


def test_tables_by_class_are_held() -> None:
    """A label that is the parity of two columns stays so where pairs by class are held, and fades where they are not."""
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 2, (8000, 5)).astype(np.int32)
    rows[:, 2] = rows[:, 0] ^ rows[:, 1]
    kept, forgotten = rows.copy(), rows.copy()
    exchange(kept, held(rows, 2, [by_class(rows, 2)]), rng)
    exchange(forgotten, held(rows, 2), rng)
    assert parity(kept) > 0.99
    assert parity(forgotten) < 0.9
    assert np.mean(kept != rows) > 0.05  # there were exchanges


def test_what_tables_by_class_do_not_hold_is_forgotten() -> None:
    """Three columns whose parity is the label: pairs by class know nothing of it."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (8000, 4)).astype(np.int32)
    rows[:, 3] = rows[:, 0] ^ rows[:, 1] ^ rows[:, 2]
    split = by_class(rows, 3)
    exchange(rows, held(rows, 2, [split]), rng)
    assert np.mean(rows[:, 3] == rows[:, 0] ^ rows[:, 1] ^ rows[:, 2]) < 0.9
    assert np.abs(by_class(rows, 3).wanted - split.wanted).max() < 0.01


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000), count=st.integers(1, 2000), labels=st.lists(st.integers(0, 3), max_size=2, unique=True)
)
def test_columns_keep_their_values_and_rows_their_classes(seed: int, count: int, labels: list[int]) -> None:
    """Whatever tables are wanted, no value is lost, and no row's class changes."""
    rng = np.random.default_rng(seed)
    rows, other = (rng.integers(0, 2, (count, 4)).astype(np.int32) for _ in range(2))
    mixed = rows.copy()
    exchange(mixed, held(other, 2, [by_class(other, label) for label in labels]), rng)
    np.testing.assert_array_equal(np.sort(mixed, axis=0), np.sort(rows, axis=0))
    np.testing.assert_array_equal(mixed[:, labels], rows[:, labels])


def test_of_a_target_and_two_columns_nothing_can_be_forgotten() -> None:
    """A table by class holds all three together: rows are left alone."""
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 2, (8000, 3)).astype(np.int32)
    before = rows.copy()
    shares = pairs(rng.integers(0, 2, (8000, 3)), 2) / 8000
    exchange_all(rows, HeldTables((2, 2, 2), shares, (by_class(rows, 2),)), rng)
    np.testing.assert_array_equal(rows, before)
    exchange_all(rows, HeldTables((2, 2, 2), shares), rng)
    assert not np.array_equal(rows, before)


def clique(rows: np.ndarray, *columns: int) -> HeldClique:
    """The table of some columns of zeros and ones."""
    wanted = np.zeros((2,) * len(columns), dtype=np.float32)
    np.add.at(wanted, tuple(rows[:, column] for column in columns), 1 / len(rows))
    return HeldClique(columns, (np.arange(2, dtype=np.int32),) * len(columns), wanted)


def even(rows: np.ndarray) -> float:
    return float(np.mean(rows.sum(axis=1) % 2 == 0))


def test_cliques_are_held_and_made() -> None:
    """A parity of four columns stays, and comes to be where it was not; pairs are as they should be."""
    rng = np.random.default_rng(7)
    rows = rng.integers(0, 2, (8000, 6)).astype(np.int32)
    rows[:, 3] = rows[:, :3].sum(axis=1) % 2
    tables = replace(held(rows, 2), cliques=(clique(rows, 2, 0, 1, 3),))
    mixed, apart = rows.copy(), rng.integers(0, 2, (8000, 6)).astype(np.int32)
    for each in (mixed, apart):
        exchange(each, tables, rng)
        assert even(each[:, :4]) > 0.95
    assert np.mean(mixed != rows) > 0.05  # there were exchanges
    assert np.abs(pairs(mixed, 2) - pairs(rows, 2)).max() < 40


def test_where_a_clique_holds_all_columns_rows_are_left_alone() -> None:
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 2, (8000, 3)).astype(np.int32)
    before = rows.copy()
    exchange_all(rows, replace(held(rng.integers(0, 2, (8000, 3)), 2), cliques=(clique(rows, 0, 1, 2),)), rng)
    np.testing.assert_array_equal(rows, before)


def test_pairs_that_are_not_linked_are_forgotten() -> None:
    rng = np.random.default_rng(9)
    rows = rng.integers(0, 2, (8000, 4)).astype(np.int32)
    rows[:, 1], rows[:, 2] = rows[:, 0], rows[:, 0]
    linked = np.ones((4, 4), np.bool_)
    linked[1, :] = linked[:, 1] = False
    exchange(rows, replace(held(rows, 2), linked=linked), rng)
    assert abs(np.mean(rows[:, 0] == rows[:, 1]) - 0.5) < 0.1
    assert np.mean(rows[:, 0] == rows[:, 2]) > 0.98


def test_of_too_many_pairs_the_strongest_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(10)
    rows = rng.integers(0, 3, (6000, 4))
    rows[:, 3] = rows[:, 1]
    monkeypatch.setattr(exchanges, "_WORK", 6 * 6000 * 1.0)
    linked = exchanges._links(held(rows), 6000)
    assert np.argwhere(linked).tolist() == [[1, 3], [3, 1]]


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_are_the_same_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    made = []
    for workers in (threads, 2):
        monkeypatch.setattr(exchanges, "_LEAST_TOGETHER", 1500)
        monkeypatch.setattr(exchanges, "_workers", lambda workers=workers: workers)
        rng = np.random.default_rng(11)
        rows = rng.integers(0, 3, (4000, 3)).astype(np.int32)
        before = np.sort(rows, axis=0)
        exchange_all(rows, held(rng.integers(0, 3, (4000, 3))), rng)
        np.testing.assert_array_equal(np.sort(rows, axis=0), before)
        made.append(rows)
    np.testing.assert_array_equal(*made)


def test_a_trend_in_tables_as_large_as_the_rows_comes_back() -> None:
    """2,000 rows in 900 cells: hardly any cell lacks a whole row, and yet the trend of all of them moves rows."""
    rng = np.random.default_rng(0)
    each, count = 30, 2000
    normal = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], 200_000)
    ranks = normal.argsort(axis=0).argsort(axis=0) * each // len(normal)
    rows = rng.permuted(ranks[:count], axis=0).astype(np.int32)
    exchange(rows, held(ranks, each), rng)
    seen = np.corrcoef(rows.T)
    assert seen[0, 1] > 0.7
    assert abs(seen[0, 2]) < 0.1
