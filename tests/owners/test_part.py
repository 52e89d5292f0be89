"""Parts: what one owner sends, and what is refused of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fixtures.owners import Trio

import pointillist as pt
from pointillist.errors import ArtefactError
from pointillist.owners.part import Part


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trio, pt.SharedPlan, Part]:
    trio = Trio(tmp_path_factory.mktemp("part"))
    plan = trio.plan("sum")
    return trio, plan, Part.load(trio.part(plan, 2))


def test_a_part_comes_back_as_it_was(sent: tuple[Trio, pt.SharedPlan, Part], tmp_path: Path) -> None:
    _, plan, part = sent
    (tmp_path / "2.part").write_bytes(part.to_bytes())
    found = Part.load(tmp_path / "2.part")
    assert (found.plan, found.digest, found.owner, found.round) == (plan.id, plan.digest, 2, 1)
    assert (found.values == part.values).all()
    assert found.signature == part.signature
    found.require_of(plan, "2.part")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"plan": "0" * 32}, "part of another plan"),
        ({"round": 2}, "of round 2, and the plan is at round 1"),
        ({"digest": bytes(32)}, "another copy of the plan"),
        ({"owner": 4}, "whom the plan does not have"),
        ({"owner": 3}, "not signed by owner 3, or was altered"),
        ({"values": np.zeros(3, dtype=np.int64)}, "another number of sums"),
        ({"signature": None}, "not signed by owner 2"),
        ({"signature": bytes(64)}, "not signed by owner 2"),
    ],
)
def test_what_is_not_the_part_of_this_plan(
    change: dict[str, Any], word: str, sent: tuple[Trio, pt.SharedPlan, Part]
) -> None:
    _, plan, part = sent
    with pytest.raises(ArtefactError, match=rf"^2\.part: .*{word}"):
        replace(part, **change).require_of(plan, "2.part")


def test_one_unit_more_in_one_sum_shows(sent: tuple[Trio, pt.SharedPlan, Part]) -> None:
    _, plan, part = sent
    values = part.values.copy()
    values[7] ^= 1
    with pytest.raises(ArtefactError, match="altered"):
        replace(part, values=values).require_of(plan, "2.part")


def test_a_damaged_file(sent: tuple[Trio, pt.SharedPlan, Part], tmp_path: Path) -> None:
    content = bytearray(sent[2].to_bytes())
    content[len(content) // 2] ^= 255
    path = tmp_path / "2.part"
    path.write_bytes(content)
    with pytest.raises(ArtefactError, match=r"2\.part"):
        Part.load(path)
    path.write_bytes(content[:100])
    with pytest.raises(ArtefactError, match="cut short"):
        Part.load(path)


def test_parts_hold_whole_numbers_only(sent: tuple[Trio, pt.SharedPlan, Part], tmp_path: Path) -> None:
    path = tmp_path / "2.part"
    path.write_bytes(replace(sent[2], values=sent[2].values.astype(np.int32)).to_bytes())
    with pytest.raises(ArtefactError, match="row of integers"):
        Part.load(path)
