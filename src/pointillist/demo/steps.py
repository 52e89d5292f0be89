"""The steps of the demo: the whole way on a table that ships with the package, with a report on how good it is."""

from pathlib import Path

from pointillist.curator.releasing import plan, release
from pointillist.demo.people import SCHEMA, TARGET, simulate
from pointillist.errors import UsageError
from pointillist.evaluate.tables.evaluation import Evaluation, evaluate
from pointillist.files.table_output import write_table
from pointillist.methods.fit import fit
from pointillist.pages.card import Card
from pointillist.plan import Plan
from pointillist.privacy.ledger import Ledger
from pointillist.progress import Progress, silent
from pointillist.release import Release

EPSILON, DELTA, SEED = 1.0, 1e-5, 7
HELD_OUT = 8_000
FILES = {
    "people.csv": "the private table (simulated people, none of them real)",
    "people.toml": "its schema",
    "people.release": "the release: all that leaves the private side",
    "people.model": "the model",
    "synthetic.csv": "the synthetic table",
    "ledger.sqlite": "the ledger",
    "card.html": "the data card: it may travel with the synthetic table",
    "report.html": "the report: for the owner's eyes",
}
"""What the demo leaves in its folder, in the order of the walk."""


def prepare(folder: Path) -> None:
    """Make the simulated registry and its schema in `folder`, which must be empty or an earlier demo's."""
    marker = folder / ".pointillist-demo"
    if folder.exists() and not marker.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder}: is not empty, and not from a demo. Name another folder: its files would be replaced."
        )
    folder.mkdir(parents=True, exist_ok=True)
    marker.touch()
    # The data are simulated and made anew, so an earlier demo's spend on them does not count.
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    write_table(simulate(), folder / "people.csv", SCHEMA)
    (folder / "people.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")


def planned() -> Plan:
    """What will be measured."""
    return plan(SCHEMA, epsilon=EPSILON, delta=DELTA, target=TARGET)


def walk(folder: Path, *, progress: Progress = silent) -> tuple[Release, Evaluation]:
    """Release the registry that `prepare` made, fit, sample and compare; leave every file in `folder`."""
    data, synthetic = folder / "people.csv", folder / "synthetic.csv"
    made = release(
        data,
        SCHEMA,
        epsilon=EPSILON,
        delta=DELTA,
        target=TARGET,
        ledger=Ledger(folder / "ledger.sqlite"),
        output=folder / "people.release",
        progress=progress,
    )
    model = fit(made, progress=progress)
    model.save(folder / "people.model")
    write_table(model.sample_table(model.default_count, seed=SEED), synthetic, SCHEMA)
    result = evaluate(data, synthetic, holdout=simulate(HELD_OUT, seed=SEED), release=made, progress=progress)
    Card.of(made).save(folder / "card.html")
    (folder / "report.html").write_text(result.to_html(), encoding="utf-8")
    return made, result
