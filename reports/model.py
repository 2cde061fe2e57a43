"""Defines the records that the lake provides, without Spark, to the pages, the terminal and matrix.json.

Data whose amount grows with the number of systems times the number of rules are never collected: they are read as a
stream, in display order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from reports.text import (
    build_system_key,
    format_system_label,
    get_natural_sort_key,
    get_section_sort_key,
    make_slug,
    shown_profile,
)
from reports.verdict_table import VerdictTable
from reports.vocabulary import SEVERITY_BY_VERDICT

RULE_KIND_OF_DEMAND = "demand"
RULE_KINDS_COUNTED_AS_DEMANDS = (RULE_KIND_OF_DEMAND, "garbled")
RUNS_PER_SYSTEM_SHOWN = 30
"""The number of runs that the page of a system shows, the latest first."""
OBSERVATION_PANELS_PER_PAGE = 12
"""The maximum number of systems whose observations the page of a rule shows, not counting passes.

The verdicts of all systems are shown.
"""
EXAMPLES_PER_PAGE = 2
"""The maximum number of passing systems whose observations the page of a rule shows."""


@dataclass(frozen=True, slots=True)
class System:
    """A system under test: one version of a product, with one profile. ``order``: the number of its latest run."""

    name: str
    version: str
    profile: str = ""
    order: int = 0
    key: str = field(init=False, compare=False)
    """The name of the system in file names, anchors and matrix.json."""

    def __post_init__(self) -> None:
        """Compute the key of the system once, because pages use it a million times."""
        object.__setattr__(self, "key", build_system_key(self.name, self.version, self.profile))

    @property
    def shown_profile(self) -> str:
        """Return the profile to display, or an empty text if the profile is "none" (no Windows release)."""
        return shown_profile(self.profile)

    @property
    def label(self) -> str:
        """Return the display name of the system."""
        return format_system_label(self.name, self.version, self.profile)

    @property
    def product(self) -> tuple[str, str]:
        """Return the name and profile, which all versions of the product share."""
        return self.name, self.profile


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of rules.json with the fields of the catalogue."""

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
    """Whether a check judged the rule when the suites were last proven, or None if the run does not record this."""
    proven: bool | None = None
    observed: str = ""
    """A description of how the rule is observed (the meaning of ``observe``), or an empty text if the run does not
    record it.
    """
    kind: str = RULE_KIND_OF_DEMAND
    """The class of the rule in the catalogue, for example a demand, an event or a clone (a repetition of another rule).
    """
    varied: tuple[str, ...] = ()
    """The parameters that checks of the rule vary."""
    cells: int = 0
    """The number of cells (combinations of a state and an event) in which a check judges the rule."""
    explored: tuple[str, ...] = ()
    """The areas of the random explorer (docs/explore.md) whose model of the system cites the rule."""


