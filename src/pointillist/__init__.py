"""Pointillist: synthetic data with a differential-privacy guarantee.

You see the picture; no single dot matters.
"""

from importlib.metadata import version

from pointillist.card import Card
from pointillist.constraint import Impossible, Order
from pointillist.curator.drafting import draft
from pointillist.curator.reading import csv, sql
from pointillist.curator.releasing import plan, release
from pointillist.errors import PointillistError
from pointillist.evaluate import Audit, Evaluation, audit, evaluate
from pointillist.generators.estimate import Estimate
from pointillist.generators.model import Model
from pointillist.generators.settings import MixtureSettings, NetworkSettings
from pointillist.methods import Hermite, Merf, Mosaic
from pointillist.methods.fitting import fit
from pointillist.methods.uncertainty import Uncertainty, uncertainty
from pointillist.plan import Plan
from pointillist.privacy.budget import Budget, Guarantee, Neighbours
from pointillist.privacy.ledger import Ledger
from pointillist.release import Release
from pointillist.schema import Boolean, Categorical, Datetime, Ignore, Integer, Ordinal, Person, Real, Schema
from pointillist.synthesizer import Synthesizer

__version__ = version("pointillist")

__all__ = [
    "Audit",
    "Boolean",
    "Budget",
    "Card",
    "Categorical",
    "Datetime",
    "Estimate",
    "Evaluation",
    "Guarantee",
    "Hermite",
    "Ignore",
    "Impossible",
    "Integer",
    "Ledger",
    "Merf",
    "MixtureSettings",
    "Model",
    "Mosaic",
    "Neighbours",
    "NetworkSettings",
    "Order",
    "Ordinal",
    "Person",
    "Plan",
    "PointillistError",
    "Real",
    "Release",
    "Schema",
    "Synthesizer",
    "Uncertainty",
    "audit",
    "csv",
    "draft",
    "evaluate",
    "fit",
    "plan",
    "release",
    "sql",
    "uncertainty",
]
