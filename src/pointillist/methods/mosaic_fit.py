"""Fitting a mixture to a release of mosaic's tables. Public: it sees noisy measurements, never rows."""

from collections.abc import Collection
from typing import Protocol

from pointillist.fitting.evidence import Evidence, readable_tables, scores_of
from pointillist.fitting.marginals import Marginals
from pointillist.generators.mixture.fit_to_counts import fit_mixture
from pointillist.generators.mixture.mixture import Mixture
from pointillist.methods.mosaic_tiling import tile
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.schema.levels import Levels


class FitSettings(Protocol):
    """What can be set about the fit."""

    @property
    def components(self) -> int | None: ...

    @property
    def steps(self) -> int: ...


def fitted_mixture(
    release: Release,
    levels: tuple[Levels, ...],
    settings: FitSettings,
    *,
    seed: int,
    progress: Progress,
    ends: bool = False,
    alike: Collection[frozenset[str]] = (),
) -> tuple[float, Mixture]:
    """How many records there are, and the mixture of them.

    Arguments:
        ends: whether what noise alone makes at the ends of numbers is cut.
        alike: columns of the same quantity, two by two.
    """
    marginals = Marginals.of(release.measurements[0], levels, release.rows, ends=ends)
    screens = tuple(sums for each in release.measurements for sums in scores_of(each))
    evidence = Evidence(
        marginals.rows,
        tuple(table for each in release.measurements for table in readable_tables(each)),
        screens,
        {each.name: tile(each, marginals.counts[each.name], marginals.rows / 32, 16) for each in levels}
        if screens
        else {},
    )
    mixture = fit_mixture(
        evidence,
        marginals.shares,
        ordered={each.name: each.regular for each in levels if each.ordered},
        positions={each.name: each.positions for each in levels},
        alike=alike,
        components=settings.components,
        steps=settings.steps,
        seed=seed,
        progress=progress,
    )
    return marginals.rows, mixture
