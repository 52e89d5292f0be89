"""Contributing: one owner's part. Exact sums as of pooled rows, noise and masks on top, and the spend before all of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.owners import POOLED, TABLES, WARDS, Trio, patients

import pointillist as pt
from pointillist.curator.contributing import _summed
from pointillist.curator.releasing import embed
from pointillist.engines.local import Local
from pointillist.errors import ArtefactError, BudgetError, DataError, LedgerError, UsageError
from pointillist.files import container
from pointillist.owners.masks import added, masked
from pointillist.owners.part import Part
from pointillist.owners.shared_plan import FORMAT, KIND, SharedPlan
from pointillist.privacy.ledger import State
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.progress import silent
from pointillist.reading.opening import open_source


def summed(plan: SharedPlan, table: Any) -> np.ndarray:
    """An owner's exact integers."""
    return _summed(open_source(table), plan, silent, Local(1))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("method", ["mosaic", "merf", "hermite"])
def test_without_noise_masked_parts_add_up_to_the_sum_over_pooled_rows(
    method: str, neighbours: str, trio: Trio
) -> None:
    """To the last bit."""
    plan = trio.plan("sum", method=method, neighbours=neighbours, target="ill")
    parts = [
        masked(summed(plan, table), trio.owner_key(plan, owner), plan.keys, plan.digest)
        for owner, table in enumerate(TABLES, 1)
    ]
    sums, rows = embed(open_source(POOLED), WARDS, plan.feature_map, plan.plan.rounds[0].grid)
    told = [rows] if neighbours == "replace-one" else []
    assert added(parts).tolist() == [*sums.tolist(), *told]


@settings(max_examples=6)
@given(seed=st.integers(0, 1000), gone=st.integers(0, 39))
def test_one_row_moves_an_owners_sums_by_no_more_than_the_noise_is_made_for(seed: int, gone: int) -> None:
    table = patients(40, seed)
    less = pa.concat_tables([table.slice(0, gone), table.slice(gone + 1)])
    plan = _PLANS.setdefault("add-remove", pt.shared_plan(WARDS, owners=3, epsilon=1.0))
    apart = summed(plan, table) - summed(plan, less)
    planned, request = plan.plan.rounds[0], plan.plan.request
    most = squared_sensitivity(planned.grid.squared_norm, request.neighbours, None, nonnegative=planned.nonnegative)
    assert sum(int(each) ** 2 for each in apart) <= most


_PLANS: dict[str, SharedPlan] = {}


def test_a_part_carries_the_noise_that_the_promise_calls_for(trio: Trio) -> None:
    plan = trio.plan()
    part = Part.load(trio.part(plan, 1))
    apart = (part.values - summed(plan, TABLES[0])) / (plan.sigma / np.sqrt(3))
    assert 0.2 < apart.std() < 3  # twelve cells or so
    assert (apart != 0).all()


