"""Pointillist: synthetic data with a differential-privacy guarantee.

You see the picture; no single dot matters.
"""

from importlib.metadata import version

from pointillist.card import Card
from pointillist.constraint import Impossible, Order
from pointillist.curator.choosing import Choice, choose
from pointillist.curator.drafting import draft
from pointillist.curator.image_source import images
from pointillist.curator.public_points import public_points
from pointillist.curator.reading import csv, sql
from pointillist.curator.releasing import plan, release
from pointillist.errors import FactsFromDataWarning, PointillistError
from pointillist.evaluate import Audit, Evaluation, PictureEvaluation, audit, evaluate, evaluate_pictures
from pointillist.extractor_training import train_extractor
from pointillist.features import Extractor
from pointillist.generators.estimate import Estimate
from pointillist.generators.image_settings import ImageNetworkSettings
from pointillist.generators.model import Model
from pointillist.generators.settings import MixtureSettings, NetworkSettings, PointsSettings
from pointillist.methods import (
    Hermite,
    ImageHermite,
    ImageMerf,
    Landmarks,
    Merf,
    Mosaic,
    Perceptual,
    ReducedSet,
    Spectral,
)
from pointillist.methods.fitting import fit
from pointillist.methods.uncertainty import Uncertainty, uncertainty
from pointillist.pictures import Pictures
from pointillist.plan import Plan
from pointillist.privacy.budget import Budget, Guarantee, Neighbours
from pointillist.privacy.ledger import Ledger
from pointillist.receiver import Pushed, Received, receive
from pointillist.release import Release
from pointillist.schema import Boolean, Categorical, Datetime, Ignore, Image, Integer, Ordinal, Person, Real, Schema
from pointillist.synthesizer import Synthesizer

__version__ = version("pointillist")

__all__ = [
    "Audit",
    "Boolean",
    "Budget",
    "Card",
    "Categorical",
    "Choice",
    "Datetime",
    "Estimate",
    "Evaluation",
    "Extractor",
    "FactsFromDataWarning",
    "Guarantee",
    "Hermite",
    "Ignore",
    "Image",
    "ImageHermite",
    "ImageMerf",
    "ImageNetworkSettings",
    "Impossible",
    "Integer",
    "Landmarks",
    "Ledger",
    "Merf",
    "MixtureSettings",
    "Model",
    "Mosaic",
    "Neighbours",
    "NetworkSettings",
    "Order",
    "Ordinal",
    "Perceptual",
    "Person",
    "PictureEvaluation",
    "Pictures",
    "Plan",
    "PointillistError",
    "PointsSettings",
    "Pushed",
    "Real",
    "Received",
    "ReducedSet",
    "Release",
    "Schema",
    "Spectral",
    "Synthesizer",
    "Uncertainty",
    "audit",
    "choose",
    "csv",
    "draft",
    "evaluate",
    "evaluate_pictures",
    "fit",
    "images",
    "plan",
    "public_points",
    "receive",
    "release",
    "sql",
    "train_extractor",
    "uncertainty",
]
