"""Fitting: a generator for a release, by the method that the release was planned with, or of another kind."""

from pathlib import Path

from pointillist.errors import UsageError
from pointillist.generators import generator_for
from pointillist.generators.base import GeneratorSettings
from pointillist.methods import method_for
from pointillist.methods.base import Method
from pointillist.methods.planned_method import planned_method
from pointillist.model import Model
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.watching import watched


@watched
def fit(
    release: Release,
    *,
    method: str | Method | None = None,
    generator: str | GeneratorSettings | None = None,
    checkpoint: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Model:
    """Fit a generator to a release: pure post-processing, as often as you like, at no privacy cost.

    By default the generator that suits the release's method, with the settings that it was planned with; pass a method,
    such as `Mosaic(components=800)`, to choose others. `generator` names another kind, "mixture", "network" or "points"
    (for images "image-network"), or gives its settings, such as `NetworkSettings(steps=5000)`: each of them fits any
    release of a table but those by landmarks, whose rows are weighted by their own method; and likewise for images,
    without exception. A network keeps its state in `checkpoint`, if one is named, and
    goes on from there. The same release, settings and seed give the same model.
    """
    if not isinstance(release, Release):
        raise UsageError(f"fit takes a Release, as made by pointillist.release, not {type(release).__name__}.")
    if generator is not None and method is not None:
        raise UsageError("fit takes a method or a generator, not both.")
    if isinstance(generator, Method):
        raise UsageError(f"{generator.name} is a method, not a generator. Pass it as method=.")
    if generator is None and checkpoint is not None:
        name = "network" if release.schema.image is None else "image-network"
        raise UsageError(f'only networks take a checkpoint. Pass generator="{name}" as well.')
    _require_columns(release)
    if generator is not None and release.of_histories:
        raise UsageError(
            f"a release by {release.method} is of histories, which only its own method fits. Pass no generator."
        )
    if generator is not None:
        path = None if checkpoint is None else Path(checkpoint)
        settings = generator_for(release.schema, generator)
        return Model.fitted(release, settings, seed=seed, progress=progress, checkpoint=path)
    recipe = planned_method(release) if method is None else method_for(release.schema, method)
    return recipe.fit(release, seed=seed, progress=progress)


def _require_columns(release: Release) -> None:
    """Refuse a release that says nothing about some column: no row could be made."""
    leaves = {id(leaf): leaf for each in release.measurements for leaf in each.feature_map.leaves}
    known = frozenset[str]().union(*(leaf.columns_known for leaf in leaves.values()))
    absent = [name for name in release.recorded.measured if name not in known]
    if absent:
        raise UsageError(f"release {release.id}: column {absent[0]!r} was not measured, so no generator can be fitted.")
