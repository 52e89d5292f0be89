"""Facts: where an adapter has a table's public facts from. Never from the rows without the owner's word."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pointillist.curator.budget_drafting import BudgetPlan
from pointillist.curator.releasing import requested
from pointillist.curator.table_drafting import draft
from pointillist.errors import UsageError
from pointillist.generators import generator_for
from pointillist.generators.base import GeneratorSettings
from pointillist.methods import Method, method_for
from pointillist.privacy.accounting import gaussian_mu
from pointillist.privacy.budget import DEFAULT_DELTA
from pointillist.privacy.guarantee import Guarantee
from pointillist.privacy.ledger import Ledger
from pointillist.schema import Ignore, Integer, Person, Schema

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
class Asked:
    """The release that facts are for, as `Synthesizer` is asked for it."""

    epsilon: float
    delta: float = DEFAULT_DELTA
    target: str | Sequence[str] | None = None
    method: str | Method | None = None
    generator: str | GeneratorSettings | None = None
    ledger: Ledger | str | Path | None = None


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

    def settled(self, table: Any, left_out: Collection[str], asked: Asked) -> Self:
        """These facts with the schema that was given, or with one that is bought now, for a release that is asked for next.

        Columns that are left out are not looked at. Nothing is bought for a release that would be refused.
        """
        if self.schema is not None:
            return self
        whose = None if self.person is None else self.person.column
        kept = table.drop(columns=[name for name in left_out if name in table.columns and name != whose])
        self._require(asked, [str(name) for name in kept.columns])
        bought = draft(
            kept,
            name=str(self.name),
            person=self.person,
            one_row_per_person=self.person is None,
            epsilon=self.epsilon,
            delta=self.delta,
            ledger=asked.ledger,
        )
        columns = {name: bought.columns[name] if name in kept.columns else Ignore() for name in map(str, table.columns)}
        return replace(self, schema=bought.model_copy(update={"columns": columns}))

    def _require(self, asked: Asked, names: list[str]) -> None:
        """Refuse, before a schema is bought, what the release would refuse after it.

        What the columns are is not known yet, so whole numbers stand for all of them. The draft checks the table itself.
        """
        whose = None if self.person is None else self.person.column
        columns = {name: Ignore() if name == whose else Integer(min=0, max=9) for name in names}
        facts = {"name": self.name, "person": self.person, "one_row_per_person": self.person is None}
        unknown = Schema.parse({**facts, "columns": columns}, origin="the table")
        request = requested(unknown, epsilon=asked.epsilon, delta=asked.delta, target=asked.target)
        method_for(unknown, asked.method)
        if asked.generator is not None:
            generator_for(unknown, asked.generator)
        price = requested(unknown, epsilon=self.epsilon or 0.0, delta=self.delta)
        seen = [name for name in names if name != whose]
        first = BudgetPlan.make(seen, price.budget, price.neighbours, self.person).guarantee
        mu = gaussian_mu(request.budget)
        after = Guarantee(request.budget.epsilon, request.budget.delta, first.neighbours, first.person, mu, 0.0, 0.0)
        book = asked.ledger if isinstance(asked.ledger, Ledger) else Ledger(asked.ledger)
        book.check(unknown.name, first, after)
