"""The records between the lake and what people look at: the pages, the terminal, matrix.json. No Spark here.

What grows with systems times rules is never a collection: it is read as a stream, in the order in which it is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from reports.text import natural_key, section_key, slug, system_key
from reports.vocabulary import SEVERITY

DEMAND = "demand"
DEMANDS = (DEMAND, "garbled")
INSPECTED = "inspect"


@dataclass(frozen=True, slots=True)
class System:
    """A system under test: one version of a product, with one profile. ``order``: of its latest run."""

    name: str
    version: str
    profile: str = ""
    order: int = 0

    @property
    def key(self) -> str:
        """A name for files, anchors and matrix.json."""
        return system_key(self.name, self.version, self.profile)

    @property
    def product(self) -> tuple[str, str]:
        """What its versions share."""
        return self.name, self.profile


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of rules.json, in the words of the catalogue."""

    rule: str
    document: str
    section: str
    title: str
    level: str
    form: str
    observe: str
    role: str
    says: str
    why: str
    link: str
    checked: bool | None = None
    """Whether a check judged it when the suites were last proven; None: the run does not say."""
    proven: bool | None = None
    observed: str = ""
    """``observe`` in words; empty: the run does not say."""
    kind: str = DEMAND
    """The class, such as demand, event or clone."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The part of one section that was checked when the suites were last proven.

    ``demand``: MUST or SHOULD; ``kind``: the class of the rules, such as demand or event.
    """

    document: str
    section: str
    title: str
    demand: str
    rows: int
    catalogued: int
    checked: int
    proven: int
    none: int
    kind: str = DEMAND

    @property
    def open(self) -> int:
        """The rules that nothing checks although somebody could."""
        return self.rows - self.none - self.checked


