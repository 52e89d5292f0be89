"""Arguments: lists with commas between their entries, as the benchmarks' commands take them."""

from collections.abc import Iterable

from pointillist.errors import UsageError


def split_names(text: str) -> list[str]:
    """Different names, in their order."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def chosen_names(text: str, known: Iterable[str], what: str) -> list[str]:
    """Names that are known, at least one."""
    found, choices = split_names(text), list(known)
    for name in found:
        if name not in choices:
            raise UsageError(f"{what} {name!r} is not known. Known: {', '.join(choices)}.")
    if not found:
        raise UsageError(f"name at least one {what}: {', '.join(choices)}.")
    return found


def split_numbers(text: str) -> list[float]:
    """Numbers."""
    try:
        return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise UsageError(f"{text!r} is not a list of numbers with commas between them.") from None
