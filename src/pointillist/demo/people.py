"""A simulated registry of people, used as the demo table.

Every row is simulated: drawn from a random generator, one column after another, through a small causal story
(region, age and sex lead to education, then occupation, hours, income, savings, habits and health). No row describes
a real person, the regions do not exist, and the numbers are not estimates of any real population. The table ships as
code: the same seed and the same numpy give the same table.
"""

import datetime as dt

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pointillist.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Rng = np.random.Generator

SEXES, CHRONIC = ("female", "male", "other"), ("no", "yes")
EDUCATIONS = ("none", "primary", "secondary", "bachelor", "master_or_more")
# fmt: off
# name: (weight, wealth, burden of illness, age shift, rural). The last two regions are rare on purpose.
_REGIONS: dict[str, tuple[float, ...]] = {
    "Quillhaven": (26.0, 0.35, -0.30, -0.05, 0), "Brintal": (18.0, 0.10, 0.00, -0.02, 0),
    "Kelmora": (13.0, 0.00, 0.15, 0.00, 0), "Sundrelle": (10.0, 0.20, -0.45, 0.06, 0),
    "Dorvane": (8.5, -0.25, 0.75, 0.03, 0), "Veldmoor": (7.0, -0.15, 0.10, 0.05, 1),
    "Ostrelle": (6.0, -0.10, 0.30, 0.04, 1), "Tarnwyke": (4.8, -0.30, 0.60, 0.06, 1),
    "Marrowfen": (3.6, -0.35, 0.40, 0.08, 1), "Lumorre": (2.4, 0.55, -0.60, 0.00, 0),
    "Isgarth": (0.4, -0.20, 0.90, 0.10, 1), "Zephyra": (0.3, 0.80, -0.80, 0.02, 0),
}
# name: (log weight, pull of education, pull of being male, pull of rural, log pay, pay per level of education, hours).
# Education pays in some occupations and not at all in others: that is the interaction a good model has to find.
_OCCUPATIONS: dict[str, tuple[float, ...]] = {
    "sales": (1.5, -0.2, 0.0, 0.0, 10.30, 0.00, 36), "clerical": (1.4, 0.3, -0.6, -0.2, 10.35, 0.05, 37),
    "care": (1.1, -0.1, -1.3, 0.1, 10.20, 0.10, 34), "trades": (1.0, -0.6, 1.8, 0.2, 10.50, 0.00, 42),
    "transport": (0.4, -0.7, 1.4, 0.0, 10.35, 0.00, 46), "teaching": (-0.5, 1.3, -0.8, 0.0, 10.40, 0.15, 38),
    "engineering": (-0.6, 1.1, 1.3, -0.4, 10.65, 0.28, 42), "management": (-0.3, 0.8, 0.6, -0.3, 10.75, 0.40, 47),
    "farming": (-2.0, -0.5, 0.7, 2.6, 10.00, 0.00, 55), "medicine": (-3.0, 2.1, -0.2, 0.0, 10.75, 0.32, 48),
    "fishing": (-3.4, -0.6, 1.6, 1.8, 10.05, 0.00, 58), "retired": (-99, 0, 0, 0, 9.90, 0.14, 0),
    "student": (-99, 0, 0, 0, 8.90, 0.00, 14), "homemaker": (-99, 0, 0, 0, 8.20, 0.00, 0),
}
# fmt: on
REGIONS, OCCUPATIONS = tuple(_REGIONS), tuple(_OCCUPATIONS)
_REGION, _JOB = np.array(list(_REGIONS.values())), np.array(list(_OCCUPATIONS.values()))
_RETIRED, _STUDENT, _HOMEMAKER = (OCCUPATIONS.index(name) for name in ("retired", "student", "homemaker"))
# Days since 1970 for the first and last birth (ages 18 to 95 on 2026-01-01) and the first and last visit.
_BORN, _SEEN = np.array([["1930-01-02", "2008-01-01"], ["2020-01-01", "2025-12-31"]], "M8[D]").astype(np.int64).tolist()


