"""Audited pipeline: what is audited. The real pipeline, with the settings that the owner would use."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import pyarrow as pa

from pointillist.curator import releasing
from pointillist.errors import FactsFromDataWarning
from pointillist.methods import Method
from pointillist.methods import fit as fitting
from pointillist.model import Model
from pointillist.plan import Plan
from pointillist.privacy.accounting import total_epsilon
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.ledger import Account, Ledger, Spend
from pointillist.privacy.ledger_file import Identity
from pointillist.reading.opening import open_source
from pointillist.release import Measurement, Release
from pointillist.schema import Schema
from pointillist.schema.levels import Levels, levels_of


class _Unkept(Ledger):
    """A ledger that keeps nothing: what an audit releases is thrown away, so nothing is spent."""

    def __init__(self) -> None:
        super().__init__(os.devnull)

    def check(self, dataset: str, guarantee: Guarantee, *after: Guarantee) -> None:
        pass

    def record(
        self, dataset: str, guarantee: Guarantee, *, release: str, purpose: str, seen: Identity | None = None
    ) -> None:
        pass

    def finish(self, release: str, otherwise: str = "") -> None:
        pass

    def set_cap(self, dataset: str, cap: Budget) -> None:
        pass

    def accounts(self) -> tuple[Account, ...]:
        return ()

    def find(self, release: str) -> Spend | None:
        return None

    def holds(self, release: str, dataset: str, price: Budget) -> bool:
        return True  # a draft that the schema says was bought: that is for a release that is kept


@dataclass(frozen=True)
class Pipeline:
    """The code under attack. The attacker knows it, as everyone may."""

    release: Callable[..., Release] = field(default_factory=lambda: releasing.release)
    embed: Callable[..., Any] = field(default_factory=lambda: releasing.embed)
    """What `release` adds up before the noise: tells the attacker where to look."""
    fit: Callable[..., Model] = field(default_factory=lambda: fitting.fit)


@dataclass(frozen=True)
class AuditedPipeline:
    """A pipeline with a schema and a promise."""

    schema: Schema
    epsilon: float
    delta: float
    target: str | None
    neighbours: Neighbours
    method: Method
    pipeline: Pipeline

    @cached_property
    def plan(self) -> Plan:
        return self.plan_for(self.schema)

    def plan_for(self, schema: Schema) -> Plan:
        """The plan that the settings give for a schema."""
        return releasing.plan(
            schema,
            epsilon=self.epsilon,
            delta=self.delta,
            target=self.target,
            neighbours=self.neighbours,
            method=self.method,
        )

    @property
    def promise(self) -> Guarantee:
        return self.plan.guarantee

    @cached_property
    def promises(self) -> tuple[tuple[float, float], ...]:
        """What is promised, also at a far smaller delta: Gaussian noise promises an epsilon at each."""
        made = self.promise
        delta = max(1e-10, 10 * made.delta_slack)
        if delta >= made.delta:
            return ((made.epsilon, made.delta),)
        other = total_epsilon([(made.mu, made.epsilon_slack, made.delta_slack)], delta)
        return (made.epsilon, made.delta), (other, delta)

    @cached_property
    def levels(self) -> tuple[Levels, ...]:
        return levels_of(self.schema)

    def release(self, table: pa.Table) -> Release:
        """One release of a table, which nobody will see."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FactsFromDataWarning)  # nothing is published
            return self.pipeline.release(
                table,
                self.schema,
                epsilon=self.epsilon,
                delta=self.delta,
                target=self.target,
                neighbours=self.neighbours,
                method=self.method,
                ledger=_Unkept(),
                threads=1,
            )

    def exact(self, table: pa.Table, schema: Schema, measurement: Measurement) -> Any:
        """What a measurement of a table would be without noise, in units of its noise."""
        sums, _ = self.pipeline.embed(open_source(table), schema, measurement.feature_map, measurement.grid, 1)
        return sums / measurement.sigma

    def narrowed(self, columns: int, levels: int) -> Self:
        """The same with fewer columns: the target, then as many others, in order, as stay within the limits."""
        sizes = {each.name: each.size for each in self.levels}
        names = sorted(sizes, key=lambda name: name != self.target)
        kept, total = [min(names, key=sizes.__getitem__) if self.target is None else names[0]], 0
        total = sizes[kept[0]]
        for name in names:
            if name not in kept and len(kept) < columns and total + sizes[name] <= levels:
                kept.append(name)
                total += sizes[name]
        if len(kept) == len(names):
            return self
        chosen = {name: column for name, column in self.schema.columns.items() if name in kept}
        constraints = tuple(each for each in self.schema.constraints if set(each.names) <= set(kept))
        return replace(self, schema=self.schema.model_copy(update={"columns": chosen, "constraints": constraints}))
