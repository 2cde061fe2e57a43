"""Verdicts that depend on a missing prerequisite: which verdicts of a check become inconclusive, and their reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.judging.robustness import ROBUSTNESS_DOCUMENT
from harness.judging.verdicts import Evidence, Verdict, VerdictEntry
from harness.prerequisites.asking import PEER_REACHED_SUBJECT, QUEUES_SUBJECT
from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.run.check_prerequisites import CheckPrerequisites
from harness.run.named_roots import RootCauses
from harness.run.system_prerequisites import SystemPrerequisites, mark_verdicts_doubtful_after_missing_prerequisite

QUEUE = PrerequisiteFinding(
    QUEUES_SUBJECT,
    PrerequisiteState.MISSING,
    "sut.toml names no.such as queues.plain",
    "check the spelling",
    about="plain",
)
USED = CheckPrerequisites(
    was_system_queue_addressed=True, used_queue_keys=frozenset({"plain"}), numbers_of_frames_from_sut=frozenset({4})
)
NOBODY: Any = None
"""The driver, which is not used because the prerequisites have already been tested."""
TEST = "suites/a.py::b"
SENT, CAME = (Evidence(3),), (Evidence(4),)


def entry(verdict: Verdict = Verdict.PASS, **values: Any) -> VerdictEntry:
    usual = {"expected": "[]", "observed": "[]", "test": TEST, "evidence": SENT}
    return VerdictEntry("MQQB-2.2.1-01", "MQQB", "2.2.1", "MUST", verdict, **(usual | values))


def after(
    entry: VerdictEntry, *, rests: CheckPrerequisites = USED, root: PrerequisiteFinding = QUEUE
) -> tuple[VerdictEntry, RootCauses]:
    named = RootCauses()
    (found,) = mark_verdicts_doubtful_after_missing_prerequisite(
        [entry], rests, SystemPrerequisites((root,)), NOBODY, named
    )
    return found, named


@pytest.mark.parametrize(
    "judged",
    [
        entry(),
        entry(evidence=()),
        entry(observed="not closed early"),
        entry(Verdict.FAIL, observed="[1]"),
        entry(Verdict.INCONCLUSIVE),
    ],
    ids=["silence", "silence without a packet", "still open", "miss", "open"],
)
def test_failure_that_missing_queue_may_explain_is_inconclusive(judged: VerdictEntry) -> None:
    found, named = after(judged)
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, QUEUE.sentence)
    assert named.lines() == [f"fix this first: {QUEUE.sentence} (1 check depends on it)"]


@pytest.mark.parametrize(
    "judged",
    [
        entry(evidence=CAME, heard=True),
        entry(heard=True),
        entry(observed="closed without an answer"),
        entry(Verdict.FAIL, evidence=CAME, heard=True),
        entry(Verdict.NOT_EXERCISED),
        replace(entry(), document=ROBUSTNESS_DOCUMENT),
    ],
    ids=["heard", "heard, beyond what is named", "closed", "shown", "not exercised", "lived through it"],
)
def test_verdict_on_observed_packets_is_kept_despite_a_missing_prerequisite(judged: VerdictEntry) -> None:
    found, named = after(judged)
    assert found == judged
    assert named.lines() == []


def test_failure_by_silence_is_kept_when_the_check_did_not_use_the_missing_queue() -> None:
    judged = entry()
    assert after(judged, rests=replace(USED, used_queue_keys=frozenset({"transactional"})))[0] == judged


def test_silence_of_a_system_that_does_not_find_the_peer_is_inconclusive() -> None:
    root = PrerequisiteFinding(PEER_REACHED_SUBJECT, PrerequisiteState.MISSING, "no connection", "let it in")
    assert (
        after(entry(), rests=CheckPrerequisites(was_connection_awaited_in_vain=True), root=root)[0].verdict
        is Verdict.INCONCLUSIVE
    )