def _flip(rng: Rng, logit: Floats) -> Bools:
    """One yes/no draw per row, with the chance given as log-odds."""
    return np.asarray(rng.random(logit.size) < 1.0 / (1.0 + np.exp(-logit)))


def _people(rng: Rng, rows: int) -> tuple[Ints, Ints, Floats, Ints]:
    """Region, birth day, age in years and sex code: the roots of the story."""
    region = rng.choice(len(REGIONS), size=rows, p=_REGION[:, 0] / _REGION[:, 0].sum())
    lived = (rng.beta(1.25 + 4 * _REGION[region, 3], 1.75) * (_BORN[1] - _BORN[0])).round().astype(np.int64)
    age = 18.0 + lived / 365.25
    sex = _flip(rng, 0.05 - 0.0004 * np.maximum(age - 55, 0) ** 2).astype(np.int64)  # men thin out at high ages
    return region, _BORN[1] - lived, age, np.where(rng.random(rows) < 0.004, 2, sex)


def _education(rng: Rng, age: Floats, male: Floats, wealth: Floats) -> Ints:
    """Later cohorts study longer; women trail in the old cohorts and lead in the young ones."""
    drive = 0.35 - 0.022 * (age - 45) + 0.018 * (male - 0.5) * (age - 50) + 0.9 * wealth
    level = np.searchsorted([-1.85, -0.85, 0.75, 1.75], drive + rng.normal(size=age.size))
    return np.minimum(level, np.where(age < 21, 2, np.where(age < 23, 3, 4)))


def _occupation(rng: Rng, age: Floats, male: Floats, school: Floats, rural: Floats) -> Ints:
    pulls = np.stack([np.ones(age.size), school, male - 0.5, rural])
    score = sum(pull[:, None] * _JOB[:, i] for i, pull in enumerate(pulls))  # not `@`: BLAS may differ in the last bit
    job = np.argmax(score + rng.gumbel(size=(age.size, len(OCCUPATIONS))), axis=1)
    job = np.where(_flip(rng, -2.8 - 2.6 * male + 0.02 * (age - 45) - 0.3 * school), _HOMEMAKER, job)
    job = np.where(_flip(rng, 1.3 - 0.75 * (age - 21) + 0.5 * school), _STUDENT, job)
    return np.where(_flip(rng, 0.75 * (age - 65) - 0.5 * school), _RETIRED, job)


def _family(rng: Rng, age: Floats, male: Floats, school: Floats, rural: Floats) -> tuple[Bools, Ints]:
    """Marriage rises and then falls with age (widowhood, mostly of women), so it is not monotone."""
    widowed = (0.10 - 0.05 * male) * np.maximum(age - 66, 0)
    married = _flip(rng, 1.0 - 5.5 * np.exp((18 - age) / 9) - widowed + 0.3 * rural)
    mean = 2.2 / (1 + np.exp((31 - age) / 4)) * (0.45 + 0.65 * married) * np.exp(0.15 * rural - 0.14 * school)
    return married, np.minimum(rng.poisson(mean), 12)


def _hours(rng: Rng, job: Ints, idle: Bools, male: Floats, children: Ints) -> Ints:
    usual = _JOB[job, 6] - 3.0 * (1 - male) * np.minimum(children, 3)
    hours = np.clip(np.rint(usual + rng.normal(0, 8.5, job.size)), 1, 100)
    hours = np.where((rng.random(job.size) < 0.42) & (usual > 30) & (usual < 50), 40, hours)  # the full-time contract
    off = np.choose(np.maximum(job - _RETIRED + 1, 0), [0.0, 0.93, 0.5, 1.0])  # in work, retired, student, homemaker
    return np.where(idle | (rng.random(job.size) < off), 0, hours).astype(np.int64)