@dataclass(frozen=True, slots=True)
class CoverageOfSection:
    """The coverage of one section: the number of its rules, the number of rules with a check, and the number of
    rules with a proof.

    ``demand``: MUST or SHOULD. ``kind``: the class of the rules, such as demand or event.
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
    kind: str = RULE_KIND_OF_DEMAND

    @property
    def open(self) -> int:
        """Return the number of rules that have no check although a check could judge them."""
        return self.rows - self.none - self.checked


@dataclass(frozen=True, slots=True)
class ProtocolWithoutRules:
    """A protocol of message queuing for which the suites have no rules. The record lists the parts of the protocol that
    the project covers, and the parts that it omits.
    """

    name: str
    title: str
    exercised: str
    reference: str
    left_out: str


@dataclass(frozen=True, slots=True)
class RootCause:
    """A failed prerequisite that is the common cause of several verdicts. ``said``: a description of the failure.
    ``checks``: the checks that depend on the prerequisite.
    """

    said: str
    checks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a system.

    ``counts``: the number of rules by their worst verdict in this run. ``kept``, ``rejected``: the numbers of kept
    and rejected lines. ``unfollowed``: the rules of level MUST whose sentence also contains a SHOULD that the
    system did not follow.
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
    roots: tuple[RootCause, ...] = ()

    @property
    def lacking(self) -> str:
        """Return the reason why the run did not judge all rules, or an empty text for a complete run."""
        if self.aborted:
            return f"aborted: {self.aborted}"
        if self.finished is None:
            return "did not finish"
        return "partial" if self.partial else ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A packet that is evidence of a verdict.

    ``hex`` may contain only the beginning of the packet; ``octets`` is the length of the whole packet. ``first``,
    ``last``: the first and the last of the octets that decided the verdict, or None if the whole packet did.
    ``deciding_text_ranges``: the range of the characters in the dissection that show these octets (end exclusive).
    ``capture_ms``: the duration of the capture that contains the packet.
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
    deciding_text_ranges: tuple[tuple[int, int], ...] = ()
    capture_ms: int | None = None


@dataclass(frozen=True, slots=True)
class UndecidedVerdictAfterDecision:
    """An undecided verdict that is later than the current verdict of its rule but does not replace this verdict."""

    verdict: str
    run: str
    started: datetime
    test: str
    reason: str


@dataclass(frozen=True, slots=True)
class StandingVerdict:
    """The current verdict of a rule for a system: a row of the table ``rule_current``.

    ``counts``: the number of checks by verdict. ``system``: the key of the system.
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
    later_undecided_verdicts: tuple[UndecidedVerdictAfterDecision, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A run that changed the current verdict of a rule.

    An empty verdict means that the rule had no verdict before the run, or has none after it.
    """

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
class RejectedVerdictLine:
    """A line of a verdict file that the ingest rejected."""

    folder: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class CitedErratum:
    """An erratum that verdicts of a rule name, with the number of systems that have such verdicts."""

    erratum: str
    rule: str
    systems: int


@dataclass(frozen=True, slots=True)
class Pair:
    """The verdicts of a system in one role, with another system as its counterpart: a row of the table ``pairs``.

    ``a`` and ``b`` are the keys of the two systems, ``a_name`` and ``b_name`` their display names.
    """

    a: str
    a_name: str
    b: str
    b_name: str
    role: str
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The current result of a scenario that two systems ran with each other: a row of the table ``exchanges``.

    ``origin`` and ``target`` are the keys of the two systems, ``origin_name`` and ``target_name`` their display names.
    ``position``: the place in the results of the pair. ``broken``: the rules that each system broke in the capture, by
    the key of the system.
    """

    origin: str
    origin_name: str
    target: str
    target_name: str
    position: int
    scenario: str
    letter: str
    result: str
    why: str
    pair: str
    capture: str
    started: datetime | None
    broken: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class SiteContents:
    """The complete content of the site.

    ``runs``: the latest runs of each system, newest last. ``run_count``: the number of all runs. ``rejected``: a sample
    of the rejected lines. ``standing_verdicts``: the standing verdicts, with the rules in the order of
    `get_rule_sort_key`. ``read_shown_verdicts`` yields the verdicts that the page of a rule shows in full, in the order
    of the rules' ids, the worst first. For each rule these are at most `OBSERVATION_PANELS_PER_PAGE` verdicts other
    than passes, and `EXAMPLES_PER_PAGE` passes. ``changes`` yields the latest changes of each rule, in the same order.
    ``read_findings`` yields, system by system, the verdicts that are not a pass, are retired or have later undecided
    verdicts, the worst first. Each call reads the lake again.
    """

    systems: tuple[System, ...]
    runs: tuple[Run, ...]
    rules: dict[str, Rule]
    standing_verdicts: VerdictTable
    read_shown_verdicts: Callable[[], Iterator[StandingVerdict]]
    read_findings: Callable[[], Iterator[StandingVerdict]]
    changes: Callable[[], Iterator[Change]] = lambda: iter(())
    cited_errata: tuple[CitedErratum, ...] = ()
    pairs: tuple[Pair, ...] = ()
    """The pairs whose counterpart is not the reference queue manager."""
    exchanges: tuple[Exchange, ...] = ()
    coverage: tuple[CoverageOfSection, ...] = ()
    members: tuple[ProtocolWithoutRules, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    rejected: tuple[RejectedVerdictLine, ...] = ()
    rejected_count: int = 0
    run_count: int = 0
    kept: int = 0

    def sections(self) -> list[Section]:
        """Return the sections in the order of the documents, each with the rules of the catalogue."""
        rows: dict[tuple[str, str], list[Rule]] = {}
        for rule in sorted(self.rules.values(), key=get_rule_sort_key):
            rows.setdefault((rule.document, rule.section), []).append(rule)
        return [
            Section(*key, tuple(rules), self._count_by_system(rules), sum(map(self.counts_rule, rules)))
            for key, rules in rows.items()
        ]

    def counts_rule(self, rule: Rule) -> bool:
        """Return whether pages count a rule: a run of all suites would judge it, or a run has already judged it."""
        return is_judgeable(rule) or any(self.standing_verdicts.get(system.key, rule.rule) for system in self.systems)

    def _count_by_system(self, rules: list[Rule]) -> dict[str, Counter[str]]:
        start = self.standing_verdicts.index_by_rule[rules[0].rule]
        found = {
            system.key: self.standing_verdicts.counts(system.key, start, start + len(rules)) for system in self.systems
        }
        return {key: counts for key, counts in found.items() if counts}

    def totals(self) -> dict[str, Counter[str]]:
        """Return the numbers of rules by verdict for each system."""
        return {system.key: self.standing_verdicts.counts(system.key) for system in self.systems}

    def list_runs_of_system(self, system: System) -> list[Run]:
        """Return the known runs of a system, newest last."""
        return [run for run in self.runs if run.system == system.key]

    def before(self, system: System) -> System | None:
        """Return the version of the product that was tested most recently before the given version."""
        earlier = [each for each in self.systems if each.product == system.product and each.order < system.order]
        return max(earlier, key=lambda each: each.order, default=None)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document: all of its rules, and for each system (by its key) the number of rules by verdict.

    ``checked``: the number of rules that count as checked, with or without a verdict.
    """

    document: str
    section: str
    rules: tuple[Rule, ...]
    counts: dict[str, Counter[str]]
    checked: int

    @property
    def title(self) -> str:
        """Return the title of the section, which the first rule with a title provides."""
        return next((rule.title for rule in self.rules if rule.title), "")

    @property
    def link(self) -> str:
        """Return the link to the public page of the section."""
        return next((rule.link for rule in self.rules if rule.link), "")

    @property
    def slug(self) -> str:
        """Return the name of the section's page in file names."""
        return make_slug(f"{self.document} {self.section}")


def make_unlisted_rule(rule: str, document: str, section: str, level: str) -> Rule:
    """Return a record for a rule that was judged but is missing in every catalogue."""
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
    """Return whether a run of all suites would judge the rule."""
    return rule.observe != "none" if rule.checked is None else rule.checked


def get_rule_sort_key(rule: Rule) -> tuple[object, ...]:
    """Return a key that sorts rules in the order of the documents."""
    return rule.document, get_section_sort_key(rule.section), get_natural_sort_key(rule.rule)


def sum_counts(counters: Iterable[Counter[str]]) -> Counter[str]:
    """Return the sum of several counters."""
    return sum(counters, Counter())


def get_worst_verdict(counts: Counter[str]) -> str:
    """Return the worst verdict whose count is above zero."""
    return min(
        (name for name, count in counts.items() if count), key=SEVERITY_BY_VERDICT.__getitem__, default="not_judged"
    )
