"""Chronicle: mosaic for persons with histories. Tables of records that have a person's facts, a row and the row before it.

`schema/history` says which columns records have. All records of a person share one weight, so she counts as one however
many rows she has, and the noise does not grow with them. A mixture is fitted to the tables as mosaic does it; synthetic
persons are drawn from it first, and then their rows, one after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from pointillist.errors import UsageError
from pointillist.features import FeatureMap
from pointillist.generators.histories.histories import Histories
from pointillist.methods.base import METHODS
from pointillist.methods.mosaic import Mosaic
from pointillist.methods.mosaic_fit import fitted_mixture
from pointillist.model import Model
from pointillist.plan import Block, Plan, Request
from pointillist.privacy.grid import Grid
from pointillist.progress import Progress
from pointillist.release import Measurement, Release
from pointillist.schema import Schema
from pointillist.schema.history import History


@METHODS.register("chronicle", place=15)
@dataclass(frozen=True, kw_only=True)
class Chronicle(Mosaic):
    """Persons with their rows: facts, counts, rows and what follows what, with noise that does not grow with rows."""

    looks_at_groups: ClassVar[bool] = False

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        return schema.image is None and schema.person is not None and schema.person.max_rows > 1

    @classmethod
    def preferred(cls, schema: Schema) -> bool:
        """Where the schema says more of persons than whose a row is."""
        person = schema.person
        said = person is not None and person.order is not None
        return said or any(column.of == "person" for column in schema.measured.values())

    def plan(self, request: Request) -> Plan:
        flat = self._flat(request)
        mosaic = super().plan(flat)
        rounds = tuple(replace(each, grid=Grid.of_persons()) for each in mosaic.rounds)
        made = Plan.make(self.name, mosaic.options, flat, rounds, ())
        person = request.schema.person
        assert person is not None
        return replace(made, request=request, guarantee=replace(made.guarantee, person=person.unit))

    @staticmethod
    def _flat(request: Request) -> Request:
        """The same request, for a table of records."""
        return replace(request, schema=History.of(request.schema).flat)

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        return super().feature_map(replace(plan, request=self._flat(plan.request)), measured)

    def blocks(self, plan: Plan, measured: Sequence[Measurement]) -> tuple[Block, ...]:
        return super().blocks(replace(plan, request=self._flat(plan.request)), measured)

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        if release.method != self.name:
            raise UsageError(f"a release by {release.method} knows rows, not histories. Fit it by its own method.")
        history = History.of(release.schema)
        persons, mixture = fitted_mixture(
            release, history.levels, self, seed=seed, progress=progress, ends=True, alike=history.quantities
        )
        generator = Histories.of(history, mixture)
        return Model.of(release, rows=persons * generator.mean_rows, generator=generator)
