"""Findings: plain in JSON, and a verdict that says how near the promise an attack came."""

import json
import math
from dataclasses import replace

import pytest

from pointillist.errors import ArtefactError
from pointillist.evaluate.audit.finding import Audit, Finding

FINDING = Finding("white-box", 0.93, 0.95, False, "The attack saw 93 % of the promise.", {"runs": 30}, False)
AUDIT = Audit("people", "abc", None, "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.268, (FINDING,), ("A note.",))


@pytest.mark.parametrize("epsilon", [0.5, math.inf])
def test_it_comes_back_from_json(epsilon: float) -> None:
    audit = replace(AUDIT, findings=(replace(FINDING, epsilon=epsilon),))
    text = json.dumps(audit.to_json(), allow_nan=False)
    assert Audit.from_json(json.loads(text)) == audit


def test_what_is_no_audit_is_refused() -> None:
    with pytest.raises(ArtefactError, match=r"a\.json: not a saved audit"):
        Audit.from_json({"findings": [1]}, origin="a.json")


@pytest.mark.parametrize(
    ("epsilon", "violated", "words"),
    [
        (0.1, False, "Passed: no attack"),
        (0.9, False, "no near miss"),
        (1.1, False, "within chance"),
        (9.0, True, "VIOLATED"),
    ],
)
def test_the_verdict(epsilon: float, violated: bool, words: str) -> None:
    audit = replace(AUDIT, findings=(replace(FINDING, epsilon=epsilon, violated=violated),))
    assert words in audit.sentence()
    assert audit.passed != violated


def test_one_private_finding_makes_it_private() -> None:
    assert not AUDIT.private
    assert replace(AUDIT, findings=(FINDING, replace(FINDING, private=True))).private
    assert AUDIT.table().to_pylist()[0]["promised"] == 1.0
