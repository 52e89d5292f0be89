"""Pointillist: synthetic data with a differential-privacy guarantee.

You see the picture; no single dot matters.

Nothing is loaded before it is asked for: `import pointillist` takes no longer than Python itself, and `pt.Schema` does not
wait for the libraries behind `pt.evaluate`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # type checkers and editors read this; _HOMES says the same to Python
    from pointillist.curator.choosing import Choice, choose
    from pointillist.curator.contributing import contribute
    from pointillist.curator.releasing import plan, release
    from pointillist.curator.sharing import shared_plan
    from pointillist.curator.table_drafting import draft
    from pointillist.errors import FactsFromDataWarning, PointillistError
    from pointillist.evaluate.audit import Audit, audit
    from pointillist.evaluate.images.evaluation import (
        ImageEvaluation,
        PictureEvaluation,
        evaluate_images,
        evaluate_pictures,
    )
    from pointillist.evaluate.tables.evaluation import Evaluation, evaluate
    from pointillist.features import Extractor
    from pointillist.features.images.extractor_training import train_extractor
    from pointillist.files.images import Images, Pictures
    from pointillist.generators.image_network.settings import ImageNetworkSettings
    from pointillist.generators.mixture.settings import MixtureSettings
    from pointillist.generators.network.settings import NetworkSettings
    from pointillist.generators.points.settings import PointsSettings
    from pointillist.inference import Pushed, Received, receive
    from pointillist.inference.estimate import Estimate
    from pointillist.inference.uncertainty import Uncertainty, uncertainty
    from pointillist.methods import (
        Chronicle,
        Gallery,
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
    from pointillist.methods.fit import fit
    from pointillist.model import Model
    from pointillist.owners.join import Join, join
    from pointillist.owners.merging import merge
    from pointillist.owners.part import Part
    from pointillist.owners.shared_plan import SharedPlan
    from pointillist.pages.card import Card
    from pointillist.plan import Plan
    from pointillist.privacy.budget import Budget
    from pointillist.privacy.guarantee import Guarantee, Neighbours
    from pointillist.privacy.ledger import Ledger
    from pointillist.privacy.owners import Owners, Trust
    from pointillist.reading.databases import sql
    from pointillist.reading.image_arrays import images
    from pointillist.reading.opening import csv
    from pointillist.reading.public_images import public_images
    from pointillist.reading.public_points import public_points
    from pointillist.reading.server_tables import database
    from pointillist.release import Release
    from pointillist.schema import (
        Boolean,
        Categorical,
        Datetime,
        Derived,
        Duration,
        Ignore,
        Image,
        Integer,
        Ordinal,
        Person,
        Real,
        Schema,
    )
    from pointillist.schema.constraints import Gap, Impossible, Order
    from pointillist.synthesizer import Synthesizer

__version__: str

__all__ = [
    "Audit",
    "Boolean",
    "Budget",
    "Card",
    "Categorical",
    "Choice",
    "Chronicle",
    "Datetime",
    "Derived",
    "Duration",
    "Estimate",
    "Evaluation",
    "Extractor",
    "FactsFromDataWarning",
    "Gallery",
    "Gap",
    "Guarantee",
    "Hermite",
    "Ignore",
    "Image",
    "ImageEvaluation",
    "ImageHermite",
    "ImageMerf",
    "ImageNetworkSettings",
    "Images",
    "Impossible",
    "Integer",
    "Join",
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
    "Owners",
    "Part",
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
    "SharedPlan",
    "Spectral",
    "Synthesizer",
    "Trust",
    "Uncertainty",
    "audit",
    "choose",
    "contribute",
    "csv",
    "database",
    "draft",
    "evaluate",
    "evaluate_images",
    "evaluate_pictures",
    "fit",
    "images",
    "join",
    "merge",
    "plan",
    "public_images",
    "public_points",
    "receive",
    "release",
    "shared_plan",
    "sql",
    "train_extractor",
    "uncertainty",
]

_HOMES = {
    "Audit": "evaluate.audit",
    "Boolean": "schema",
    "Budget": "privacy.budget",
    "Card": "pages.card",
    "Categorical": "schema",
    "Choice": "curator.choosing",
    "Datetime": "schema",
    "Derived": "schema",
    "Duration": "schema",
    "Estimate": "inference.estimate",
    "Evaluation": "evaluate.tables.evaluation",
    "Extractor": "features",
    "FactsFromDataWarning": "errors",
    "Guarantee": "privacy.guarantee",
    "Hermite": "methods",
    "Ignore": "schema",
    "Image": "schema",
    "ImageEvaluation": "evaluate.images.evaluation",
    "ImageHermite": "methods",
    "ImageMerf": "methods",
    "ImageNetworkSettings": "generators.image_network.settings",
    "Images": "files.images",
    "Gallery": "methods",
    "Gap": "schema.constraints",
    "Impossible": "schema.constraints",
    "Integer": "schema",
    "Join": "owners.join",
    "Landmarks": "methods",
    "Ledger": "privacy.ledger",
    "Merf": "methods",
    "MixtureSettings": "generators.mixture.settings",
    "Model": "model",
    "Chronicle": "methods",
    "Mosaic": "methods",
    "Neighbours": "privacy.guarantee",
    "NetworkSettings": "generators.network.settings",
    "Order": "schema.constraints",
    "Ordinal": "schema",
    "Owners": "privacy.owners",
    "Part": "owners.part",
    "Perceptual": "methods",
    "Person": "schema",
    "PictureEvaluation": "evaluate.images.evaluation",
    "Pictures": "files.images",
    "Plan": "plan",
    "PointillistError": "errors",
    "PointsSettings": "generators.points.settings",
    "Pushed": "inference",
    "Real": "schema",
    "Received": "inference",
    "ReducedSet": "methods",
    "Release": "release",
    "Schema": "schema",
    "SharedPlan": "owners.shared_plan",
    "Spectral": "methods",
    "Synthesizer": "synthesizer",
    "Trust": "privacy.owners",
    "Uncertainty": "inference.uncertainty",
    "audit": "evaluate.audit",
    "choose": "curator.choosing",
    "contribute": "curator.contributing",
    "csv": "reading.opening",
    "database": "reading.server_tables",
    "draft": "curator.table_drafting",
    "evaluate": "evaluate.tables.evaluation",
    "evaluate_images": "evaluate.images.evaluation",
    "evaluate_pictures": "evaluate.images.evaluation",
    "fit": "methods.fit",
    "images": "reading.image_arrays",
    "join": "owners.join",
    "merge": "owners.merging",
    "plan": "curator.releasing",
    "public_images": "reading.public_images",
    "public_points": "reading.public_points",
    "receive": "inference",
    "release": "curator.releasing",
    "shared_plan": "curator.sharing",
    "sql": "reading.databases",
    "train_extractor": "features.images.extractor_training",
    "uncertainty": "inference.uncertainty",
}


class _Surface(ModuleType):
    """This package as its users see it: public names, each fetched from its home when it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            value: Any = version("pointillist")
        elif name in _HOMES:
            value = getattr(import_module(f"pointillist.{_HOMES[name]}"), name)
        else:
            value = self._room(name)
        self.__dict__[name] = value
        return value

    def _room(self, name: str) -> ModuleType:
        """A module of the package, such as `pointillist.inference`."""
        path = f"pointillist.{name}"
        try:
            if not name.startswith("_"):
                return import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
        raise AttributeError(f"module 'pointillist' has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        # Python stores every submodule that it loads in its package. `pointillist.release` is the module of that name to
        # `import` and `from`, but as an attribute it is the function, whichever of them is loaded first.
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_HOMES, "__version__"})


sys.modules[__name__].__class__ = _Surface
