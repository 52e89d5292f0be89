"""Text drafting: what the many different texts of a private column seem to be, and why they are left out."""

from pointillist.schema.kinds.drafting import Found

_USUAL = 0.95
PATTERNS = {
    "email": (r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$", "e-mail addresses"),
    "uuid": (r"^\{?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?$", "UUIDs"),
    "url": (r"^(https?://|www\.)\S+$", "web addresses"),
    "ip": (r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$", "network addresses"),
    "phone": (r"^(\+|00?|\()[0-9][0-9 ()./-]{5,18}[0-9]$|^[0-9]{3}[ .-][0-9]{3}[ .-][0-9]{4}$", "telephone numbers"),
}
_NAME = r"^\p{Lu}[\p{L}\x27.-]*([, ]+\p{Lu}[\p{L}\x27.-]*){1,4}$"
DIRECT = ("email", "phone", "uuid")
"""What names somebody however few there are."""
WORDS = 4
"""Texts of over so many words on average are written freely."""


def direct_identifier(texts: Found) -> str | None:
    """What of a person's own most texts are, such as e-mail addresses; none if they are nothing of the kind."""
    found = kind_of(texts)
    return reason(found) if found in DIRECT else None


def kind_of(texts: Found) -> str | None:
    """Which fake would look like most texts, if they follow a pattern."""
    tests = [f"sum(n) FILTER (regexp_matches(trim(x), '{pattern}')) / sum(n)" for pattern, _ in PATTERNS.values()]
    shares = texts.ask(", ".join(tests))
    return next((name for name, share in zip(PATTERNS, shares, strict=True) if (share or 0) >= _USUAL), None)


def why_left_out(texts: Found) -> str:
    """The reason to leave out a column of many different texts."""
    found = kind_of(texts)
    if found is not None:
        return reason(found)
    names, words, shapes = texts.ask(
        f"sum(n) FILTER (regexp_matches(trim(x), '{_NAME}')) / sum(n), avg(len(regexp_split_to_array(trim(x), '\\s+'))), "
        "count(DISTINCT regexp_replace(regexp_replace(trim(x), '[0-9]+', '9', 'g'), '[A-Za-z]+', 'A', 'g'))"
    )
    if words > WORDS:
        return 'free text; it is left out, and fake = "text" puts made-up sentences in its place'
    if (names or 0) >= 0.8:
        return 'names, perhaps of people; they are left out, and fake = "name" puts made-up ones in their place'
    if texts.distinct == texts.filled and shapes <= 3:
        return (
            "every text is different and of the same form, an identifier; it is left out, and "
            'fake = "id" puts running numbers in its place'
        )
    return "many different texts, perhaps names or free text; list its categories if it should be used"


def reason(found: str) -> str:
    """Why texts of a known form are left out."""
    return f'{PATTERNS[found][1]}; they are left out, and fake = "{found}" puts made-up ones in their place'
