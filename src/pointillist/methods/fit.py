"""Fitting: a generator for a release, by the method that the release was planned with, or of another kind."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pointillist.device import device_named, is_cpu
from pointillist.errors import UsageError
from pointillist.generators import generator_for
from pointillist.generators.base import GeneratorSettings
from pointillist.methods import method_for
from pointillist.methods.base import Method
from pointillist.methods.planned_method import planned_method
from pointillist.model import Model
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.training_log import logged
from pointillist.watching import watched


@watched
def fit(
    release: Release,
    *,
    method: str | Method | None = None,
    generator: str | GeneratorSettings | None = None,
    checkpoint: str | Path | None = None,
    device: str | None = None,
    log: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Model:
    """Fit a generator to a release: pure post-processing, as often as you like, at no privacy cost.

    By default the generator that suits the release's method, with the settings that it was planned with; pass a method,
    such as `Mosaic(components=800)`, to choose others. `generator` names another kind, "mixture", "network" or "points"
    (for images "image-network"), or gives its settings, such as `NetworkSettings(steps=5000)`: each of them fits any
    release of a table but those by landmarks, whose rows are weighted by their own method; and likewise for images,
    without exception. A network keeps its state in `checkpoint`, if one is named, and goes on from there. It runs on
    `device` ("cpu", "cuda", "mps" or "auto"; by default what its settings say, the processor), and adds a line of JSON to
    the file `log` at every look. The same release, settings, seed and device give the same model.
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
    path = None if checkpoint is None else Path(checkpoint)
    by: Any = generator_for(release.schema, generator) if generator is not None else None
    if by is None:
        by = planned_method(release) if method is None else method_for(release.schema, method)
    if device is not None:
        by = placed(by, device)
    if log is not None:
        _require_network(by, "only networks write a log. ")
    with logged(log, progress) as told:
        if isinstance(by, Method):
            return by.fit(release, seed=seed, progress=told)
        return Model.fitted(release, by, seed=seed, progress=told, checkpoint=path)


def placed(by: Any, device: str) -> Any:
    """A method or a generator's settings, with what networks run on; refused where nothing of it would."""
    names = [each.name for each in fields(by)]
    network = getattr(by, "network", None)
    if "network" in names:
        device_named(device)  # better known now than after the release has been read
        return replace(by, network={"device": device} if network is None else replace(network, device=device))
    if network is not None:
        device_named(device)
        return replace(network, device=device)  # which is all that such a method fits
    if "device" in names:
        device_named(device)
        return replace(by, device=device)
    if not is_cpu(device):
        _require_network(by, f"device {device}: only networks run on one. ")
    return by


def _require_network(by: Any, why: str) -> None:
    """Refuse what no network is fitted by."""
    if hasattr(by, "network") or (not isinstance(by, Method) and "device" in [each.name for each in fields(by)]):
        return
    name = getattr(by, "name", type(by).__name__)
    raise UsageError(f"{why}{name} fits none. Pass a generator that is one (--generator network, or image-network).")


def _require_columns(release: Release) -> None:
    """Refuse a release that says nothing about some column: no row could be made."""
    leaves = {id(leaf): leaf for each in release.measurements for leaf in each.feature_map.leaves}
    known = frozenset[str]().union(*(leaf.columns_known for leaf in leaves.values()))
    absent = [name for name in release.recorded.measured if name not in known]
    if absent:
        raise UsageError(f"release {release.id}: column {absent[0]!r} was not measured, so no generator can be fitted.")
