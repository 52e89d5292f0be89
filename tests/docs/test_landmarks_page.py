"""The page on landmarks: its example comes to what it says, and its table has every option."""

import re
from pathlib import Path
from typing import Any

import pytest

import pointillist as pt

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "methods" / "landmarks.md").read_text(encoding="utf-8")


def test_the_example_comes_to_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(found) == 2
    space: dict[str, Any] = {}
    for block in found:
        exec(block, space)
    # The noise on the share of women is about 4 of 20,000 rows: to miss 0.70 by 0.02 it would have to be 100 times that.
    assert float(space["weights"] @ space["women"]) == pytest.approx(0.70, abs=0.02)
    assert "weighted" in capsys.readouterr().out
    plan = pt.plan(space["schema"], epsilon=1.0, method=space["method"])
    assert plan.options["points"]["rows"] == 200


def test_every_option_is_on_the_page() -> None:
    options = [name for name in pt.Landmarks.__dataclass_fields__ if not name.startswith("_")]
    table = PAGE[PAGE.index("## Options") :]
    assert [name for name in options if f"`{name}`" not in table] == []
