"""Notes: what a reader of a figure should know beside it: why there is no interval, and that rows were capped."""

from collections.abc import Sequence

from pointillist.inference.by_person import NOTE
from pointillist.inference.estimate import Basis
from pointillist.release import Release


def note_of(release: Release, basis: Basis, columns: Sequence[str]) -> str:
    """For a figure about some columns of a release."""
    notes, person = [], release.schema.person
    if basis == "not measured" and release.measured_together(columns):
        notes.append("Not measured: the noise hides it, or it is no question that the tables measured can answer.")
    elif basis == "not measured":
        notes.append("Not measured: no measurement holds all of the columns together.")
    if release.of_histories:
        notes.append(NOTE)
    elif person is not None:
        notes.append(
            f"Capped: a person counts with at most {person.max_rows:,} rows, and figures are those of the capped table."
        )
    return " ".join(notes)
