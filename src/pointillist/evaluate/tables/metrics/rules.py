"""Rules: what holds in every real row and is broken in synthetic ones, found without being told.

Functions of other columns, orders, values that are never together, gaps, clock times, ranges: a file each in `rules/`.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pointillist.evaluate.advice import PUBLIC
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.metric import METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.metric import RULES as SECTION
from pointillist.evaluate.tables.rules.base import LEAST_ROWS, RULES, Rule, facts_of
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.evaluate.verdict import Point, grade
from pointillist.pages import count, share
from pointillist.pages.blocks import Block, Code, Details, Table, Text
from pointillist.pages.report import Section

_NOTICED = 0.005
"""A rule that is broken in fewer synthetic rows is not listed: the next real rows might break it as often."""
_SHOWN = 12
_ADVISED = 3


@dataclass(frozen=True)
class Rules(Result):
    """All rules, those that are broken most first."""

    rules: tuple[Rule, ...]
    rows: int
    """Real rows that they hold in."""

    @property
    def broken(self) -> tuple[Rule, ...]:
        """Those that are broken in more synthetic rows than chance explains."""
        return tuple(each for each in self.rules if each.beyond > max(_NOTICED, 10 / self.rows))

    @property
    def _found(self) -> str:
        return "1 rule holds" if len(self.rules) == 1 else f"{len(self.rules)} rules hold"

    def to_json(self) -> dict[str, Any]:
        return {"found": len(self.rules), "broken": [each.to_json() for each in self.broken]}

    def table(self) -> pa.Table:
        return pa.table(
            {
                "rule": [each.text for each in self.rules],
                "kind": [each.kind for each in self.rules],
                "broken": [each.broken for each in self.rules],
            }
        )

    def headlines(self) -> dict[str, float]:
        return {"rules broken": float(len(self.broken))}

    def lines(self) -> tuple[str, ...]:
        if not self.broken:
            return ()
        named = [f"{each.text}: {share(each.broken)}" for each in self.broken[:_SHOWN]]
        left = len(self.broken) - len(named)
        more = (f"  and {left} more: see the report.",) if left else ()
        return ("Rules that every real row keeps, and the share of synthetic rows that break them:",
                *(f"  {each}" for each in named), *more)  # fmt: skip

    def points(self) -> tuple[Point, ...]:
        if not self.rules:
            return ()
        rule = (
            "share of synthetic rows that break a rule which every real row keeps, of the worst rule: good up to 0.5 %, "
            "fair up to 5 %"
        )
        if not self.broken:
            them = "it" if len(self.rules) == 1 else "them"
            said = f"{self._found} in every real row, and synthetic rows keep {them}, but for 0.5 % at most."
            return (Point("rules", "good", "0", said, rule),)
        worst = self.broken[0]
        named = "; ".join(f"{each.text} ({share(each.broken)})" for each in self.broken[:_ADVISED])
        return (
            Point(
                "rules",
                grade(worst.broken, _NOTICED, 0.05),
                share(worst.broken),
                f"{self._found} in every real row, and synthetic rows break {len(self.broken)} of them. Worst: "
                f"{named}.",
                rule,
                tuple(advice for each in self.broken[:_ADVISED] for advice in each.advice[:1]),
            ),
        )

    def sections(self) -> tuple[Section, ...]:
        if not self.rules:
            return ()
        lead = (
            f"{self._found} in each of the {count(self.rows)} real rows, and chance does not explain it. Rules are found "
            "by trying: not all of them need mean anything."
        )
        if not self.broken:
            return (SECTION.saying(lead, "Synthetic rows keep them, too.", blocks=[self._kept()]),)
        rows = [(each.text, share(each.broken), _told(each)) for each in self.broken[:_SHOWN]]
        blocks: list[Block] = [Table.of("rule|*broken|what to do", rows, "Rules that synthetic rows break")]
        if len(self.broken) > _SHOWN:
            rest = [(each.text, share(each.broken)) for each in self.broken[_SHOWN:]]
            blocks.append(Details(f"{len(rest)} more that are broken", Table.of("rule|*broken", rest)))
        if len(self.broken) < len(self.rules):
            blocks.append(self._kept())
        return (SECTION.saying(lead, blocks=[*blocks, Text(PUBLIC, "soft")]),)

    def _kept(self) -> Details:
        kept = [each for each in self.rules if each not in self.broken]
        rows = [(each.text, share(each.broken)) for each in kept]
        return Details(f"{len(kept)} that synthetic rows keep", Table.of("rule|*broken", rows))


def _told(rule: Rule) -> Block | str:
    if not rule.advice:
        return "–"
    first = rule.advice[0]
    return Details(first.text, Code(first.code)) if first.code else first.text


@METRICS.register("rules", place=15)
class RulesMetric(TableMetric[Rules]):
    """Rules that hold in every real row."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Rules:
        return rules(real, synthetic)


def rules(real: Sample, synthetic: Sample) -> Rules:
    """Find the rules of the real rows, and count how often synthetic rows break them."""
    require_same_columns(real, synthetic)
    if real.rows < LEAST_ROWS:
        return Rules((), real.rows)
    facts = facts_of(real, synthetic)
    found: list[Rule] = []
    said: set[tuple[str, frozenset[str]]] = set()
    for kind in RULES.values():
        for name, rule in [(each.kind, each) for each in kind().find(facts)]:
            if (name, frozenset(rule.columns)) in said:
                continue
            found.append(rule)
            said |= {(other, frozenset(rule.columns)) for other in kind.replaces}
    return Rules(tuple(sorted(found, key=lambda each: -each.broken)), real.rows)