def _income(rng: Rng, age: Floats, male: Floats, school: Floats, wealth: Floats, *, job: Ints, hours: Ints) -> Floats:
    """Yearly income: some exact zeros, a long right tail, and a career that peaks near 50 and then falls."""
    n, trade = age.size, job < _RETIRED
    pay = _JOB[job, 4] + _JOB[job, 5] * school + 0.6 * wealth + 0.12 * (male - 0.5) + rng.normal(0, 0.36, n)
    pay += np.where(trade, 0.9 * np.log(np.where(hours > 0, hours, 8) / 40) - 0.0007 * (age - 50) ** 2, 0.0)
    pay += np.where(rng.random(n) < 0.03, rng.exponential(0.5, n), 0.0)  # a few very high earners
    none = rng.random(n) < np.where(hours > 0, 0.005, np.where(job == _RETIRED, 0.05, 0.70))
    return np.round(np.where(none, 0.0, np.minimum(np.exp(pay), 1_000_000.0)), 2)


def _savings(rng: Rng, age: Floats, income: Floats, wealth: Floats) -> Floats:
    rich = np.log1p(income / 20_000)
    saves = _flip(rng, -0.6 + 0.035 * (age - 35) + 1.6 * rich)
    amount = 7.4 + 0.045 * (np.minimum(age, 70) - 35) + 1.2 * rich + 0.4 * wealth + rng.normal(0, 1.1, age.size)
    return np.round(np.where(saves, np.minimum(np.exp(amount), 5_000_000.0), 0.0), 2)


def _body(rng: Rng, age: Floats, male: Floats, school: Floats, burden: Floats) -> tuple[Bools, Floats]:
    """Smoking and body mass index: a lean and a heavy group, the heavy one largest around the age of 58."""
    smoker = _flip(rng, -1.0 - 0.45 * school + 0.014 * (male - 0.5) * (age - 20) - 0.0012 * (age - 45) ** 2)
    heavy = _flip(rng, 0.1 - 0.0014 * (age - 58) ** 2 - 0.2 * school + 0.5 * burden - 0.3 * smoker)
    centre = np.where(heavy, 32.0 - 1.4 * male, 21.2 + 2.2 * male) - 0.07 * np.maximum(age - 75, 0)
    return smoker, np.round(np.clip(centre * np.exp(rng.normal(0, np.where(heavy, 0.125, 0.08))), 14.0, 60.0), 1)


def _chronic(rng: Rng, age: Floats, smoker: Bools, bmi: Floats, *, burden: Floats, income: Floats) -> Bools:
    """Illness: more with age, smoking and poverty, and at both ends of body mass (a U shape)."""
    bend = np.minimum(((bmi - 25.5) / 5.0) ** 2, 6.0)
    risk = 0.055 * (age - 50) + 0.9 * smoker + 0.45 * bend + 0.8 * burden - 0.5 * np.log1p(income / 10_000)
    return _flip(rng, risk - 1.82)


def _visits(rng: Rng, age: Floats, male: Floats, chronic: Bools) -> tuple[Ints, Bools]:
    """Last visit in microseconds since 1970, and who never came. The ill come more often, so more recently."""
    never = _flip(rng, -2.5 + 0.6 * male - 0.03 * (age - 45) - 0.8 * chronic)
    scale = np.where(chronic, 420.0, 560.0 + 120.0 * male)
    ago = -scale * np.log1p(rng.random(age.size) * np.expm1((_SEEN[0] - _SEEN[1]) / scale))
    day = _SEEN[1] - ago.astype(np.int64)
    day -= np.where((day + 4) % 7 == 0, 2, 0)  # closed on Sundays (day 0 was a Thursday)
    minute = 480 + 540 * rng.beta(1.3, 1.6, age.size)  # open from 8:00 to 17:00
    return (day * 1440 + minute.astype(np.int64)) * 60_000_000, never


