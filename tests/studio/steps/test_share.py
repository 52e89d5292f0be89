import io
import zipfile
from typing import Any

from pointillist.studio.steps.share import safe_name


def test_the_archive_has_what_is_public_and_nothing_else(walked: Any) -> None:
    answer = walked.get("share/file")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = set(archive.namelist())
        assert names == {"README.txt", "card.html", "card.json", "people.release", "synthetic.csv"}
        assert archive.read("people.release") == walked.project.plan.release_file.read_bytes()
        assert "differentially private" in archive.read("README.txt").decode()
    assert "people.release" in walked.get("share").text


def test_names_of_files() -> None:
    assert safe_name("a/b c") == "a-b-c"
    assert safe_name("") == "table"
