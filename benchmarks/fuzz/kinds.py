"""Kinds: all sorts of input, by name."""

from benchmarks.fuzz import artefacts, command, pictures, tables, texts
from benchmarks.fuzz.kind import Kind

KINDS: dict[str, Kind] = {
    each.name: each for each in (*tables.KINDS, *pictures.KINDS, *texts.KINDS, *artefacts.KINDS, *command.KINDS)
}
