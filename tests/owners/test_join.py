"""Joining: an owner's key for one plan."""

from pathlib import Path

import pytest
from tests.fixtures.owners import WARDS, Trio

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.owners.join import Join


def test_a_join_comes_back_as_it_was(trio: Trio) -> None:
    plan = pt.shared_plan(WARDS, owners=3, epsilon=1.0, trust="sum")
    made = pt.join(plan, 2, key=trio.key(plan, 2), output=trio.folder / "2.join")
    found = Join.load(trio.folder / "2.join")
    assert found == made
    assert found.sound
    assert found.key == trio.owner_key(plan, 2).public
    assert trio.owner_key(plan, 2).secret not in (trio.folder / "2.join").read_bytes()


def test_nobody_joins_twice(trio: Trio) -> None:
    plan = trio.plan("sum")
    with pytest.raises(UsageError, match="joined this plan already"):
        pt.join(plan, 1, key=trio.folder / "other.key", output=trio.folder / "1.join")


def test_no_key_is_made_where_nothing_can_be_written(trio: Trio) -> None:
    plan = pt.shared_plan(WARDS, owners=3, epsilon=1.0, trust="sum")
    with pytest.raises(ArtefactError, match="folder does not exist"):
        pt.join(plan, 1, key=trio.folder / "1.key", output=trio.folder / "none" / "1.join")
    with pytest.raises(UsageError, match="numbered from 1"):
        pt.join(plan, 4, key=trio.folder / "1.key", output=trio.folder / "1.join")
    assert not (trio.folder / "1.key").exists()


def test_a_release_is_no_join(trio: Trio, tmp_path: Path) -> None:
    trio.plan().save(tmp_path / "wards.plan")
    with pytest.raises(ArtefactError, match="is a plan file, where a join file is needed"):
        Join.load(tmp_path / "wards.plan")
