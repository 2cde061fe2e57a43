"""Judge the verdicts of a run again, using only the captures of the run.

The packets in the captures decide passive rules. For all other rules, the checks run again on the captures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.judging.captured import judge_capture
from harness.judging.verdicts import Verdict
from harness.results.agreement import (
    VERDICTS_WITHOUT_PACKETS,
    ComparedVerdict,
    is_check_with_three_systems,
    make_identifier_change_detector,
)
from harness.results.bundle import InvalidCertificateFile, VerifiedBundle
from harness.results.installed import InstalledSuites
from harness.results.replayed import ReplayResult, replay_checks_of_run
from harness.results.run_results import RunResults
from harness.rules.catalogue import load_catalogue
from harness.run_folder import CAPTURES_FOLDER, build_capture_name
from harness.sut.virtual_driver import derive_entropy
from reference_qm.surface.entropy import generate_guid

REACH_VALUE_OF_VIRTUAL_SYSTEM = "virtual"
"""The value of the key ``reach`` in run.json if the SUT of the run was the reference in the tester's process."""
JUDGING_DEADLINE_S = 3_600
"""The time limit, in seconds, for replaying the checks. A check that is not replayed within this time is not
verified, so the user must trust the signer for its verdicts. The replay of all checks of a genuine run takes about
a minute.
"""


@dataclass(frozen=True, slots=True)
class JudgedAgainResult:
    """The result of judging a run again. ``judged_capture_count``: the number of captures that were judged again.
    ``replay_result``: the result of replaying the checks on these captures. ``reproduced_rules``: the rules for which
    every verdict was reproduced. ``unreproduced_rules``: the decided rules for which some verdict was not reproduced.
    """

    judged_capture_count: int
    replay_result: ReplayResult
    reproduced_rules: frozenset[str]
    unreproduced_rules: tuple[str, ...]


def judge_again(
    opened: VerifiedBundle,
    found: RunResults,
    lines: list[ComparedVerdict],
    suites: InstalledSuites,
    progress: Callable[[int, int], None],
) -> JudgedAgainResult:
    """Judge a run again; raise InvalidCertificateFile if the verdicts contradict the captures. ``progress``: a function
    that is called with the number of captures and checks judged so far, and with the total number.
    """
    names = sorted(name for name in opened.files_by_name if name.startswith(f"{CAPTURES_FOLDER}/"))
    whole = len(names) + len(found.checks)
    by_packets = _judge_captures(opened, found, lines, names, lambda done: progress(done, whole))
    passed = {(line.rule, line.check) for line in lines if line.verdict is Verdict.PASS}
    # A check that drives an exchange for the rule may pass it because of the system's reaction to packets of the peer.
    on_packets = {
        rule
        for rule, check in passed
        if rule in suites.passive and check not in suites.checks_naming_rule.get(rule, ())
    }
    if unseen := sorted(on_packets - {rule for rule, _, _ in by_packets}):
        raise InvalidCertificateFile(
            f"{', '.join(unseen[:5])}: the verdict is pass, but no capture contains a packet that shows it"
        )
    replayed = replay_checks_of_run(
        opened.folder,
        deadline_s=JUDGING_DEADLINE_S,
        progress=lambda done, of: progress(len(names) + done, len(names) + of),
    )
    for test, differences in replayed.differences_by_check.items():
        for one in differences:
            if one.fails_only_in_replay:
                raise InvalidCertificateFile(
                    f"{test} fails {one.rule} in the replay, but not in the run: {one.verdict_in_replay}"
                )
    decided = [line for line in lines if line.verdict not in VERDICTS_WITHOUT_PACKETS]
    unseen_again = {
        line.rule
        for line in decided
        if line.test not in replayed.checks_with_same_verdicts
        and (line.rule, line.verdict, line.capture) not in by_packets
    }
    shown = frozenset(line.rule for line in decided) - unseen_again
    return JudgedAgainResult(len(names), replayed, shown, tuple(sorted(unseen_again)))


def _judge_captures(
    opened: VerifiedBundle,
    found: RunResults,
    lines: Iterable[ComparedVerdict],
    names: list[str],
    progress: Callable[[int], None],
) -> frozenset[tuple[str, Verdict, str]]:
    """Judge captures with the passive predicates. Check that each rule that a packet breaks has a failing verdict.

    Return the verdicts as tuples of the rule, its verdict and the file name of the capture.
    """
    catalogue, profile = load_catalogue(), found.run["sut"]["profile"]
    convicted = {(line.rule, line.capture) for line in lines if line.verdict is Verdict.FAIL}
    identifiers = _build_identifier_lookup(found)
    judged = set[tuple[str, Verdict, str]]()
    for number, name in enumerate(names, 1):
        whose = identifiers(name)
        watch = (lambda frame: None) if whose is None else make_identifier_change_detector(name, whose)
        for entry in judge_capture(opened.folder / name, name, catalogue, profile, watch).entries:
            judged.add((entry.rule, entry.verdict, name))
            if entry.verdict is Verdict.FAIL and (entry.rule, name) not in convicted:
                raise InvalidCertificateFile(
                    f"a packet in {name} breaks {entry.rule}, but the run has no failing verdict: "
                    f"observed {entry.observed[:200]}"
                )
        progress(number)
    return frozenset(judged)


def _build_identifier_lookup(found: RunResults) -> Callable[[str], frozenset[str] | None]:
    """Return a function that returns the identifiers of the queue managers in a capture, or None if they are
    unknown.

    In virtual time, each check has a separate system, whose identifier is derived from the name of the check. In a
    topology, only the receiver is known, so the function returns None.
    """
    known = {build_capture_name(test) for test in found.checks}
    several = {build_capture_name(test) for test in found.checks if is_check_with_three_systems(test)}
    virtual = found.run["reach"] == REACH_VALUE_OF_VIRTUAL_SYSTEM
    own = (
        {build_capture_name(test): str(generate_guid(derive_entropy(test))) for test in found.checks} if virtual else {}
    )
    of_run = frozenset(found.run["queue_managers"])
    if not virtual and not of_run:
        raise InvalidCertificateFile("run.json names no queue manager, so the system in the captures is unknown")

    def find_identifiers(name: str) -> frozenset[str] | None:
        stem = Path(name).stem
        if stem not in known:
            stem = _LATER_ATTEMPT_PATTERN.sub("", stem)
        if stem in several:
            return None
        return frozenset({own.get(stem, "none")}) if virtual else of_run

    return find_identifiers


_LATER_ATTEMPT_PATTERN = re.compile(r"(-from-\d+)?(-again-\d+)?$")
"""Matches the suffix that a resumed run or a repeated attempt adds to the name of a capture."""
