"""What a method is: a named recipe of feature maps, noise and generator.

A new method is one new file: a frozen dataclass, derived from `TableMethod` or `ImageMethod` and entered in `METHODS`. Its
fields are its settings: the command line takes them by `--set`, and tells of them what the text after each field says.
"""

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

from pointillist.features import FeatureMap, Records
from pointillist.model import Model
from pointillist.plan import Block, Plan, Request
from pointillist.progress import Progress
from pointillist.registry import Registry
from pointillist.release import Measurement, Release
from pointillist.schema import Schema


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


METHODS: Registry[type[Method]] = Registry("method", "pointillist.methods")
"""By name; tables and images may each have a method of one name. The first that suits a schema is its default."""


class _Registered:
    """A method that goes by the name that it, or the method it is derived from, was registered by."""

    @property
    def name(self) -> str:
        return next(name for kind in type(self).__mro__ for name, each in METHODS.entries if each is kind)

    @classmethod
    def preferred(cls, schema: Schema) -> bool:
        """Whether it goes before others for a schema that they suit as well."""
        return False


class TableMethod(_Registered):
    """A method for tables."""

    data: ClassVar[str] = "tables"

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        return schema.image is None


class ImageMethod(_Registered):
    """A method for images."""

    data: ClassVar[str] = "images"

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        return schema.image is not None


@runtime_checkable
class Chooses(Protocol):
    """A method that chooses what a round measures by the noisy outcome of those before: its plan states the most."""

    def blocks(self, plan: Plan, measured: Sequence[Measurement]) -> tuple[Block, ...]:
        """What the next round really measures, given the noisy outcome of those before."""
        ...


@runtime_checkable
class CopiesRows(Protocol):
    """A method that copies rows into the release: rows that were public before, or so its user says."""

    @property
    def copied_rows(self) -> Records | None:
        """These rows, if they may not be rows of the private table."""
        ...
