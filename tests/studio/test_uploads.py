import stat
from typing import Any
from urllib.parse import quote

import pytest

from pointillist.studio.uploads import file_name


def sent(visitor: Any, name: str, content: bytes) -> Any:
    headers = {"x-csrf": visitor.studio.security.csrf, "x-name": quote(name)}
    return visitor.client.put("/upload", content=content, headers=headers)


def test_an_upload_lies_in_the_scratch_folder_alone(visitor: Any) -> None:
    answer = sent(visitor, "C:\\data\\pätienten.csv", b"age\n1\n")
    assert answer.status_code == 200
    name = answer.json()["location"].split("/")[2]
    project = visitor.studio.workspace.project(name)
    path = project.scratch / "uploads" / "pätienten.csv"
    assert path.read_bytes() == b"age\n1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "ti" not in answer.json()["location"]
    assert [each.name for each in project.folder.iterdir()] == ["project.json"]


def test_a_disk_that_is_full_leaves_nothing(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(request: Any, path: Any) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pointillist.studio.uploads._stream", full)
    answer = sent(visitor, "people.csv", b"age\n1\n")
    assert answer.status_code == 507
    assert "No space left on device" in answer.json()["error"]
    assert not list(visitor.studio.workspace.scratch.rglob("people.csv"))


@pytest.mark.parametrize(
    ("sent_as", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("a%2Fb.csv", "b.csv"),
        ("..", "table.csv"),
        ("", "table.csv"),
        ("x\x00y.csv", "xy.csv"),
    ],
)
def test_names_lead_nowhere(sent_as: str, kept: str) -> None:
    assert file_name(sent_as) == kept


@pytest.mark.parametrize("name", ["findings.json", "histograms.json", "address.txt"])
def test_an_upload_may_have_the_name_of_a_file_of_the_studio(visitor: Any, name: str) -> None:
    place = sent(visitor, name, b"theirs").json()["location"]
    project = visitor.studio.workspace.project(place.split("/")[2])
    assert not (project.scratch / name).exists()
    assert project.place().read_bytes() == b"theirs"
