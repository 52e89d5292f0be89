"""Options that several commands share, each described once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pointillist.errors import UsageError

if TYPE_CHECKING:
    from pointillist.files.urls import Url

    Place = Path | Url
else:
    Place = Path  # typer takes one type, and asks `place` in its stead


def place(text: "str | Path | Url") -> "Place":
    """What a command reads or writes, as it was typed: a path, or an address such as postgresql://host/db?table=people."""
    from pointillist.files.urls import Url

    return (
        Url.parse(text) if isinstance(text, str) and Url.is_one(text) else text if isinstance(text, Url) else Path(text)
    )


Data = Annotated[
    Place,
    typer.Argument(
        parser=place,
        metavar="DATA",
        help="The private table: CSV, Parquet (file or folder), Arrow; a DuckDB database with --sql; or an address, such "
        "as postgresql://host/db?table=people or s3://bucket/people.parquet. For images: a folder with a folder for each "
        "class, .npz, .npy, or a table with a column of encoded images.",
        show_default=False,
    ),
]
ReleaseFile = Annotated[Path, typer.Argument(metavar="RELEASE", help="A release file.", show_default=False)]
CardArgument = Annotated[Path, typer.Argument(metavar="CARD", help="The card, as .json.", show_default=False)]
ModelFile = Annotated[
    Path | None,
    typer.Option("--model", help="The model fitted to it; without one, it is fitted anew.", show_default=False),
]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The table's schema (TOML), reviewed.", show_default=False)]
Epsilon = Annotated[float, typer.Option(help="The privacy budget ε > 0: smaller is more private.", show_default=False)]
Delta = Annotated[float, typer.Option(help="The δ of (ε, δ): well below 1 / (number of people).")]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        help="A column that receivers will want to predict. Repeat it for more, the most important one first.",
        show_default=False,
    ),
]
Target = Annotated[str | None, typer.Option(help="A column that receivers will want to predict.", show_default=False)]
Neighbour = Annotated[str, typer.Option("--neighbours", help="add-remove, or replace-one (the row count is public).")]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="The recipe, one of those that `pointillist methods` lists; by default the first that suits the data.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting, such as features=2000; `pointillist methods NAME` lists those of a method or generator. Repeat it "
        "for more.",
        show_default=False,
    ),
]
Public = Annotated[
    Path | None,
    typer.Option(
        "--public",
        metavar="FILE",
        help="With --method landmarks: a table of public rows, which the release copies and weights. With --method gallery: "
        "a folder, an .npz file or a table of public images, of which the synthetic ones are chosen.",
        show_default=False,
    ),
]
Overlap = Annotated[
    bool,
    typer.Option(
        "--public-overlap",
        help="With --public: its rows or images are public although some are in the private table, too.",
    ),
]
ExtractorName = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        metavar="FILE|NAME",
        help="With --method perceptual or gallery: the public network, from `pointillist extractor train` or by its name.",
        show_default=False,
    ),
]
GeneratorName = Annotated[
    str | None,
    typer.Option(
        "--generator",
        help="One of those that `pointillist methods` lists; by default what suits the release.",
        show_default=False,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="auto|cpu|cuda|mps",
        help="What networks run on; auto is a graphics card if there is one. By default cpu, which gives the same bits for "
        "the same seed. It changes no guarantee.",
        show_default=False,
    ),
]
TrainingLogFile = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE.jsonl",
        help="Add a line of JSON at every look at a network: step, loss, seconds and steps left. For any tracker.",
        show_default=False,
    ),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger; else POINTILLIST_LEDGER, else the user's own.", show_default=False),
]
SharedPlanArgument = Annotated[
    Path, typer.Argument(metavar="PLAN", help="The plan that all owners follow.", show_default=False)
]
SharedPlanFile = Annotated[
    Path,
    typer.Option("--plan", help="The plan that all owners follow, as it stands before this round.", show_default=False),
]
Owner = Annotated[int, typer.Option("--owner", help="Which owner you are, from 1.", show_default=False)]
ForCollector = Annotated[
    Path, typer.Option("-o", "--output", help="The file to write, which goes to the collector.", show_default=False)
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="What runs the pass over the rows: local, spark or dask; by default the cores of this machine.",
        show_default=False,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="ADDRESS",
        help="With --engine: where its cluster is, such as spark://host:7077, yarn, sc://host or tcp://host:8786.",
        show_default=False,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        help="How many may work at a time; of a cluster, into how many tasks a pass is cut, at most.",
        show_default=False,
    ),
]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]
Delimiter = Annotated[
    str, typer.Option(help="What separates the columns of a CSV file; a semicolon or a tab is found without it.")
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="The decimal sign of a CSV file, a point or a comma; by default commas are read beside semicolons.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="How a CSV file is encoded, such as cp1252 or latin-1; by default UTF-8.",
        show_default=False,
    ),
]
Sql = Annotated[
    str | None,
    typer.Option(
        "--sql",
        help="Use the result of this DuckDB query; a file or folder given as DATA is called 'source' in it, and the "
        "columns of a CSV file are texts there.",
        show_default=False,
    ),
]
Output = Annotated[
    Place,
    typer.Option(
        "-o",
        "--output",
        parser=place,
        metavar="PATH",
        help="The table to write: .csv or .tsv (perhaps .gz or .zst), .parquet or .arrow; a folder (no ending), for any "
        "number of rows in parts; also s3://… and postgresql://host/db?schema=synthetic&table=people. Images: a folder, "
        ".npz or .parquet.",
        show_default=False,
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes", help="Do not ask again whether facts that were read from the data may be published: they may."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")]
OutputDelimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="What separates the columns of the CSV file; by default what the schema says under [csv], else a comma.",
        show_default=False,
    ),
]
OutputDecimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        help="The decimal sign in the CSV file, a point or a comma; by default what the schema says under [csv].",
        show_default=False,
    ),
]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="In a CSV file, put an apostrophe before texts that begin with = + - @ or a tab, which spreadsheets run as "
        "formulas. It changes those values.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Seed of the sampling (never of the privacy noise, which has none).", show_default=False),
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        metavar="COLUMN=VALUE",
        help="Only rows with this value, or in a range such as age=30..40; nothing after = means missing. Repeat it for "
        "more columns, or for other values of one.",
        show_default=False,
    ),
]
Balance = Annotated[
    str | None,
    typer.Option(help="A column of which every class gets the same number of rows.", show_default=False),
]
Rows = Annotated[
    int | None, typer.Option("-n", "--rows", help="How many rows; by default about as many as the private table has.")
]


Persons = Annotated[
    int | None,
    typer.Option(
        "--persons", help="How many persons, with all of their rows; of a model of histories, in place of -n."
    ),
]


def at_least_one(value: int, option: str) -> int:
    """Refuse a number below 1."""
    if value < 1:
        raise UsageError(f"{option} must be at least 1, not {value}.")
    return value


def workers(threads: int | None) -> int | None:
    """What --threads asks for, if it does."""
    return None if threads is None else at_least_one(threads, "--threads")
