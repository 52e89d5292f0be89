"""The first sheet of an Excel file."""

import zipfile
from pathlib import Path

import pytest
from tests.fixtures.sources import encoded

import pointillist as pt
from pointillist.curator.table_drafting import draft
from pointillist.errors import DataError
from pointillist.reading.opening import open_source

pytest.importorskip("fastexcel")

_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)
_RELATED = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def write_sheet(path: Path, rows: list[list[object]]) -> Path:
    """A workbook of one sheet, as short as can be."""
    cells = "".join(
        "<row>"
        + "".join(
            f'<c t="inlineStr"><is><t>{each}</t></is></c>'
            if isinstance(each, str)
            else f'<c t="b"><v>{each:d}</v></c>'
            if isinstance(each, bool)
            else f"<c><v>{each}</v></c>"
            for each in row
        )
        + "</row>"
        for row in rows
    )
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", _TYPES)
        root = f'<Relationship Id="r1" Type="{_KIND}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", _RELATED.format(root))
        sheet = f'<Relationship Id="r1" Type="{_KIND}/worksheet" Target="worksheets/sheet1.xml"/>'
        file.writestr("xl/_rels/workbook.xml.rels", _RELATED.format(sheet))
        file.writestr(
            "xl/workbook.xml",
            f'<workbook {_MAIN} xmlns:r="{_KIND}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        file.writestr("xl/worksheets/sheet1.xml", f"<worksheet {_MAIN}><sheetData>{cells}</sheetData></worksheet>")
    return path


def test_a_sheet_is_drafted_like_a_file_of_text(tmp_path: Path) -> None:
    rows = [["year", "job"], *([1995 + n % 9, ("cook", "nurse")[n % 2]] for n in range(90))]
    columns = draft(write_sheet(tmp_path / "t.xlsx", rows), name="s").columns
    assert (columns["year"].kind, columns["year"].min, columns["year"].max) == ("integer", 1995, 2003)
    assert columns["job"].categories == ("cook", "nurse")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"secret")
    with pytest.raises(DataError, match="cannot be read"):
        open_source(tmp_path / "t.xlsx")


@pytest.mark.parametrize("last", [1, "maybe", 2.5, False])
def test_a_cell_does_not_change_how_others_are_read(last: object, tmp_path: Path) -> None:
    """A library takes a column for booleans, numbers or texts by all its cells."""
    rows: list[list[object]] = [["member", "age"], *([n % 2 == 0, n] for n in range(10))]
    schema = pt.Schema(
        name="s", columns={"member": pt.Categorical(categories=("true", "false")), "age": pt.Integer(min=0, max=99)}
    )
    fewer = encoded(write_sheet(tmp_path / "t.xlsx", rows), schema)
    more = encoded(write_sheet(tmp_path / "t.xlsx", [*rows, [last, 7]]), schema)
    assert fewer <= more
    assert (more - fewer).total() == 1
    assert open_source(tmp_path / "t.xlsx").types() == {}
