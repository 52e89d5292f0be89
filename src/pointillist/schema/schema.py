"""Schema: what is public about a table.

A schema states the columns, their kinds, bounds and categories, which combinations cannot be, and who a record belongs
to. It is written in TOML that a person can read and edit. Everything in it counts as public knowledge: it is copied
into every release. So nothing in it may be read off private rows, unless the owner looks at it and says that it is
public (`reviewed = true`).
"""

import itertools
import re
import tomllib
import warnings
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from pointillist.errors import FactsFromDataWarning, SchemaError, UsageError, level_of_caller
from pointillist.files.paths import checked
from pointillist.files.toml_text import edited, key, line
from pointillist.schema.constraints import Constraint, Impossible
from pointillist.schema.csv_form import CsvForm
from pointillist.schema.kinds import NAMES, AnyColumn, Categorical, Column, Derived, Ignore, Image
from pointillist.schema.person import Person
from pointillist.schema.purchase import Purchase

FORMAT = 1


class Schema(BaseModel):
    """The public facts about one table."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal[1] = 1
    name: Annotated[str, Field(min_length=1, max_length=200)]
    """The data set's name; the ledger keeps one account for each name."""
    reviewed: bool = True
    """False in a draft: a release is refused until the owner has checked every fact and set this to true."""
    rows: Annotated[int, Field(ge=1)] | None = None
    """Roughly how many rows there are, if that is public; only used to plan and to show expected errors."""
    person: Person | None = None
    """The privacy unit: one row per person unless stated here."""
    one_row_per_person: bool = False
    """The owner's word that nobody has several rows, where the draft found a column that may name people who do."""
    read_from_data: tuple[str, ...] = ()
    """Names of the facts above that `schema draft` took from the data."""
    bought: tuple[str, ...] = ()
    """Names of the facts above that `schema draft --epsilon` found with noise."""
    purchase: Purchase | None = None
    """What the facts that are marked as bought cost, here and in the columns."""
    csv: CsvForm | None = None
    """How CSV files are written, where that is not with commas between columns and points before decimals."""
    columns: dict[str, Column]
    constraints: tuple[Constraint, ...] = ()
    """Combinations of values that cannot be. Synthetic rows keep to them; private rows are not held against them."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.measured:
            raise ValueError('no column is left to measure: every column has kind = "ignore"')
        if self.person is not None and self.person.column in self.measured:
            raise ValueError(
                f"column {self.person.column!r} names the person and may not be measured: "
                'set its kind to "ignore", or leave it out of the columns'
            )
        self._check_persons()
        if self.person is not None and self.one_row_per_person:
            raise ValueError("person and one_row_per_person = true contradict each other: remove one of them")
        for name, column in self.columns.items():
            if isinstance(column, Derived):
                column.check(name, self.measured)
        if self.image is not None:
            self._check_image()
        for number, constraint in enumerate(self.constraints, start=1):
            try:
                constraint.check(self.measured)
            except ValueError as error:
                raise ValueError(f"constraint {number} ({constraint}): {error}") from None
        return self

    def _check_persons(self) -> None:
        """What is said of persons needs a person column; an order needs a column that has one."""
        facts = [name for name, column in self.measured.items() if column.of == "person"]
        if self.person is None:
            if facts:
                raise ValueError(
                    f'column {facts[0]!r} has of = "person", and there is no [person]: name the person column'
                )
            return
        if self.person.order is not None:
            self.person.check_order(self.measured)
        if facts and all(column.of == "person" for column in self.measured.values()):
            raise ValueError('every column has of = "person": a person then has one row, and needs no person column')

    def _check_image(self) -> None:
        images = [name for name, column in self.measured.items() if isinstance(column, Image)]
        if len(images) > 1:
            raise ValueError(
                f"columns {', '.join(map(repr, images))} are images: one can be measured. Ignore the others"
            )
        labels = [name for name in self.measured if name not in images]
        if len(labels) > 1 or not all(isinstance(self.columns[name], Categorical) for name in labels):
            raise ValueError(
                "beside an image, one column can be measured, a categorical one: the label. Set the others' kind to "
                '"ignore"'
            )
        if self.person is not None:
            raise ValueError("images of one person are not counted together yet: each image is a record of its own")
        if self.constraints:
            raise ValueError("constraints are for tables, not for images")

    def __repr__(self) -> str:  # notebooks keep it beside the box, and a draft's facts are private
        draft = "" if self.reviewed else ", a draft"
        return f"<Schema of {self.name!r}: {len(self.columns)} columns{draft}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from pointillist.schema.schema_box import schema_box

        return schema_box(self).to_html()

    @property
    def image(self) -> tuple[str, Image] | None:
        """The name and column of the images; none if this is a table."""
        return next(((name, c) for name, c in self.columns.items() if isinstance(c, Image)), None)

    @property
    def label(self) -> str | None:
        """The column that says what an image shows, where there is one."""
        return None if self.image is None else next((name for name in self.measured if name != self.image[0]), None)

    @property
    def measured(self) -> dict[str, Any]:
        """The columns that are measured and synthesised, in order."""
        return {name: column for name, column in self.columns.items() if column.measured}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Columns that may be measured together, two by two, in their order."""
        return list(itertools.combinations([name for name, each in self.measured.items() if each.has_levels], 2))

    @property
    def derived(self) -> dict[str, Derived]:
        """The columns that follow from measured ones, in order."""
        return {name: column for name, column in self.columns.items() if isinstance(column, Derived)}

    def column(self, name: str) -> AnyColumn:
        """A column of the table, ignored if the schema does not name it."""
        return self.columns.get(name) or Ignore()

    @field_validator("read_from_data", "bought", "constraints", mode="before")
    @classmethod
    def _tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @property
    def vouched(self) -> dict[str, tuple[str, ...]]:
        """Facts that the draft took from the data and the owner declared public, by column; "" is the table."""
        found = {"": self.read_from_data, **{name: c.read_from_data for name, c in self.columns.items()}}
        return {name: facts for name, facts in found.items() if facts}

    def fact(self, column: str, name: str) -> Any:
        """What a fact says that `vouched` names. Of the table's, order and persons stand under its person."""
        at = self.columns[column] if column else self if name in type(self).model_fields else self.person
        return getattr(at, name, None)

    @property
    def paid_for(self) -> dict[str, tuple[str, ...]]:
        """Facts that were found with noise and are in the ledger, by column; "" is the table."""
        found = {"": self.bought, **{name: c.bought for name, c in self.columns.items()}}
        return {name: facts for name, facts in found.items() if facts}

    @property
    def several_rows(self) -> dict[str, int]:
        """Columns that may name people with several rows, and how many each; none once the owner has answered."""
        if self.person is not None or self.one_row_per_person:
            return {}
        return {name: c.repeats for name, c in self.columns.items() if isinstance(c, Ignore) and c.repeats is not None}

    @classmethod
    def parse(cls, facts: dict[str, Any], *, origin: str = "schema") -> Self:
        """Check `facts`, as read from TOML or JSON; `origin` names them in messages."""
        if "format" in facts and facts["format"] != FORMAT:
            raise SchemaError(
                f"{origin}: schema format {facts['format']!r} is not known to this version, which reads format {FORMAT}. "
                "Upgrade pointillist, or set format = 1 if you wrote the file by hand."
            )
        try:
            return cls.model_validate(facts)
        except ValidationError as error:
            raise SchemaError("\n".join(_explain(origin, error))) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a schema from a TOML file."""
        path = checked(path, SchemaError)
        try:
            facts = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SchemaError(
                f"{path}: no such schema file. Write one with: pointillist schema draft DATA -o {path}"
            ) from None
        except OSError as error:
            raise SchemaError(f"{path}: cannot be read ({error.strerror}).") from None
        except UnicodeDecodeError:
            raise SchemaError(f"{path}: not a text file. A schema is TOML in UTF-8.") from None
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"{path}: not valid TOML: {error}.") from None
        except RecursionError:
            raise SchemaError(f"{path}: values are nested too deep in it. A schema has three levels.") from None
        return cls.parse(facts, origin=str(path))

    def to_toml(self) -> str:
        """The schema as TOML with comments, facts read from the data marked as such."""
        text = "" if self.reviewed else "".join(f"# {each}\n" for each in _DRAFT_NOTICE) + "\n"
        text += line("format", self.format) + line("name", self.name) + line("reviewed", self.reviewed)
        if self.rows is not None:
            text += line("rows", self.rows, _ROUNDED if "rows" in self.read_from_data else _bought("rows", self.bought))
        for name in ("read_from_data", "bought"):
            text += line(name, marks) if (marks := getattr(self, name)) else ""
        if self.one_row_per_person:
            text += line("one_row_per_person", True)
        text += "".join(f"# {each}\n" for each in _question(self.several_rows))
        if self.person is not None:
            text += "\n[person]\n" + "".join(
                line(fact, value, "READ FROM THE DATA" if fact in self.read_from_data else "")
                for fact, value in self.person.facts().items()
            )
        if self.csv is not None:
            mark = "READ FROM THE DATA" if "csv" in self.read_from_data else ""
            text += "\n[csv]\n" + "".join(line(*each, mark) for each in self.csv.model_dump().items())
        if self.purchase is not None:
            text += "\n[purchase]\n" + "".join(line(*each) for each in self.purchase.model_dump().items())
        parts = [f"\n[columns.{key(name)}]\n{_column_lines(column)}" for name, column in self.columns.items()]
        mark = "READ FROM THE DATA" if "constraints" in self.read_from_data else ""
        parts += [f"\n[[constraints]]\n{_constraint_lines(constraint, mark)}" for constraint in self.constraints]
        return text + "".join(parts)

    def written_over(self, text: str, before: "Schema") -> str:
        """A file's text with what differs from the schema that it held; comments and the order of things stay."""
        changes: dict[tuple[str, ...], Any] = {} if self.reviewed == before.reviewed else {("reviewed",): self.reviewed}
        for name, column in self.columns.items():
            now, then = column.facts(), before.columns[name].facts()
            changes |= {("columns", name, fact): value for fact, value in now.items() if then.get(fact) != value}
        notice = {f"# {each}" for each in _DRAFT_NOTICE} if self.reviewed else set()
        kept = "".join(each for each in text.splitlines(keepends=True) if each.strip() not in notice)
        return edited(kept, changes).lstrip("\n")

    def to_json(self) -> dict[str, Any]:
        """The schema as plain JSON values, for releases and models."""
        facts = self.model_dump(mode="json", exclude_defaults=False)
        for late in ("bought", "purchase", "csv"):  # earlier versions had none: their files stay as they were
            if not facts[late]:
                del facts[late]
        if self.person is not None:
            facts["person"] = self.person.facts()
        for name, column in self.columns.items():
            for late in column.unset():
                del facts["columns"][name][late]
        return facts

    @classmethod
    def from_json(cls, facts: dict[str, Any], *, origin: str = "schema") -> Self:
        """The inverse of `to_json`."""
        return cls.parse(facts, origin=origin)

    def require_reviewed(self, origin: str = "schema") -> None:
        """Refuse a draft: its facts were read from private rows, and a release would publish them."""
        if not self.reviewed:
            raise SchemaError(
                f"{origin}: this schema is a draft. Facts marked read_from_data were taken from the private rows, and a "
                "release publishes every fact of its schema. Check each of them against public knowledge, then set "
                "reviewed = true at the top of the file."
            )
        if self.several_rows:
            name = next(iter(self.several_rows))
            raise SchemaError(
                f"{origin}: values of column {name!r} repeat, as they do where people have several rows, and the schema "
                f"does not say who a row belongs to. If a person may have several rows, add [person] with column = "
                f"{name!r} and max_rows, so that the promise is for a whole person. If every row is another person, set "
                "one_row_per_person = true at the top of the file."
            )

    def vouched_words(self) -> str:
        """What `vouched` has, by name and not by value: it may end in a log, and is not published yet."""
        return self._by_name(self.vouched)

    def paid_for_words(self) -> str:
        """What `paid_for` has, by name."""
        return self._by_name(self.paid_for)

    def _by_name(self, marks: dict[str, tuple[str, ...]]) -> str:
        whole = "the table" if self.image is None else "the set"
        return "; ".join(f"{name or whole}: {', '.join(facts)}" for name, facts in marks.items())

    def warn_of_vouched(self) -> None:
        """Warn of facts that were read from the data, before they are published on the owner's word. Names, no values."""
        if self.vouched:
            warnings.warn(
                f"the release of {self.name!r} publishes facts that were read from the private rows, on your word that "
                f"anyone may know them: {self.vouched_words()}. Take out of read_from_data what you know from elsewhere; "
                "or silence this with warnings.simplefilter('ignore', pointillist.FactsFromDataWarning).",
                FactsFromDataWarning,
                stacklevel=level_of_caller(),
            )

    def require_table(self, verb: str) -> None:
        """Refuse images, for what is for tables only."""
        if self.image is not None:
            raise UsageError(f"{verb} is for tables, and {self.name!r} has images.")

    def require_column(self, name: str, *, role: str) -> None:
        """Refuse a `role` (such as target) that is not a measured column."""
        column = self.columns.get(name)
        if isinstance(column, Derived):
            raise SchemaError(
                f"{role} {name!r} is derived and follows from {', '.join(column.inputs)}: it is not measured by itself. "
                f"Name {'one of these' if len(column.inputs) > 1 else 'that one'}, or give it a kind of its own."
            )
        if name not in self.measured:
            known = ", ".join(self.measured)
            raise SchemaError(f"{role} {name!r} is not a measured column of the schema. Measured columns: {known}.")


