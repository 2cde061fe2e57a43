"""Define the closed set of verdicts, and the file to which a run appends each verdict immediately."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from harness.capture.whole_writes import append_whole_record, open_record_file
from harness.environment.wall_clock import compute_jump_free_time_of_day_ns
from harness.errors import UsageError
from harness.rules.renamed_checks import get_current_check
from harness.run_folder import RULES_FILE, RUN_FILE, RUN_SCHEMA_VERSION, get_capture_path

VERDICT_LINE_PREFIX = b'{"schema"'
"""The first bytes of each line that this harness writes. The bytes identify a line of this harness even if the line
is truncated.
"""
OLDEST_SCHEMA_VERSION = 1
"""The oldest schema of verdict files, which the harness can read but no longer writes. In this schema, each line
repeats the values of the run and quotes its packets.
"""


class Verdict(StrEnum):
    """The verdicts that a rule can get (docs/run-folder.md)."""

    PASS = "pass"  # noqa: S105 - a verdict, no secret
    FAIL = "fail"
    WARN = "warn"
    """The SUT did not follow a SHOULD."""
    INCONCLUSIVE = "inconclusive"
    """The check ended at a step that precedes the judgment of the rule."""
    NOT_EXERCISED = "not_exercised"
    """The condition of the rule never occurred."""
    NOT_APPLICABLE = "not_applicable"
    """The SUT file declares that the SUT does not have the rule's subject."""
    NOT_OBSERVABLE = "not_observable"
    """The SUT provides no means to observe the rule (no control channel, no inspection)."""
    HARNESS_ERROR = "harness_error"


class Advice(StrEnum):
    """Whether the SUT followed the recommendation (SHOULD) in the sentence of a rule that also contains a MUST. This
    value never decides the verdict for the MUST.
    """

    FOLLOWED = "followed"
    MISSED = "missed"


VERDICTS_WORST_FIRST = (
    Verdict.FAIL,
    Verdict.HARNESS_ERROR,
    Verdict.INCONCLUSIVE,
    Verdict.WARN,
    Verdict.PASS,
    Verdict.NOT_EXERCISED,
    Verdict.NOT_APPLICABLE,
    Verdict.NOT_OBSERVABLE,
)
"""The verdicts, worst first. Only the worst verdict of a rule counts. A rule that passed once does not have to be
exercised again, so pass comes before not_exercised.
"""
DECIDED_VERDICTS = (Verdict.FAIL, Verdict.WARN, Verdict.PASS)
"""The verdicts with which a rule counts as judged."""
VERDICTS_OF_BROKEN_RULES = (Verdict.FAIL, Verdict.WARN)
"""The verdicts for a rule that the SUT broke."""
_RANK_BY_VERDICT: Mapping[str, int] = {str(verdict): rank for rank, verdict in enumerate(VERDICTS_WORST_FIRST)}
RUN_FAILING_VERDICTS = (Verdict.FAIL, Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE)
"""The verdicts that make a run fail, worst first."""
VERDICTS_TO_EXAMINE = (*RUN_FAILING_VERDICTS, Verdict.WARN)
"""The verdicts that a person should examine, worst first."""


