"""The records between the lake and what people look at: the pages, the terminal, matrix.json. No Spark here.

What grows with systems times rules is never a collection: it is read as a stream, in the order in which it is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from reports.text import natural_key, section_key, shown_profile, slug, system_key, system_label
from reports.verdict_table import VerdictTable
from reports.vocabulary import SEVERITY

DEMAND = "demand"
DEMANDS = (DEMAND, "garbled")
RUNS_SHOWN = 30
"""Runs of a system on its page, the latest."""
PANELS_A_PAGE = 12
"""Systems of which the page of a rule shows what was seen, where it was no pass; the verdict is shown of all."""
EXAMPLES_A_PAGE = 2
"""The same of passes."""


@dataclass(frozen=True, slots=True)
class System:
    """A system under test: one version of a product, with one profile. ``order``: of its latest run."""

    name: str
    version: str
    profile: str = ""
    order: int = 0
    key: str = field(init=False, compare=False)
    """A name for files, anchors and matrix.json."""

    def __post_init__(self) -> None:
        """Compute the key once: pages ask for it a million times."""
        object.__setattr__(self, "key", system_key(self.name, self.version, self.profile))

    @property
    def shown_profile(self) -> str:
        """The profile where it tells systems apart."""
        return shown_profile(self.profile)

    @property
    def label(self) -> str:
        """How it is called."""
        return system_label(self.name, self.version, self.profile)

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
class Root:
    """What verdicts of a run rest on and is missing. ``said``: what was found; ``checks``: those that rest on it."""

    said: str
    checks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a system.

    ``counts``: rules by their worst verdict in this run; ``kept``, ``rejected``: lines; ``unfollowed``: rules of level
    MUST whose sentence has a SHOULD that was missed.
    """

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
    unfollowed: tuple[str, ...] = ()
    roots: tuple[Root, ...] = ()

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
    (exclusive). ``capture_ms``: from the first packet of its capture to the last.
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
    capture_ms: int | None = None


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
class Cited:
    """An erratum that verdicts of a rule rest on, those of so many systems."""

    erratum: str
    rule: str
    systems: int


@dataclass(frozen=True, slots=True)
class Pair:
    """What a system did in a role while another one was its counterpart: rules by verdict, of the table ``pairs``.

    ``a`` and ``b`` are keys, with what their systems are called.
    """

    a: str
    a_name: str
    b: str
    b_name: str
    role: str
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that is shown.

    ``runs``: the latest of each system, newest last; ``run_count``: all of them. ``rejected`` is a sample.
    ``stands`` has the rules in the order of `rule_key`. ``shown`` yields what a page of a rule shows in full, in the
    order of the rules' ids, of one rule the worst first (at most `PANELS_A_PAGE` that are no pass, `EXAMPLES_A_PAGE`
    that are); ``changes`` the latest changes of each rule, in the same order. ``found`` yields, system by system, what
    is no pass, is retired or has later verdicts beside it, the worst first. Each call reads anew.
    """

    systems: tuple[System, ...]
    runs: tuple[Run, ...]
    rules: dict[str, Rule]
    stands: VerdictTable
    shown: Callable[[], Iterator[Standing]]
    found: Callable[[], Iterator[Standing]]
    changes: Callable[[], Iterator[Change]] = lambda: iter(())
    cited: tuple[Cited, ...] = ()
    pairs: tuple[Pair, ...] = ()
    """Those with another counterpart than the reference."""
    coverage: tuple[Coverage, ...] = ()
    members: tuple[Member, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    rejected: tuple[Rejected, ...] = ()
    rejected_count: int = 0
    run_count: int = 0
    kept: int = 0

    def sections(self) -> list[Section]:
        """Return the sections in the order of the documents; a section lists the rules of the catalogue."""
        rows: dict[tuple[str, str], list[Rule]] = {}
        for rule in sorted(self.rules.values(), key=rule_key):
            rows.setdefault((rule.document, rule.section), []).append(rule)
        return [
            Section(*key, tuple(rules), self._count_by_system(rules), sum(map(self.counts_rule, rules)))
            for key, rules in rows.items()
        ]

    def counts_rule(self, rule: Rule) -> bool:
        """Tell whether a rule counts as one that is checked: a run of all suites would judge it, or some run has."""
        return is_judgeable(rule) or any(self.stands.get(system.key, rule.rule) for system in self.systems)

    def _count_by_system(self, rules: list[Rule]) -> dict[str, Counter[str]]:
        start = self.stands.places[rules[0].rule]
        found = {system.key: self.stands.counts(system.key, start, start + len(rules)) for system in self.systems}
        return {key: counts for key, counts in found.items() if counts}

    def totals(self) -> dict[str, Counter[str]]:
        """Count rules by verdict for each system."""
        return {system.key: self.stands.counts(system.key) for system in self.systems}

    def runs_of(self, system: System) -> list[Run]:
        """Return the runs of a system that are known here, newest last."""
        return [run for run in self.runs if run.system == system.key]

    def before(self, system: System) -> System | None:
        """Return the version of the product that was tested before this one."""
        earlier = [each for each in self.systems if each.product == system.product and each.order < system.order]
        return max(earlier, key=lambda each: each.order, default=None)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document: its rules, judged or not, and by key of a system how many have which verdict.

    ``checked``: the rules that count, so that those with a verdict and those without one are together as many.
    """

    document: str
    section: str
    rules: tuple[Rule, ...]
    counts: dict[str, Counter[str]]
    checked: int

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


def bare_rule(rule: str, document: str, section: str, level: str) -> Rule:
    """Return a row for a judged rule that no catalogue knows."""
    says = "The catalogue of this run has no row for this rule."
    return Rule(
        rule=rule,
        document=document,
        section=section,
        title="",
        level=level,
        form="",
        observe="",
        role="",
        says=says,
        why="",
        link="",
    )


def is_judgeable(rule: Rule) -> bool:
    """Tell whether a run of all suites would judge the rule."""
    return rule.observe != "none" if rule.checked is None else rule.checked


def rule_key(rule: Rule) -> tuple[object, ...]:
    """Return a key that sorts rules as the documents have them."""
    return rule.document, section_key(rule.section), natural_key(rule.rule)


def add_counts(counters: Iterable[Counter[str]]) -> Counter[str]:
    """Return the sum."""
    return sum(counters, Counter())


def worst(counts: Counter[str]) -> str:
    """Return the worst verdict counted."""
    return min((name for name, count in counts.items() if count), key=SEVERITY.__getitem__, default="not_judged")
