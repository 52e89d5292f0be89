"""The fuzz suite lives with the benchmarks, which are no part of the package: reach them from the repository's root."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
