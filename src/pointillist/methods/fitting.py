"""Fitting: a generator for a release, by the method that the release was planned with."""

from pointillist.errors import UsageError
from pointillist.generators.model import Model
from pointillist.methods import method_named
from pointillist.methods.base import Progress
from pointillist.release import Release


def fit(release: Release, *, seed: int = 0, progress: Progress | None = None) -> Model:
    """Fit a generator to a release: pure post-processing, as often as you like, at no privacy cost.

    The same release and seed give the same model.
    """
    if not isinstance(release, Release):
        raise UsageError(f"fit takes a Release, as made by pointillist.release, not {type(release).__name__}.")
    return method_named(release.method).fit(release, seed=seed, progress=progress or (lambda step, fraction: None))