_DRAFT_NOTICE = (
    "A DRAFT, NOT PRIVATE YET. It was made by looking at the data.",
    "Everything in a schema is published with every release. So check each fact marked READ FROM THE DATA:",
    "keep it only if anyone may know it; else replace it by one from public knowledge (a code book, a law, a physical",
    "limit). A category that only one person has, or a maximum that is one person's value, gives that person away.",
    "Then set reviewed = true.",
)


def _question(several_rows: dict[str, int]) -> tuple[str, ...]:
    """What a draft asks about the privacy unit, with both answers ready to be taken."""
    if not several_rows:
        return ()
    names = ", ".join(f"{name!r} (about {rows:,} rows each)" for name, rows in several_rows.items())
    name, each = next(iter(several_rows.items()))
    return (
        f"A QUESTION. Values of {names} repeat. May a person have several rows?",
        "If every row is another person, say so:",
        "one_row_per_person = true",
        "If not, the promise must be for a person, not for a row: choose how many rows of each are used at most.",
        "[person]",
        line("column", name).rstrip(),
        f"max_rows = {each}  # READ FROM THE DATA: about what each has; fewer give less noise",
    )


_ROUNDED = "READ FROM THE DATA, rounded: remove it if the size is not public"


def _column_lines(column: AnyColumn) -> str:
    return "".join(
        line(name, value, "READ FROM THE DATA" if name in column.read_from_data else _bought(name, column.bought))
        for name, value in column.facts().items()
    )


