from pathlib import Path

import pytest

from pointillist.errors import DataError, SchemaError, UsageError
from pointillist.studio.project import Project

TOML = 'name = "t"\n[columns.age]\nkind = "integer"\nmin = 0\nmax = {}\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name in ("kept", "scratch"):
        (tmp_path / name).mkdir()
    return Project(tmp_path / "kept", tmp_path / "scratch")


def test_a_schema_can_be_undone_step_by_step(project: Project) -> None:
    for most in (1, 2, 3):
        project.write_schema(TOML.format(most))
    assert project.schema().columns["age"].max == 3
    project.undo()
    project.undo()
    assert project.schema().columns["age"].max == 1
    project.undo()
    assert project.schema().columns["age"].max == 1


def test_a_text_that_is_no_schema_changes_nothing(project: Project) -> None:
    project.write_schema(TOML.format(1))
    for text in ("name = ", TOML.format(-5)):
        with pytest.raises(SchemaError) as caught:
            project.write_schema(text)
        assert str(project.folder) not in str(caught.value)
    assert project.schema().columns["age"].max == 1
    assert project.earlier() == []


def test_an_upload_that_is_gone_says_so(project: Project) -> None:
    project.update(upload="people.csv")
    with pytest.raises(DataError, match="Open it again"):
        project.source()
    with pytest.raises(SchemaError, match="open a table first"):
        project.schema()


def test_plans_have_the_schema_of_their_time(project: Project) -> None:
    project.write_schema(TOML.format(1))
    first = project.new_plan(project.schema_file.read_text(), epsilon=1.0)
    project.write_schema(TOML.format(2))
    second = project.new_plan(project.schema_file.read_text(), epsilon=2.0)
    assert [each.id for each in project.plans()] == [first.id, second.id]
    assert project.plan == second
    assert project.plan_of(first.id) == first
    with pytest.raises(UsageError, match="no such plan"):
        project.plan_of("0" * 12)
    assert first.schema().columns["age"].max == 1


def test_the_demo_has_a_ledger_of_its_own(project: Project, tmp_path: Path) -> None:
    assert project.ledger(tmp_path / "mine").path == tmp_path / "mine"
    project.update(demo=True)
    assert project.ledger(tmp_path / "mine").path == project.folder / "ledger.sqlite"


def test_a_change_to_what_is_no_longer_there_is_refused(project: Project) -> None:
    project.write_schema(TOML.format(1))
    before = project.schema()
    project.write_schema(TOML.format(2), before)
    with pytest.raises(SchemaError, match="perhaps in another tab"):
        project.write_schema(TOML.format(3), before)
    assert project.schema().columns["age"].max == 2
