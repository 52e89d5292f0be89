"""Show a model: what it makes, and what stands behind it."""

from pointillist.cli.console import out
from pointillist.cli.show.schema import show_schema
from pointillist.model import Model


def show_model(model: Model) -> None:
    """What a model makes, and what stands behind it."""
    out.print(f"Model of {model.schema.name}, fitted to release {model.release}")
    out.print(model.guarantee.sentence())
    image = model.schema.image
    over = f" over {len(model.levels)} columns" if image is None else f", for images of {image[1].size()}"
    out.print(
        f"It is {model.generator.describe()}{over}; about {model.rows:,.0f} private {model.guarantee.record}s by its "
        "noisy count."
    )
    for note in model.notes:
        out.print(note)
    show_schema(model.schema)
