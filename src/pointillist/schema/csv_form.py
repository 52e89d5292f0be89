"""CSV form: how the private table's CSV file is written, so that synthetic ones are written alike."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator


class CsvForm(BaseModel):
    """What stands between columns, and before decimals. It is about the file, and not about anybody's row."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    delimiter: str = ","
    """What separates the columns: one character. Files that are called .tsv have tabs, whatever it is."""
    decimal: Literal[".", ","] = "."
    """The decimal sign of plain numbers; those with a format are written as it says."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        one = len(self.delimiter) == 1 and (self.delimiter == "\t" or self.delimiter.isprintable())
        if not (one and self.delimiter.isascii()) or self.delimiter.isalnum() or self.delimiter in '".-+':
            raise ValueError(f"delimiter must be one character, such as ; or a tab, not {self.delimiter!r}")
        return self