def _bought(name: str, marks: tuple[str, ...]) -> str:
    return "bought" if name in marks else ""


def _constraint_lines(constraint: Constraint, mark: str) -> str:
    if isinstance(constraint, Impossible):
        return line("impossible", constraint.impossible, mark)
    return "".join(line(name, value, mark) for name, value in constraint.model_dump(mode="json").items())


def _explain(origin: str, error: ValidationError) -> list[str]:
    """One line per mistake: file, column, rule, what to do. Schemas are public, so their values may be shown."""
    lines = []
    for mistake in error.errors(include_url=False):
        place = [str(part) for part in mistake["loc"]]
        where = origin
        if place[:1] == ["columns"] and len(place) > 1:
            where += f": column {place[1]!r}"
            place = [part for part in place[3:] if not re.match(r"tuple\[", part)] if len(place) > 2 else []
        elif place[:1] == ["constraints"] and len(place) > 1:
            where += f": constraint {int(place[1]) + 1}"
            place = place[3:]
        rule = f": {'.'.join(place)}" if place else ""
        text = mistake["msg"].removeprefix("Value error, ")
        if mistake["type"] == "union_tag_not_found":
            text = f"kind is not given. Kinds: {NAMES}"
        elif mistake["type"] == "union_tag_invalid":
            text = f"kind {mistake['ctx']['tag']!r} is not known. Kinds: {NAMES}"
        elif place[:1] == ["categories"] and mistake["type"] != "missing":
            place, rule, text = [], ": categories", "must be a list of texts, or a list of whole numbers, not a mixture"
        elif mistake["type"] == "missing":
            text = "is required"
        elif mistake["type"] == "extra_forbidden":
            text = "is not a known setting here; check its spelling"
        line = f"{where}{rule}: {text}."
        if line not in lines:
            lines.append(line)
    return lines
