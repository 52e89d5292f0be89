import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pointillist as pt
from pointillist.curator import budget_drafting
from pointillist.curator.budget_drafting import BudgetPlan, first_sums, named
from pointillist.curator.value_counts import ValueCounts, value_counts
from pointillist.demo.people import simulate
from pointillist.errors import BudgetError, DataError, LedgerError, UsageError
from pointillist.evaluate.audit import audit
from pointillist.evaluate.audit.epsilon_bounds import event_epsilon, threshold_epsilon
from pointillist.privacy.accounting import gaussian_delta
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.ledger import Ledger
from pointillist.privacy.noise import add_noise
from pointillist.reading.connection import connect
from pointillist.reading.opening import open_source
from pointillist.schema import Person, Schema

COLUMNS = ("a", "b", "c")
CELLS = st.sampled_from([None, "1", "2", "-7.5", "x", "y", "2020-01-31", "1e300", "é"])
ROWS = st.lists(st.tuples(st.sampled_from("pqrs"), CELLS, CELLS, CELLS), max_size=12)


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    names = ("who", *COLUMNS)
    return pa.table({name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(names)})


def plan(neighbours: Neighbours = Neighbours.ADD_REMOVE, person: Person | None = None) -> BudgetPlan:
    return BudgetPlan.make(COLUMNS, Budget(0.5, 1e-5), neighbours, person)


class TestPlan:
    @pytest.mark.parametrize("neighbours", list(Neighbours))
    @pytest.mark.parametrize("person", [None, Person(column="who", max_rows=3)])
    def test_all_of_it_is_within_the_budget(self, neighbours: Neighbours, person: Person | None) -> None:
        """The rounds' mu, the grid's slack and what naming takes, by the formula of the proof."""
        made = plan(neighbours, person).guarantee
        spent = gaussian_delta(made.mu, made.epsilon - made.epsilon_slack) + made.delta_slack
        assert 0.99 * made.delta < spent <= made.delta
        assert made.delta_slack >= 0.1 * made.delta

    @given(st.lists(st.sampled_from([1.0, 0.5]), min_size=1, max_size=400))
    @settings(deadline=None, max_examples=30)
    def test_a_row_is_no_longer_than_the_grid(self, parts: list[float]) -> None:
        squares = sum(weight**2 for weight in plan().weights(parts))
        assert (1 - 1e-5) * 4**26 <= squares <= 4**26


class TestSensitivity:
    @given(ROWS, ROWS, ROWS, st.booleans(), st.sampled_from([None, 1, 2]))
    @settings(deadline=None, max_examples=12)
    def test_neighbours(
        self, rest: list[Any], one: list[Any], other: list[Any], replace: bool, most: int | None
    ) -> None:
        """In integers: both rounds together, and no value that only one side has is over the first limit by more."""
        person = None if most is None else Person(column="who", max_rows=most)
        relation = Neighbours.REPLACE_ONE if replace else Neighbours.ADD_REMOVE
        made = plan(relation, person)
        if person is None:
            one, other = one[:1], other[:1]
        sides = [[("me", *row[1:]) for row in own] + rest for own in (one, other if replace else [])]
        bound = (2 if replace else 1) * (most or 1) ** 2 * 4**26
        with connect() as left, connect() as right:
            counts = [
                value_counts(db, open_source(table(rows)), list(COLUMNS), person)
                for db, rows in zip((left, right), sides, strict=True)
            ]
            sums = [first_sums(made, each) for each in counts]
            assert int(((sums[0] - sums[1]).astype(object) ** 2).sum()) <= bound
            weights = made.weights([1.0] * 3 + [0.5] * 3)
            squares = 0
            for first, second in zip(*counts, strict=True):
                apart, bins = _apart(first, second), first.bins(-8.0, 1.0, 64) - second.bins(-8.0, 1.0, 64)
                squares += weights[0] ** 2 * sum(each**2 for each in apart) + weights[-1] ** 2 * int((bins**2).sum())
                assert sum(each != 0 for each in apart) <= (2 if replace else 1) * made.rows_of_one
                assert all(abs(each) <= made.rows_of_one for each in apart)
            assert squares <= bound


