"""The bench of first contact: its measures see what a person would see, and a small run leaves a page."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.first_contact.__main__ import main
from benchmarks.first_contact.measures import float_coded, measure

REAL = pa.array([1.0, 2.0, 3.0, 10.0, None] * 40)


@pytest.mark.parametrize(
    ("synthetic", "tvd", "why"),
    [
        (REAL, 0.0, ""),
        (pa.array([1.0, 2.0, 3.0, 7.0, None] * 40), 0.2, "a value that no real row has"),
        (pa.array([-1.0, 2.0, 3.0, 10.0, None] * 40), 0.2, "negative"),
        (pa.array([1.5, 2.0, 3.0, 10.0, None] * 40), 0.2, "not whole"),
        (pa.array([1.0, 2.0, 3.0, 11.0, None] * 40), 0.2, "beyond the real range"),
    ],
)
def test_what_a_person_would_not_accept(synthetic: pa.Array, tvd: float, why: str) -> None:
    found = measure("x", "integer", REAL, synthetic)
    assert found.tvd == pytest.approx(tvd)
    assert (found.odd > 0) == (why != "")
    assert why in found.why


def test_times_of_day() -> None:
    real = pa.array([100 * (n % 24) + n % 60 for n in range(2_000)])
    assert measure("t", "integer", real, pa.array([1361] * 10)).why == "no time of day"


def test_float_coded() -> None:
    assert float_coded(REAL)
    assert not float_coded(pa.array([1.5, 2.0]))
    assert not float_coded(pa.array([1, 2]))


def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "first_contact").mkdir()
    generator = np.random.default_rng(0)
    table = pa.table({"year": generator.integers(1995, 2004, 1_200).astype(float), "sex": ["f", "m"] * 600})
    pq.write_table(table, tmp_path / "first_contact" / "small.parquet")
    options = {"epsilon": 3.0, "only": "", "draft_only": False, "from_results": False, "again": False}
    main(tmp_path, **options, results=tmp_path / "results")
    shown = capsys.readouterr().out
    assert "1 tables, 2 columns" in shown
    assert "Odd values in 0 columns" in shown
    assert "Same schema from the version with semicolons and decimal commas: 1 of 1" in shown
    main(None, **{**options, "from_results": True}, results=tmp_path / "results")
    assert "1 tables, 2 columns" in capsys.readouterr().out
