"""The choice of tables: few in sharp focus where there is much noise, all where there is little, and the budget is kept."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.methods.mosaic_screen import Dependence, Screen
from pointillist.methods.mosaic_tables import Means, Tables, choose_tables, with_focus, with_groups

NAMES = [f"c{number}" for number in range(8)]


def means(signal: float, most_cells: int = 400_000) -> Means:
    return Means(signal, 0.5, most_cells, dict.fromkeys(NAMES, 8), dict.fromkeys(NAMES, 2))


def screen(strong: dict[tuple[str, str], float], targets: dict[str, float] | None = None) -> Screen:
    pairs = {pair: _seen(strong.get(pair, 0.0)) for pair in itertools.combinations(NAMES, 2)}
    return Screen(pairs, {"c0": {name: _seen((targets or {}).get(name, 0.0)) for name in NAMES[1:]}})


def _seen(strength: float) -> Dependence:
    return Dependence(strength, 50 * strength)


def parts(tables: Tables) -> float:
    """The parts of the round that are used."""
    return (
        bool(tables.plain) * tables.plain_share
        + bool(tables.with_target) * tables.with_target_share
        + bool(tables.by_target) * tables.by_target_share
        + bool(tables.groups) * tables.group_share
    )


@given(
    st.floats(0.1, 1e5),
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
    st.dictionaries(st.sampled_from(list(itertools.combinations(NAMES, 2))), st.floats(0.0, 1.0)),
)
def test_the_whole_round_is_used_and_no_pair_twice(
    signal: float, targets: list[str], strong: dict[tuple[str, str], float]
) -> None:
    found = choose_tables(NAMES, targets, screen(strong), means(signal))
    assert parts(found) == pytest.approx(1.0)
    assert len(set(found.plain) | set(found.with_target)) == len(found.plain) + len(found.with_target)
    assert all(set(pair) & set(targets) for pair in found.with_target)
    for target, pairs in found.by_target.items():
        assert all(target not in pair for pair in pairs)


def test_with_little_noise_all_pairs_are_measured_and_split_by_the_target() -> None:
    found = choose_tables(NAMES, ["c0"], screen({}), means(1e6))
    assert len(found.plain) == 28
    assert len(found.by_target["c0"]) == 21
    assert (found.by_target_share, found.with_target) == (0.5, ())


def test_with_much_noise_only_those_are_measured_that_stand_out() -> None:
    strong = {("c1", "c2"): 0.9, ("c3", "c4"): 0.5, ("c5", "c6"): 0.02}
    found = choose_tables(NAMES, [], screen(strong), means(100.0))
    assert found.plain == (("c1", "c2"), ("c3", "c4"))  # the third is within two standard deviations of the noise


def test_the_strongest_come_first_where_not_all_can_be_afforded() -> None:
    strong = {pair: 0.1 + 0.03 * number for number, pair in enumerate(itertools.combinations(NAMES, 2))}
    found = choose_tables(NAMES, [], screen(strong), means(3.75 * math.sqrt(64 * 5)))
    assert found.plain == tuple(list(itertools.combinations(NAMES, 2))[-5:])


def test_the_target_comes_first_where_pairs_cannot_be_split_by_it() -> None:
    found = choose_tables(NAMES, ["c0"], screen({("c1", "c2"): 0.9}, {"c3": 0.8}), means(120.0))
    assert found.with_target == (("c0", "c3"),)
    assert found.with_target_share > 0.3
    assert ("c1", "c2") in found.plain


def test_the_most_cells_are_kept_to() -> None:
    found = choose_tables(NAMES, [], None, means(1e6, most_cells=64 * 7))
    assert len(found.plain) == 7


def test_without_a_screen_as_many_as_there_can_be() -> None:
    assert len(choose_tables(NAMES, [], None, means(3.75 * math.sqrt(64 * 5))).plain) == 5
    assert parts(choose_tables(NAMES, ["c0"], None, means(0.1))) == 0.0


def test_the_stronger_a_pair_the_larger_its_part() -> None:
    pairs = list(itertools.combinations(NAMES, 2))
    seen = screen({pair: 0.02 + 0.03 * number for number, pair in enumerate(pairs)})
    plain = choose_tables(NAMES, [], seen, means(1e6))
    found = with_focus(plain, seen)
    assert found.plain == plain.plain
    own = found.plain_parts()
    assert [own[pair] for pair in pairs] == sorted(own.values())
    assert own[pairs[-1]] == pytest.approx(8 * own[pairs[0]])
    assert sum(own.values()) == pytest.approx(1.0)
    assert min(found.tables_by_share) < plain.tables_by_share[0] < max(found.tables_by_share)
    assert with_focus(plain, screen({})) == plain  # nothing is strong


@given(st.dictionaries(st.sampled_from(list(itertools.combinations(NAMES, 2))), st.floats(0.0, 1.0)))
def test_parts_of_tables_add_up_to_their_round(strong: dict[tuple[str, str], float]) -> None:
    found = with_focus(choose_tables(NAMES, ["c0"], screen(strong), means(1e6)), screen(strong))
    own = found.plain_parts()
    assert sum(own.values()) == pytest.approx(found.plain_share)
    assert max(own.values()) <= 32 * min(own.values())


@pytest.mark.parametrize(("noises", "count"), [(3.0, 0), (9.0, 2)])
def test_three_columns_that_are_more_than_their_pairs_have_a_table(noises: float, count: int) -> None:
    groups = {("c1", "c2", "c3"): Dependence(0.8, noises), ("c0", "c4", "c5", "c6"): Dependence(0.5, noises)}
    seen = screen({("c1", "c2"): 0.9})._replace(groups=groups)
    found = with_groups(choose_tables(NAMES, ["c0"], seen, means(2000.0)), seen, means(2000.0))
    assert len(found.groups) == count
    assert parts(found) == pytest.approx(1.0)


def test_fewer_tables_use_the_whole_round_as_well() -> None:
    seen = screen({("c1", "c2"): 0.9, ("c3", "c4"): 0.8})._replace(groups={("c1", "c2", "c3"): Dependence(0.8, 9.0)})
    found = with_groups(with_focus(choose_tables(NAMES, ["c0"], seen, means(1e5)), seen), seen, means(1e5))
    assert found.groups
    assert found.by_target
    sizes = []
    for _ in range(30):
        sizes.append(len(found.plain) + sum(map(len, found.by_target.values())) + len(found.groups))
        assert parts(found) == pytest.approx(1.0)
        found = found.fewer()
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
