"""The familiar facade, and frames of the caller's own kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks as checks
from sklearn.utils.validation import check_is_fitted

import pointillist as pt
from pointillist.errors import UsageError

KINDS: dict[str, tuple[type, Callable[[pa.Table], Any]]] = {
    "pandas": (pd.DataFrame, lambda t: t.to_pandas()),
    "polars": (pl.DataFrame, pl.from_arrow),
    "pyarrow": (pa.Table, lambda t: t),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_callers_own_kind_of_frame_comes_back(
    kind: str, schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    expected, convert = KINDS[kind]
    made = pt.Synthesizer(schema, epsilon=1.0, target="sex").fit(convert(people(200)))
    synthetic = made.sample(100, seed=1)
    assert isinstance(synthetic, expected)
    assert list(synthetic.columns if kind != "pyarrow" else synthetic.column_names) == list(schema.columns)
    assert made.release_.frame == kind
    for other, (wanted, _) in KINDS.items():
        assert isinstance(made.model_.sample(5, frame=other), wanted)


def test_seeds_make_samples_repeatable(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    model = pt.Synthesizer(schema, epsilon=1.0).fit(people(200)).model_
    assert model.sample(100, seed=7).equals(model.sample(100, seed=7))
    assert not model.sample(100, seed=7).equals(model.sample(100, seed=8))
    assert not model.sample(100).equals(model.sample(100))


def test_by_default_about_as_many_rows_as_were_private(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    """The noisy count's standard deviation is about 30 rows at this epsilon: 300 is ten of them."""
    assert abs(pt.Synthesizer(schema, epsilon=1.0).fit(people(2_000)).sample().num_rows - 2_000) < 300


def test_mistakes_are_named(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    made = pt.Synthesizer(schema, epsilon=1.0)
    with pytest.raises(UsageError, match="fit"):
        made.sample(3)
    made.fit(people(20))
    with pytest.raises(UsageError, match="negative"):
        made.sample(-1)
    with pytest.raises(UsageError, match="modin"):
        made.sample(1, frame="modin")
    with pytest.raises(UsageError, match="type set"):
        pt.release({1, 2}, schema, epsilon=1.0)


def test_a_schema_may_be_given_by_its_path(schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(schema.to_toml())
    made = pt.release(people(20), tmp_path / "s.toml", epsilon=1.0)
    assert made.schema == schema
    with pytest.raises(UsageError, match="schema must be"):
        pt.release(people(20), {"name": "x"}, epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="numbers"):
        pt.plan(schema, epsilon="1,0")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="fit takes a Release"):
        pt.fit(people(5))  # type: ignore[arg-type]


def test_what_is_shown_is_short(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    made = pt.Synthesizer(schema, epsilon=1.0).fit(people(20))
    assert repr(made.release_) == f"<Release {made.release_.id[:8]} of 'people': ε = 1, mosaic>"
    assert repr(made.model_) == "<Model of 'people': 6 columns, ε = 1>"


def test_pandas_types_depend_on_the_schema_alone(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    """Whether a value happens to be missing in a sample must not change a column's type."""
    model = pt.Synthesizer(schema, epsilon=1.0).fit(people(500)).model_
    kinds = {"member": "boolean", "age": "int64", "income": "float64"}
    for rows in (1, 50):
        frame = model.sample(rows, seed=rows, frame="pandas")
        assert {name: str(frame[name].dtype) for name in kinds} == kinds
        assert str(frame["seen"].dtype).startswith("datetime64")


def test_more_rows_than_memory_holds_are_refused(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    with pytest.raises(UsageError, match="at a time"):
        pt.Synthesizer(schema, epsilon=1.0).fit(people(20)).sample(10**12)


APPLY = (
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
)
"""scikit-learn's checks that fit nothing; the others fit arrays without names, and no schema speaks of those."""


@pytest.mark.parametrize("check", APPLY)
def test_scikit_learns_checks_pass(check: str, schema: pt.Schema) -> None:
    getattr(checks, check)("Synthesizer", pt.Synthesizer(schema, epsilon=1.0))


def test_a_clone_has_the_settings_and_not_the_fit(
    schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path
) -> None:
    book, small = pt.Ledger(tmp_path / "l.sqlite"), pt.Mosaic(components=5, steps=5)
    made = pt.Synthesizer(schema, epsilon=1.0, method=small, ledger=book)
    with pytest.raises(NotFittedError):
        check_is_fitted(made)
    made.fit(people(20))
    check_is_fitted(made)
    again = clone(made).set_params(epsilon=2.0)
    assert not hasattr(again, "release_")
    assert again.get_params()["epsilon"] == 2.0
    assert again.schema == schema
    assert again.fit(people(20)).release_.guarantee.epsilon == 2.0
    assert [spend.epsilon for spend in book.accounts()[0].spends] == [1.0, 2.0]


def test_settings_are_checked_before_anything_is_spent(
    schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path
) -> None:
    book = pt.Ledger(tmp_path / "l.sqlite")
    with pytest.raises(UsageError, match="y must be None"):
        pt.Synthesizer(schema, epsilon=1.0, ledger=book).fit(people(20), [1] * 20)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="nonsense"):
        pt.Synthesizer(schema, epsilon=1.0, generator="nonsense", ledger=book).fit(people(20))
    assert book.accounts() == ()


def test_neither_text_nor_box_shows_what_a_draft_has_read(people: Callable[..., pa.Table]) -> None:
    secret = pa.table({"town": ["Quorn"] * 40 + ["Wye"] * 40})
    made = pt.Synthesizer(pt.draft(secret, name="secret"), epsilon=1.0)
    assert "Quorn" not in repr(made) + made._repr_html_() + str(made._repr_mimebundle_())
    assert "a draft" in made._repr_html_()
    assert "Quorn" not in repr(made.schema) + str(made.schema)
