"""The cost of the pass, beside reading the same columns in the same run: ratios, as seconds are the machine's."""

import tempfile
from functools import cache, partial
from pathlib import Path

from benchmarks.embedding_pass import Cost, cost

from .claim import Band, Claim, Folder

ROWS, MORE, REPEATS = 1_000_000, 3_000_000, 3


@cache
def _cost(rows: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        return cost(rows, REPEATS, Path(folder))


def ratio(name: str, _: Folder) -> float:
    return _cost(MORE).ratio(name)


def memory(_: Folder) -> float:
    return _cost(MORE).peak_mb["pass 1"] / _cost(ROWS).peak_mb["pass 1"]


CLAIMS = (
    *(
        Claim(
            f"{name} over {MORE:,} rows: CPU time in multiples of reading",
            "docs/explanation/cost.md",
            band,
            partial(ratio, name),
        )
        for name, band in (
            ("pass 1", Band("1.5 times the most that the page tells, 1.8", most=2.7)),
            ("pass 2", Band("1.5 times the most that the page tells, 2.2", most=3.3)),
        )
    ),
    Claim(
        f"peak memory of {MORE:,} rows in multiples of that of {ROWS:,}",
        "README.md, docs/explanation/cost.md",
        Band("memory does not grow; a tenth for chance", most=1.1),
        memory,
    ),
)
