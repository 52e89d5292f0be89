"""How dates in a file are found to be written, so that synthetic ones look alike."""

from pathlib import Path

import pytest

import pointillist as pt


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["01/02/2020", "31/12/2020"], "%d/%m/%Y"),
        (["12/31/2020", "01/02/2020"], "%m/%d/%Y"),
        (["1/2/2020", "31/12/2020"], "%-d/%-m/%Y"),
        (["01.02.2020 10:30", "31.12.2020 08:15"], "%d.%m.%Y %H:%M"),
        (["01/02/2020 3:30 PM", "28/02/2020 11:05 AM"], "%d/%m/%Y %-I:%M %p"),
        (["2020-01-02T10:30:00Z", "2020-12-31T08:15:00Z"], "%Y-%m-%dT%H:%M:%SZ"),
        (["2020-01-02 10:30:00.123", "2020-12-31 08:15:00.456"], "%Y-%m-%d %H:%M:%S.%3f"),
        (["2020-01-02 10:30:00", "2020-12-31 08:15:00"], None),
        (["2020-01-02", "2020-12-31"], None),
    ],
)
def test_the_format_is_found_and_marked(texts: list[str], form: str | None, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("when,other\n" + "".join(f"{text},a\n" for text in texts))
    drafted = pt.draft(tmp_path / "t.csv", name="s").columns["when"]
    assert isinstance(drafted, pt.Datetime)
    assert drafted.format == form
    assert ("format" in drafted.read_from_data) == (form is not None)


def test_texts_of_two_formats_are_no_dates(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("when,other\n01/02/2020,a\n2020-02-03,a\n")
    assert pt.draft(tmp_path / "t.csv", name="s").columns["when"].kind == "categorical"
