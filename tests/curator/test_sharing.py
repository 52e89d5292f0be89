"""Sharing: a plan for several owners, made of public facts alone."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.owners import POOLED, WARDS

import pointillist as pt
from pointillist.errors import BudgetError, SchemaError, UsageError
from pointillist.privacy.owners import Owners, Trust


def test_a_plan_states_its_owners_everywhere(tmp_path: Path) -> None:
    made = pt.shared_plan(WARDS, owners=4, epsilon=1.0, trust="sum", output=tmp_path / "wards.plan")
    found = pt.SharedPlan.load(tmp_path / "wards.plan")
    assert found.digest == made.digest
    assert found.owners == found.plan.guarantee.owners == Owners(4, Trust.SUM, 1)
    assert "4 owners" in found.plan.guarantee.sentence()
    assert found.needs_keys


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("trust", "colluding", "more"), [("sum", 0, 1.0), ("sum", 2, 3.0), ("nobody", None, 3.0)])
def test_the_noise_of_the_sum(trust: str, colluding: int | None, more: float, neighbours: str) -> None:
    """By what the promise counts on: all of it, or a third of its variance."""
    made = pt.shared_plan(WARDS, owners=3, epsilon=1.0, trust=trust, colluding=colluding, neighbours=neighbours)
    plan, mu = made.plan, made.plan.guarantee.mu
    for number, each in enumerate(plan.rounds):
        counted = each.sensitivity(plan.request.neighbours, WARDS) / (mu * each.share**0.5)
        assert plan.sigma(number) ** 2 == pytest.approx(more * counted**2, rel=1e-9)
    alone = pt.plan(WARDS, epsilon=1.0, neighbours=neighbours).guarantee.mu
    assert mu == pytest.approx(alone, rel=1e-6)


def test_more_noise_is_planned_for() -> None:
    """Where the sum has more noise, a plan says so."""
    rows = [
        made.plan.noise_rows(0, made.plan.rounds[0].blocks[0])
        for made in (
            pt.shared_plan(WARDS, owners=9, epsilon=1.0, trust="sum", colluding=0),
            pt.shared_plan(WARDS, owners=9, epsilon=1.0),
        )
    ]
    assert 2 < rows[1] / rows[0] < 3.01


@pytest.mark.parametrize("method", ["merf", "hermite", "reduced-set"])
def test_every_method_has_a_plan_that_can_be_read(method: str, tmp_path: Path) -> None:
    schema = pt.Schema(name="one", rows=300, columns={**WARDS.columns, "age": pt.Integer(min=0, max=99)})
    made = pt.shared_plan(schema, owners=3, epsilon=1.0, method=method)
    made.save(tmp_path / "one.plan")
    assert pt.SharedPlan.load(tmp_path / "one.plan").digest == made.digest


@pytest.mark.parametrize(
    ("options", "error", "word"),
    [
        ({"owners": 1}, UsageError, "owners must be"),
        ({"trust": "all"}, UsageError, "nobody or sum"),
        ({"trust": "sum", "colluding": 3}, UsageError, "colluding must be"),
        ({"colluding": 1}, UsageError, "colluding must be"),
        ({"epsilon": 0}, BudgetError, "epsilon must be"),
        ({"target": "none"}, SchemaError, "none"),
        ({"schema": WARDS.model_copy(update={"reviewed": False})}, SchemaError, "reviewed"),
    ],
)
def test_what_cannot_be_planned(options: dict[str, Any], error: type[Exception], word: str) -> None:
    asked = {"schema": WARDS, "owners": 3, "epsilon": 1.0, **options}
    with pytest.raises(error, match=word):
        pt.shared_plan(**asked)


def test_public_rows_that_have_to_be_compared_are_refused() -> None:
    points = pt.public_points(POOLED, WARDS)
    with pytest.raises(UsageError, match="not done for several owners"):
        pt.shared_plan(WARDS, owners=3, epsilon=1.0, method=pt.Landmarks(points=points))
    made = pt.shared_plan(WARDS, owners=3, epsilon=1.0, method=pt.Landmarks(points=points, overlap=True))
    assert made.rounds == 1