def test_the_spend_is_on_disk_before_noise_is_drawn_and_a_crash_gives_nothing_away(trio: Trio) -> None:
    """Stopped as the noise begins: the spend stays open, and neither the ledger nor the key lets the round go again."""
    plan = trio.plan("sum")

    def stop(step: str, fraction: float) -> None:
        if step.startswith("noise"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trio.part(plan, 1, progress=stop)
    (account,) = pt.Ledger(trio.ledger(1)).accounts()
    assert [each.state for each in account.spends] == [State.OPEN]
    assert account.spent == pytest.approx(1.0, rel=1e-5)
    assert not list(trio.folder.glob("*.part"))
    with pytest.raises(UsageError, match="already"):
        trio.part(plan, 1)
    with pytest.raises(UsageError, match="already"):
        trio.part(plan, 1, ledger=trio.folder / "another.sqlite")


def test_a_part_that_was_made_closes_its_spend(trio: Trio) -> None:
    plan = trio.plan()
    trio.part(plan, 1)
    (account,) = pt.Ledger(trio.ledger(1)).accounts()
    assert [each.state for each in account.spends] == [State.DONE]
    with pytest.raises(LedgerError, match="round 1 of this plan already"):
        trio.part(plan, 1)


def test_under_one_mask_there_is_one_part_whatever_the_ledger(trio: Trio) -> None:
    plan = trio.plan("sum")
    trio.part(plan, 2)
    with pytest.raises(UsageError, match="Two parts under one mask"):
        trio.part(plan, 2, ledger=trio.folder / "another.sqlite")
    assert not (trio.folder / "another.sqlite").exists()


def spoilt(rows: int) -> pa.Table:
    table = patients(rows, 0).to_pydict()
    return pa.table(table | {"ward": [*table["ward"][:-1], "SECRETVALUE"], "ill": [*table["ill"][:-1], None]})


def test_nothing_is_spent_by_what_fails_before_noise(trio: Trio) -> None:
    plan, masks = trio.plan(), trio.plan("sum")
    failures: list[tuple[SharedPlan, dict[str, Any], type[Exception], str]] = [
        (plan, {"table": spoilt(50)}, DataError, "ill"),
        (plan, {"table": TABLES[0].drop_columns(["ill"])}, DataError, "column 'ill' of the schema is not in the table"),
        (plan, {"table": trio.folder / "none.csv"}, DataError, "no such file"),
        (plan, {"output": trio.folder / "none" / "1.part"}, ArtefactError, "folder does not exist"),
        (plan, {"key": trio.folder / "1.key"}, UsageError, "no key is needed"),
        (masks, {"key": None}, UsageError, "--key is needed"),
        (masks, {"key": trio.key(masks, 2)}, UsageError, "is owner 2's key for this plan"),
        (masks, {"agreed": None}, UsageError, masks.fingerprint),
        (masks, {"agreed": "0" * 40}, UsageError, "not what the other owners have"),
        (masks, {"agreed": ""}, UsageError, "not what the other owners have"),
    ]
    for each, options, error, word in failures:
        with pytest.raises(error, match=word) as caught:
            trio.part(each, 1, **options)
        assert "SECRETVALUE" not in str(caught.value)
    for wrong in (0, 4):
        with pytest.raises(UsageError, match="numbered from 1"):
            pt.contribute(TABLES[0], plan, wrong, output=trio.folder / "1.part", ledger=trio.ledger(1))
    assert pt.Ledger(trio.ledger(1)).accounts() == ()
    assert not list(trio.folder.glob("*.part"))
    assert trio.owner_key(masks, 1).rounds == ()


def test_a_cap_holds_for_parts_too(trio: Trio) -> None:
    pt.Ledger(trio.ledger(1)).set_cap("wards", pt.Budget(0.5, 1e-5))
    with pytest.raises(BudgetError, match="over its cap"):
        trio.part(trio.plan(), 1)


def test_masks_need_keys_first(trio: Trio) -> None:
    plan = pt.shared_plan(WARDS, owners=3, epsilon=1.0, trust="sum")
    with pytest.raises(UsageError, match="needs the owners' keys first"):
        trio.part(plan, 1)


def test_a_failure_in_a_later_round_says_that_the_spend_counts(trio: Trio) -> None:
    first = trio.plan()
    second = pt.merge(trio.parts(first), first)
    assert isinstance(second, SharedPlan)
    with pytest.raises(DataError, match="The spend was already recorded, and counts"):
        trio.part(second, 1, table=spoilt(50))
    assert trio.part(second, 1).exists()  # the round itself was not used up


def forged(plan: SharedPlan, change: Callable[[dict[str, Any]], None], path: Path) -> SharedPlan:
    facts = json.loads(json.dumps(plan.facts))
    change(facts)
    path.write_bytes(container.pack(KIND, FORMAT, facts, plan.arrays))
    return SharedPlan.load(path)


def test_a_collector_who_exchanges_keys_is_found_out(trio: Trio) -> None:
    """It could unmask a part if it had put in its own. The owner's own key must be there, and the fingerprint agreed."""
    plan, other = trio.plan("sum"), trio.plan("sum")
    theirs = [key.to_text() for key in other.keys]
    own = forged(plan, lambda facts: facts.update(keys=theirs), trio.folder / "a.plan")
    with pytest.raises(ArtefactError, match="another key for owner 1 than"):
        trio.part(own, 1)
    ours = [plan.keys[0].to_text(), *theirs[1:]]
    others = forged(plan, lambda facts: facts.update(keys=ours), trio.folder / "b.plan")
    with pytest.raises(UsageError, match="not what the other owners have"):
        trio.part(others, 1, agreed=plan.fingerprint)


def test_terms_cannot_change_after_the_first_round(trio: Trio) -> None:
    first = trio.plan("sum")
    second = pt.merge(trio.parts(first), first)
    assert isinstance(second, SharedPlan)
    notes = forged(second, lambda facts: facts["terms"]["plan"].update(notes=["new"]), trio.folder / "a.plan")
    with pytest.raises(ArtefactError, match="not those that this key was first used for"):
        trio.part(notes, 1)
    bare = forged(second, lambda facts: facts.update(keys=[]), trio.folder / "b.plan")
    with pytest.raises(UsageError, match="needs the owners' keys first"):
        trio.part(bare, 1)


def test_doctored_tiles_cancel_no_masks_unless_all_owners_have_them(trio: Trio) -> None:
    """The collector gives one owner other results of round 1: then the sum of the parts is noise to it."""
    first = trio.plan("sum")
    second = pt.merge(trio.parts(first), first)
    assert isinstance(second, SharedPlan)
    path = trio.folder / "other.plan"
    arrays = second.arrays | {"0.values": second.arrays["0.values"] + np.int64(1)}
    path.write_bytes(container.pack(KIND, FORMAT, second.facts, arrays))
    parts = [trio.part(second, 1), trio.part(second, 2), trio.part(SharedPlan.load(path), 3)]
    with pytest.raises(ArtefactError, match="another copy of the plan"):
        pt.merge(parts, second)
    seen = added([Part.load(each).values for each in parts])
    assert np.abs(seen.astype(float)).mean() > 2.0**60


def test_selections_are_refused_where_the_number_of_rows_is_told(trio: Trio) -> None:
    plan = trio.plan(neighbours="replace-one")
    pacsv.write_csv(TABLES[0], trio.folder / "1.csv")
    query = pt.sql("SELECT * FROM source WHERE sex = 'male'", trio.folder / "1.csv")
    with pytest.raises(UsageError, match="number of rows is told"):
        trio.part(plan, 1, table=query)
    assert trio.part(trio.plan(), 1, table=query).exists()


def test_a_plan_that_counts_nothing_needs_public_numbers_of_rows(trio: Trio) -> None:
    method = pt.Merf(count_share=0, features=20)
    schema = pt.Schema(name="one", rows=300, columns={"x": pt.Real(min=0, max=1)})
    plan = trio.plan(schema=schema, method=method, neighbours="replace-one")
    tables = [pa.table({"x": np.linspace(0, 1, rows)}) for rows in (10, 20, 30)]
    assert trio.release(plan, tables).rows == 60


def test_people_are_capped_by_each_owner(trio: Trio) -> None:
    """And the promise says so: one person at one owner."""
    person = pt.Person(column="id", max_rows=2)
    plan = trio.plan(schema=WARDS.model_copy(update={"person": person}), neighbours="replace-one")
    assert plan.plan.guarantee.unit == "one person (column 'id', at most 2 rows each) at one owner"
    tables = [table.append_column("id", pa.array(range(table.num_rows))) for table in TABLES]
    many = tables[0].set_column(3, "id", pa.array([7] * tables[0].num_rows))
    made = trio.part(plan, 1, table=many)
    assert Part.load(made).values.size == plan.feature_map.dimension  # no number of rows: people may have several
    two = summed(plan, many)
    weight = plan.plan.rounds[0].grid.weight(plan.feature_map.blocks()[0][1])
    assert two[:2].sum() == 2 * weight


def test_a_plan_that_stops_at_values_outside_is_refused(trio: Trio) -> None:
    """Whether a part comes would answer a question about one value, for nothing."""
    strict = WARDS.columns["ward"].model_copy(update={"out_of_domain": "error"})
    plan = trio.plan(schema=WARDS.model_copy(update={"columns": {**WARDS.columns, "ward": strict}}))
    with pytest.raises(UsageError, match=r"'ward' of this plan's schema.*Nothing was spent"):
        trio.part(plan, 1)
    assert not trio.ledger(1).exists()
