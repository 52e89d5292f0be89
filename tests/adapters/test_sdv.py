"""SDV's verbs: fit, sample, conditions, metadata, save; and no fit without a schema or a budget."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.adapters.test_sdv_metadata import COLUMNS, SCHEMA

import pointillist as pt
from pointillist.adapters.sdv import SDVSynthesizer
from pointillist.errors import BudgetError, UsageError

METADATA = {"columns": COLUMNS}
SMALL = pt.Mosaic(components=5, steps=5)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"id": range(300), "age": rng.integers(0, 100, 300), "sex": rng.choice(["f", "m"], 300)})


@pytest.fixture(scope="module")
def fitted(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> SDVSynthesizer:
    ledger = tmp_path_factory.mktemp("sdv") / "ledger.sqlite"
    made = SDVSynthesizer(METADATA, schema=SCHEMA, epsilon=2.0, method=SMALL, ledger=ledger)
    made.fit(people)
    return made


def test_rows_come_as_sdv_gives_them(fitted: SDVSynthesizer, tmp_path: Path) -> None:
    rows = fitted.sample(num_rows=50, seed=1)
    assert isinstance(rows, pd.DataFrame)
    assert list(rows.columns) == list(fitted.get_metadata()["columns"]) == ["age", "sex"]
    assert len(rows) == 50
    asked = [
        SimpleNamespace(num_rows=3, column_values={"sex": "f"}),
        SimpleNamespace(num_rows=2, column_values={"age": 30}),
    ]
    given = fitted.sample_from_conditions(asked, seed=1)
    assert list(given["sex"][:3]) == ["f"] * 3
    assert list(given["age"][3:]) == [30] * 2
    fitted.save(tmp_path / "people.model")
    assert pt.Model.load(tmp_path / "people.model").sample(50, seed=1, frame="pandas").equals(rows)
    assert fitted.get_parameters()["epsilon"] == 2.0


def test_nothing_is_read_from_rows_without_a_word() -> None:
    with pytest.raises(UsageError, match="published, and would have to be read from the private rows"):
        SDVSynthesizer(METADATA, epsilon=1.0)


def test_mistakes_come_before_the_spend(people: pd.DataFrame, tmp_path: Path) -> None:
    book = pt.Ledger(tmp_path / "ledger.sqlite")
    made = SDVSynthesizer(METADATA, schema=SCHEMA, epsilon=1.0, ledger=book)
    with pytest.raises(UsageError, match="before sample"):
        made.sample(3)
    with pytest.raises(UsageError, match="column 'sex' of the metadata is not in the table"):
        made.fit(people[["id", "age"]])
    assert book.accounts() == ()


def test_a_bought_schema_is_shown_and_bought_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": range(2_000), "age": rng.integers(0, 100, 2_000), "sex": rng.choice(["f", "m"], 2_000)})
    book = pt.Ledger(tmp_path / "ledger.sqlite")
    whose = {"schema_epsilon": 2.0, "name": "people", "one_row_per_person": True}
    with pytest.raises(BudgetError, match="epsilon must be a number above 0"):
        SDVSynthesizer(METADATA, epsilon=0.0, ledger=book, **whose).fit(table)
    assert book.accounts() == ()
    made = SDVSynthesizer(METADATA, epsilon=1.0, ledger=book, method=SMALL, **whose)
    assert made.schema is None
    made.fit(table)
    made.fit(table)
    assert [each.epsilon for each in book.accounts()[0].spends] == [2.0, 1.0, 1.0]
    assert made.schema is not None
    assert made.synthesizer is not None
    assert made.synthesizer.release_.schema == made.schema
