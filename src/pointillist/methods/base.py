"""What a method is: a named recipe of feature maps, noise and generator."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pointillist.features import FeatureMap, Records
from pointillist.model import Model
from pointillist.plan import Plan, Request
from pointillist.progress import Progress
from pointillist.release import Measurement, Release


@runtime_checkable
class Method(Protocol):
    """A recipe. Everything here is public: a method sees schemas, plans and noisy measurements, never rows."""

    @property
    def name(self) -> str: ...

    def plan(self, request: Request) -> Plan:
        """What to measure, in which rounds, with which share of the budget."""
        ...

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        """The features of the next round, given the noisy outcome of those before."""
        ...

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        """A generator for the release."""
        ...


@runtime_checkable
class CopiesRows(Protocol):
    """A method that copies rows into the release: rows that were public before, or so its user says."""

    @property
    def copied_rows(self) -> Records | None:
        """These rows, if they may not be rows of the private table."""
        ...
