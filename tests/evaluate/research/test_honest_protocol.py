"""The honest protocol: what is lost, and what is kept."""

import pytest
from tests.fixtures.flowers import QUICK, flowers, flowers_schema, shuffled

from pointillist.errors import UsageError
from pointillist.evaluate.research.honest_protocol import honest_protocol


def test_gap_and_what_is_kept() -> None:
    table, test = flowers(400, 1), flowers(400, 2)
    found = honest_protocol(shuffled(table), test, flowers_schema(2), "kind", train=table, models=QUICK)
    assert found.gap["AUROC"] == pytest.approx(found.mean("AUROC", "real") - found.mean("AUROC"))
    assert abs(found.kept("AUROC")) < 0.5 < found.gap["AUROC"] + 0.25
    assert honest_protocol(table, test, flowers_schema(2), "kind", train=table, models=QUICK).kept("AUPRC") == 1.0
    assert found.chance == {"AUROC": 0.5, "AUPRC": pytest.approx(0.3, abs=0.1)}
    alone = honest_protocol(table, test, flowers_schema(2), "kind", models=QUICK)
    with pytest.raises(UsageError, match="pass train="):
        _ = alone.gap
    assert "gap" not in alone.to_json()
