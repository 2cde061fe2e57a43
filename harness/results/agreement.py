"""Check that the parts of a run folder are consistent with each other: verdicts, checks, captures, identifiers and
times. The same facts are compared in different files, so a forger would have to change all these files consistently.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from harness.capture.pcapng import CapturedNote, read_packets_and_notes, read_pcapng
from harness.capture.recorder import Frame
from harness.judging.verdicts import Verdict, read_stored_verdict_lines
from harness.paths import SUITES
from harness.results.bundle import InvalidCertificateFile
from harness.results.installed import ROBUSTNESS_RULES, InstalledSuites
from harness.rules.catalogue import Catalogue
from harness.run_folder import CAPTURE_SUFFIX, CAPTURES_FOLDER, VERDICTS_FILE, build_capture_name, get_capture_path

LARGEST_ALLOWED_CLOCK_CHANGE = timedelta(minutes=5)
"""The largest clock change during a run that verification still accepts."""
VERDICTS_WITHOUT_PACKETS = (Verdict.NOT_EXERCISED, Verdict.NOT_OBSERVABLE, Verdict.NOT_APPLICABLE)
"""The verdicts that need no packets as evidence."""
OBSERVE_VALUES_WITH_PACKETS = ("passive", "wire", "rpc")
"""The values of ``observe`` for which a pass must name a packet as evidence. During a run, the judge enforces this."""


@dataclass(frozen=True, slots=True)
class ComparedVerdict:
    """The values of a verdict line that are compared with other files of the run folder. ``check``: the id in ``test``
    without its parameters.
    """

    rule: str
    verdict: Verdict
    test: str | None
    check: str
    capture: str | None
    frames: tuple[int, ...]


def read_verdict_lines(folder: Path) -> Iterator[ComparedVerdict]:
    """Yield the verdicts of a run folder. The syntax of the verdicts has already been checked
    (harness/results/schemas.py).
    """
    for line in read_stored_verdict_lines(folder / VERDICTS_FILE):
        test = line.get("test")
        frames = tuple(one[0] for one in line.get("evidence", ()))
        capture = line.get("capture") or (get_capture_path(test) if test is not None and frames else None)
        yield ComparedVerdict(
            line["rule"], Verdict(line["verdict"]), test, str(test).partition("[")[0], capture, frames
        )


def check_verdicts(lines: Iterator[ComparedVerdict], suites: InstalledSuites, catalogue: Catalogue) -> dict[str, int]:
    """Check that the verdicts are complete, and that their rules and checks belong to these suites. Return the captures
    that verdicts name, each with the highest frame number that a verdict names in it. Raise InvalidCertificateFile,
    whose message describes the error, for a missing or wrong verdict.
    """
    judged, needed = set[tuple[str, str]](), dict[str, int]()
    for line in lines:
        if line.rule not in suites.rules:
            raise InvalidCertificateFile(f"{line.rule} has a verdict, but is not a rule of these suites")
        if line.test is None:
            if line.verdict not in VERDICTS_WITHOUT_PACKETS and line.rule not in ROBUSTNESS_RULES:
                raise InvalidCertificateFile(f"{line.rule}: the verdict {line.verdict} names no check")
            continue
        if not suites.may_judge(line.rule, line.check):
            raise InvalidCertificateFile(
                f"{line.rule}: the verdict {line.verdict} names {line.check}, which does not judge this rule"
            )
        judged.add((line.rule, line.check))
        if line.capture is not None:
            if not _is_capture_of_check(line.test, line.capture):
                raise InvalidCertificateFile(f"{line.rule}: {line.capture} is not a capture of {line.test}")
            needed[line.capture] = max(needed.get(line.capture, 0), *line.frames, 0)
        row = catalogue.get(line.rule)
        if (
            line.verdict is Verdict.PASS
            and not line.frames
            and row is not None
            and row.observe in OBSERVE_VALUES_WITH_PACKETS
        ):
            raise InvalidCertificateFile(f"{line.rule}: the pass in {line.test} names no packet")
    for rule, checks in suites.checks_naming_rule.items():
        for check in checks:
            if (rule, check) not in judged:
                raise InvalidCertificateFile(f"the check {check} covers {rule}, but has no verdict on this rule")
    return needed


def _is_capture_of_check(test: str, capture: str) -> bool:
    """Return whether a file name belongs to the capture of a given check, in its first or a later attempt."""
    stem = f"{CAPTURES_FOLDER}/{build_capture_name(test)}"
    return capture == f"{stem}{CAPTURE_SUFFIX}" or (
        capture.startswith((f"{stem}-from-", f"{stem}-again-")) and capture.endswith(CAPTURE_SUFFIX)
    )


def check_frames_in_captures(folder: Path, needed: Mapping[str, int], period: tuple[datetime, datetime] | None) -> None:
    """Check that captures contain the frames that verdicts name. If ``period`` is not None, also check that the
    time of every frame is within ``period``.
    """
    for name in sorted(needed):
        if not (folder / name).is_file():
            raise InvalidCertificateFile(f"verdicts refer to the capture {name}, which is missing")
    for path in sorted((folder / CAPTURES_FOLDER).iterdir()):
        name, last = f"{CAPTURES_FOLDER}/{path.name}", 0
        for frame in read_pcapng(path):
            last = frame.number
            if period is not None and not period[0] <= _convert_microseconds(frame.time_us) <= period[1]:
                recorded = _convert_microseconds(frame.time_us)
                raise InvalidCertificateFile(
                    f"{name}: frame {last} was recorded at {recorded}, which is not within the run"
                )
        if needed.get(name, 0) > last:
            raise InvalidCertificateFile(
                f"verdicts refer to frame {needed[name]} of {name}, which has only {last} frames"
            )


def check_setups_in_captures(folder: Path, lines: Iterable[ComparedVerdict], run: Mapping[str, Any]) -> None:
    """Check that each capture that a verdict names contains the set-up of the verdict's check, run and system.

    A capture from a different run, such as a run without a fault, would contain the set-up of that run.
    """
    captures = {line.test: line.capture for line in lines if line.test is not None and line.capture is not None}
    for test, name in captures.items():
        if is_check_with_three_systems(test):
            continue
        first = next(iter(read_packets_and_notes(folder / name)), None)
        setup = _parse_object(_parse_object(first.text).get("setup")) if isinstance(first, CapturedNote) else {}
        file = _parse_object(setup.get("file"))
        named = {"test": setup.get("test"), "run": setup.get("run"), "sut": file.get("sut")}
        for key, ours in (("test", test), ("run", run["run"]), ("sut", run["sut"])):
            if named[key] != ours:
                raise InvalidCertificateFile(
                    f"{name} contains the set-up of the {key} {named[key]!a:.200}, which does not belong to this run"
                )


def _parse_object(said: Any) -> dict[str, Any]:
    """Return the JSON object that a value represents. The value is JSON text (bytes) or an already parsed value. If
    the value does not represent an object, return an empty object.
    """
    try:
        found = json.loads(said) if isinstance(said, bytes) else said
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_check_with_three_systems(test: str) -> bool:
    """Return whether a check needs three systems. The capture of such a check contains several systems."""
    return _needs_topology(SUITES.parent / test.partition("::")[0])


@cache
def _needs_topology(path: Path) -> bool:
    return path.is_relative_to(SUITES) and path.is_file() and 'needs("topology"' in path.read_text(encoding="utf-8")


def _convert_microseconds(us: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=min(us, 2**53))


def get_run_period(run: Mapping[str, Any]) -> tuple[datetime, datetime] | None:
    """Return the beginning and end of a run, extended by the possible error of clocks, or None if the run used
    virtual time. Raise InvalidCertificateFile for an impossible time.
    """
    try:
        started, finished = (datetime.fromisoformat(run[key]) for key in ("started", "finished"))
        period = started - LARGEST_ALLOWED_CLOCK_CHANGE, finished + LARGEST_ALLOWED_CLOCK_CHANGE
    except (ValueError, OverflowError) as error:
        raise InvalidCertificateFile(f"run.json: the times started and finished are invalid: {error}") from error
    if finished < started or started > datetime.now(UTC) + LARGEST_ALLOWED_CLOCK_CHANGE:
        raise InvalidCertificateFile(
            f"run.json: the run cannot start at {run['started']} and finish at {run['finished']}"
        )
    return None if run["reach"] == "virtual" else period


def make_identifier_change_detector(name: str, identifiers: frozenset[str]) -> Callable[[Frame], None]:
    """Return a function to be called with each packet of a capture. The function checks that every system that
    establishes a session has one of the identifiers of the run.

    One of the two identifiers in an EstablishConnection is the identifier of the sender.
    """

    def note_identifier(frame: Frame) -> None:
        if not frame.from_sut or frame.kind != "EstablishConnection":
            return
        header = frame["EstablishConnectionHeader"]
        named = {str(header.ClientGuid), str(header.ServerGuid)}
        if named.isdisjoint(identifiers):
            raise InvalidCertificateFile(
                f"{name}: frame {frame.number} is from queue manager {min(named)}, which is not part of this run"
            )

    return note_identifier
