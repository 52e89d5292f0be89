"""What a receiver can do with a release: rows, questions, and tables made of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import pointillist as pt
from pointillist.errors import UsageError


def test_rows_come_with_weights(received: pt.Received, counted: pt.Received) -> None:
    for each in (received, counted):
        table = each.to_frame("pyarrow")
        assert table.column_names == ["x", "y", "kind", "weight"]
        assert table["weight"].to_numpy().sum() == pytest.approx(1)
        assert each.to_frame("pandas", weights=False).columns.tolist() == ["x", "y", "kind"]
    assert received.rows.num_rows == 200
    assert counted.rows.num_rows == 600
    assert "200 rows" in repr(received)


def test_rows_are_drawn_by_weight(known, with_points) -> None:
    weights = np.array([0.5, 0.3, 0.2, 0.0])
    received = with_points(known(100, 1), known(4, 2), weights)
    drawn = received.to_frame("pyarrow", count=1_000)
    counts = [int(np.isclose(drawn["x"].to_numpy(), x).sum()) for x in received.rows["x"].to_numpy()]
    assert np.abs(np.array(counts) - 1_000 * weights).max() <= 1
    assert drawn.column_names == ["x", "y", "kind"]
    signed = with_points(known(100, 1), known(4, 2), np.array([0.7, 0.5, -0.1, -0.1]))
    with pytest.raises(UsageError, match="below 0"):
        signed.to_frame(count=10)
    assert signed.expect("x").value == pytest.approx(float(signed.weights @ signed.rows["x"].to_numpy()))


def test_scikit_learn_takes_the_weights(received: pt.Received) -> None:
    frame = received.to_frame("pandas")
    model = LogisticRegression().fit(frame[["x", "y"]], frame["kind"] == "a", sample_weight=frame["weight"])
    assert model.score(frame[["x", "y"]], frame["kind"] == "a") > 0.5


def test_formulas_and_functions_ask_the_same(received: pt.Received) -> None:
    written = received.expect("x * x + y")
    called = received.expect(lambda table: table["x"].to_numpy() ** 2 + table["y"].to_numpy())
    assert (called.value, called.low, called.high) == pytest.approx(
        (written.value, written.low, written.high), rel=1e-9
    )
    assert received.probability(lambda table: table["x"].to_numpy() > 0.5) == replace(
        received.probability("x > 0.5"), name="share of a function"
    )
    pandas = pt.receive(received.release, model=received.model, frame="pandas")
    squared = pandas.expect(lambda frame: frame["x"].clip(lower=0) ** 2)
    assert squared.high == pytest.approx(received.expect("greatest(x, 0) ** 2").high)
    assert received.mean("x") == received.expect("x") == received.expect('"x"')


def test_values_are_those_of_the_weighted_rows(received: pt.Received) -> None:
    x, y, w = received.rows["x"].to_numpy(), received.rows["y"].to_numpy(), received.weights
    a = np.array(received.rows["kind"].to_pylist()) == "a"
    assert received.expect("x", where="kind = 'a'").value == pytest.approx(np.average(x[a], weights=w[a]))
    assert received.probability("kind = 'a'").value == pytest.approx(w[a].sum())
    assert received.count("kind = 'a'").value == pytest.approx(w[a].sum() * received.embedding.rows)
    assert received.total("x", where="kind = 'a'").value == pytest.approx(w[a] @ x[a] * received.embedding.rows)
    assert received.quantile("x", 0.5).value == pytest.approx(np.quantile(x, 0.5, method="inverted_cdf"))
    assert received.correlation("x", "y").value == pytest.approx(np.corrcoef(x, y)[0, 1])
    slope, constant = np.polyfit(x, y, 1)
    found = received.regression("y", ["x"])
    assert list(found) == ["constant", "x"]
    assert [each.value for each in found.values()] == pytest.approx([constant, slope])


def test_intervals_are_wider_for_a_population_and_for_more_confidence(
    received: pt.Received, counted: pt.Received
) -> None:
    for each in (received, counted):
        for ask in (
            lambda r, **o: r.expect("x", **o),
            lambda r, **o: r.probability("x > 0", **o),
            lambda r, **o: r.quantile("y", 0.3, **o),
            lambda r, **o: r.correlation("x", "y", **o),
        ):
            private, population = ask(each), ask(each, population=True)
            assert population.high - population.low > private.high - private.low
            sure = ask(replace(each, confidence=0.999))
            assert sure.low <= private.low <= private.high <= sure.high


def test_counts_answer_what_they_can(counted: pt.Received) -> None:
    basis = {
        "mean": counted.expect("x").basis,
        "share": counted.probability("kind = 'a'").basis,
        "share of two": counted.probability("kind <> 'a' and x < 4.5").basis,
        "quantile": counted.quantile("y").basis,
        "of a formula": counted.expect("x * y").basis,
        "where": counted.expect("x", where="kind = 'a'").basis,
    }
    assert all(basis[name] == "measured" for name in ("mean", "share", "share of two", "quantile"))
    assert set(basis.values()) <= {"measured", "bounded"}
    assert counted.probability("x < 0.123").basis in ("measured", "bounded")  # as the bins fall


def test_functions_of_what_was_counted_are_read_off_the_counts(counted: pt.Received, known) -> None:
    """Within 7 standard deviations of the private figure: false alarms below 1e-10."""
    x = np.asarray(known(2_000, 1)["x"])
    kind = np.array(known(2_000, 1)["kind"].to_pylist())
    for ask, truth in (
        (lambda r: r.expect("x * x"), np.mean(x * x)),
        (lambda r: r.expect("x * x", where="x > 0"), np.mean(x[x > 0] ** 2)),
        (lambda r: r.push({"square": "x * x"}).expect("square"), np.mean(x * x)),
        (
            lambda r: r.expect("case kind when 'a' then 1 when 'b' then 5 end"),
            np.mean(np.where(kind == "a", 1, 5)[kind != "c"]),
        ),
        (lambda r: r.expect(lambda table: np.cos(table["x"].to_numpy())), np.mean(np.cos(x))),
    ):
        estimate = ask(counted)
        assert estimate.basis == "measured"
        assert abs((estimate.low + estimate.high) / 2 - truth) <= 7 * estimate.standard_error
        assert estimate.standard_error < 0.3
    total = counted.total("x * x")
    assert total.basis == "measured"
    assert abs((total.low + total.high) / 2 - (x * x).sum()) <= 7 * total.standard_error


def test_refits_are_used_if_there_are_some(counted: pt.Received) -> None:
    refitted = pt.receive(counted.release, model=counted.model, refits=2, rows=300)
    estimate = refitted.quantile("x * y")
    assert estimate.basis == "refits"
    assert estimate.low <= estimate.high
    assert refitted.expect("x").basis == "measured"


def test_of_columns_that_were_never_measured_together_nothing_is_known(received: pt.Received) -> None:
    """Merf without a target measures numbers and categories side by side, not together."""
    estimate = received.probability("x > 0 and kind = 'a'")
    assert (estimate.low, estimate.high, estimate.standard_error) == (0, 1, np.inf)
    assert (estimate.basis, estimate.known) == ("not measured", False)
    assert estimate.note == "Not measured: no measurement holds all of the columns together."
    assert received.expect("x", where="kind = 'a'").high == 4


def test_a_rare_condition_leaves_a_mean_open(received: pt.Received) -> None:
    estimate = received.expect("y", where="x > 2.4")
    assert (estimate.low, estimate.high) == (-4, 4)


def test_constants_are_known(received: pt.Received) -> None:
    estimate = received.expect("1 + 1")
    assert (estimate.value, estimate.low, estimate.high) == (2, 2, 2)
    assert received.probability("true").low == 1
    everything = received.count()
    assert everything.low < everything.value < everything.high
    assert abs(everything.value - 2_000) < 8 * received.rows_error  # false alarms: below 1e-14


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.mean("wage"), "'wage' is not a column"),
        (lambda r: r.expect("wage"), "'wage' is not a column"),
        (lambda r: r.expect("kind"), "'kind' is not a number"),
        (lambda r: r.expect(3), "not int"),
        (lambda r: r.expect(lambda table: 3), "one value for each row, not int"),
        (lambda r: r.expect(lambda table: [1, 2]), "returned 2 values for 200 rows"),
        (lambda r: r.probability("x"), "is not a condition"),
        (lambda r: r.probability(lambda table: table["x"]), "true or false"),
        (lambda r: r.quantile("x", 2), "between 0 and 1"),
        (lambda r: r.regression("y", "x"), "name the inputs in a list"),
        (lambda r: r.to_frame(count=-1), "must not be negative"),
        (lambda r: r.to_frame("cudf"), "frame 'cudf' is not known"),
        (lambda r: pt.receive(r.release, model=replace(r.model, release="other")), "another release"),
        (lambda r: pt.receive(3), "takes a Release"),
        (lambda r: pt.receive(r.release, model=r.model, frame="cudf"), "frame 'cudf' is not known"),
        (lambda r: pt.receive(r.release, model=r.model, confidence=1), "confidence"),
        (lambda r: pt.receive(r.release, model=r.model, refits=1), "refits must be 0"),
        (lambda r: pt.receive(r.release, model=r.model, rows=0), "rows must be at least 1"),
    ],
)
def test_mistakes_are_named(ask: Any, message: str, received: pt.Received) -> None:
    with pytest.raises(UsageError, match=message):
        ask(received)


def test_files_are_enough(counted: pt.Received, tmp_path: Path) -> None:
    counted.release.save(tmp_path / "a.release")
    counted.model.save(tmp_path / "a.model")
    again = pt.receive(tmp_path / "a.release", model=str(tmp_path / "a.model"), rows=600)
    assert again.rows.equals(counted.rows)
    assert again.expect("x * y") == counted.expect("x * y")


def test_a_function_that_is_called_as_a_column_is_not_that_column(counted: pt.Received) -> None:
    def x(table: pa.Table) -> np.ndarray:
        return 3 * table["x"].to_numpy()

    assert counted.expect(x).low == pytest.approx(counted.expect("3 * x").low)


def test_a_condition_by_a_function_is_not_left_out(counted: pt.Received) -> None:
    called = counted.expect("x", where=lambda table: table["x"].to_numpy() > 0)
    written = counted.expect("x", where="x > 0")
    assert (called.low, called.high) == pytest.approx((written.low, written.high))
    assert called.low > counted.expect("x").high


def test_figures_of_a_capped_table_say_so(counted: pt.Received) -> None:
    schema = counted.release.schema.model_copy(update={"person": pt.Person(column="id", max_rows=3)})
    capped = replace(counted, release=replace(counted.release, schema=schema))
    assert "at most 3 rows" in capped.count().note
    assert "at most 3 rows" in str(capped.total("x"))
    assert any("at most 3 rows" in note for note in pt.inference.answer(capped, "count() group by kind").notes)
    assert counted.count().note == ""


def test_a_quantile_of_a_group_is_read_off_the_counts(counted: pt.Received, known) -> None:
    """Seven standard deviations on either side: false alarms below 1e-10."""
    table = known(2_000, 1)
    inside = np.asarray(table["x"])[np.array(table["kind"].to_pylist()) == "b"]
    found = replace(counted, confidence=1 - 1e-11).quantile("x", 0.5, where="kind = 'b'")
    assert found.basis in ("measured", "not measured")
    assert found.low <= np.quantile(inside, 0.5, method="inverted_cdf") <= found.high
    assert counted.quantile("x", 0.5, where="kind = 'b'").basis == "measured"
