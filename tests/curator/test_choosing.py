"""Choosing one of several public tables: scores and their sensitivity in integers, the ledger, and what is refused."""

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import pointillist as pt
from pointillist.curator import choosing
from pointillist.curator.candidates import MOST_CANDIDATES, Given, Multisets
from pointillist.curator.choosing import distances, sensitivity
from pointillist.curator.releasing import embed
from pointillist.errors import BudgetError, DataError, SchemaError, UsageError
from pointillist.features import Concat, FeatureMap, OneHot, RandomFourier, Weighted
from pointillist.privacy.accounting import total_epsilon
from pointillist.privacy.budget import Budget
from pointillist.privacy.exponential import draw, exponential_mu, integer_sensitivity, selection_scale
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.ledger import State
from pointillist.reading.opening import open_source
from pointillist.schema import Person

SMALL = pt.Schema(
    name="small",
    columns={
        "smoker": pt.Boolean(missing=False),
        "grade": pt.Ordinal(categories=("low", "high"), missing=False, out_of_domain="error"),
        "visits": pt.Integer(min=0, max=2, missing=False),
    },
)
FOURIER = RandomFourier.draw(("visits",), 6, 0.4, seed=1)


def table(rows: list[tuple[bool, int, int]]) -> pa.Table:
    return pa.table(
        {
            "smoker": pa.array([row[0] for row in rows], pa.bool_()),
            "grade": pa.array([("low", "high")[row[1]] for row in rows], pa.string()),
            "visits": pa.array([row[2] for row in rows], pa.int64()),
        }
    )


ROWS = list(itertools.product([False, True], [0, 1], [0, 1, 2]))
GOOD = table([(True, 1, 2), (False, 0, 0)])
BAD = table([(True, 0, 0), (False, 1, 2)])
UGLY = table([(True, 0, 1)] * 3)
rows_of = st.lists(st.sampled_from(ROWS), max_size=12)


