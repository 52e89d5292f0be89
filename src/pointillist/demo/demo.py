"""The demo: the whole way on a table that ships with the package, with a report on how good it is."""

from pathlib import Path

from pointillist.cli import console
from pointillist.curator.releasing import plan, release
from pointillist.demo.people import SCHEMA, TARGET, simulate
from pointillist.errors import UsageError
from pointillist.evaluate.tables.evaluation import evaluate
from pointillist.files.table_files import write_table
from pointillist.methods.fit import fit
from pointillist.pages.card import Card
from pointillist.privacy.ledger import Ledger

EPSILON, DELTA, SEED = 1.0, 1e-5, 7
HELD_OUT = 8_000


def run(folder: Path, *, quiet: bool, command: str = "pointillist") -> None:
    """Make the simulated registry, release it, fit, sample and compare; leave every file in `folder`."""
    marker = folder / ".pointillist-demo"
    if folder.exists() and not marker.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder}: is not empty, and not from a demo. Name another folder: its files would be replaced."
        )
    folder.mkdir(parents=True, exist_ok=True)
    marker.touch()
    paths = {
        "the private table (simulated people, none of them real)": folder / "people.csv",
        "its schema": folder / "people.toml",
        "the release: all that leaves the private side": folder / "people.release",
        "the model": folder / "people.model",
        "the synthetic table": folder / "synthetic.csv",
        "the ledger": folder / "ledger.sqlite",
        "the data card: it may travel with the synthetic table": folder / "card.html",
        "the report: for the owner's eyes": folder / "report.html",
    }
    data, schema_file, release_file, model_file, synthetic_file, ledger_file, card_file, report_file = paths.values()
    # The data are simulated and made anew, so an earlier demo's spend on them does not count.
    for left_over in (ledger_file, release_file, model_file, synthetic_file, card_file, report_file):
        left_over.unlink(missing_ok=True)
    write_table(simulate(), data, SCHEMA)
    schema_file.write_text(SCHEMA.to_toml(), encoding="utf-8")
    if not quiet:
        console.show_plan(plan(SCHEMA, epsilon=EPSILON, delta=DELTA, target=TARGET))
    with console.Steps(quiet).shown() as steps:
        made = release(
            data,
            SCHEMA,
            epsilon=EPSILON,
            delta=DELTA,
            target=TARGET,
            ledger=Ledger(ledger_file),
            output=release_file,
            progress=steps,
        )
        model = fit(made, progress=steps)
        model.save(model_file)
        write_table(model.sample_table(model.default_count, seed=SEED), synthetic_file, SCHEMA)
        result = evaluate(data, synthetic_file, holdout=simulate(HELD_OUT, seed=SEED), release=made, progress=steps)
    Card.of(made).save(card_file)
    report_file.write_text(result.to_html(), encoding="utf-8")
    if not quiet:
        console.show_evaluation(result)
        console.out.print(made.guarantee.sentence())
        console.out.print("\nFiles:")
        for what, path in paths.items():
            console.say(f"  {path}  {what}")
        console.say(f"\nOpen the report in a browser: {report_file.resolve().as_uri()}")
        console.say(f"Look closer with: {command} inspect {release_file}")
