"""Methods: ours, the rivals with their settings, and two references."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .environments import Environment

_HERE = Path(__file__).parent
_RIVALS = _HERE / "rivals"

DPMM = Environment("dpmm", _RIVALS / "dpmm.txt", before=(3, 12))
MBI = Environment("mbi", _RIVALS / "mbi.txt", before=(3, 15))
SMARTNOISE = Environment("smartnoise", _RIVALS / "smartnoise.txt", before=(3, 15))


@dataclass(frozen=True)
class Method:
    """One way to make a synthetic table: a script that is called with the folder of a job."""

    name: str
    label: str
    script: Path
    environment: Environment | None = None
    """Where the script runs; none: in the environment of the bench itself."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What is set besides the budget. All else is as the package has it."""
    private: bool = True
    """References spend no budget: they are run once for each data set."""

    @property
    def takes_levels(self) -> bool:
        """Rivals take and return numbers of joined levels; our own scripts take and return rows."""
        return self.environment is not None


_ALL = (
    Method("mosaic", "Pointillist, told the target", _HERE / "ours.py"),
    # The rivals are not told which column will be predicted; nor is this one.
    Method(
        "mosaic-no-target", "Pointillist, no target", _HERE / "ours.py", settings={"method": "mosaic", "target": None}
    ),
    # One process, so that processor seconds compare. 80 MB is the limit that AIM's authors set for comparisons; the
    # pipeline of dpmm would lift it, and the model could grow beyond any memory.
    Method("aim", "AIM (dpmm)", _RIVALS / "dpmm_rival.py", DPMM, {"n_jobs": 1, "max_model_size": 80}),
    # The same with less patience: fewer iterations, a smaller model.
    Method(
        "aim-short",
        "AIM (dpmm), short",
        _RIVALS / "dpmm_rival.py",
        DPMM,
        {"n_jobs": 1, "max_model_size": 8, "gen_kwargs": {"n_iters": 300}},
    ),
    Method("mst", "MST (dpmm)", _RIVALS / "dpmm_rival.py", DPMM, {"n_jobs": 1}),
    # Shorter than AIM's default of 16 rounds per column and 1,000 iterations, to end in minutes on tables of 55 columns.
    Method(
        "aim-mbi",
        "AIM (mbi 2.0), 120 rounds",
        _RIVALS / "mbi_rival.py",
        MBI,
        {"least_rounds": 120, "rounds_per_column": 3, "iterations": 300, "max_model_size": 20},
    ),
    # As the authors have it: 16 rounds per column, 1,000 iterations, a model of 80 MB.
    Method("aim-full", "AIM (mbi 2.0), full", _RIVALS / "mbi_rival.py", MBI),
    # What a user would ask of AIM who knows what will be predicted.
    Method(
        "aim-target",
        "AIM (mbi 2.0), 120 rounds, told the target",
        _RIVALS / "mbi_rival.py",
        MBI,
        {"least_rounds": 120, "rounds_per_column": 3, "iterations": 300, "max_model_size": 20, "told_target": True},
    ),
    Method("mst-mbi", "MST (mbi 2.0)", _RIVALS / "mbi_rival.py", MBI),
    Method("privbayes", "PrivBayes (dpmm)", _RIVALS / "dpmm_rival.py", DPMM, {"n_jobs": 1}),
    Method("dpctgan", "DP-CTGAN (SmartNoise)", _RIVALS / "smartnoise_rival.py", SMARTNOISE),
    Method("real", "real training rows", _HERE / "reference.py", private=False),
    Method("shuffled", "real columns, each shuffled", _HERE / "reference.py", private=False),
)

METHODS = {each.name: each for each in _ALL}
