"""Registry: all claims by area. A new claim is one more entry of an area's `CLAIMS`."""

from . import balog, cost, images, intervals, mixture, papers, tables, target
from .claim import Claim

AREAS: dict[str, tuple[Claim, ...]] = {
    "cost": cost.CLAIMS,
    "intervals": intervals.CLAIMS,
    "tables": tables.CLAIMS,
    "mixture": mixture.CLAIMS,
    "images": images.CLAIMS,
    "papers": papers.CLAIMS,
    "balog": balog.CLAIMS,
    "target": target.CLAIMS,
}
"""The claims of one area are checked in one process and may share work; the longest areas first."""
ALONE = ("cost",)
"""Areas that measure processor time: nothing else runs beside them."""
