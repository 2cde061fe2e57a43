"""A system that does not survive a check: a separate finding, and a failure of the rules that demand survival."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from harness_made import MUST, SETTLED, frame, judge, lines, sut_file

from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.judging.robustness import FINDING_BY_CONDITION, RULE_BY_CONDITION, SystemCondition, SystemDiagnosis
from harness.judging.verdicts import Verdict, VerdictEntry
from harness.peer.peer import Peer
from harness.run.attempts import AttemptDisturbances, choose_result_of_attempts
from harness.run.survival import diagnose_system, require_sut_alive_after
from harness.sut.sut import Sut
from harness.sut.virtual_driver import VirtualDriver

OTHER = UUID("6d71636f-6e66-4f72-8d00-00000000dead")


def peer_of(sut: Sut) -> Peer:
    return Peer(sut.environment, sut, Recorder(sut.environment, None), seed="going on")


@pytest.fixture
def sut() -> Sut:
    return VirtualDriver(sut_file()).open("going on")


def test_a_system_that_answers_is_alive(sut: Sut):
    assert diagnose_system(peer_of(sut)).condition is SystemCondition.ALIVE


def test_system_that_refuses_connections_counts_as_crashed(sut: Sut):
    sut.tcp_port += 1
    assert diagnose_system(peer_of(sut)).condition is SystemCondition.CRASHED


def test_system_that_accepts_without_answer_counts_as_hanging(sut: Sut):
    class Mute:
        on_connection_open = on_closed = on_failed = on_bytes = lambda self, *_: None

    sut.tcp_port += 1
    sut.environment.listen(sut.endpoint, lambda stream: Mute())
    assert diagnose_system(peer_of(sut)).condition is SystemCondition.HANGS


def test_changed_identity_of_system_means_restart(sut: Sut):
    sut.identifier = OTHER
    diagnosis = diagnose_system(peer_of(sut))
    assert diagnosis.condition is SystemCondition.RESTARTED
    assert str(OTHER) in diagnosis.says


def test_interrupted_system_counts_as_restarted_unless_requested(sut: Sut):
    assert isinstance(sut.environment, VirtualEnvironment)
    pulse: Any = SimpleNamespace(was_gone=True)
    sut.environment.pulse = pulse
    assert diagnose_system(peer_of(sut)).condition is SystemCondition.RESTARTED
    sut.restarted = True
    assert diagnose_system(peer_of(sut)).is_alive


def test_crash_fails_survival_rules_and_withdraws_other_passes(tmp_path: Path):
    made = judge(tmp_path, MUST, SETTLED)
    for rule in (MUST, SETTLED):
        made(rule, expected="closed", observed="closed", evidence=frame(1))
    made.record_breakdown(SystemDiagnosis(SystemCondition.CRASHED, "cannot connect", (frame(2),)), [MUST])
    finding, _ = FINDING_BY_CONDITION[SystemCondition.CRASHED]
    told = [(line["rule"], line["verdict"]) for line in lines(tmp_path)][2:]
    assert told == [(finding, "fail"), (MUST, "fail"), (SETTLED, "inconclusive")]


def test_flood_is_a_finding_without_survival_test(sut: Sut, tmp_path: Path):
    made, peer = judge(tmp_path, MUST), peer_of(sut)
    peer.environment.flood_description = "the SUT sent 134217729 bytes in the first 900 ms of one check"
    item: Any = SimpleNamespace(funcargs={"peer": peer}, get_closest_marker=lambda name: None)
    require_sut_alive_after(item, made)
    finding, _ = FINDING_BY_CONDITION[SystemCondition.FLOODS]
    told = [(line["rule"], line["verdict"]) for line in lines(tmp_path)]
    assert told == [(finding, "fail"), (MUST, "inconclusive")]
    assert not peer.recorder.connections


def test_each_survival_finding_has_a_catalogue_row():
    assert {row.id for row in RULE_BY_CONDITION.values()} == {name for name, _ in FINDING_BY_CONDITION.values()}
    assert all(row.to_json()["document"] == "ROBUSTNESS" for row in RULE_BY_CONDITION.values())


# -- another attempt ---------------------------------------------------------------------------------------------


def entry(rule: str, verdict: Verdict) -> VerdictEntry:
    return VerdictEntry(rule, "MQQB", "2.2.1", "MUST", verdict, expected="x", observed="y")


PASS, FAIL = entry(MUST, Verdict.PASS), entry(MUST, Verdict.FAIL)


def verdicts_of(*attempts: list[VerdictEntry], steady: bool = False) -> list[tuple[str, Verdict]]:
    entries, _ = choose_result_of_attempts([(each, []) for each in attempts], AttemptDisturbances(3_600), steady=steady)
    return [(each.rule, each.verdict) for each in entries]


def test_single_attempt_decides_the_verdicts_of_its_check():
    assert verdicts_of([FAIL]) == [(MUST, Verdict.FAIL)]


def test_complete_attempt_decides_the_verdicts_of_its_check():
    assert verdicts_of([FAIL], [PASS]) == [(MUST, Verdict.PASS)]


def test_rule_failed_in_every_attempt_fails():
    assert verdicts_of([FAIL], [FAIL], [FAIL]) == [(MUST, Verdict.FAIL)]


@pytest.mark.parametrize(("steady", "verdict"), [(True, Verdict.FAIL), (False, Verdict.INCONCLUSIVE)])
def test_rule_that_failed_while_other_attempts_aborted_fails_only_without_a_stall(steady: bool, verdict: Verdict):
    assert verdicts_of([entry(MUST, Verdict.INCONCLUSIVE)], [FAIL], steady=steady) == [(MUST, verdict)]


@pytest.mark.parametrize("steady", [True, False])
def test_rule_failed_in_one_attempt_and_passed_in_another_is_inconclusive(steady: bool):
    assert verdicts_of([PASS], [FAIL], steady=steady) == [(MUST, Verdict.INCONCLUSIVE)]


def test_rule_failed_in_only_some_attempts_is_inconclusive():
    other = replace(FAIL, rule=SETTLED)
    assert verdicts_of([other], [FAIL], [other, FAIL]) == [
        (SETTLED, Verdict.INCONCLUSIVE),
        (MUST, Verdict.INCONCLUSIVE),
    ]
