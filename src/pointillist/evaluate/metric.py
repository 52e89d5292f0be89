"""Metric: one thing that real and synthetic data are compared by. It computes, grades and draws itself.

A new metric is one new file in `tables/metrics/` or `images/metrics/`, and nothing else:

    @dataclass(frozen=True)
    class Gap(Result):
        value: float

        def to_json(self) -> float:
            return self.value

        def points(self) -> tuple[Point, ...]:      # graded in the verdict
            ...

        def sections(self) -> tuple[Section, ...]:  # on the page
            ...

    @METRICS.register("gap")
    class GapMetric(TableMetric[Gap]):
        def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Gap:
            ...
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, cast

from pointillist.evaluate.verdict import Point
from pointillist.pages.report import Section
from pointillist.progress import Progress, silent
from pointillist.registry import Registry
from pointillist.release import Release
from pointillist.schema import Schema


class Result:
    """What a metric found: a frozen value. All but `to_json` may be left out."""

    def to_json(self) -> Any:
        """The figures as plain values. Private."""
        raise NotImplementedError

    def figures(self, name: str) -> dict[str, Any]:
        """What stands in `--json`: by default all of it, under the name of the metric."""
        return {name: self.to_json()}

    def points(self) -> tuple[Point, ...]:
        """Questions of the verdict that it answers."""
        return ()

    def sections(self) -> tuple[Section, ...]:
        """What it writes on the page, and where."""
        return ()

    def lines(self) -> tuple[str, ...]:
        """What the terminal shows below the verdict."""
        return ()

    def headlines(self) -> dict[str, float]:
        """Its few most telling figures."""
        return {}


Data = TypeVar("Data")
Found = TypeVar("Found", bound=Result)


@dataclass(frozen=True, eq=False, repr=False)
class Context(Generic[Data]):
    """What is compared, and all that was given with it."""

    real: Data
    synthetic: Data
    holdout: Data | None
    """Real data that the release has not seen."""
    schema: Schema
    target: str | None
    release: Release | None
    seed: int
    report: Callable[[float], None] = lambda fraction: None
    """Told how much of a metric is done, by metrics that take long."""
    _found: dict[type[Any], Result | None] = field(default_factory=dict)

    def has(self, need: str) -> bool:
        """Whether something that may be left out was given."""
        return getattr(self, need) is not None

    def ask(self, metric: "type[Metric[Data, Any, Found]]") -> Found | None:
        """What a metric finds here, computed once; None where it does not suit the schema or lacks what it needs."""
        if metric not in self._found:
            able = metric.suits(self.schema) and all(map(self.has, metric.needs))
            self._found[metric] = metric().compute(self.real, self.synthetic, self) if able else None
        return cast("Found | None", self._found[metric])


Setting = TypeVar("Setting", bound=Context[Any])


class Metric(ABC, Generic[Data, Setting, Found]):
    """Computes one result. Has no state of its own."""

    needs: ClassVar[tuple[str, ...]] = ()
    """What must be given for it: "target", "release", "holdout"."""
    cost: ClassVar[int] = 1
    """About how long it takes beside the others."""

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        """Whether it says anything about data of this schema."""
        return True

    @abstractmethod
    def compute(self, real: Data, synthetic: Data, context: Setting) -> Found | None:
        """What it finds; None where there is nothing to be found."""

    def notes(self, found: Found | None, context: Setting) -> tuple[str, ...]:
        """What the reader has to know beside the verdict, also where nothing was found."""
        return ()

    def sections(self, found: Found | None) -> tuple[Section, ...]:
        """What stands on the page, also where nothing was found."""
        return () if found is None else found.sections()


AnyMetric = type[Metric[Any, Any, Any]]
Metrics = Registry[AnyMetric]


@dataclass
class Steps:
    """Progress over all metrics, as one bar."""

    progress: Progress = silent
    total: int = 1
    _done: int = 0
    _cost: int = 0

    def next(self, cost: int) -> None:
        """The next metric begins."""
        self._done += self._cost
        self._cost = cost
        self.part(0.0)

    def part(self, fraction: float) -> None:
        """So much of the current metric is done."""
        self.progress("evaluate", (self._done + fraction * self._cost) / self.total)


def compute_all(metrics: Metrics, context: Context[Any], steps: Steps) -> Mapping[str, Result | None]:
    """What each registered metric finds, by its name."""
    steps.total = sum(metric.cost for metric in metrics.values())
    found: dict[str, Result | None] = {}
    for name, metric in metrics.items():
        steps.next(metric.cost)
        found[name] = context.ask(metric)
    steps.progress("evaluate", 1.0)
    return found
