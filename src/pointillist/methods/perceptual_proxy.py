"""Stopping by proxy: of the states that a fit passes through, the one that a small paid measurement likes best.

After DP-MEPF, Sec. 3.2: the more steps a fit takes, the more it follows the noise. The proxy has noise of its own, so it
does not like what follows the other's. It is a block of the release and was paid for; looking at it costs nothing more.
"""

import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import Concat, FeatureMap, Perceptual
from pointillist.files import container
from pointillist.fitting.class_shares import record_count
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.model import Model
from pointillist.progress import Progress
from pointillist.release import Release
from pointillist.training_log import Relay

if TYPE_CHECKING:
    from pointillist.generators.image_network.image_network import ImageNetwork

Floats = NDArray[np.float64]

PROXY_NOISE = 10
"""How many times the noise of the features the proxy has (DP-MEPF, Sec. 3.2)."""
_IMAGES = 1000
"""That a state is judged by."""


@dataclass(frozen=True, eq=False)
class Proxy:
    """A few noisy mean features, against which states of a fit are held."""

    map: Perceptual
    wanted: Floats

    def distance(self, network: "ImageNetwork", *, seed: int) -> float:
        """Squared distance of a network's images. The same seed for all states: they differ by what they learned."""
        import torch

        (pixels,) = network.sample(_IMAGES, np.random.default_rng(seed)).images.values()
        total = np.zeros(self.map.dimension)
        with torch.no_grad():
            for start in range(0, len(pixels), 100):
                images = torch.as_tensor(pixels[start : start + 100]).permute(0, 3, 1, 2).to(torch.float32) / 255
                total += self.map.soft_images(images).double().sum(dim=0).numpy()
        return float(np.sum((total / len(pixels) - self.wanted) ** 2))


def parted(release: Release, rows: float) -> tuple[Release, Proxy]:
    """A release without its proxy, and the proxy: the last block of its last measurement."""
    last = release.measurements[-1]
    parts = last.feature_map.maps if isinstance(last.feature_map, Concat) else ()
    found = parts[-1].blocks() if len(parts) > 1 else []
    proxy, weight = found[0] if len(found) == 1 else (None, 0.0)
    if not isinstance(proxy, Perceptual):
        raise UsageError("the release has no proxy to stop by. Make one with stopping = proxy, or fit with chi2.")
    kept: FeatureMap = Concat(parts[:-1])
    total = weight * last.grid.scale * rows
    rest = replace(last, feature_map=kept, values=last.values[: kept.dimension])
    wanted = last.values[kept.dimension :] / total
    return replace(release, measurements=(*release.measurements[:-1], rest)), Proxy(proxy, wanted)


def fit_by_proxy(release: Release, settings: ImageNetworkSettings, *, seed: int, progress: Progress) -> Model:
    """Fit to all but the proxy, to the last step, and keep the state that the proxy is nearest to.

    The fit leaves its state in a file every few steps; each is judged when the next look comes round.
    """
    from pointillist.fitting.checkpoint import FORMAT, KIND
    from pointillist.generators.image_network.image_network import ImageNetwork

    rest, proxy = parted(release, record_count(release))
    best: tuple[float, ImageNetwork | None] = (math.inf, None)
    judged = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.checkpoint"

        def judge(network: ImageNetwork) -> None:
            nonlocal best
            distance = proxy.distance(network, seed=seed)
            if distance < best[0]:
                best = (distance, network)

        def watch(step: str, fraction: float) -> None:
            nonlocal judged
            progress(step, fraction)
            if not path.exists():
                return
            facts, arrays = container.unpack(path, KIND, FORMAT)
            if facts["step"] > judged:
                judged = facts["step"]
                judge(ImageNetwork.from_facts(facts["purpose"]["shape"], _weights(arrays), release.schema))

        told = Relay(watch, progress)
        model = Model.fitted(rest, replace(settings, stop=False), seed=seed, progress=told, checkpoint=path)
    last: Any = model.generator
    judge(last)
    return replace(model, generator=last if best[1] is None else best[1])


def _weights(arrays: container.Arrays) -> container.Arrays:
    """The network's own part of a state."""
    prefix = "weights.network."
    return {f"weights.{name.removeprefix(prefix)}": a for name, a in arrays.items() if name.startswith(prefix)}
