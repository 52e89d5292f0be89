"""Fitting: a generator for a release, by the method that the release was planned with."""

from pointillist.errors import UsageError
from pointillist.generators.model import Model
from pointillist.methods import method_named
from pointillist.methods.base import Method
from pointillist.progress import Progress, silent
from pointillist.release import Release


def fit(release: Release, *, method: Method | None = None, seed: int = 0, progress: Progress = silent) -> Model:
    """Fit a generator to a release: pure post-processing, as often as you like, at no privacy cost.

    By default with the settings that the release was planned with; pass a method, such as `Mosaic(components=800)`, to
    choose others. The same release, settings and seed give the same model.
    """
    if not isinstance(release, Release):
        raise UsageError(f"fit takes a Release, as made by pointillist.release, not {type(release).__name__}.")
    recipe = method or method_named(release.method, release.plan["options"])
    return recipe.fit(release, seed=seed, progress=progress)
