"""Merging: parts of all owners to a plan or a release; what does not belong there is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.fixtures.owners import POOLED, TABLES, WARDS, Trio

import pointillist as pt
from pointillist.curator.releasing import embed
from pointillist.errors import ArtefactError, UsageError
from pointillist.owners.join import Join
from pointillist.owners.owner_key import OwnerKey
from pointillist.owners.part import Part
from pointillist.reading.opening import open_source

MadeTogether = Callable[[str], pt.Release]


def exact(plan: pt.SharedPlan, table: object = POOLED) -> np.ndarray:
    """The sums without noise that a round is about, over pooled rows."""
    grid = plan.plan.rounds[plan.round - 1].grid
    return embed(open_source(table), plan.plan.request.schema, plan.feature_map, grid)[0]


@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_the_noise_of_a_merged_sum_is_what_it_states(trust: str, trio: Trio) -> None:
    """By a chi-square test of every round, which fails for good noise once in ten million times."""
    state: pt.SharedPlan | pt.Release = trio.plan(trust)
    while isinstance(state, pt.SharedPlan):
        sums = exact(state)
        before, state = state, pt.merge(trio.parts(state), state)
        total = (state.measurements if isinstance(state, pt.Release) else state.measured)[-1]
        assert total.sigma == before.sigma
        statistic = float((((total.values - sums) / total.sigma) ** 2).sum())
        assert 5e-8 < stats.chi2.cdf(statistic, sums.size) < 1 - 5e-8


def test_three_owners_have_the_noise_of_one_pooled_release(trio: Trio) -> None:
    """Trust in the sum, and no owner colludes: to 2 %, by 20,000 draws. Good noise fails once in ten thousand times."""
    schema = pt.Schema(name="one", rows=300, columns={"x": pt.Real(min=0, max=1)})
    method = pt.Merf(features=20_000)
    plan = trio.plan("sum", schema=schema, method=method, colluding=0)
    pooled = pt.plan(schema, epsilon=1.0, method=method)
    assert plan.sigma == pytest.approx(pooled.sigma(0), rel=1e-9)
    tables = [{"x": np.linspace(0, 1, rows)} for rows in (10, 20, 30)]
    frames = [pa.table(each) for each in tables]
    made = trio.release(plan, frames)
    sums = exact(plan, pa.concat_tables(frames))
    measured = float((made.measurements[0].values - sums).std())
    assert measured == pytest.approx(pooled.sigma(0), rel=0.02)


@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_what_comes_out_is_an_ordinary_release(trust: str, made_together: MadeTogether, tmp_path: Path) -> None:
    made = made_together(trust)
    made.save(tmp_path / "wards.release")
    found = pt.Release.load(tmp_path / "wards.release")
    assert found.guarantee.owners is not None
    assert found.guarantee.owners.trust == trust
    assert found.rows is None
    assert [each.sigma for each in found.plan.rounds] == [each.sigma for each in found.measurements]
    model = pt.fit(found, method=pt.Mosaic(components=4, steps=10))
    assert model.sample_table(20, seed=1).num_rows == 20
    card = pt.Card.of(found)
    assert ("trust nobody" if trust == "nobody" else "not its collector") in card.to_markdown()
    assert found.guarantee.owners.sentence() in card.to_json()["promise"]
    estimate = pt.uncertainty(found, model=model, refits=2).share({"ill": True})
    assert abs(estimate.value - 0.3) < 0.5


@pytest.mark.parametrize(("trust", "count"), [("nobody", 4), ("sum", 2)])
def test_a_release_that_counts_on_more_noise_than_it_has_is_refused(
    trust: str, count: int, made_together: MadeTogether, tmp_path: Path
) -> None:
    """With trust in nobody, of four owners each would have added less; in the sum, two of three would be all."""
    made = made_together(trust)
    owners = made.guarantee.owners
    assert owners is not None
    forged = replace(owners, count=count) if trust == "nobody" else replace(owners, colluding=count)
    replace(made, guarantee=replace(made.guarantee, owners=forged)).save(tmp_path / "forged.release")
    with pytest.raises(ArtefactError, match="promises more than its noise gives"):
        pt.Release.load(tmp_path / "forged.release")


def test_the_number_of_rows_is_told_under_replace_one_alone(trio: Trio) -> None:
    for trust in ("nobody", "sum"):
        made = trio.release(trio.plan(trust, neighbours="replace-one"))
        assert made.rows == POOLED.num_rows


def test_a_table_that_changes_between_rounds_shows_under_replace_one(trio: Trio) -> None:
    first = trio.plan("sum", neighbours="replace-one")
    second = pt.merge(trio.parts(first), first)
    assert isinstance(second, pt.SharedPlan)
    assert second.rows == POOLED.num_rows
    parts = trio.parts(second, [TABLES[0], TABLES[1].slice(1), TABLES[2]])
    with pytest.raises(ArtefactError, match="changed between rounds"):
        pt.merge(parts, second)


@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_a_missing_part_stops_the_merge_and_says_how_to_go_on(trust: str, trio: Trio) -> None:
    plan = trio.plan(trust)
    parts = [trio.part(plan, owner) for owner in (1, 3)]
    words = r"owner 2 sent is missing \(2 of 3 are here\)"
    with pytest.raises(UsageError, match=f"{words}.*--without 2" if trust == "nobody" else f"{words}.*new plan"):
        pt.merge(parts, plan)
    with pytest.raises(UsageError, match="none is given"):
        pt.merge([], plan)


def test_the_sum_of_two_masked_parts_says_nothing(trio: Trio) -> None:
    """A collector who adds up what there is sees no sum."""
    plan = trio.plan("sum")
    parts = [Part.load(trio.part(plan, owner)).values.view(np.uint64) for owner in (1, 3)]
    seen = (parts[0] + parts[1]).view(np.int64)
    assert np.abs(seen.astype(float)).mean() > 2.0**60


def test_with_trust_in_nobody_an_empty_table_takes_the_place_of_who_never_came(trio: Trio) -> None:
    plan = trio.plan()
    state = pt.merge([trio.part(plan, owner) for owner in (1, 3)], plan, without=[2])
    assert isinstance(state, pt.SharedPlan)
    assert state.absent == (2,)
    with pytest.raises(UsageError, match="goes on without this owner"):
        trio.part(state, 2)
    with pytest.raises(UsageError, match="only in the first round"):
        pt.merge([trio.part(state, 1)], state, without=[3])
    with pytest.raises(UsageError, match=r"owner 3 sent is missing \(1 of 2 are here\).*new plan"):
        pt.merge([trio.folder / f"{plan.id}.1.2.part"], state)
    while isinstance(state, pt.SharedPlan):
        files = [trio.folder / f"{plan.id}.1.2.part"] if state.round == 2 else [trio.part(state, 1)]
        state = pt.merge([*files, trio.part(state, 3)], state)
    state.save(trio.folder / "two.release")
    found = pt.Release.load(trio.folder / "two.release")
    counted = next(block for block in found.measurements[0].blocks() if block.map.columns_known == {"ill"})
    both = TABLES[0].num_rows + TABLES[2].num_rows
    assert abs(counted.values.sum() / counted.added - both) < 6 * counted.sigma / counted.added * 2


def test_masks_go_without_nobody(trio: Trio) -> None:
    plan = trio.plan("sum")
    parts = [trio.part(plan, owner) for owner in (1, 3)]
    with pytest.raises(UsageError, match="masks cancel in the sum of all"):
        pt.merge(parts, plan, without=[2])
    with pytest.raises(UsageError, match="its part is here"):
        pt.merge(parts, plan, without=[1])


def test_a_replayed_or_foreign_part_is_refused(trio: Trio) -> None:
    plan, other = trio.plan("sum"), trio.plan("sum")
    parts = trio.parts(plan)
    (trio.folder / "again.part").write_bytes(parts[1].read_bytes())
    with pytest.raises(ArtefactError, match=r"again\.part: is of owner 2, like .*Every owner counts once"):
        pt.merge([*parts, trio.folder / "again.part"], plan)
    with pytest.raises(ArtefactError, match="part of another plan"):
        pt.merge([parts[0], parts[1], trio.part(other, 3)], plan)
    second = pt.merge(parts, plan)
    with pytest.raises(ArtefactError, match="of round 1, and the plan is at round 2"):
        pt.merge(parts, second)  # type: ignore[arg-type]
    with pytest.raises(ArtefactError, match="is a part file, where a plan file is needed"):
        pt.merge(parts, parts[0])
    plan.save(trio.folder / "wards.plan")
    with pytest.raises(ArtefactError, match="is a plan file, where a part file is needed"):
        pt.merge([trio.folder / "wards.plan"], plan)


def test_a_part_of_a_plan_without_keys_is_none_of_the_plan_with_keys(trio: Trio) -> None:
    bare = pt.shared_plan(WARDS, owners=3, epsilon=1.0)
    part = trio.part(bare, 1)
    keyed = trio.joined(bare)
    with pytest.raises(ArtefactError, match="another copy of the plan"):
        pt.merge([part], keyed)


def test_owners_who_trust_nobody_may_sign_too(trio: Trio) -> None:
    keyed = trio.joined(pt.shared_plan(WARDS, owners=3, epsilon=1.0))
    parts = [Part.load(each) for each in trio.parts(keyed)]
    with pytest.raises(ArtefactError, match="altered"):
        pt.merge([*parts[:2], replace(parts[2], values=parts[2].values + 1)], keyed)
    assert isinstance(pt.merge(parts, keyed), pt.SharedPlan)


class TestJoins:
    @pytest.fixture
    def bare(self) -> pt.SharedPlan:
        return pt.shared_plan(WARDS, owners=3, epsilon=1.0, trust="sum")

    def joins(self, trio: Trio, plan: pt.SharedPlan) -> list[Join]:
        return [
            pt.join(plan, owner, key=trio.key(plan, owner), output=trio.folder / f"{plan.id}.{owner}.join")
            for owner in (1, 2, 3)
        ]

    def test_keys_come_in_the_order_of_owners(self, trio: Trio, bare: pt.SharedPlan) -> None:
        joins = self.joins(trio, bare)
        keyed = pt.merge(reversed(joins), bare)
        assert isinstance(keyed, pt.SharedPlan)
        assert [each.key for each in joins] == list(keyed.keys)
        with pytest.raises(UsageError, match="joined this plan already"):
            pt.merge(joins, keyed)

    def test_what_is_refused(self, trio: Trio, bare: pt.SharedPlan) -> None:
        one, two, three = self.joins(trio, bare)
        foreign = self.joins(trio, pt.shared_plan(WARDS, owners=3, epsilon=1.0, trust="sum"))
        with pytest.raises(UsageError, match=r"owner 3 sent is missing .*nothing has been spent"):
            pt.merge([one, two], bare)
        with pytest.raises(ArtefactError, match="joins another plan"):
            pt.merge([one, two, foreign[2]], bare)
        with pytest.raises(ArtefactError, match="Every owner counts once"):
            pt.merge([one, two, two], bare)
        with pytest.raises(ArtefactError, match="not signed by the key that it names"):
            pt.merge([one, two, replace(three, key=one.key)], bare)
        with pytest.raises(UsageError, match="every owner of a plan joins, or none"):
            pt.merge([one, two], bare, without=[3])
        with pytest.raises(UsageError, match="parts of one kind"):
            pt.merge([one, two, Part(bare.id, bare.digest, 3, 1, np.zeros(1, dtype=np.int64))], bare)
        with pytest.raises(UsageError, match="needs the owners' keys first"):
            pt.merge([Part(bare.id, bare.digest, 3, 1, np.zeros(1, dtype=np.int64))], bare)

    def test_one_key_for_two_owners(self, trio: Trio, bare: pt.SharedPlan) -> None:
        one, two, _ = self.joins(trio, bare)
        same = replace(one, owner=3, signature=b"")
        same = replace(same, signature=OwnerKey.load(trio.key(bare, 1)).sign(same.message))
        with pytest.raises(ArtefactError, match="the same key"):
            pt.merge([one, two, same], bare)

    def test_an_owner_that_the_plan_does_not_have(self, trio: Trio, bare: pt.SharedPlan) -> None:
        one, two, _ = self.joins(trio, bare)
        with pytest.raises(ArtefactError, match="owner 4, whom the plan does not have"):
            pt.merge([one, two, replace(one, owner=4)], bare)


def test_nothing_is_written_where_nothing_can_be(trio: Trio) -> None:
    plan = trio.plan()
    with pytest.raises(ArtefactError, match="folder does not exist"):
        pt.merge(trio.parts(plan), plan, output=trio.folder / "none" / "next.plan")
