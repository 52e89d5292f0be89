"""Allowed SQL: the functions of SQL that formulas and queries may use. Each makes of one row's plain values one plain value,
of bounded size.

A list of what is allowed, and not of what is not: DuckDB has some 900 functions, more with every version, and among them are
those that make lists, repeat texts, wait, read settings, or plan a query of their own. Its memory limit does not hold for
what they build in between.
"""

_ARITHMETIC = """
+ - * / // % ^ ** & | << >> ~ @ !__postfix abs add cbrt ceil ceiling divide even exp factorial fdiv floor fmod gamma gcd
greatest greatest_common_divisor isfinite isinf isnan lcm least least_common_multiple lgamma ln log log10 log2 mod multiply
nextafter pi pow power round round_even roundbankers sign signbit sqrt subtract trunc xor
acos acosh asin asinh atan atan2 atanh cos cosh cot degrees radians sin sinh tan tanh
"""
_COMPARING = """
!= < <= = > >= ~~ !~~ ~~* !~~* ~~~ ^@ coalesce constant_or_null if ifnull like_escape ilike_escape not_like_escape
not_ilike_escape nullif
"""
_TEXTS = """
|| ascii char_length character_length chr concat concat_ws contains ends_with hash instr lcase left length len lower ltrim
nfc_normalize ord position prefix regexp_extract regexp_full_match regexp_matches reverse right rtrim split_part
starts_with strip_accents strlen strpos substr substring suffix translate trim ucase unicode upper
"""
_DATES = """
age century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era hour isodow isoyear julian last_day make_date
make_time make_timestamp microsecond millennium millisecond minute month monthname nanosecond quarter second strftime
strptime time_bucket to_centuries to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes
to_months to_quarters to_seconds to_timestamp to_weeks to_years try_strptime week weekday weekofyear year yearweek
"""
ALLOWED = frozenset(f"{_ARITHMETIC} {_COMPARING} {_TEXTS} {_DATES}".split())
"""By their names in lower case."""