def get_worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts. At least one verdict is required."""
    return min(verdicts, key=_RANK_BY_VERDICT.__getitem__)


def get_worse_verdict(verdict: Verdict, other: Verdict) -> Verdict:
    """Return the worse of two verdicts."""
    return verdict if _RANK_BY_VERDICT[verdict] < _RANK_BY_VERDICT[other] else other


class Evidence(NamedTuple):
    """A packet that proves a verdict, given by its frame in the capture, and the bytes of the deciding field.

    ``first``, ``last``: int offsets in the reassembled packet, both inclusive, or None if the whole packet decides.
    """

    frame: int
    first: int | None = None
    last: int | None = None

    def to_text(self) -> str:
        """Return the evidence as JSON for a line of the verdict file."""
        return f"[{self.frame}]" if self.first is None else f"[{self.frame},{self.first},{self.last}]"


@dataclass(slots=True)
class VerdictEntry:
    """One immutable verdict.

    ``document``, ``section``, ``level``: the values of the rule, which rules.json contains, but the lines of the
    verdict file do not. ``advice``: whether the line is about the SHOULD in the sentence of a MUST; the verdict is
    then at most `Verdict.NOT_EXERCISED`. ``heard``: whether the evidence contains a packet from the SUT, including
    packets that the verdict does not name; lines do not contain this value.
    """

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
    advice: Advice | None = None
    heard: bool = False

    def to_json(self, seq: int, ms: int) -> dict[str, Any]:
        """Return the verdict as a JSON object."""
        line: dict[str, Any] = json.loads(self.to_line(seq, ms))
        return line

    def to_line(self, seq: int, ms: int) -> str:
        """Return the line of the verdict file. Its keys are in order; empty values and derivable values are
        omitted.

        A run writes a hundred thousand lines with many repeated texts, so each text is encoded only once.
        """
        own = self.test is None or self.capture != get_capture_path(self.test)
        return "".join(
            [
                f'{{"schema":{RUN_SCHEMA_VERSION},"seq":{seq},"ms":{ms},"rule":{_encode_as_json(self.rule)},"verdict":"{self.verdict}"',
                f',"expected":{_encode_as_json(self.expected)}' if self.expected else "",
                f',"observed":{_JSON_ENCODER.encode(self.observed)}' if self.observed != self.expected else "",
                f',"reason":{_JSON_ENCODER.encode(self.reason)}' if self.reason else "",
                f',"test":{_encode_as_json(self.test)}' if self.test is not None else "",
                f',"capture":{_encode_as_json(self.capture)}' if own and self.capture is not None else "",
                f',"evidence":[{",".join([one.to_text() for one in self.evidence])}]' if self.evidence else "",
                f',"errata":[{",".join(map(_encode_as_json, self.errata))}]' if self.errata else "",
                f',"notes":[{",".join(map(_encode_as_json, self.notes))}]' if self.notes else "",
                f',"advice":"{self.advice}"' if self.advice is not None else "",
                "}",
            ]
        )


_ONE_MILLISECOND = timedelta(milliseconds=1)
_JSON_ENCODER = json.JSONEncoder(ensure_ascii=False)


@lru_cache(maxsize=8192)
def _encode_as_json(text: str) -> str:
    """Return a text as JSON."""
    return _JSON_ENCODER.encode(text)


class VerdictReceiver(Protocol):
    """The interface of an object that receives verdicts, such as the file of a run, or the list in which a worker
    collects the verdicts of a check.
    """

    def append(self, entry: VerdictEntry, /) -> None:
        """Add a verdict to the log."""

    def extend(self, entries: Iterable[VerdictEntry], /) -> None:
        """Add several verdicts to the log."""


class VerdictLog:
    """A file of verdicts. Each verdict is appended in one write, so that no verdict is lost or truncated if the run is
    killed.
    """

    def __init__(self, path: Path, started: datetime, recorded: EarlierVerdicts | None = None) -> None:
        recorded = recorded or EarlierVerdicts()
        self.path = path
        self.started = started
        """The time at which the run started. The times in lines are relative to this time."""
        self._started_ms = int(started.timestamp() * 1_000)
        self.counts = recorded.line_count_by_verdict.copy()
        self.rules = recorded.worst_verdict_by_rule.copy()
        """The worst verdict so far for each rule. Only this verdict counts."""
        self.fails: Counter[str] = Counter()
        """The number of failures of each rule since the file was opened."""
        self.unfollowed = recorded.must_rules_with_unfollowed_should.copy()
        """The MUST rules whose sentence contains a SHOULD that the SUT did not follow."""
        self.turned_bad: list[tuple[str, Verdict]] = []
        """The rules whose verdict became bad after the file was opened, in the order of these changes, each with the
        bad verdict.
        """
        self._next = recorded.last_sequence_number + 1
        self._count_of_lines_already_written = recorded.line_count_of_interrupted_check.copy()
        self._file = open_record_file(path, "ab")

    def append(self, entry: VerdictEntry) -> None:
        """Write one verdict, unless the same check already wrote it before the run was killed."""
        self.extend([entry])

    def extend(self, entries: Iterable[VerdictEntry]) -> None:
        """Write several verdicts at once, except verdicts that the same check already wrote before the run was
        killed.
        """
        new = [entry for entry in entries if not self._is_written(entry)]
        ms = compute_jump_free_time_of_day_ns() // 1_000_000 - self._started_ms
        lines = [entry.to_line(seq, ms) for seq, entry in enumerate(new, self._next)]
        if lines:
            append_whole_record(self._file, self.path, ("\n".join(lines) + "\n").encode())
        self._next += len(lines)
        for entry in new:
            self._count(entry)

    def _is_written(self, entry: VerdictEntry) -> bool:
        """Return whether the file of the resumed run already contains a verdict. Each line in the file counts once."""
        if not self._count_of_lines_already_written:
            return False
        known = (entry.test, entry.rule, entry.verdict)
        if not self._count_of_lines_already_written[known]:
            return False
        self._count_of_lines_already_written[known] -= 1
        return True

    def _count(self, entry: VerdictEntry) -> None:
        self.counts[entry.verdict] += 1
        if entry.verdict is Verdict.FAIL:
            self.fails[entry.rule] += 1
        before = self.rules.get(entry.rule)
        stands = entry.verdict if before is None else get_worse_verdict(entry.verdict, before)
        if stands is not before:
            self.rules[entry.rule] = stands
            if stands in RUN_FAILING_VERDICTS:
                self.turned_bad.append((entry.rule, stands))
        if entry.advice is Advice.MISSED:
            self.unfollowed.add(entry.rule)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(slots=True)
class EarlierVerdicts:
    """The verdicts in the file of a run before it was resumed (``--resume``)."""

    checks_with_verdicts: set[str] = field(default_factory=set)
    line_count_by_verdict: Counter[Verdict] = field(default_factory=Counter)
    worst_verdict_by_rule: dict[str, Verdict] = field(default_factory=dict)
    """The worst verdict so far for each rule. Only this verdict counts."""
    must_rules_with_unfollowed_should: set[str] = field(default_factory=set)
    """The MUST rules whose sentence contains a SHOULD that the SUT did not follow."""
    last_sequence_number: int = 0
    interrupted_check: str | None = None
    """The check that was running when the run ended. This check runs again."""
    line_count_of_interrupted_check: Counter[tuple[str | None, str, str]] = field(default_factory=Counter)
    """The lines that the interrupted check had already written, each given by check, rule and verdict."""
    checks_to_run_again: set[str] = field(default_factory=set)
    """The checks that run again when the run is resumed, because the residue of other checks affected them."""

    def note(self, rule: str, verdict: Verdict, advice: str | None = None) -> None:
        """Record one line of the verdict file."""
        self.line_count_by_verdict[verdict] += 1
        self.worst_verdict_by_rule[rule] = get_worse_verdict(verdict, self.worst_verdict_by_rule.get(rule, verdict))
        if advice == Advice.MISSED:
            self.must_rules_with_unfollowed_should.add(rule)


def read_verdicts(path: Path) -> Iterator[dict[str, Any]]:
    """Read the verdict file of a run folder; raise UsageError, which names the line, if a line is truncated or
    invalid.

    Lines of both schemas are returned in the form of schema 1: ``schema, seq, time`` (ISO 8601, UTC), ``run, sut,
    sut_version, reach, rule, document, section, level, verdict, expected, observed, reason, test, capture,
    evidence, errata, notes, advice`` (which schema 1 does not have). ``test`` is the current id of the check, even
    if the check was renamed after the run. A piece of evidence has ``frame, first, last`` (None if the whole packet
    decides), and in schema 1 also ``time_ms, direction, transport, hex, dissection``. All other fields of a line
    stay unchanged.
    """
    complete = _VerdictLineCompleter(path)
    return (complete(line, number) for number, line in enumerate(read_stored_verdict_lines(path), 1))


def read_standing_verdicts(path: Path) -> list[dict[str, Any]]:
    """Read, for each rule, the line with the worst verdict. The result is a mapping by rule id; its lines have the form
    that `read_verdicts` returns.

    All other lines are ignored, because a run has about forty lines for each rule.
    """
    found: dict[str, tuple[int, str, int, int, dict[str, Any]]] = {}
    for number, line in enumerate(read_stored_verdict_lines(path), 1):
        try:
            rank, rule = _RANK_BY_VERDICT[line["verdict"]], line["rule"]
            held = found.get(rule)
            if held is not None and rank > held[0]:
                continue
            place = (rank, get_current_check(line.get("test") or ""), line["seq"], number, line)
            if held is None or place < held:
                found[rule] = place
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}:{number}: {_NOT_A_VERDICT_LINE_TEXT}") from error
    complete = _VerdictLineCompleter(path)
    return [complete(line, number) for _, (*_, number, line) in sorted(found.items())]


class _VerdictLineCompleter:
    """A reader of the lines of a verdict file. It adds to each line the values that all lines of a run folder share."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder: _RunFolderValues | None = None

    def __call__(self, line: dict[str, Any], number: int) -> dict[str, Any]:
        where = f"{self._path}:{number}"
        if line["schema"] != RUN_SCHEMA_VERSION:
            return _convert_schema_1_line(line, where)
        self._folder = self._folder or _RunFolderValues.read(self._path.parent)
        return self._folder.complete_line(line, where)


