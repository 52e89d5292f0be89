"""The demo: the whole way on a table that ships with the package, with how close it came."""

from pathlib import Path

import pyarrow.csv as pacsv

from pointillist import console
from pointillist.curator.releasing import plan, release
from pointillist.evaluate.closeness import closeness
from pointillist.methods.fitting import fit
from pointillist.output import write_table
from pointillist.privacy.ledger import Ledger
from pointillist.registry import SCHEMA, TARGET, simulate

EPSILON, DELTA, SEED = 1.0, 1e-5, 7


def run(folder: Path, *, quiet: bool, command: str = "pointillist") -> None:
    """Make the simulated registry, release it, fit, sample and compare; leave every file in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {
        "the private table (simulated people, none of them real)": folder / "people.csv",
        "its schema": folder / "people.toml",
        "the release: all that leaves the private side": folder / "people.release",
        "the model": folder / "people.model",
        "the synthetic table": folder / "synthetic.csv",
        "the ledger": folder / "ledger.sqlite",
    }
    data, schema_file, release_file, model_file, synthetic_file, ledger_file = paths.values()
    # The data are simulated and made anew, so an earlier demo's spend on them does not count.
    for left_over in (ledger_file, release_file, model_file, synthetic_file):
        left_over.unlink(missing_ok=True)
    pacsv.write_csv(simulate(), data)
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
    write_table(model.sample_table(model.default_count, seed=SEED), synthetic_file)
    result = closeness(data, synthetic_file, SCHEMA)
    if not quiet:
        console.show_closeness(result)
        console.out.print(made.guarantee.sentence())
        console.out.print("\nFiles:")
        for what, path in paths.items():
            console.say(f"  {path}  {what}")
        console.say(f"\nLook closer with: {command} inspect {release_file}")
