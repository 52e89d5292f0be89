"""What is audited: the real pipeline with the owner's settings, and nothing is spent."""

import numpy as np
import pytest

import pointillist as pt
from pointillist.evaluate.audit import Pipeline
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.methods import Mosaic
from pointillist.privacy.guarantee import Neighbours


@pytest.fixture
def audited(tiny: pt.Schema) -> AuditedPipeline:
    return AuditedPipeline(tiny, 1.0, 1e-5, "sex", Neighbours.ADD_REMOVE, Mosaic(), Pipeline())


def test_a_release_is_that_of_the_settings_and_in_no_ledger(
    audited: AuditedPipeline, crowd: object, own_ledger: object
) -> None:
    made = audited.release(crowd(50))  # type: ignore[operator]
    assert (made.guarantee.epsilon, made.target) == (1.0, "sex")
    assert not own_ledger.exists()  # type: ignore[attr-defined]


def test_what_a_measurement_would_be_without_noise(audited: AuditedPipeline, crowd: object) -> None:
    table = crowd(200)  # type: ignore[operator]
    made = audited.release(table)
    first = made.measurements[0]
    noise = first.values / first.sigma - audited.exact(table, made.schema, first)
    assert abs(noise.mean()) < 6 / np.sqrt(noise.size)  # six standard deviations
    assert noise.std() == pytest.approx(1.0, abs=6 / np.sqrt(2 * noise.size))


def test_one_noise_keeps_two_promises(audited: AuditedPipeline) -> None:
    (epsilon, delta), (more, less) = audited.promises
    assert (epsilon, delta) == (1.0, 1e-5)
    assert less < delta
    assert more > epsilon


def test_fewer_columns_keep_the_target(audited: AuditedPipeline) -> None:
    few = audited.narrowed(2, 1000)
    assert "sex" in few.schema.measured
    assert len(few.schema.measured) == 2
    assert audited.narrowed(99, 10_000) is audited