def read_stored_verdict_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read a verdict file without changes; raise UsageError, which names the line, if a line is truncated, invalid
    or unknown.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                verdict = json.loads(line) if line.endswith(b"\n") else None
            except (ValueError, RecursionError):
                verdict = None
            known = line.startswith(VERDICT_LINE_PREFIX) or (isinstance(verdict, dict) and "schema" in verdict)
            if number == 1 and not known:
                raise UsageError(
                    f"{path} contains no verdicts of this harness, because its first line is not a verdict; "
                    "give the folder of a run"
                )
            if not isinstance(verdict, dict):
                raise UsageError(
                    f"{path}:{number}: the verdict is truncated or broken; remove this line to continue with the "
                    "other lines"
                )
            schema = verdict.get("schema")
            if schema not in (OLDEST_SCHEMA_VERSION, RUN_SCHEMA_VERSION):
                raise UsageError(
                    f"{path}:{number}: the verdict has schema {schema!r}; this harness reads the schemas "
                    f"{OLDEST_SCHEMA_VERSION} and "
                    f"{RUN_SCHEMA_VERSION}"
                )
            yield verdict


@dataclass(frozen=True, slots=True)
class _RunFolderValues:
    """The values that all lines of a run share (from run.json), and the rules (from rules.json)."""

    values_shared_by_lines: dict[str, Any]
    started: datetime
    rules: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> _RunFolderValues:
        path = folder / RUN_FILE
        try:
            run = json.loads(path.read_text(encoding="utf-8"))
            sut, started = run["sut"], datetime.fromisoformat(run["started"])
            shared = {"run": run["run"], "sut": sut["name"], "sut_version": sut["version"], "reach": run["reach"]}
            path = folder / RULES_FILE
            return cls(shared, started, json.loads(path.read_text(encoding="utf-8"))["rules"])
        except OSError as error:
            raise UsageError(f"{path}, which the verdicts need, cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}, which the verdicts need, is truncated or broken") from error

    def complete_line(self, line: dict[str, Any], where: str) -> dict[str, Any]:
        """Add to a line the values that all lines of the run folder share; return the completed line."""
        try:
            rule, test, evidence = line["rule"], line.get("test"), line.get("evidence", [])
            document, _, section = rule.rpartition("-")[0].partition("-")  # for a rule that is missing in the catalogue
            row = self.rules.get(rule, {"document": document, "section": section, "level": ""})
            time = (
                (self.started + line["ms"] * _ONE_MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            )
            expected = line.get("expected", "")
            made = {
                "time": time,
                **self.values_shared_by_lines,
                **{key: row[key] for key in ("document", "section", "level")},
                "expected": expected,
                "observed": expected,
                "reason": None,
                "test": None,
                "capture": get_capture_path(test) if test is not None and evidence else None,
                "errata": [],
                "notes": [],
                "advice": None,
            }
            found = [dict(zip(_KEYS_OF_EVIDENCE_IN_VERDICT_LINE, [*one, None, None], strict=False)) for one in evidence]
            return _replace_renamed_check(made | line | {"evidence": found})
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UsageError(f"{where}: {_NOT_A_VERDICT_LINE_TEXT}") from error


def _convert_schema_1_line(line: dict[str, Any], where: str) -> dict[str, Any]:
    try:
        found = [{"first": None, "last": None, **one} for one in line.get("evidence", ())]
        return _replace_renamed_check(line | {"evidence": found})
    except TypeError as error:
        raise UsageError(f"{where}: {_NOT_A_VERDICT_LINE_TEXT}") from error


def _replace_renamed_check(line: dict[str, Any]) -> dict[str, Any]:
    test = line.get("test")
    return line | {"test": get_current_check(test)} if isinstance(test, str) else line


_NOT_A_VERDICT_LINE_TEXT = (
    "this line is not a verdict of this harness; remove this line to continue with the other lines"
)
_KEYS_OF_EVIDENCE_IN_VERDICT_LINE = ("frame", "first", "last")
