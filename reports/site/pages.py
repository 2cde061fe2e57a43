"""What every page needs: the records in the order in which they are shown, and a way to write a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.captures import CaptureStore
from reports.model import Contents, Rule, System, is_judgeable, rule_key
from reports.site.environment import environment
from reports.text import natural_key
from reports.vocabulary import DECIDED, FINDINGS, VERDICTS

COLUMNS_A_PAGE = 20
"""Systems side by side on one page; more are on further pages."""
COLUMNS_THAT_FIT = 5
"""More columns than these scroll in a box of their own."""
_NOT_JUDGED = 255
Stage = Callable[[str, int, int], None]
"""Told what is written now, how much of it is done, and how much there is (0: nobody knows)."""


@dataclass(frozen=True, slots=True)
class Standings:
    """The verdict of every rule for every system in one octet each: 200 systems with 3,000 rules are 600 kB."""

    rules: dict[str, int]
    rows: dict[str, bytearray]

    @classmethod
    def empty(cls, rules: Sequence[Rule], systems: Sequence[System]) -> Standings:
        """Return one in which nothing is judged."""
        numbers = {rule.rule: number for number, rule in enumerate(rules)}
        return cls(numbers, {system.key: bytearray([_NOT_JUDGED]) * len(rules) for system in systems})

    def put(self, system: str, rule: str, verdict: str) -> None:
        """Say what stands."""
        self.rows[system][self.rules[rule]] = VERDICTS.index(verdict)

    def get(self, system: str, rule: str) -> str | None:
        """Return the verdict; None when there is none or the rule is unknown."""
        number = self.rules.get(rule)
        code = _NOT_JUDGED if number is None else self.rows[system][number]
        return None if code == _NOT_JUDGED else VERDICTS[code]


class Pages:
    """The writer of pages of one site."""

    def __init__(self, contents: Contents, site: Path, captures: CaptureStore) -> None:
        self.contents = contents
        self.site = site
        self.captures = captures
        self.systems = sorted(
            contents.systems, key=lambda each: (natural_key(each.name), natural_key(each.profile), each.order)
        )
        self.by_key = {system.key: system for system in self.systems}
        self.before = {system.key: contents.before(system) for system in self.systems}
        self.totals = contents.totals()
        self.sections = contents.sections()
        self.rules = sorted(contents.rules.values(), key=rule_key)
        self.judgeable = sum(map(is_judgeable, self.rules))
        self.standings = Standings.empty(self.rules, self.systems)
        self.cited: dict[str, dict[str, list[str]]] = {}
        """Erratum: rule: keys of the systems whose verdict cites it."""
        latest = {run.system: run for run in contents.runs}
        self.env = environment()
        self.env.globals |= {
            "contents": contents,
            "document_titles": contents.titles,
            "systems": self.systems,
            "latest": latest,
            "before": self.before,
            "totals": self.totals,
            "judgeable": self.judgeable,
            "decided": decided,
            "attention": attention,
        }

    def write(self, template: str, name: str, **values: object) -> None:
        """Write a page."""
        root = "../" * name.count("/")
        page = self.env.get_template(template).render(root=root, page=name, **values)
        (self.site / name).write_text(page, encoding="utf-8", errors="replace")

    def columns(self) -> list[list[System]]:
        """Return the systems, as many together as a page shows side by side; never nothing at all."""
        return [
            self.systems[start : start + COLUMNS_A_PAGE] for start in range(0, len(self.systems), COLUMNS_A_PAGE)
        ] or [[]]

    def change(self, system: str, rule: str, verdict: str) -> str:
        """Say what became of a rule since the version before; empty when nothing did or there is none before."""
        before = self.before[system]
        was = self.standings.get(before.key, rule) if before else None
        if was is None or was == verdict:
            return ""
        return {"fail": "newly failing", "pass": "newly passing"}.get(verdict, "changed")


def decided(counts: Counter[str]) -> int:
    """Count the rules of which it is known what the system does."""
    return sum(counts[name] for name in DECIDED)


def attention(counts: Counter[str]) -> int:
    """Count the rules that somebody has to look at."""
    return sum(counts[name] for name in FINDINGS)
