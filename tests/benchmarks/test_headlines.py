"""Headlines: the quickest claims of README and docs are held at every change; the others by `make headlines`.

Noise has no seed, so a claim may be off by chance. The mixture's mean NLL has a standard deviation of about 0.006 over
releases and lies seven of them below its bar; the forest's accuracy lies beyond its bar by more than a hundredth, where
releases differ by a thousandth: less than one false alarm in a million runs each.
"""

from pathlib import Path

import pytest
from benchmarks.headlines import __main__ as command
from benchmarks.headlines import checking
from benchmarks.headlines.claim import Band, Claim, Outcome, check, quick
from benchmarks.headlines.registry import AREAS
from benchmarks.papers.output import read, write
from typer.testing import CliRunner

ALL = [claim for area in AREAS.values() for claim in area]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("claim", quick(ALL), ids=lambda claim: claim.name)
def test_a_quick_claim_holds(claim: Claim) -> None:
    found = check(claim, None)
    assert found.status == "ok", f"{claim.where}: {found.value} is not {claim.band} {found.reason}"


def test_claims_have_names_of_their_own_a_page_and_a_reason_for_their_band() -> None:
    assert len({claim.name for claim in ALL}) == len(ALL)
    for claim in ALL:
        assert claim.band.why, claim.name
        assert claim.band.least < claim.band.most
        for page in claim.where.split(", "):
            assert not page.endswith(".md") or (ROOT / page).exists(), claim.name


def test_a_band_holds_its_ends_and_nothing_beyond() -> None:
    band = Band("why", 1.0, 2.0)
    assert [band.holds(value) for value in (0.99, 1.0, 2.0, 2.01, float("nan"))] == [False, True, True, False, False]
    assert [str(each) for each in (band, Band("", most=3.3), Band("", 0.98))] == ["1 to 2", "≤ 3.3", "≥ 0.98"]


def _claim(name: str, value: float | None, needs: tuple[str, ...] = ()) -> Claim:
    def measure(_: Path | None) -> float:
        if value is None:
            raise ValueError("no such figure")
        return value

    return Claim(name, "README.md", Band("for the test", most=1.0), measure, needs)


def test_what_fails_is_off_and_what_needs_data_says_which(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    found = [
        check(_claim("in", 0.5, ("there",)), tmp_path),
        check(_claim("out", 1.5), None),
        check(_claim("broken", None), None),
        check(_claim("absent", 0.5, ("nowhere",)), tmp_path),
        check(_claim("no folder", 0.5, ("there",)), None),
    ]
    assert [each.status for each in found] == ["ok", "off", "failed", "skipped", "skipped"]
    assert [each.fine for each in found] == [True, False, False, True, True]
    assert found[2].reason == "ValueError: no such figure"
    assert "nowhere" in found[3].reason
    assert "POINTILLIST_DATA" in found[4].reason


def test_the_command_says_what_is_off_and_keeps_what_it_did_not_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cost` and `target` are checked for real areas of these names: here they hold figures that need no time."""
    monkeypatch.setattr(checking, "ALONE", tuple(AREAS))  # in this process
    monkeypatch.setitem(AREAS, "cost", (_claim("small", 0.5), _claim("far", 0.5, ("nowhere",))))
    monkeypatch.setitem(AREAS, "target", (_claim("large", 1.5),))
    write(
        [{**checking.row_of(Outcome(_claim("far", 0.7), "ok", 0.7)), "commit": "0123456789ab"}], "headlines", tmp_path
    )
    options = ["--out", str(tmp_path), "--jobs", "1"]
    first = CliRunner().invoke(command.app, [*options, "--only", "cost"], env={"POINTILLIST_DATA": ""})
    assert first.exit_code == 0, first.output
    assert "| claim | band | now |  |" in first.output
    assert "| small | ≤ 1 | 0.5 | ok |" in first.output
    assert "1 ok, 0 off, 1 skipped." in first.output
    second = CliRunner().invoke(command.app, [*options, "--only", "target"])
    assert second.exit_code == 1, second.output
    assert "| large | ≤ 1 | 1.5 | off |" in second.output
    rows = {row["claim"]: row for row in read("headlines", tmp_path)}
    assert list(rows) == ["small", "far", "large"]
    assert rows["far"]["commit"] == "0123456789ab"  # what was skipped keeps its figure and its stamp
    assert rows["far"]["now"] == 0.7
    page = (tmp_path / "headlines.md").read_text()
    assert "0123456789ab is not in this history" in page
    third = CliRunner().invoke(command.app, [*options, "--only", "luck"])
    assert third.exit_code == 2
    assert "area 'luck' is not known" in third.output