def _apart(first: ValueCounts, second: ValueCounts) -> list[int]:
    """By how many rows two columns differ in each of their texts."""
    one, other = (dict(zip(*each.values(numbers=False, least=1), strict=True)) for each in (first, second))
    return [int(one.get(key, 0)) - int(other.get(key, 0)) for key in one.keys() | other.keys()]


class TestNaming:
    @pytest.mark.parametrize("most", [1, 3])
    def test_one_persons_own_values_are_not_named(self, most: int) -> None:
        """Even with as many rows as a value may have without being looked at, it is five deviations below the limit."""
        made = plan(person=Person(column="who", max_rows=most))
        weight = made.weights([1.0] * 6)[0]
        least, limit = budget_drafting._threshold(made, weight)
        own = (least - 1 + most) * weight
        keys = most * len(COLUMNS)
        assert keys * 0.5 * math.erfc((limit - 1 - own) / made.sigma(1) / math.sqrt(2)) <= made.naming

    def test_names_come_with_their_noisy_counts(self) -> None:
        rows = [("p", "often", "1", None)] * 3000 + [(f"q{n}", f"rare {n}", "2", None) for n in range(50)]
        with connect() as db:
            counts = value_counts(db, open_source(table(rows)), list(COLUMNS), None)
            weight = plan().weights([1.0] * 6)[0]
            values, often = named(plan(), counts[0], weight, numbers=False)
        assert values == ["often"]
        assert abs(often[0] - 3000) < 10 * plan().sigma(1) / weight