def _labels(codes: Ints, levels: tuple[str, ...], missing: Bools | None = None) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=missing), levels).cast(pa.string())


def simulate(rows: int = 24_000, seed: int = 20260101) -> pa.Table:
    """The simulated registry: `rows` people who do not exist, in 14 columns."""
    rng = np.random.default_rng(seed)
    region, birth, age, sex = _people(rng, rows)
    male, (wealth, burden, rural) = np.choose(sex, [0.0, 1.0, 0.5]), _REGION[region][:, [1, 2, 4]].T
    education = _education(rng, age, male, wealth)
    school = education - 2.0  # levels above or below 'secondary'
    job = _occupation(rng, age, male, school, rural)
    idle = (job < _RETIRED) & _flip(rng, -2.9 - 0.5 * school - 0.02 * (age - 40) - wealth)
    married, children = _family(rng, age, male, school, rural)
    hours = _hours(rng, job, idle, male, children)
    income = _income(rng, age, male, school, wealth, job=job, hours=hours)
    savings = _savings(rng, age, income, wealth)
    smoker, bmi = _body(rng, age, male, school, burden)
    chronic = _chronic(rng, age, smoker, bmi, burden=burden, income=income)
    visit, never = _visits(rng, age, male, chronic)
    # Gaps are not at random: the unschooled and the jobless leave blanks, and who never came was seldom weighed.
    no_education = _flip(rng, -3.95 - 0.8 * school)
    no_job = rng.random(rows) < np.where(idle, 0.65, 0.008)
    no_married = rng.random(rows) < np.where(sex == 2, 0.10, 0.012)
    no_bmi = rng.random(rows) < np.where(never, 0.40, 0.025)
    columns = {"sex": _labels(sex, SEXES), "birth_date": birth.view("M8[D]"), "region": _labels(region, REGIONS)}
    columns["education"] = _labels(education, EDUCATIONS, no_education)
    columns["occupation"] = _labels(job, OCCUPATIONS, no_job)
    columns |= {"married": pa.array(married, mask=no_married), "children": children, "hours_per_week": hours}
    columns |= {"income": income, "savings": savings, "smoker": smoker, "bmi": pa.array(bmi, mask=no_bmi)}
    columns["last_visit"] = pa.array(visit.view("M8[us]"), mask=never)
    return pa.table(columns | {"chronic": _labels(chronic.astype(np.int64), CHRONIC)})


TARGET = "chronic"
SCHEMA = Schema(
    name="simulated-registry",
    rows=24_000,
    columns={
        "sex": Categorical(categories=SEXES, missing=False, out_of_domain="error"),
        "birth_date": Datetime(min=dt.datetime(1930, 1, 1), max=dt.datetime(2008, 1, 1), missing=False),
        "region": Categorical(categories=REGIONS, missing=False, out_of_domain="error"),
        "education": Ordinal(categories=EDUCATIONS, out_of_domain="error"),
        "occupation": Categorical(categories=OCCUPATIONS, out_of_domain="error"),
        "married": Boolean(),
        "children": Integer(min=0, max=12, missing=False),
        "hours_per_week": Integer(min=1, max=100, special=(0,), missing=False),
        "income": Real(min=100, max=1_000_000, special=(0.0,), scale="log", decimals=2, missing=False),
        "savings": Real(min=1, max=5_000_000, special=(0.0,), scale="log", decimals=2, missing=False),
        "smoker": Boolean(missing=False),
        "bmi": Real(min=14, max=60, decimals=1),
        "last_visit": Datetime(
            min=dt.datetime(2020, 1, 1), max=dt.datetime(2025, 12, 31, 23, 59, 59), resolution="second"
        ),
        "chronic": Categorical(categories=CHRONIC, missing=False, out_of_domain="error"),
    },
)
"""What anyone may know about the registry: it is the simulation's own definition, not read off its rows."""
