"""History sampler: whole persons, under a condition on their facts."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.visits import visits, visits_schema
from tests.generators.histories.test_steps import HISTORY, mixture

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.generators.histories.histories import Histories
from pointillist.privacy.guarantee import Guarantee, Neighbours


@pytest.fixture(scope="module")
def model() -> pt.Model:
    schema = visits_schema()
    assert schema.person is not None
    promise = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, schema.person.unit, 0.26, 1e-9, 1e-9)
    return pt.Model(schema, promise, "r", "pyarrow", 500.0, Histories.of(HISTORY, mixture()))


def test_persons_are_whole_and_rows_as_many_as_are_asked_for(model: pt.Model) -> None:
    persons = model.sample(persons=30, seed=0)
    assert persons["who"].unique().to_pylist() == list(range(1, 31))
    assert persons.column_names == ["who", "sex", "day", "score", "ward"]
    assert model.sample(77, seed=0).num_rows == 77
    assert model.sample(persons=30, seed=0).equals(persons)


def test_a_condition_is_on_persons(model: pt.Model) -> None:
    found = model.sample(persons=20, given={"sex": "m"}, seed=0)
    assert set(found["sex"].to_pylist()) == {"m"}
    with pytest.raises(UsageError, match="'ward' belongs to rows"):
        model.sample(persons=20, given={"ward": "a"})
    with pytest.raises(UsageError, match="balance"):
        model.sample(20, balance="sex")


def test_parts_share_no_person(model: pt.Model) -> None:
    parts = list(model.sample_parts(60, seed=0, part=20))
    assert [part.num_rows for part in parts] == [20, 20, 20]
    names = [set(part["who"].to_pylist()) for part in parts]
    assert not (names[0] & names[1])
    assert not (names[1] & names[2])


def test_names_are_made_up_once_a_person() -> None:
    from pointillist.sampling.fakes import with_persons

    schema = visits_schema()
    table = model_table = {"sex": ["f", "f", "m"]}
    columns = {"who": pt.Ignore(fake="email"), **schema.columns}
    faked = schema.model_copy(update={"columns": columns})
    made = with_persons(pa.table(table), faked, np.array([0, 0, 1]), np.random.default_rng(0))
    assert made["who"].to_pylist()[0] == made["who"].to_pylist()[1] != made["who"].to_pylist()[2]
    assert model_table["sex"] == made["sex"].to_pylist()


def test_a_model_of_rows_has_no_persons(model: pt.Model) -> None:
    from dataclasses import replace

    rows = replace(model, schema=pt.Schema(name="s", columns={"sex": pt.Boolean(missing=False)}), generator=mixture())
    with pytest.raises(UsageError, match="makes rows, not persons"):
        rows.sample(persons=3)


def test_rows_keep_to_constraints(model: pt.Model) -> None:
    """What rules out a ward and low scores is left out, and the rest of the person stays."""
    rule = {"impossible": {"ward": "a", "score": {"max": 20}}}
    found = model.constrained(rule).sample(persons=60, seed=0).to_pandas()
    assert len(found) > 60
    assert not ((found["ward"] == "a") & (found["score"] <= 20)).any()
    assert found.groupby("who")["day"].apply(lambda days: days.is_monotonic_increasing).all()


def test_a_number_of_a_person_is_the_same_in_all_of_her_rows(tmp_path: Path) -> None:
    """Also where a level holds many numbers."""
    schema = visits_schema()
    columns = {**schema.columns, "height": pt.Real(min=100, max=220, bins=4, of="person", missing=False)}
    tall = schema.model_copy(update={"columns": columns})
    table = visits(60)
    table = table.append_column("height", pa.array([150.0 + len(name) for name in table["who"].to_pylist()]))
    release = pt.release(table, tall, epsilon=5, ledger=tmp_path / "ledger.db")
    fitted = pt.fit(release, method=pt.Chronicle(components=5, steps=20))
    found = fitted.sample(persons=40, given={"height": (150, 155)}, seed=0).to_pandas()
    assert (found.groupby("who")["height"].nunique() == 1).all()
    assert found["height"].between(150, 155).all()
    assert fitted.sample(persons=40, seed=0).to_pandas().groupby("who")["height"].nunique().max() == 1
