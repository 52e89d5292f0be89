"""Boolean: true or false."""

from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pointillist.schema.kinds.choice import MISSING, Choice
from pointillist.schema.kinds.drafting import Found, Reading, all_are
from pointillist.schema.texts import MISSING_TEXTS, as_texts

_TEXTS = {"true": 1, "t": 1, "yes": 1, "y": 1, "1": 1, "false": 0, "f": 0, "no": 0, "n": 0, "0": 0}
_COMMAND_LINE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Boolean(Choice):
    """True or false. Texts true/false, t/f, yes/no, y/n and 1/0 are understood in any case."""

    pandas_type: ClassVar[str | None] = "boolean"
    unlisted_rule: ClassVar[str] = "is boolean"
    unlisted_remedy: ClassVar[str] = "Booleans are true/false, t/f, yes/no, y/n or 1/0."

    kind: Literal["boolean"] = "boolean"

    @property
    def choices(self) -> tuple[Any, ...]:
        return (False, True)

    def from_arrow(self, array: pa.Array) -> NDArray[np.int64]:
        if pa.types.is_boolean(array.type):
            return np.asarray(array.cast(pa.int8()).fill_null(MISSING).to_numpy().astype(np.int64))
        return super().from_arrow(array)

    def _keyed(self, array: pa.Array) -> tuple[pa.Array, dict[Any, int]]:
        known: dict[Any, int] = dict(_TEXTS)
        for text in {text.lower() for text in MISSING_TEXTS}:
            known.setdefault(text, MISSING)
        return pc.utf8_lower(pc.utf8_trim_whitespace(as_texts(array))), known

    def to_arrow(self, numbers: NDArray[Any], missing: NDArray[np.bool_]) -> pa.Array:
        return pa.array(numbers == 1, mask=missing, type=pa.bool_())

    def from_text(self, text: str) -> Any:
        return _COMMAND_LINE.get(text.lower(), text) if text else None

    def brief(self) -> str:
        return "true, false"

    @classmethod
    def reading(cls, texts: Found) -> Reading | None:
        return Reading("BOOLEAN", "trim(x)::BOOLEAN") if all_are(texts, "lower(x) IN ('true', 'false')") else None

    @classmethod
    def draft(cls, found: Found) -> Self | None:
        if found.type != "BOOLEAN":
            return None
        return cls(missing=found.missing, read_from_data=("kind", "missing"))