def private(count: int) -> pa.Table:
    return table([(True, 1, 2), (False, 0, 0)] * (count // 2))


def scores_of(
    real: pa.Table, candidates: list[pa.Table], features: str | FeatureMap, schema: pt.Schema = SMALL
) -> tuple[list[int], int]:
    """The scores and their sensitivity, as `choose` makes them."""
    feature_map = choosing._feature_map(features, schema)
    grid = Grid.dense(feature_map.dimension)
    sums, rows = embed(open_source(real), schema, feature_map, grid, 1)
    public = Given.of(candidates, schema)
    scores = [each for part, size in public.sums(feature_map, grid) for each in distances(sums, rows, part, size)]
    return scores, sensitivity(feature_map, grid, schema.person)


class TestScores:
    @given(
        st.integers(1, 2**40),
        st.integers(1, 2**12),
        st.lists(st.tuples(st.integers(-(2**36), 2**36), st.integers(-(2**30), 2**30)), min_size=1, max_size=5),
    )
    def test_they_are_exact_however_large(self, rows: int, size: int, features: list[tuple[int, int]]) -> None:
        sums = np.array([one for one, _ in features], dtype=np.int64)
        candidate = np.array([[other for _, other in features]], dtype=np.int64)
        (found,) = distances(sums, rows, candidate, size)
        squared = sum((one - Fraction(rows * other, size)) ** 2 for one, other in features)
        assert found**2 <= squared < (found + 1) ** 2 or found == 2**62

    def test_fast_and_slow_ways_agree(self) -> None:
        rng = np.random.default_rng(0)
        sums, candidates = rng.integers(-(2**40), 2**40, 50), rng.integers(-(2**20), 2**20, (30, 50))
        fast = distances(sums, 1 << 20, candidates, 3)
        apart = 3 * sums.astype(object) - (1 << 20) * candidates.astype(object)
        assert fast == [math.isqrt(sum(v * v for v in row) // 9) for row in apart]

    def test_they_are_the_distances_of_mean_embeddings(self) -> None:
        """Against floats: the share of each pair of values, in private and public rows."""
        real, candidates = table(ROWS[:7]), [GOOD, BAD, UGLY]
        scores, _ = scores_of(real, candidates, "pairs")

        def mean(frame: pa.Table) -> np.ndarray:
            parts = []
            for one, other in itertools.combinations(frame.to_pandas().astype(str).columns, 2):
                found = frame.to_pandas().astype(str).value_counts([one, other], normalize=True)
                every = pd.MultiIndex.from_frame(table(ROWS).to_pandas().astype(str)[[one, other]].drop_duplicates())
                parts.append(found.reindex(every, fill_value=0).to_numpy() / math.sqrt(3))
            return np.concatenate(parts)

        scale = Grid.dense(16).scale
        for score, candidate in zip(scores, candidates, strict=True):
            assert math.isclose(score / scale / 7, np.linalg.norm(mean(real) - mean(candidate)), rel_tol=1e-5)

    def test_multisets_are_scored_as_their_tables_are(self) -> None:
        public = Multisets.of(2, SMALL)
        feature_map = choosing._feature_map("pairs", SMALL)
        grid = Grid.dense(feature_map.dimension)
        sums, rows = embed(open_source(table(ROWS[:5])), SMALL, feature_map, grid, 1)
        found = [each for part, size in public.sums(feature_map, grid) for each in distances(sums, rows, part, size)]
        tables = [public.table(number) for number in range(public.count)]
        assert found == scores_of(table(ROWS[:5]), tables, "pairs")[0]
        assert len({tuple(sorted(map(tuple, each.to_pandas().to_numpy().tolist()))) for each in tables}) == 78


class TestSensitivity:
    """Neighbouring tables move every score by no more than the integer sensitivity; some move it that far."""

    @given(
        rows_of,
        st.sampled_from(ROWS),
        st.sampled_from(ROWS),
        st.lists(rows_of.filter(len), min_size=1, max_size=4),
        st.sampled_from(["columns", "pairs", "rows", FOURIER]),
    )
    def test_one_row_added_or_replaced(
        self,
        rows: list[Any],
        one: Any,
        other: Any,
        candidates: list[list[Any]],
        features: str | FeatureMap,
    ) -> None:
        public = [table(each) for each in candidates]
        without, limit = scores_of(table(rows), public, features)
        first, _ = scores_of(table([*rows, one]), public, features)
        second, _ = scores_of(table([*rows, other]), public, features)
        for here, there in itertools.combinations((without, first, second), 2):
            assert max(abs(a - b) for a, b in zip(here, there, strict=True)) <= limit

    @given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(ROWS)), max_size=14), rows_of, rows_of.filter(len))
    @settings(max_examples=12)
    def test_one_person_removed_or_replaced(self, owned: list[Any], new: list[Any], candidate: list[Any]) -> None:
        schema = SMALL.model_copy(update={"person": Person(column="who", max_rows=2)})

        def of(pairs: list[Any]) -> tuple[list[int], int]:
            real = table([row for _, row in pairs]).append_column(
                "who", pa.array([who for who, _ in pairs], pa.int64())
            )
            return scores_of(real, [table(candidate)], "pairs", schema)

        others = [(who, row) for who, row in owned if who != 0]
        (whole,), limit = of(owned)
        (removed,), _ = of(others)
        (replaced,), _ = of([*others, *((0, row) for row in new)])
        assert max(abs(whole - removed), abs(whole - replaced), abs(removed - replaced)) <= limit
        assert limit == integer_sensitivity(4 * 2 * Grid.dense(16).squared_norm)

    def test_the_worst_case_reaches_it(self) -> None:
        """A table of one row that no candidate shares a value with, and one that is a candidate."""
        candidates = [table([(True, 1, 2)])]
        (far,), limit = scores_of(table([(False, 0, 0)]), candidates, "pairs")
        (near,), _ = scores_of(table([(True, 1, 2)]), candidates, "pairs")
        assert near == 0
        assert limit * (1 - 1e-6) <= far <= limit


class TestChoice:
    @pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
    def test_candidates_come_as_often_as_the_paper_says(self, neighbours: str, tmp_path: Path) -> None:
        """P ~ exp(-epsilon / (2 Delta) ||mu_D - mu_R||) with Delta = sqrt 2 / n; two tests at 1e-7 for each relation."""
        ledger = pt.Ledger(tmp_path / "l")
        ledger.set_cap("small", Budget(500.0, 1e-5))
        real, candidates, epsilon, draws = private(10), [GOOD, BAD, UGLY], 0.5, 20
        chosen = [
            pt.choose(real, SMALL, candidates, epsilon=epsilon, neighbours=neighbours, ledger=ledger, threads=1).number
            for _ in range(draws)
        ]
        scores, limit = scores_of(real, candidates, "pairs")
        distance = np.array(scores) / Grid.dense(16).scale / 10
        expected = np.exp(-epsilon / (2 * math.sqrt(2) / 10) * distance)
        expected /= expected.sum()
        assert stats.binomtest(chosen.count(0), draws, expected[0]).pvalue > 1e-7
        # The same scores at the same scale, many more times, without the table being read again.
        scale = selection_scale(epsilon, limit)
        many = np.bincount([draw(np.array(scores), scale) for _ in range(5_000)], minlength=3)
        assert stats.chisquare(many, 5_000 * expected).pvalue > 1e-7

    @pytest.mark.parametrize("features", ["pairs", "rows"])
    def test_the_nearest_is_found_where_there_are_rows_enough(self, features: str) -> None:
        """Distances are at least 0.5 apart and 2 Delta / epsilon is 0.0014: the others have e^-350."""
        found = pt.choose(private(1_000), SMALL, [BAD, UGLY, GOOD], epsilon=2.0, features=features)
        assert found.number == 2
        assert found.table is GOOD
        assert found.candidates == 3

    def test_one_of_all_tables(self) -> None:
        """Of all tables of two rows the best is at distance 0, the next at 0.4 or more."""
        found = pt.choose(private(1_000), SMALL, 2, epsilon=2.0)
        assert found.candidates == math.comb(12 + 1, 2)
        assert found.table.sort_by("visits").equals(GOOD.sort_by("visits"))
        assert found.model.sample(4, seed=0).num_rows == 4

    def test_a_map_of_ones_own(self) -> None:
        half = math.sqrt(0.5)
        own = Concat((Weighted(OneHot("smoker", 2), half), Weighted(FOURIER, half)))
        # BAD and GOOD do not differ by single columns; UGLY is at 0.5 of both: no chance in a million runs.
        assert pt.choose(private(1_000), SMALL, [UGLY, GOOD], epsilon=2.0, features=own).number == 1

    @pytest.mark.parametrize("to_frame", [pa.Table.to_pandas, pl.from_arrow, lambda frame: frame])
    def test_the_table_is_of_the_callers_kind(self, to_frame: Callable[[pa.Table], Any]) -> None:
        own = to_frame(private(200))
        assert type(pt.choose(own, SMALL, 1, epsilon=1.0).table) is type(own)

    def test_files_as_candidates(self, tmp_path: Path) -> None:
        pacsv.write_csv(GOOD, tmp_path / "good.csv")
        pq.write_table(BAD, tmp_path / "bad.parquet")
        found = pt.choose(private(1_000), SMALL, [tmp_path / "good.csv", str(tmp_path / "bad.parquet")], epsilon=2.0)
        assert found.number == 0
        assert found.table.equals(GOOD)
        found.save(tmp_path / "chosen.csv")
        assert pt.choose(private(1_000), SMALL, [BAD, tmp_path / "chosen.csv"], epsilon=2.0).number == 1

    def test_every_kind_of_column(self, schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path) -> None:
        """What the candidate holds comes back: numbers as they are, also special, missing and clipped ones."""
        public = people(50, 1)
        pq.write_table(public, tmp_path / "public.parquet")
        pq.write_table(people(50, 2), tmp_path / "other.parquet")
        files = [tmp_path / "public.parquet", tmp_path / "other.parquet"]
        found = pt.choose(people(400), schema, files, epsilon=1.0)
        assert found.table.equals(pq.read_table(files[found.number]).cast(found.table.schema))
        odd = pa.table({"n": pa.array([-5.0, 99.0, None, 2.0, -1.0])})
        numbers = pt.Schema(name="odd", columns={"n": pt.Integer(min=0, max=9, special=(-1,))})
        pq.write_table(odd, tmp_path / "odd.parquet")
        kept = pt.choose(odd, numbers, [tmp_path / "odd.parquet"] * 2, epsilon=1.0)
        assert kept.table["n"].to_pylist() == [0, 9, None, 2, -1]

    def test_numbers_of_all_tables_lie_in_the_middle_of_parts(self) -> None:
        schema = pt.Schema(
            name="n", columns={"x": pt.Real(min=0, max=16, special=(-1.0,), missing=False), "m": pt.Boolean()}
        )
        public = Multisets.of(1, schema)
        assert public.count == 17 * 3
        values = sorted({public.table(number)["x"][0].as_py() for number in range(public.count)})
        assert values[0] == -1.0
        assert np.abs(np.array(values[1:]) - np.arange(0.5, 16)).max() < 0.1

    def test_impossible_rows_are_in_no_table(self) -> None:
        schema = SMALL.model_copy(update={"constraints": (pt.Impossible(impossible={"smoker": True, "visits": 0}),)})
        public = Multisets.of(1, schema)
        tables = [public.table(number).to_pylist()[0] for number in range(public.count)]
        assert len(tables) == 10
        assert not any(row["smoker"] and row["visits"] == 0 for row in tables)

    def test_an_empty_table_can_be_chosen_for(self) -> None:
        """That there are no rows must not show as an error."""
        assert pt.choose(table([]), SMALL, [GOOD, BAD], epsilon=1.0, neighbours="add-remove").number in (0, 1)

    def test_its_facts(self) -> None:
        found = pt.choose(private(100), SMALL, [GOOD, BAD], epsilon=1.0)
        facts = json.loads(json.dumps(found.to_json()))
        assert Guarantee.from_json(facts["guarantee"]) == found.guarantee
        assert (facts["number"], facts["candidates"], facts["features"]) == (found.number, 2, "pairs")
        assert "100" not in json.dumps({**facts, "id": "", "created": "", "guarantee": "", "schema": ""})
        assert "additive" not in found.guarantee.sentence()
        assert "δ = 0" in found.guarantee.sentence()


class TestLedger:
    def test_a_pure_spend_counts_as_its_epsilon(self) -> None:
        ledger = pt.Ledger()
        ledger.set_cap("small", Budget(1.0, 1e-5))
        found = pt.choose(private(100), SMALL, [GOOD, BAD], epsilon=1.0)
        (account,) = ledger.accounts()
        assert account.spent == 1.0
        (spend,) = account.spends
        assert (spend.state, spend.delta, spend.release) == (State.DONE, 0.0, found.id)
        assert spend.mu == exponential_mu(1.0)
        with pytest.raises(BudgetError, match="over its cap"):
            pt.choose(private(100), SMALL, [GOOD, BAD], epsilon=0.1)
        assert len(ledger.accounts()[0].spends) == 1

    def test_many_small_ones_compose_better_than_they_add_up(self) -> None:
        ledger = pt.Ledger()
        one = Guarantee(0.1, 0.0, Neighbours.REPLACE_ONE, None, exponential_mu(0.1), 0.0, 0.0)
        for number in range(25):
            ledger.record("small", one, release=str(number), purpose="")
        spent = ledger.accounts()[0].spent
        assert spent == total_epsilon([(one.mu, 0.0, 0.0)] * 25, 1e-5)
        assert spent < 25 * 0.1

    def test_beside_a_gaussian_release_mu_adds_up_in_squares(self) -> None:
        made = pt.release(private(100), SMALL, epsilon=1.0, neighbours="replace-one")
        pt.choose(private(100), SMALL, [GOOD, BAD], epsilon=1.0)
        spends = [(made.guarantee.mu, made.guarantee.epsilon_slack, made.guarantee.delta_slack)]
        spends.append((exponential_mu(1.0), 0.0, 0.0))
        assert pt.Ledger().accounts()[0].spent == total_epsilon(spends, 1e-5)

    def test_relations_do_not_mix(self) -> None:
        pt.choose(private(100), SMALL, [GOOD, BAD], epsilon=1.0)
        with pytest.raises(BudgetError, match="replace-one"):
            pt.choose(private(100), SMALL, [GOOD, BAD], epsilon=1.0, neighbours="add-remove")

    def test_the_spend_stands_before_the_draw(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(scores: Any, scale: float) -> int:
            assert [spend.state for spend in pt.Ledger().accounts()[0].spends] == [State.OPEN]
            raise KeyboardInterrupt

        monkeypatch.setattr(choosing, "draw", fail)
        with pytest.raises(KeyboardInterrupt):
            pt.choose(private(100), SMALL, [GOOD, BAD], epsilon=1.0)
        assert pt.Ledger().accounts()[0].spent == 1.0


def spent() -> int:
    return sum(len(account.spends) for account in pt.Ledger().accounts())


class TestRefused:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"candidates": [GOOD]}, UsageError, "at least 2"),
            ({"candidates": []}, UsageError, "at least 2"),
            ({"candidates": 0}, UsageError, "at least 1 row"),
            ({"candidates": True}, UsageError, "not bool"),
            ({"candidates": GOOD}, UsageError, "not Table"),
            ({"candidates": "file.csv"}, UsageError, "not str"),
            ({"candidates": [GOOD, GOOD.drop_columns("visits")]}, DataError, "candidate 1: .*'visits'"),
            ({"candidates": [GOOD, GOOD.slice(0, 0)]}, DataError, "candidate 1 has no rows"),
            ({"candidates": [GOOD, "nowhere.csv"]}, DataError, "candidate 1: nowhere.csv"),
            ({"candidates": [3, GOOD]}, UsageError, "candidate 0: a table of type int"),
            ({"epsilon": 0.0}, BudgetError, "above 0"),
            ({"epsilon": "much"}, UsageError, "must be a number"),
            ({"epsilon": 1e-12}, BudgetError, "chance"),
            ({"neighbours": "others"}, UsageError, "others"),
            ({"features": "triples"}, UsageError, "columns, pairs, rows"),
            ({"features": 3}, UsageError, "columns, pairs, rows"),
            ({"features": Concat((OneHot("smoker", 2), OneHot("grade", 2)))}, UsageError, "up to 1.41421"),
            ({"features": OneHot("nobody", 2)}, SchemaError, "nobody"),
            ({"features": OneHot("smoker", 3)}, UsageError, "do not fit"),
            ({"features": RandomFourier.draw(("grade",), 2, 1.0, seed=0)}, UsageError, "not a number"),
            ({"schema": SMALL.model_copy(update={"reviewed": False})}, SchemaError, "draft"),
            ({"schema": {"name": "x"}}, UsageError, "dict"),
        ],
    )
    def test_what_cannot_be(self, options: dict[str, Any], error: type[Exception], message: str) -> None:
        given = {"table": private(20), "schema": SMALL, "candidates": [GOOD, BAD], "epsilon": 1.0, **options}
        with pytest.raises(error, match=message):
            pt.choose(**given)
        assert spent() == 0

    def test_a_map_that_the_library_does_not_know(self) -> None:
        class Mine(OneHot):
            """Its bound may be anything."""

        with pytest.raises(UsageError, match="Mine is not a feature map of this library"):
            pt.choose(private(20), SMALL, [GOOD, BAD], epsilon=1.0, features=Mine("smoker", 2))

    def test_the_private_table_as_a_candidate(self, tmp_path: Path) -> None:
        real = private(20)
        with pytest.raises(UsageError, match="candidate 1 is the private table"):
            pt.choose(real, SMALL, [GOOD, real], epsilon=1.0)
        pq.write_table(real, tmp_path / "real.parquet")
        with pytest.raises(UsageError, match="candidate 0 is the private table"):
            pt.choose(str(tmp_path / "real.parquet"), SMALL, [tmp_path / "real.parquet", GOOD], epsilon=1.0)

    @pytest.mark.parametrize(
        ("rows", "asked"), [(7, "31,824"), (9, "167,960"), (40, "about 10^10"), (10**9, "about 10^9")]
    )
    def test_more_tables_than_can_be_weighed(self, rows: int, asked: str) -> None:
        """The number follows from the schema: there is no private table here at all."""
        size = math.comb(12 + rows - 1, rows)
        if size <= MOST_CANDIDATES:
            assert Multisets.of(rows, SMALL).count == size == int(asked.replace(",", ""))
            return
        with pytest.raises(UsageError, match="possible rows of 'small'") as caught:
            pt.choose("nowhere.csv", SMALL, rows, epsilon=1.0)
        assert "100,000" in str(caught.value)
        assert "reduced-set" in str(caught.value)
        assert "landmarks" in str(caught.value)

    def test_a_domain_without_end(self, schema: pt.Schema) -> None:
        with pytest.raises(UsageError, match="10,000 row"):
            pt.choose("nowhere.csv", schema, 10_000, epsilon=1.0)

    def test_few_tables_of_very_many_rows(self) -> None:
        one = pt.Schema(name="one", columns={"b": pt.Boolean(missing=False)})
        with pytest.raises(UsageError, match="10,000,000 rows in all"):
            pt.choose("nowhere.csv", one, 50_000, epsilon=1.0)

    def test_no_private_value_in_messages(self) -> None:
        """Neither in the message, nor in an error that it replaced."""
        secret = table(ROWS).set_column(1, "grade", pa.array(["low"] * 11 + ["secret-7391"]))
        texts = table(ROWS).set_column(2, "visits", pa.array(["1"] * 11 + ["secret-7391"]))
        for real in (secret, texts):
            with pytest.raises(DataError) as caught:
                pt.choose(real, SMALL, [GOOD, BAD], epsilon=1.0)
            assert "7391" not in str(caught.value)
            assert caught.value.__context__ is None
            assert caught.value.__cause__ is None
        assert spent() == 0
