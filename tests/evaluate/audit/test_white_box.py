"""The white-box attack passes an honest release and catches broken ones."""

import math
from typing import Any

import numpy as np
import pytest

import pointillist as pt
from pointillist.curator import releasing
from pointillist.evaluate.audit import Audit, Finding, Pipeline, audit

from .conftest import bounds_from_rows, summed_codes

RUNS = 12


def attack(schema: pt.Schema, **options: Any) -> Audit:
    settings: dict[str, Any] = {"epsilon": 1.0, "runs": RUNS, "attacks": ("white-box",), **options}
    return audit(None, schema, **settings)


def finding(found: Audit, name: str) -> Finding:
    return next(each for each in found.findings if each.attack == name)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("target", [None, "sex"])
def test_an_honest_release_passes_and_mu_is_recovered(tiny: pt.Schema, neighbours: str, target: str | None) -> None:
    """Alarms are false once in a million; so are 7 standard errors of a t with 22 degrees of freedom, 5 of a normal.

    Nobody need move the screen, whose scores may be nought or keep their signs: without it mu is 0.922 of the promised.
    """
    found = attack(tiny, neighbours=neighbours, target=target)
    assert found.passed, found.sentence()
    assert not found.private
    assert finding(found, "facts").epsilon == 0.0
    values = finding(found, "white-box")
    assert values.confidence == 0.95
    assert values.epsilon > 0.7  # tight: thousands of coordinates show the size of the noise
    for pair in values.measures["pairs"]:
        error = (pair["mu_by_noise_high"] - pair["mu_by_noise_low"]) / 4
        assert 0.92 * found.mu - 5 * error < pair["mu_by_noise"] < found.mu + 5 * error
        assert pair["mu_low"] <= max(0.0, pair["mu"]) <= pair["mu_high"]
        assert abs(pair["mu"] - found.mu) < 7 * math.sqrt(2 / RUNS)
    assert len(values.measures["pairs"]) == 3
    assert values.measures["noise_faults"] == []
    worst = max(values.measures["pairs"], key=lambda pair: pair["epsilon"])
    low, high = worst["mu_by_noise_low"], worst["mu_by_noise_high"]
    assert f"μ = {worst['mu_by_noise']:.4f} ({low:.4f} to {high:.4f}), promised {found.mu:.4f}" in values.sentence
    assert "columns were attacked" not in values.sentence


def test_an_honest_release_of_persons_passes(slim: pt.Schema) -> None:
    """Each person of the attack brings twice the rows allowed, and moves the sums no further than promised."""
    found = attack(slim.model_copy(update={"person": pt.Person(column="who", max_rows=3)}), runs=10)
    assert found.passed, found.sentence()
    assert finding(found, "white-box").epsilon > 0.6
    assert found.unit == "one person (column 'who', at most 3 rows each)"


