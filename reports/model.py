"""The records that the roll-up hands to the pages and the terminal, without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reports.text import natural_key, section_key, slug
from reports.vocabulary import SEVERITY

DEMAND = "demand"
DEMANDS = (DEMAND, "garbled")


@dataclass(frozen=True, slots=True, order=True)
class Sut:
    """A column of the matrix: one version of one system under test."""

    name: str
    version: str

    @property
    def key(self) -> str:
        """A name for anchors and matrix.json."""
        return slug(f"{self.name} {self.version}")


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
    """A run folder: who was tested, when, how."""

    folder: Path
    run: str
    started: datetime
    finished: datetime | None
    sut: Sut
    vendor: str
    profile: str
    reach: str
    harness: str
    selection: str
    exit: int | None
    rules: dict[str, Rule] = field(repr=False)
    coverage: tuple[Coverage, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    """Titles by the name of the document."""
    members: tuple[Member, ...] = ()

    @property
    def verdicts(self) -> Path:
        """The verdict file."""
        return self.folder / "verdicts.jsonl"


@dataclass(frozen=True, slots=True)
class Frame:
    """A packet that a verdict points at. ``hex`` may be the beginning only, ``octets`` is the whole length."""

    frame: int | None
    time_ms: int | None
    direction: str
    transport: str
    hex: str
    octets: int
    dissection: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict line."""

    seq: int
    verdict: str
    expected: str
    observed: str
    reason: str
    test: str
    capture: str
    level: str
    reach: str
    errata: tuple[str, ...]
    notes: tuple[str, ...]
    evidence: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A rule judged on a SUT version: the latest run's verdicts, ``shown`` being the worst of them, worst first."""

    rule: str
    document: str
    section: str
    sut: Sut
    run: str
    counts: dict[str, int]
    shown: tuple[Judgement, ...]

    @property
    def verdict(self) -> str:
        """The verdict of the rule: the worst one."""
        return self.shown[0].verdict


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document: its rules, judged or not, and their cells."""

    document: str
    section: str
    rules: tuple[Rule, ...]
    cells: tuple[Cell, ...]

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

    def counts(self) -> dict[Sut, Counter[str]]:
        """Count, per SUT version that has a verdict here, rules by their verdict."""
        by_sut: dict[Sut, Counter[str]] = {}
        for cell in self.cells:
            by_sut.setdefault(cell.sut, Counter())[cell.verdict] += 1
        return by_sut


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line of a verdict file that could not be taken."""

    folder: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class RunTotals:
    """The totals of one run: verdicts by kind, and lines that were no verdicts."""

    counts: dict[str, int]
    rejected: int

    @property
    def kept(self) -> int:
        """Verdict lines that were taken."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Rollup:
    """Everything that is shown. ``rejected`` is a sample, ``rejected_count`` the whole number."""

    runs: tuple[Run, ...]
    totals: dict[str, RunTotals]
    cells: tuple[Cell, ...]
    rejected: tuple[Rejected, ...]
    rejected_count: int

    @property
    def kept(self) -> int:
        """Verdict lines that were taken."""
        return sum(total.kept for total in self.totals.values())

    @property
    def suts(self) -> list[Sut]:
        """The columns: every SUT version that a run or a verdict names."""
        return sorted({run.sut for run in self.runs} | {cell.sut for cell in self.cells})

    def rules(self) -> dict[str, Rule]:
        """Return the catalogue: the latest run's words win; a judged rule that no catalogue knows gets a bare row."""
        rules = {cell.rule: _unknown_rule(cell) for cell in self.cells}
        for run in sorted(self.runs, key=lambda run: run.started):
            rules |= run.rules
        return dict(sorted(rules.items(), key=lambda item: _rule_key(item[1])))

    def titles(self) -> dict[str, str]:
        """Return the titles of the documents: the latest run's win."""
        titles: dict[str, str] = {}
        for run in sorted(self.runs, key=lambda run: run.started):
            titles |= run.titles
        return titles

    def sections(self) -> list[Section]:
        """Return the sections in the order of the documents; a section lists the rules of the catalogue."""
        rules = self.rules()
        cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            rule = rules[cell.rule]
            cells.setdefault((rule.document, rule.section), []).append(cell)
        rows: dict[tuple[str, str], list[Rule]] = {}
        for rule in rules.values():
            rows.setdefault((rule.document, rule.section), []).append(rule)
        return [Section(*key, tuple(group), tuple(cells.get(key, ()))) for key, group in rows.items()]

    def latest_run(self, sut: Sut) -> Run | None:
        """Return the latest run of a SUT version; None when only another run's lines name it."""
        runs = [run for run in self.runs if run.sut == sut]
        return max(runs, key=lambda run: (run.started, run.run), default=None)


def _unknown_rule(cell: Cell) -> Rule:
    return Rule(
        rule=cell.rule,
        document=cell.document,
        section=cell.section,
        title="",
        level=cell.shown[0].level,
        form="",
        observe="",
        role="",
        says="The catalogue of this run has no row for this rule.",
        why="",
        link="",
    )


def _rule_key(rule: Rule) -> tuple[object, ...]:
    return rule.document, section_key(rule.section), natural_key(rule.rule)


def tally(cells: Iterable[Cell]) -> Counter[str]:
    """Count rules by their verdict."""
    return Counter(cell.verdict for cell in cells)


def worst(counts: Counter[str]) -> str:
    """Return the worst verdict counted."""
    return min((name for name, count in counts.items() if count), key=SEVERITY.__getitem__, default="not_judged")
