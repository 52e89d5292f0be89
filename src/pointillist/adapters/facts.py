"""Facts: where an adapter has a table's public facts from. Never from the rows without the owner's word."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointillist.curator.table_drafting import draft
from pointillist.errors import UsageError
from pointillist.privacy.budget import DEFAULT_DELTA
from pointillist.privacy.ledger import Ledger
from pointillist.schema import Ignore, Person, Schema

ASK = (
    "bounds and categories are published, and would have to be read from the private rows. Pass schema=, with what is "
    "public about the columns (pointillist.draft writes a draft to review); or pass schema_epsilon= and name=, to buy a "
    "schema with that part of the budget, in addition to epsilon."
)
WHOSE = (
    "whose is a row? What is bought promises something for each person: pass person=pointillist.Person(...), with the "
    "column that names her, or one_row_per_person=True."
)


@dataclass(frozen=True)
class Facts:
    """A schema, or what one may cost."""

    schema: Schema | None
    name: str | None = None
    epsilon: float | None = None
    delta: float = DEFAULT_DELTA
    person: Person | None = None
    """Whose the rows are that a schema is bought for; none where every row is another person."""

    @classmethod
    def given(
        cls,
        schema: Schema | str | Path | None,
        name: str | None,
        epsilon: float | None,
        delta: float = DEFAULT_DELTA,
        *,
        person: Person | None = None,
        one_row_per_person: bool = False,
    ) -> "Facts":
        """What the user has given: exactly one of the two."""
        if (schema is None) == (epsilon is None):
            raise UsageError(f"{'neither' if schema is None else 'both'} schema= and schema_epsilon= given: {ASK}")
        if schema is None and not name:
            raise UsageError("schema_epsilon= needs name=, the data set's name: the ledger books the spend under it.")
        if schema is None and (person is None) == (not one_row_per_person):
            raise UsageError(f"schema_epsilon=: {WHOSE}")
        return cls(Schema.load(schema) if isinstance(schema, str | Path) else schema, name, epsilon, delta, person)

    def settled(self, table: Any, left_out: Collection[str], ledger: Ledger | str | Path | None) -> Schema:
        """The schema that was given, or one that is bought now. Columns that are left out are not looked at."""
        if self.schema is not None:
            return self.schema
        whose = None if self.person is None else self.person.column
        kept = table.drop(columns=[name for name in left_out if name in table.columns and name != whose])
        bought = draft(
            kept,
            name=str(self.name),
            person=self.person,
            one_row_per_person=self.person is None,
            epsilon=self.epsilon,
            delta=self.delta,
            ledger=ledger,
        )
        columns = {name: bought.columns[name] if name in kept.columns else Ignore() for name in map(str, table.columns)}
        return bought.model_copy(update={"columns": columns})
