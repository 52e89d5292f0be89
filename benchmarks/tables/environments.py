"""Environments: every rival package in a virtual environment of its own, outside the project's.

The rivals pin old versions of numpy, pandas and others; beside each other, or beside us, they do not install.
"""

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

ENVIRONMENTS = Path(platformdirs.user_cache_dir("pointillist-bench"))
"""Where environments are unless another folder is given."""


class NotInstalled(Exception):
    """A rival cannot be installed here; the message says why in one line."""


@dataclass(frozen=True)
class Environment:
    """What one rival package needs."""

    name: str
    requirements: Path
    """All packages, pinned."""
    before: tuple[int, int]
    """The first version of Python that the package does not take."""

    def ready(self, folder: Path) -> Path:
        """The Python of the environment, which is made first if it is not there or not up to date."""
        home = folder / self.name
        python, mark = home / "bin" / "python", home / "ready"
        wanted = hashlib.sha256(self.requirements.read_bytes()).hexdigest()
        if mark.exists() and mark.read_text() == wanted:
            return python
        shutil.rmtree(home, ignore_errors=True)
        home.parent.mkdir(parents=True, exist_ok=True)
        _call([self._base(), "-m", "venv", str(home)])
        _call([str(python), "-m", "pip", "install", "--disable-pip-version-check", "-r", str(self.requirements)])
        mark.write_text(wanted)
        return python

    def _base(self) -> str:
        if sys.version_info < self.before:
            return sys.executable
        for minor in range(self.before[1] - 1, 10, -1):
            if found := shutil.which(f"python3.{minor}"):
                return found
        raise NotInstalled(f"{self.name} needs a Python from 3.11 to before {self.before[0]}.{self.before[1]}")


def _call(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise NotInstalled(f"cannot be installed: {lines[-1] if lines else 'no message'}")