def test_noise_that_is_halved_is_caught(tiny: pt.Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = releasing.add_noise
    monkeypatch.setattr(releasing, "add_noise", lambda sums, sigma: honest(sums, sigma / 2))
    found = attack(tiny)
    assert not found.passed
    values = finding(found, "white-box")
    assert values.violated
    assert values.sentence.startswith("VIOLATED")
    assert values.epsilon > 1.7  # half the noise is worth 2.15
    assert values.measures["pairs"][0]["mu_by_noise"] == pytest.approx(2 * found.mu, rel=0.1)
    assert values.measures["noise_ratio"][0]["value"] == pytest.approx(0.5, abs=0.05)


def test_noise_that_is_one_tenth_too_small_is_caught(tiny: pt.Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 60 releases of 40 to 80 coordinates the noise is known to a hundredth: a tenth is ten standard errors."""
    honest = releasing.add_noise
    monkeypatch.setattr(releasing, "add_noise", lambda sums, sigma: honest(sums, 0.9 * sigma))
    assert finding(attack(tiny, runs=20), "white-box").violated


def test_scores_alone_catch_noise_that_is_halved(slim: pt.Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """At epsilon = 6 mu is 2.6 in place of 1.3: six standard errors, of which the confidence takes two and a half."""
    honest = releasing.add_noise
    monkeypatch.setattr(releasing, "add_noise", lambda sums, sigma: honest(sums, sigma / 2))
    found = attack(slim, epsilon=6.0, runs=80)
    assert max(pair["mu_low"] for pair in finding(found, "white-box").measures["pairs"]) > found.mu


def test_category_codes_in_place_of_indicators_are_caught(tiny: pt.Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releasing, "embed", summed_codes)
    found = attack(tiny)
    values = finding(found, "white-box")
    assert values.violated
    assert values.epsilon > 2.5
    assert values.measures["noise_ratio"][0]["value"] == pytest.approx(1.0, abs=0.1)  # the noise is as promised


def test_bounds_read_off_the_rows_are_caught(tiny: pt.Schema) -> None:
    found = attack(tiny, pipeline=Pipeline(release=bounds_from_rows))
    (facts,) = found.findings
    assert facts.violated
    assert facts.epsilon == math.inf
    assert "facts depend on the rows" in facts.sentence
    assert "schema.columns.age.max" in facts.sentence
    assert "values outside the schema" in facts.sentence


def test_an_exact_row_count_is_caught(tiny: pt.Schema) -> None:
    from dataclasses import replace

    def counted(table: Any, schema: pt.Schema, **options: Any) -> pt.Release:
        return replace(pt.release(table, schema, **options), rows=table.num_rows)

    (facts,) = attack(tiny, pipeline=Pipeline(release=counted)).findings
    assert facts.violated
    assert "rows" in facts.sentence


def test_a_pipeline_that_fails_for_one_neighbour_is_caught(tiny: pt.Schema) -> None:
    def fussy(table: Any, schema: pt.Schema, **options: Any) -> pt.Release:
        if table.num_rows == 0:
            raise ValueError("no rows")
        return pt.release(table, schema, **options)

    (facts,) = attack(tiny, pipeline=Pipeline(release=fussy)).findings
    assert facts.violated
    assert "refused" in facts.sentence


def test_a_pipeline_that_always_fails_is_an_error(tiny: pt.Schema) -> None:
    with pytest.raises(pt.PointillistError, match="epsilon"):
        attack(tiny, epsilon=-1.0)


def test_a_seed_for_the_noise_is_caught(tiny: pt.Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    def seeded(sums: Any, sigma: float) -> Any:
        return sums + np.rint(np.random.default_rng(0).normal(0, sigma, len(sums))).astype(np.int64)

    monkeypatch.setattr(releasing, "add_noise", seeded)
    (facts,) = attack(tiny).findings
    assert facts.violated
    assert "the noise repeats" in facts.sentence


def test_features_that_are_not_made_from_published_values_are_caught(tiny: pt.Schema) -> None:
    """Tiles that follow the exact counts, in place of the noisy ones: round 2 does not follow from what is published."""
    from dataclasses import replace

    def reshaped(table: Any, schema: pt.Schema, **options: Any) -> pt.Release:
        made, other = (pt.release(table, schema, **options) for _ in range(2))
        return replace(made, measurements=(other.measurements[0], *made.measurements[1:]))

    tall = tiny.model_copy(update={"person": None})
    (facts,) = attack(tall, neighbours="replace-one", pipeline=Pipeline(release=reshaped)).findings
    assert facts.violated
    assert "do not follow" in facts.sentence


def test_a_cap_on_rows_per_person_that_does_not_hold_is_caught(
    slim: pt.Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each person of the attack brings twice the rows allowed."""
    owned = slim.model_copy(update={"person": pt.Person(column="who", max_rows=3)})
    honest = releasing.embed
    monkeypatch.setattr(
        releasing,
        "embed",
        lambda source, schema, *rest: honest(source, schema.model_copy(update={"person": None}), *rest),
    )
    found = attack(owned)
    assert finding(found, "white-box").violated


def test_a_wide_schema_is_cut_to_its_target_and_first_columns() -> None:
    columns = {f"c{i}": pt.Boolean(missing=False) for i in range(40)}
    found = attack(pt.Schema(name="wide", columns=columns), target="c39", runs=10)
    measured = finding(found, "white-box").measures["columns"]
    assert measured == [*(f"c{i}" for i in range(23)), "c39"]
    assert "Only 24 of 40 columns were attacked." in finding(found, "white-box").sentence
    assert found.passed