class TestPlantedLeaks:
    """An attack on drafts: does it tell whether one person is in the table? It finds leaks that are put in, and no others.

    Each bound on epsilon is too high with probability 1e-6 at most, so a sound draft fails a test about as often.
    """

    RUNS, ALPHA = 400, 1e-6

    def epsilon_of_names(self) -> float:
        """By whether a value that one person alone has is named: of many such persons at once, as noise is drawn for each
        value by itself. Without the person there is no such value, and none is named."""
        rows = [("q", "often", "1", None)] * 300 + [(f"p{n}", f"secret {n}", "7", "x") for n in range(self.RUNS)]
        made = plan()
        with connect() as db:
            texts = value_counts(db, open_source(table(rows)), list(COLUMNS), None)[0]
            found, _ = named(made, texts, made.weights([1.0] * 6)[0], numbers=False)
        hits = sum(each.startswith("secret") for each in found)
        return event_epsilon(hits, self.RUNS, 0, self.RUNS, 1e-5, self.ALPHA)

    def epsilon_of_sums(self, sigma: float) -> float:
        """By the noisy counts of the first round in which one person tells."""
        made, rows, sums = plan(), [("q", "often", "1", None)] * 300, []
        for each in (rows, [*rows, ("p", "secret", "-7.5", "x")]):
            with connect() as db:
                sums.append(first_sums(made, value_counts(db, open_source(table(each)), list(COLUMNS), None)))
        places = np.flatnonzero(sums[0] != sums[1])
        apart = (sums[1] - sums[0])[places].astype(np.float64)
        scores = [
            (add_noise(np.tile(each[places], self.RUNS), sigma).reshape(self.RUNS, -1) - sums[0][places]) @ apart
            for each in sums
        ]
        return threshold_epsilon(scores[0], scores[1], float(apart @ apart) / 2, 1e-5, self.ALPHA)

    def test_a_threshold_that_is_too_low(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.epsilon_of_names() <= plan().guarantee.epsilon
        monkeypatch.setattr(budget_drafting, "_threshold", lambda made, weight: (1, 0))
        assert self.epsilon_of_names() > plan().guarantee.epsilon

    def test_noise_that_is_too_small(self) -> None:
        sigma = plan().sigma(0)
        assert self.epsilon_of_sums(sigma) <= plan().guarantee.epsilon
        assert self.epsilon_of_sums(sigma / 40) > plan().guarantee.epsilon


class TestDraft:
    @pytest.fixture(scope="class")
    @classmethod
    def bought(cls, tmp_path_factory: pytest.TempPathFactory) -> tuple[Schema, Path]:
        folder = tmp_path_factory.mktemp("bought")
        ledger = folder / "l.sqlite"
        return pt.draft(simulate(), name="people", one_row_per_person=True, epsilon=0.5, ledger=ledger), ledger

    def test_it_is_usable_and_paid_for(self, bought: tuple[Schema, Path]) -> None:
        schema, ledger = bought
        schema.require_reviewed()
        assert schema.vouched == {}
        assert schema.paid_for.keys() >= {"", "sex", "income", "region"}
        assert schema.purchase is not None
        assert schema.purchase.epsilon == 0.5
        (account,) = Ledger(ledger).accounts()
        assert account.dataset == "people"
        assert account.spent == pytest.approx(0.5, rel=1e-2)
        assert [(each.release, each.purpose, each.state) for each in account.spends] == [
            (schema.purchase.id, "draft", "done")
        ]

    def test_what_it_found(self, bought: tuple[Schema, Path]) -> None:
        schema, _ = bought
        assert schema.rows is not None
        assert 23_000 <= schema.rows <= 25_000
        assert set(schema.columns["sex"].categories) >= {"female", "male"}
        assert schema.columns["birth_date"].min.year < 1960
        assert schema.columns["birth_date"].max.year > 1995
        assert schema.columns["children"].min == 0
        assert schema.columns["children"].max <= 15
        assert schema.columns["bmi"].decimals == 1

    def test_files_keep_what_was_paid(self, bought: tuple[Schema, Path], tmp_path: Path) -> None:
        schema, _ = bought
        (tmp_path / "a.toml").write_text(schema.to_toml(), "utf-8")
        assert Schema.load(tmp_path / "a.toml") == schema == Schema.from_json(schema.to_json())

    def test_a_release_comes_on_top_without_a_question(
        self, bought: tuple[Schema, Path], recwarn: pytest.WarningsRecorder
    ) -> None:
        schema, ledger = bought
        pt.release(simulate(), schema, epsilon=0.5, ledger=ledger, method=pt.Merf(features=10))
        assert not [each for each in recwarn if issubclass(each.category, pt.FactsFromDataWarning)]
        (account,) = Ledger(ledger).accounts()
        assert len(account.spends) == 2
        assert 0.65 < account.spent < 0.8

    def test_a_release_looks_for_the_spend(self, bought: tuple[Schema, Path], tmp_path: Path) -> None:
        """Another ledger, another account, a purchase that nobody made, or not at that price."""
        schema, ledger = bought
        assert schema.purchase is not None
        forged = schema.model_copy(update={"purchase": schema.purchase.model_copy(update={"id": "nope"})})
        renamed = schema.model_copy(update={"name": "others"})
        cheaper = [
            schema.model_copy(update={"purchase": schema.purchase.model_copy(update=change)})
            for change in ({"epsilon": 0.01}, {"delta": 1e-9})
        ]
        books = ((schema, tmp_path / "l.sqlite"), *((each, ledger) for each in (forged, renamed, *cheaper)))
        for said, book in books:
            with pytest.raises(LedgerError, match="no such spend"):
                pt.release(simulate(), said, epsilon=0.1, ledger=book, method=pt.Merf(features=10))
        assert Ledger(tmp_path / "l.sqlite").accounts() == ()

    def test_an_audit_needs_no_ledger(self, bought: tuple[Schema, Path]) -> None:
        few = bought[0].model_copy(update={"columns": {name: bought[0].columns[name] for name in ("sex", "children")}})
        assert audit(None, few, epsilon=1.0, runs=10, attacks=("white-box",)).findings


class TestRefusals:
    TABLE = pa.table({"a": ["x"] * 100, "b": [1] * 100})

    def test_over_the_cap_nothing_is_spent(self, tmp_path: Path) -> None:
        with pytest.raises(BudgetError, match="over its cap"):
            pt.draft(self.TABLE, name="t", one_row_per_person=True, epsilon=11, ledger=tmp_path / "l.sqlite")
        assert Ledger(tmp_path / "l.sqlite").accounts() == ()

    def test_whose_a_row_is_must_be_said(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"whose is a row.*Nothing was spent"):
            pt.draft(self.TABLE, name="t", epsilon=1, ledger=tmp_path / "l.sqlite")
        with pytest.raises(UsageError, match="contradict"):
            pt.draft(self.TABLE, name="t", person=Person(column="a", max_rows=2), one_row_per_person=True)
        assert Ledger(tmp_path / "l.sqlite").accounts() == ()

    def test_a_file_that_grows_while_it_is_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "a.csv"
        path.write_text("a,b\n" + "x,1\n" * 100)

        def then_more(*arguments: Any) -> Any:
            found = value_counts(*arguments)
            path.write_text(path.read_text() + "x,1\n")
            return found

        monkeypatch.setattr(budget_drafting, "value_counts", then_more)
        with pytest.raises(DataError, match="was changed while it was read"):
            pt.draft(path, name="t", one_row_per_person=True, epsilon=1, ledger=tmp_path / "l.sqlite")
        assert Ledger(tmp_path / "l.sqlite").accounts() == ()

    def test_an_unreadable_file_spends_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text('a,b\n1,"x\n')
        with pytest.raises(DataError):
            pt.draft(tmp_path / "a.csv", name="t", one_row_per_person=True, epsilon=1, ledger=tmp_path / "l.sqlite")
        assert Ledger(tmp_path / "l.sqlite").accounts() == ()

    def test_nothing_stood_out(self, tmp_path: Path) -> None:
        with pytest.raises(BudgetError, match=r"nothing stood out.*counts"):
            pt.draft(self.TABLE, name="t", one_row_per_person=True, epsilon=0.1, ledger=tmp_path / "l.sqlite")
        assert len(Ledger(tmp_path / "l.sqlite").accounts()[0].spends) == 1

    @pytest.mark.parametrize("epsilon", ["much", object()])
    def test_no_number(self, epsilon: Any, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="must be numbers"):
            pt.draft(self.TABLE, name="t", one_row_per_person=True, epsilon=epsilon, ledger=tmp_path / "l.sqlite")

    def test_images(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "a.npz", x=np.zeros((4, 8, 8), np.uint8), y=np.zeros(4, int))
        with pytest.raises(UsageError, match="for tables"):
            pt.draft(tmp_path / "a.npz", name="t", one_row_per_person=True, epsilon=1, ledger=tmp_path / "l.sqlite")

    def test_another_unit_is_another_account(self, tmp_path: Path) -> None:
        person, ledger = Person(column="who", max_rows=2), tmp_path / "l.sqlite"
        rows = table([(str(n), "x", "1", "y") for n in range(3000)])
        made = pt.draft(rows, name="t", epsilon=1, person=person, ledger=ledger)
        assert made.person == person
        assert made.columns["who"].description == "names the person"
        with pytest.raises(BudgetError, match="privacy unit"):
            pt.draft(rows, name="t", one_row_per_person=True, epsilon=1, ledger=ledger)


class TestPersons:
    """What is known of a person beside the unit must neither spoil the account nor lose what was paid."""

    ROWS = pa.table(
        {
            "who": [str(n // 3) for n in range(9_000)],
            "t": [n % 3 * 40 + n % 7 for n in range(9_000)],
            "x": ["abc"[n % 3] for n in range(9_000)],
        }
    )

    def test_a_release_goes_on_the_same_account(self, tmp_path: Path) -> None:
        person, ledger = Person(column="who", max_rows=3, order="t", persons=3_000), tmp_path / "l.sqlite"
        made = pt.draft(self.ROWS, name="t", epsilon=2, person=person, ledger=ledger)
        assert made.person == person
        pt.release(self.ROWS, made, epsilon=1, ledger=ledger, method=pt.Merf(features=10))
        (account,) = Ledger(ledger).accounts()
        assert account.person == person.unit
        assert len(account.spends) == 2

    def test_an_order_by_what_has_none_is_left_out(self, tmp_path: Path) -> None:
        person = Person(column="who", max_rows=3, order="x")
        made = pt.draft(self.ROWS, name="t", epsilon=2, person=person, ledger=tmp_path / "l.sqlite")
        assert made.person == person.unit
        assert made.columns["x"].description.endswith("does not order a person's rows")

    @pytest.mark.parametrize("order", ["nothing", "who"])
    def test_an_order_by_no_column_spends_nothing(self, order: str, tmp_path: Path) -> None:
        person = Person(column="who", max_rows=3, order=order)
        with pytest.raises(UsageError, match=r"person\.order.*Nothing was spent"):
            pt.draft(self.ROWS, name="t", epsilon=2, person=person, ledger=tmp_path / "l.sqlite")
        assert Ledger(tmp_path / "l.sqlite").accounts() == ()
