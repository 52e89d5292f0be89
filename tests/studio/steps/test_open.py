import shutil
from pathlib import Path
from typing import Any

import pytest

from pointillist.errors import DataError, SchemaError
from pointillist.studio import jobs
from pointillist.studio.steps.open import opened_at


def test_a_table_is_drafted_and_counted(visitor: Any) -> None:
    assert visitor.work("open").state == jobs.DONE
    assert not visitor.project.schema().reviewed
    assert {each.name for each in visitor.project.scratch.iterdir()} == {"findings.json", "histograms.json"}
    assert visitor.get("opened").url.path.endswith("/review")


def test_a_schema_that_is_there_is_taken_as_it_is(visitor: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n[columns.age]\nkind = "integer"\nmin = 0\nmax = 120\n')
    project = opened_at(visitor.studio, str(visitor.table), str(file))
    assert project.facts["schema"] == str(file)
    with pytest.raises(SchemaError, match="no such schema"):
        opened_at(visitor.studio, str(visitor.table), "/nowhere.toml")


@pytest.mark.parametrize(("name", "content"), [("bad.parquet", b"PAR1 no"), ("empty.csv", b""), ("one.csv", b"a,b\n")])
def test_a_bad_file_is_told_and_not_quoted(visitor: Any, name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    visitor.project.update(place=str(tmp_path / name))
    job = visitor.work("open")
    assert job.state == jobs.FAILED
    assert name in job.message
    assert "fault" not in job.message
    page = visitor.get("opened").text
    assert name in page
    assert "Try again" in page


def test_nothing_at_that_place(visitor: Any) -> None:
    with pytest.raises(DataError, match="no such file"):
        opened_at(visitor.studio, "/nowhere/people.csv")
    answer = visitor.client.post("/open", data={"csrf": visitor.studio.security.csrf, "place": " "})
    assert "name a file" in answer.text


def test_the_demo_is_simulated_anew(visitor: Any) -> None:
    answer = visitor.client.post("/demo", data={"csrf": visitor.studio.security.csrf}, follow_redirects=False)
    project = visitor.studio.workspace.project(answer.headers["location"].split("/")[2])
    assert len(Path(project.facts["place"]).read_text().splitlines()) == 301
    assert project.demo


def test_a_release_that_was_sent_goes_to_the_receivers_page(walked: Any) -> None:
    name = walked.studio.workspace.new(name="x", upload="x.release").id
    project = walked.studio.workspace.project(name)
    project.upload_file("x.release").parent.mkdir()
    project.upload_file("x.release").write_bytes(walked.project.plan.release_file.read_bytes())
    answer = walked.client.get(f"/p/{name}/opened", follow_redirects=False)
    assert answer.headers["location"].endswith("/receiver")
    received = walked.studio.workspace.project(answer.headers["location"].split("/")[2])
    assert received.received
    with pytest.raises(DataError, match="without its table"):
        received.source()


ADDRESS = "postgresql://me:SECRETWORD@127.0.0.1:1/registry?table=people&sslmode=disable"


def test_an_address_with_a_password_is_not_kept(visitor: Any) -> None:
    """It lies in the scratch folder, which goes when the studio ends; then it is asked for again."""
    project = opened_at(visitor.studio, ADDRESS)
    for path in visitor.studio.workspace.folder.rglob("*"):
        assert path.is_dir() or b"SECRETWORD" not in path.read_bytes()
    assert project.facts["place"] == "postgresql://127.0.0.1:1/registry"
    assert project.place() == ADDRESS
    assert [each.stat().st_mode & 0o077 for each in project.scratch.iterdir()] == [0]

    shutil.rmtree(project.scratch)
    visitor.studio.workspace.project(project.id)
    with pytest.raises(DataError, match="asked for there") as caught:
        project.source()
    assert "SECRETWORD" not in str(caught.value)
    page = visitor.client.get(f"/p/{project.id}/opened").text
    assert f'action="/p/{project.id}/address"' in page
    assert visitor.studio.jobs.state(project, "open") is None


def test_the_address_is_taken_again_if_it_is_that_of_the_table(visitor: Any) -> None:
    project = opened_at(visitor.studio, ADDRESS)
    shutil.rmtree(project.scratch)
    project.scratch.mkdir()

    def told(place: str) -> Any:
        fields = {"csrf": visitor.studio.security.csrf, "place": place}
        return visitor.client.post(f"/p/{project.id}/address", data=fields, follow_redirects=False)

    for wrong in (ADDRESS.replace("people", "others"), "/etc/passwd", str(visitor.table)):
        assert "not the address of" in told(wrong).text
        assert project.address_gone
    assert told(ADDRESS.replace("SECRETWORD", "another")).headers["location"].endswith("/opened")
    assert project.place() == ADDRESS.replace("SECRETWORD", "another")


def test_an_address_without_secrets_is_kept(visitor: Any) -> None:
    project = opened_at(visitor.studio, "postgresql://127.0.0.1:1/registry?table=people")
    assert project.facts["place"] == "postgresql://127.0.0.1:1/registry?table=people"
    assert not project.address_gone
    assert not list(project.scratch.iterdir())
