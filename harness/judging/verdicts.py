"""Verdicts: the closed set, and the file that they are appended to as they happen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from harness.capture.whole_writes import open_whole, write_whole
from harness.errors import UsageError

SCHEMA = 1
HEX_LIMIT = 4096
"""Bytes of a packet that a verdict quotes; the capture has them all."""
PASSES_SHOWN = 5
"""Passes of a rule that quote their packets, as many as the pages show; the later ones name them by capture and frame:
tens of thousands of packets that are as they have to be would be nine tenths of the file.
"""


class Verdict(StrEnum):
    """The verdicts that a rule can get (docs/run-folder.md)."""

    PASS = "pass"  # noqa: S105 - a verdict, no secret
    FAIL = "fail"
    WARN = "warn"
    """A SHOULD that was not met."""
    INCONCLUSIVE = "inconclusive"
    """The check could not come to an end: a step before it failed."""
    NOT_EXERCISED = "not_exercised"
    """What the rule is about never occurred."""
    NOT_APPLICABLE = "not_applicable"
    """The SUT is declared not to have what the rule is about."""
    NOT_OBSERVABLE = "not_observable"
    """The SUT offers no way to see it (no control channel, no inspection)."""
    HARNESS_ERROR = "harness_error"


WORST_FIRST = (
    Verdict.FAIL,
    Verdict.HARNESS_ERROR,
    Verdict.INCONCLUSIVE,
    Verdict.WARN,
    Verdict.PASS,
    Verdict.NOT_EXERCISED,
    Verdict.NOT_APPLICABLE,
    Verdict.NOT_OBSERVABLE,
)
"""Of several verdicts on a rule the first in this order stands: one kept once need not be exercised again."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict that stands; there must be one."""
    return min(verdicts, key=WORST_FIRST.index)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A packet that a verdict rests on."""

    frame: int
    time_ms: int
    direction: str
    transport: str
    hex: str
    dissection: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of verdicts.jsonl, without what the run adds (schema, run, seq, time, sut, reach)."""

    rule: str
    document: str
    section: str
    level: str
    verdict: Verdict
    expected: str
    observed: str
    reason: str | None = None
    test: str | None = None
    capture: str | None = None
    evidence: tuple[Evidence, ...] = ()
    errata: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The fields that every line of a run carries."""

    run: str
    sut: str
    sut_version: str
    reach: str


def _fields(record: Entry | Evidence | RunInfo) -> dict[str, Any]:
    """Return what ``dataclasses.asdict`` returns, without copies: a run writes tens of thousands of them."""
    return {name: getattr(record, name) for name in record.__slots__}


def utc_now() -> str:
    """Return the time for records: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Log(Protocol):
    """A sink of verdicts: the file of a run, or the list in which a worker keeps those of a check."""

    def append(self, entry: Entry, /) -> None:
        """Take one."""


class VerdictLog:
    """A file of verdicts, appended one write each: a killed run loses none and cuts none."""

    def __init__(self, path: Path, info: RunInfo, recorded: Recorded | None = None) -> None:
        recorded = recorded or Recorded()
        self.path = path
        self.info = info
        self.counts = recorded.counts.copy()
        self.rules = recorded.rules.copy()
        """The verdict that stands of each rule."""
        self._passes: Counter[str] = Counter()
        self._next = recorded.last + 1
        self._again = recorded.unfinished.copy()
        self._file = open_whole(path, "ab")

    def append(self, entry: Entry) -> None:
        """Write one verdict, unless it was written before the run was killed in this very test."""
        known = (entry.test, entry.rule, entry.verdict)
        if self._again[known]:
            self._again[known] -= 1
            return
        line: dict[str, Any] = {"schema": SCHEMA, "seq": self._next, "time": utc_now(), **_fields(self.info)}
        line |= _fields(entry) | {"evidence": [_fields(each) for each in self._shown(entry)]}
        written = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        write_whole(self._file, self.path, written)
        self._next += 1
        self.counts[entry.verdict] += 1
        self.rules[entry.rule] = worst([entry.verdict, self.rules.get(entry.rule, entry.verdict)])

    def _shown(self, entry: Entry) -> Iterable[Evidence]:
        """Return the evidence of a verdict; bytes stand in the capture alone once a rule has passed often enough."""
        if entry.verdict is not Verdict.PASS:
            return entry.evidence
        self._passes[entry.rule] += 1
        if self._passes[entry.rule] <= PASSES_SHOWN:
            return entry.evidence
        return [replace(each, hex="", dissection="") for each in entry.evidence]

    def close(self) -> None:
        """End the file."""
        self._file.close()


@dataclass(slots=True)
class Recorded:
    """The content of a verdict file that is resumed (``--resume``)."""

    tests: set[str] = field(default_factory=set)
    counts: Counter[Verdict] = field(default_factory=Counter)
    rules: dict[str, Verdict] = field(default_factory=dict)
    """The verdict that stands of each rule."""
    last: int = 0
    cut: str | None = None
    """The test that the run ended in; it is run again."""
    unfinished: Counter[tuple[str | None, str, str]] = field(default_factory=Counter)
    """The lines that this test wrote already: test, rule, verdict."""

    def note(self, rule: str, verdict: Verdict) -> None:
        """Count a line in."""
        self.counts[verdict] += 1
        self.rules[rule] = worst([verdict, self.rules.get(rule, verdict)])


def read_verdicts(path: Path) -> Iterator[dict[str, Any]]:
    """Read a verdict file; UsageError names the line that is cut or broken."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                verdict = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                verdict = None
            if not isinstance(verdict, dict):
                raise UsageError(
                    f"{path}:{number}: the verdict is cut or broken; remove that line to go on from the others"
                )
            yield verdict
