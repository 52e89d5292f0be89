"""Images: what folders of images and arrays of pixels have in common as sources.

Their columns are always called `image` and, where there are labels, `label`. Memory does not grow with the number of
images. File names never leave this room: they may be people's names.
"""

import duckdb

from pointillist.errors import UsageError
from pointillist.reading.base import Source

IMAGE, LABEL = "image", "label"


class Images(Source):
    """A set of images that is no table."""

    whole = True
    holds_images = True
    note: str = ""
    """What the reader of a draft should know about where the images came from."""

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        raise UsageError(f"{self.name}: SQL asks tables, and this is a set of images. Leave --sql out.")

    def hint(self) -> str:
        return f"Images have a column {IMAGE!r} and, where there are labels, a column {LABEL!r}. Correct the schema."
