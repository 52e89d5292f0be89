"""Time of day: clock times as people write them (20:15, 0015, 10:52 PM), read and written as lengths since midnight."""

import re
from typing import Literal

from pointillist.schema.kinds.drafting import Found, Reading, all_are
from pointillist.schema.kinds.number_drafting import is_clock

TimeOfDay = Literal["%H:%M", "%-H:%M", "%H:%M:%S", "%H%M", "%I:%M %p", "%-I:%M %p", "%I:%M:%S %p", "%-I:%M:%S %p"]
"""How a time of day may be written, in strptime's letters."""
_HOUR, _MINUTE, _HALF = "([01]?[0-9]|2[0-3])", "[0-5][0-9]", "(0?[1-9]|1[0-2])"
_SECOND = rf"{_MINUTE}(\.[0-9]+)?"
_PATTERNS = {
    "%H:%M": f"^{_HOUR}:{_MINUTE}$",
    "%H:%M:%S": f"^{_HOUR}:{_MINUTE}:{_SECOND}$",
    "%I:%M %p": f"^{_HALF}:{_MINUTE} ?[AaPp][Mm]$",
    "%I:%M:%S %p": f"^{_HALF}:{_MINUTE}:{_SECOND} ?[AaPp][Mm]$",
    "%H%M": f"^([01][0-9]|2[0-3]){_MINUTE}$",
}
FEW = 12
"""So many different times are no more than names."""
_TEXT = re.compile(
    r"(?P<hour>[0-9]{1,2}):?(?P<minute>[0-5][0-9])(:?(?P<second>[0-5][0-9])(\.[0-9]+)?)?( ?(?P<half>[AP])\.?M\.?)?",
    re.I,
)


def is_time(form: str) -> bool:
    """Whether a format is one of a time of day."""
    return form.startswith("%")


def seconds_of(text: str) -> int | None:
    """The seconds since midnight that a clock time says; none if it is no such time."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    hour = int(found["hour"])
    if found["half"] is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found["half"].upper() == "P")
    total = hour * 3600 + int(found["minute"]) * 60 + int(found["second"] or 0)
    return total if total <= 86_400 else None


def written(seconds: int, form: str) -> str:
    """A time of day in a format; what is over a day begins anew."""
    minutes, second = divmod(seconds % 86_400, 60)
    hour, minute = divmod(minutes, 60)
    half = hour % 12 or 12
    parts = {
        "%-H": str(hour), "%H": f"{hour:02}", "%-I": str(half), "%I": f"{half:02}", "%M": f"{minute:02}",
        "%S": f"{second:02}", "%p": "PM" if hour >= 12 else "AM",
    }  # fmt: skip
    return re.sub("%-?[HIMSp]", lambda letter: parts[letter[0]], form)


def reading(texts: Found) -> Reading | None:
    """How texts are read that are clock times, all of them in one form.

    Four digits are believed only if they are spread as times are: codes may look alike. A few times, such as those at which
    shifts begin, are categories.
    """
    fitting = (form for form, pattern in _PATTERNS.items() if all_are(texts, f"regexp_matches(x, '{pattern}')"))
    form = next(fitting, None)
    if form is None or texts.distinct <= FEW:
        return None
    if form == "%H%M" and not is_clock(texts.cast("trim(x)::BIGINT", "BIGINT").numbers()):
        return None
    plain, half = "regexp_replace(trim(x), '[^0-9:.].*$', '')", "regexp_matches(x, '[Pp][Mm]')"
    hours = f"regexp_extract({plain}, '^([0-9]{{1,2}}):?[0-9]{{2}}', 1)::INTEGER"
    hours = f"({hours} % 12 + CASE WHEN {half} THEN 12 ELSE 0 END)" if "%p" in form else hours
    minutes = f"regexp_extract({plain}, '^[0-9]{{1,2}}:?([0-9]{{2}})', 1)::INTEGER"
    seconds = f"coalesce(TRY_CAST(regexp_extract({plain}, '^[0-9]+:[0-9]{{2}}:([0-9]{{2}})', 1) AS INTEGER), 0)"
    return Reading("INTERVAL", f"to_seconds({hours} * 3600 + {minutes} * 60 + {seconds})", _as_written(texts, form))


def _as_written(texts: Found, form: str) -> str:
    """The format with or without a leading zero; that of lengths where it says the same."""
    if not texts.ask("coalesce(bool_or(regexp_matches(trim(x), '^[0-9]:')), false)")[0]:
        return form
    return "clock" if form == "%H:%M:%S" else form.replace("%H", "%-H").replace("%I", "%-I")
