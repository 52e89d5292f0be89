"""Record and replay: its harness is a package beside the tests."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# `REPLAY_EXAMPLES=2000 pytest tests/replay` looks further, and elsewhere each time.
_DEEP = int(os.environ.get("REPLAY_EXAMPLES", "0"))
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
settings.register_profile(
    "replay", deadline=None, max_examples=_DEEP or 20, derandomize=not _DEEP, suppress_health_check=_SLOW
)
