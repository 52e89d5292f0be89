"""Samples: parts and sums of records with their numbers, and numbers that are settled once."""

import numpy as np

import pointillist as pt
from pointillist.records import Records
from pointillist.sampling.sample import Sample
from pointillist.schema.levels import levels_of

LEVELS = levels_of(
    pt.Schema(
        name="s", columns={"n": pt.Integer(min=0, max=99, bins=10), "x": pt.Real(min=0, max=1), "b": pt.Boolean()}
    )
)


def sample(rows: int, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    codes = {each.name: rng.integers(0, each.regular, rows).astype(np.uint16) for each in LEVELS}
    return Sample(Records(rows, codes, {}), {"n": rng.integers(0, 100, rows).astype(np.float64)})


def test_parts_and_sums_keep_records_and_numbers_together() -> None:
    first, second = sample(5), sample(3, seed=1)
    both = Sample.joined([first, second])
    assert len(both) == 8
    again = both.part(np.arange(5, 8))
    np.testing.assert_array_equal(again.numbers["n"], second.numbers["n"])
    np.testing.assert_array_equal(again.records.codes["x"], second.records.codes["x"])


def test_what_is_settled_stays_and_the_rest_is_drawn_inside_its_bin() -> None:
    drawn = sample(200)
    settled = drawn.settled(LEVELS, np.random.default_rng(1))
    assert set(settled.numbers) == {"n", "x"}
    np.testing.assert_array_equal(settled.numbers["n"], drawn.numbers["n"])
    level = LEVELS[1]
    codes, values = settled.records.codes["x"], settled.numbers["x"]
    assert ((level.edges[codes] <= values) & (values <= level.edges[codes + 1])).all()
    again = settled.settled(LEVELS, np.random.default_rng(2))
    np.testing.assert_array_equal(again.numbers["x"], values)
