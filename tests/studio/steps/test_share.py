import hashlib
import io
import json
import zipfile
from typing import Any

from pointillist.pages.card import Card
from pointillist.pages.card_file import CardFile
from pointillist.studio.steps.share import safe_name


def test_the_archive_has_what_is_public_and_nothing_else(walked: Any) -> None:
    answer = walked.post("share/file")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = set(archive.namelist())
        assert names == {"README.txt", "card.html", "card.json", "people.release", "synthetic.csv"}
        assert archive.read("people.release") == walked.project.plan.release_file.read_bytes()
        assert "differentially private" in archive.read("README.txt").decode()
    assert "people.release" in walked.get("share").text


def test_names_of_files() -> None:
    assert safe_name("a/b c") == "a-b-c"
    assert safe_name("") == "table"


WORDS = {"by": "City <Hospital>", "to": "Students", "purpose": "A course", "vouched_by": "R. Roe"}


def test_the_card_names_who_shares_what_with_whom_and_covers_the_files(walked: Any, tmp_path: Any) -> None:
    answer = walked.post("share/file", **WORDS)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    facts = json.loads(inside["card.json"])
    facts = facts.get("card", facts)
    assert WORDS.items() <= facts["deployment"].items()
    assert "City &lt;Hospital&gt;" in inside["card.html"].decode()
    covered = {each["name"]: (each["role"], each["sha256"]) for each in facts["files"]}
    roles = {"people.release": "release", "synthetic.csv": "synthetic data"}
    assert covered == {name: (role, hashlib.sha256(inside[name]).hexdigest()) for name, role in roles.items()}
    assert [(each["epsilon"], each["this"]) for each in facts["account"]["entries"]] == [(1.0, True)]
    (tmp_path / "card.json").write_bytes(inside["card.json"])
    assert Card.from_file(CardFile.load(tmp_path / "card.json")).deployment.by == "City <Hospital>"
    assert 'value="City &lt;Hospital&gt;"' in walked.get("share").text


def test_words_that_are_too_long_are_refused(walked: Any) -> None:
    assert "more than 2,000 letters" in walked.post("share/file", by="x" * 2_001).text
