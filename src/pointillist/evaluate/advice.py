"""Advice: what to do about a finding, in a sentence and as something to paste: a command, or lines for the schema."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Self

from pointillist.files.toml_text import key
from pointillist.release import Release
from pointillist.schema import Schema

STATE = (
    "State it as a constraint, which costs nothing and which every synthetic row keeps: in the schema, or without a new "
    "release by model.constrained(…)."
)
"""What to do about a rule that a schema can state."""
PUBLIC = "A schema is public: write into it only what is known without these rows, or what you vouch for."
"""What has to stand beside lines for a schema that were read off private rows."""


@dataclass(frozen=True)
class Advice:
    """One thing to do."""

    text: str
    code: str = ""
    """A command, or lines of a schema."""
    in_schema: bool = False
    """Whether the code belongs in the schema, which is public."""

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Commands:
    """The names that commands need, as far as they are known."""

    data: str = "REAL.csv"
    schema: str = "SCHEMA.toml"
    epsilon: float | None = None
    target: str | None = None

    @classmethod
    def of(cls, table: str, schema: Schema, release: Release | None, target: str | None) -> Self:
        """Of a table by its name; a frame has none. Its schema most often lies beside it."""
        file = PurePath(table)
        known = bool(file.suffix) and " " not in table
        names = (table, str(file.with_suffix(".toml"))) if known else (cls.data, f"{schema.name}.toml")
        return cls(*names, None if release is None else release.guarantee.epsilon, target)

    def synth(self, *, factor: float = 1.0, target: str | None = None) -> str:
        """The command that makes a new table, with so many times the budget."""
        epsilon = f"{factor * self.epsilon:.3g}" if self.epsilon is not None else "EPSILON"
        goal = target or self.target
        named = f" --target {_quoted(goal)}" if goal else ""
        return (
            f"pointillist synth {_quoted(self.data)} --schema {_quoted(self.schema)} --epsilon {epsilon}{named} "
            "-o synthetic.csv"
        )

    def larger_epsilon(self) -> Advice:
        """Where noise is what is wrong."""
        said = "Spend more, if the budget allows: what a new release spends adds to what was spent."
        return Advice(said, self.synth(factor=2.0))


NO_NAMES = Commands()
"""Where nothing is known: the reader fills in names."""


def in_column(name: str, *lines: str) -> str:
    """Lines of a schema that belong to a column."""
    return "\n".join((f"[columns.{key(name)}]", *lines))


def constraint(line: str) -> str:
    """A constraint, as a schema has it."""
    return f"[[constraints]]\n{line}"


def _quoted(name: str) -> str:
    plain = name.replace("_", "").replace("-", "").replace(".", "").replace("/", "")
    return name if plain.isalnum() else "'" + name.replace("'", "'\\''") + "'"