@dataclass(frozen=True, slots=True)
class Member:
    """A protocol of the system without rules here: what the suites exercise, the reference does, and is left out."""

    name: str
    title: str
    exercised: str
    reference: str
    left_out: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a system. ``counts``: rules by their worst verdict in this run; ``kept``, ``rejected``: lines."""

    run: str
    ingest: int
    started: datetime
    finished: datetime | None
    system: str
    vendor: str
    reach: str
    harness: str
    selection: str
    exit: int | None
    aborted: str
    partial: bool
    folder: str
    counts: dict[str, int] = field(default_factory=dict)
    kept: int = 0
    rejected: int = 0

    @property
    def lacking(self) -> str:
        """Say why it is no whole run; empty for one that is."""
        if self.aborted:
            return f"aborted: {self.aborted}"
        if self.finished is None:
            return "did not finish"
        return "partial" if self.partial else ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A packet that a verdict points at.

    ``hex`` may be the beginning only, ``octets`` is the whole length. ``first``, ``last``: the octets that decide,
    inclusive; None: the whole packet. ``marked``: where the dissection shows them, from a character to another
    (exclusive).
    """

    frame: int | None
    time_ms: int | None
    direction: str
    transport: str
    hex: str
    octets: int
    dissection: str
    first: int | None = None
    last: int | None = None
    marked: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """A later verdict that decides nothing and replaces nothing."""

    verdict: str
    run: str
    started: datetime
    test: str
    reason: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The verdict that stands of a rule for a system: a row of the table ``rule_current``.

    ``counts``: checks by verdict. ``system``: its key.
    """

    system: str
    rule: str
    document: str
    section: str
    level: str
    verdict: str
    run: str
    started: datetime
    seq: int
    reach: str = ""
    partial: bool = False
    test: str = ""
    expected: str = ""
    observed: str = ""
    reason: str = ""
    capture: str = ""
    errata: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    evidence: tuple[Frame, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    retired: bool = False
    beside: tuple[Beside, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A run after which another verdict of a rule stood than before. Empty verdicts: there was none."""

    name: str
    profile: str
    rule: str
    run: str
    started: datetime | None
    version: str
    verdict: str
    version_before: str
    verdict_before: str
    change: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line of a verdict file that could not be taken."""

    folder: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Tally:
    """The rules of a section that have one verdict for one system: a row of the table ``matrix``."""

    document: str
    section: str
    system: str
    verdict: str
    rules: int


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that is shown.

    ``runs``: the latest of each system, newest last; ``run_count``: all of them. ``rejected`` is a sample.
    ``by_rule`` yields what stands in the order of systems within rules, ``changes`` the latest changes of each rule;
    both in the order of the rules' ids. ``found`` yields, system by system, what stands and is no pass, the worst
    first. Each call reads anew.
    """

    systems: tuple[System, ...]
    runs: tuple[Run, ...]
    rules: dict[str, Rule]
    tallies: tuple[Tally, ...]
    by_rule: Callable[[], Iterator[Standing]]
    found: Callable[[], Iterator[Standing]]
    changes: Callable[[], Iterator[Change]] = lambda: iter(())
    coverage: tuple[Coverage, ...] = ()
    members: tuple[Member, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    rejected: tuple[Rejected, ...] = ()
    rejected_count: int = 0
    run_count: int = 0
    kept: int = 0

    def counts(self) -> dict[tuple[str, str], dict[str, Counter[str]]]:
        """Count rules by verdict: (document, section) to key of a system to counts."""
        counts: dict[tuple[str, str], dict[str, Counter[str]]] = {}
        for one in self.tallies:
            cell = counts.setdefault((one.document, one.section), {}).setdefault(one.system, Counter())
            cell[one.verdict] += one.rules
        return counts

    def sections(self) -> list[Section]:
        """Return the sections in the order of the documents; a section lists the rules of the catalogue."""
        rows: dict[tuple[str, str], list[Rule]] = {}
        for rule in sorted(self.rules.values(), key=rule_key):
            rows.setdefault((rule.document, rule.section), []).append(rule)
        counts = self.counts()
        for key in counts.keys() - rows.keys():
            rows[key] = []
        return [
            Section(*key, tuple(rows[key]), counts.get(key, {}))
            for key in sorted(rows, key=lambda key: (key[0], section_key(key[1])))
        ]

    def totals(self) -> dict[str, Counter[str]]:
        """Count rules by verdict for each system."""
        totals: dict[str, Counter[str]] = {system.key: Counter() for system in self.systems}
        for one in self.tallies:
            totals[one.system][one.verdict] += one.rules
        return totals

    def runs_of(self, system: System) -> list[Run]:
        """Return the runs of a system that are known here, newest last."""
        return [run for run in self.runs if run.system == system.key]

    def before(self, system: System) -> System | None:
        """Return the version of the product that was tested before this one."""
        earlier = [each for each in self.systems if each.product == system.product and each.order < system.order]
        return max(earlier, key=lambda each: each.order, default=None)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document: its rules, judged or not, and by key of a system how many have which verdict."""

    document: str
    section: str
    rules: tuple[Rule, ...]
    counts: dict[str, Counter[str]]

    @property
    def title(self) -> str:
        """The section's title, as its first titled rule says it."""
        return next((rule.title for rule in self.rules if rule.title), "")

    @property
    def link(self) -> str:
        """The public page of the section."""
        return next((rule.link for rule in self.rules if rule.link), "")

    @property
    def slug(self) -> str:
        """The name of its page."""
        return slug(f"{self.document} {self.section}")


def bare_rule(standing: Standing) -> Rule:
    """Return a row for a judged rule that no catalogue knows."""
    return Rule(
        rule=standing.rule,
        document=standing.document,
        section=standing.section,
        title="",
        level=standing.level,
        form="",
        observe="",
        role="",
        says="The catalogue of this run has no row for this rule.",
        why="",
        link="",
    )


def is_judgeable(rule: Rule) -> bool:
    """Tell whether a run of all suites would judge the rule."""
    return rule.observe != "none" if rule.checked is None else rule.checked


def rule_key(rule: Rule) -> tuple[object, ...]:
    """Return a key that sorts rules as the documents have them."""
    return rule.document, section_key(rule.section), natural_key(rule.rule)


def added(counters: Iterable[Counter[str]]) -> Counter[str]:
    """Return the sum."""
    return sum(counters, Counter())


def worst(counts: Counter[str]) -> str:
    """Return the worst verdict counted."""
    return min((name for name, count in counts.items() if count), key=SEVERITY.__getitem__, default="not_judged")
