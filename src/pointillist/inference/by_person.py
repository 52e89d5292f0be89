"""By person: a release of histories as a table of persons' records, so that whatever is asked of tables can be asked of it.

Each person counts once: a record of one with m rows weighs 1/m. So a share or a mean of a person's own facts is one over
persons, and that of a column of rows is the mean over persons of what she has on average. Besides the schema's columns there
are those of records: "rows of a person", "x, row before", "x, usually", and with an order "x, gap" and "x, first".
"""

from dataclasses import replace

from pointillist.errors import UsageError
from pointillist.generators.histories.histories import Histories
from pointillist.methods.fit import fit
from pointillist.model import Model
from pointillist.progress import Progress
from pointillist.release import Release

NOTE = "By person: each counts once, however many rows she has; a figure of rows is the mean over persons."


def by_person(
    release: Release, model: Model | None, *, refits: int, seed: int, progress: Progress
) -> tuple[Release, Model | None]:
    """A release and its model as of records, fitted where no model is given; those of tables as they are."""
    if not release.of_histories:
        return release, model
    if refits:
        raise UsageError(
            "refits are for tables of rows, and this release counts persons. Pass refits=0 (--refits 0): intervals then "
            "come from the noisy counts."
        )
    if model is not None and model.release != release.id:
        raise UsageError("the model was fitted to another release. Pass the release that it was fitted to.")
    fitted = fit(release, seed=seed, progress=progress) if model is None else model
    assert isinstance(fitted.generator, Histories)  # no other generator fits such a release
    flat = release.recorded
    persons = fitted.rows / fitted.generator.mean_rows
    return replace(release, schema=flat), replace(fitted, schema=flat, generator=fitted.generator.mixture, rows=persons)
