"""Requirements: what settings refuse before anything is fitted."""

from typing import Any

from pointillist.errors import UsageError


def require_positive(settings: Any, *names: str) -> None:
    """Refuse numbers that are not above 0; what is left open (None) passes."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value > 0:
            raise UsageError(f"{name} must be above 0, not {value}.")


def require_torch(who: str = "this generator needs") -> None:
    """Refuse a fit that torch is missing for."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise UsageError(f"{who} torch. Install it with: pip install 'pointillist[network]'") from None
