"""The readings that one trial applies together, and the checks on which each of these readings is then
applied alone.
"""

from __future__ import annotations

import pytest

from harness.judging.verdicts import Verdict
from harness.proof.grouping import ReadingWithChecks, find_differing_checks, group_readings
from harness.proof.steps import ReferenceStep
from harness.proof.trials import ResultOnCleanReference, TrialVerdict
from reference_qm.core.transfer.message_sending import MessageSending

ASSIGN = frozenset({ReferenceStep(MessageSending, "assign_message_ordinal")})
SEND = frozenset({ReferenceStep(MessageSending, "send")})
SECONDS = {"a": 1.0, "b": 1.0, "c": 8.0}


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (ReadingWithChecks("E1.2", ASSIGN, ("a",)), ReadingWithChecks("E2.2", SEND, ("a",)), True),
        (ReadingWithChecks("E1.2", ASSIGN, ("a",)), ReadingWithChecks("E2.2", None, ("a",)), True),
        (ReadingWithChecks("E1.2", ASSIGN, ("a",)), ReadingWithChecks("E2.2", ASSIGN, ("a",)), False),
        (ReadingWithChecks("E1.2", ASSIGN, ("a",)), ReadingWithChecks("E1.3", SEND, ("a",)), False),
    ],
    ids=["other steps", "steps unknown", "same step", "same entry"],
)
def test_erratum_readings_run_together_unless_they_share_a_step_or_entry(
    first: ReadingWithChecks, second: ReadingWithChecks, *, together: bool
) -> None:
    groups = group_readings([first, second], SECONDS)
    assert len(groups) == (1 if together else 2)
    assert {one.name for group in groups for one in group.readings} == {first.name, second.name}


def test_erratum_reading_joins_the_group_with_least_added_cost() -> None:
    cheap, dear = ReadingWithChecks("E1.2", ASSIGN, ("a", "b")), ReadingWithChecks("E1.3", ASSIGN, ("c",))
    assert [
        group.name for group in group_readings([cheap, dear, ReadingWithChecks("E2.2", SEND, ("b",))], SECONDS)
    ] == [
        "E1.3",
        "E1.2 E2.2",
    ]


def test_grouped_erratum_reading_runs_alone_only_for_its_own_checks() -> None:
    (group,) = group_readings(
        [ReadingWithChecks("E1.2", ASSIGN, ("a", "b")), ReadingWithChecks("E2.2", SEND, ("c",))], SECONDS
    )
    assert group.list_single_readings({"b"}) == [ReadingWithChecks("E1.2", ASSIGN, ("b",))]


def line(verdict: Verdict) -> TrialVerdict:
    return TrialVerdict("a", "RULE", verdict, "")


@pytest.mark.parametrize(
    ("verdicts", "differs"),
    [
        ([Verdict.PASS, Verdict.PASS], False),
        ([Verdict.PASS, Verdict.NOT_EXERCISED], True),
        ([Verdict.PASS], True),
        ([], True),
    ],
    ids=["same", "another verdict", "a verdict less", "no verdict"],
)
def test_check_counts_as_different_when_any_verdict_differs_from_clean_run(
    verdicts: list[Verdict], *, differs: bool
) -> None:
    clean = {"a": ResultOnCleanReference([line(Verdict.PASS), line(Verdict.PASS)], frozenset(), 1.0)}
    assert find_differing_checks([line(verdict) for verdict in verdicts], clean, ["a"]) == ({"a"} if differs else set())
