"""Schema box: escaped, a screenful, and silent about what a draft has read."""

import re

import pyarrow as pa
from tests.fixtures.boxes import hostile_schema, sound

import pointillist as pt


def test_names_are_escaped() -> None:
    assert "&lt;script&gt;" in sound(hostile_schema()._repr_html_())


def test_a_draft_shows_no_value_that_was_read_from_rows() -> None:
    secret = pa.table({"town": ["Quorn"] * 40 + ["Wye"] * 40, "income": [31_337.0, 52_718.5] * 40})
    box = sound(pt.draft(secret, name="secret")._repr_html_())
    toml = pt.draft(secret, name="secret").to_toml()
    for value in ("Quorn", "Wye", "about 80"):
        assert value not in box
    assert "Quorn" in toml
    assert "income" in box
    assert not re.search(r"\d{4,}", box.split("</style>")[1])
    assert "to_toml" in box


def test_a_wide_table_is_a_screenful() -> None:
    wide = pt.Schema(name="wide", columns={f"c{number}": pt.Boolean() for number in range(300)})
    assert "… and 280 more" in sound(wide._repr_html_())
