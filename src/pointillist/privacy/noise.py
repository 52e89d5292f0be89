"""Noise: discrete Gaussian on the integers, drawn by OpenDP from the operating system's cryptographic source.

There is no seed, on purpose: whoever knows the seed can subtract the noise. OpenDP's sampler works in exact rational
arithmetic, so no floating-point artefact of the noise gives the sum away.
"""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from pointillist.privacy.accounting import LARGEST_SIGMA

Integers = NDArray[np.int64]

_LARGEST = 2**62
"""Sums beyond this could reach the end of 64-bit integers once noise is added."""
_CHUNK = 1 << 15


def add_noise(sums: Integers, sigma: float, *, threads: int = 2) -> Integers:
    """`sums` plus independent discrete Gaussian noise with standard deviation `sigma`, both in grid units."""
    if not (math.isfinite(sigma) and sigma > 0):
        raise ValueError(f"sigma must be positive and finite, not {sigma}")
    if sums.size == 0:
        return sums.copy()
    if int(sums.max()) > _LARGEST or int(sums.min()) < -_LARGEST or sigma > LARGEST_SIGMA:
        raise OverflowError("the sums are too large for 64-bit integers")
    chunks = [sums[i : i + _CHUNK] for i in range(0, sums.size, _CHUNK)]
    with ThreadPoolExecutor(threads) as pool:  # OpenDP frees the interpreter lock while it samples
        return np.concatenate(list(pool.map(lambda chunk: _noisy(chunk, sigma), chunks)))


def _noisy(sums: Integers, sigma: float) -> Integers:
    # Here, because most calls draw no noise; not opendp.prelude, which loads every library it has something for.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64"), size=sums.size), l2_distance(T=float)
    mechanism = make_gaussian(*space, scale=sigma)
    # OpenDP's own statement of what it did must agree with ours: rho = 1 / (2 sigma^2) at sensitivity 1.
    if not math.isclose(mechanism.map(1.0), 0.5 / sigma**2, rel_tol=1e-9):
        raise RuntimeError("OpenDP does not add the noise that was asked for")
    return np.asarray(mechanism(sums), dtype=np.int64)
