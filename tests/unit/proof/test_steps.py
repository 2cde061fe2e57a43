"""The steps of the reference: the steps that a fault changes, the steps that a core executes, and the checks that a
fault can affect.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.faults.parts import faulty_only_if, override_method, replace_part
from harness.faults.primitives import change_core_after_every_input, combine_installers, omit_step
from harness.faults.registry import FaultyCore, load_faults
from harness.proof.steps import ReferenceStep, StepRecorder, can_check_notice_variant, find_changed_steps
from reference_qm.config import QueueManagerConfig
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.surface.entropy import SeededEntropy


class OneMore(MessageNumbering):
    """Adds one to every ordinal."""

    def assign_message_ordinal(self) -> int:
        return super().assign_message_ordinal() + self._more()

    def _more(self) -> int:
        return 1


class OneMoreAndNoTransactions(OneMore):
    """Adds one to every ordinal, and gives all transactions the number 0."""

    def assign_transaction_identifier(self) -> int:
        return 0


class MadeOtherwise(MessageSending):
    """Overrides only the constructor of a part."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)


class TenMoreThanOdd(MessageNumbering):
    """Adds ten to every ordinal that follows an odd ordinal."""

    @faulty_only_if(lambda part: part.qm.adm.MessageIdOrdinal % 2 == 1)
    def assign_message_ordinal(self) -> int:
        return super().assign_message_ordinal() + 10


ASSIGN = ReferenceStep(MessageNumbering, "assign_message_ordinal")
ASSIGN_AFTER_ODD = ReferenceStep(MessageNumbering, "assign_message_ordinal", TenMoreThanOdd.assign_message_ordinal)
ASSIGN_TRANSACTION = ReferenceStep(MessageNumbering, "assign_transaction_identifier")
MAY_SEND = ReferenceStep(MessageSending, "may_send")
REQUEST = ReferenceStep(PingHandling, "build_request")


@pytest.fixture
def core() -> FaultyCore:
    identifier = UUID(int=1)
    return FaultyCore(QueueManager(QueueManagerConfig(identifier=identifier), SeededEntropy("steps")))


def test_a_subclass_changes_the_steps_that_it_and_its_bases_override() -> None:
    assert find_changed_steps(replace_part(OneMore)) == frozenset({ASSIGN})
    assert find_changed_steps(replace_part(OneMoreAndNoTransactions)) == frozenset({ASSIGN, ASSIGN_TRANSACTION})
    assert find_changed_steps(omit_step(PingHandling.build_request)) == frozenset({REQUEST})
    assert find_changed_steps(
        combine_installers(replace_part(OneMore), omit_step(PingHandling.build_request))
    ) == frozenset({ASSIGN, REQUEST})


def test_change_outside_steps_may_be_noticed_by_every_check() -> None:
    for install in (change_core_after_every_input(lambda qm: None), replace_part(MadeOtherwise)):
        assert find_changed_steps(install) is None
        assert find_changed_steps(combine_installers(replace_part(OneMore), install)) is None
    assert can_check_notice_variant(frozenset(), None)


def test_check_can_notice_only_changes_of_steps_that_it_executes() -> None:
    assert can_check_notice_variant(frozenset({ASSIGN, REQUEST}), frozenset({ASSIGN, ASSIGN_TRANSACTION}))
    assert not can_check_notice_variant(frozenset({REQUEST}), frozenset({ASSIGN, ASSIGN_TRANSACTION}))


def test_step_recorder_notes_each_step_once_and_changes_no_behavior(core: FaultyCore) -> None:
    recorder = StepRecorder([ASSIGN, MAY_SEND, REQUEST])
    recorder.install(core)
    assert [core.core.message_numbering.assign_message_ordinal() for _ in range(2)] == [1, 2]
    assert recorder.take() == frozenset({ASSIGN})
    core.core.ping_handling.build_request()
    assert recorder.take() == frozenset({REQUEST})
    assert recorder.take() == frozenset()


def test_step_recorder_notes_a_step_that_a_fault_overrides(core: FaultyCore) -> None:
    recorder = StepRecorder([ASSIGN])
    recorder.install(core)
    replace_part(
        override_method(MessageNumbering.assign_message_ordinal, lambda original: lambda qm: original(qm) + 10)
    )(core)
    assert core.core.message_numbering.assign_message_ordinal() == 11
    assert recorder.take() == frozenset({ASSIGN})


def test_conditional_fault_changes_its_step_only_in_matching_calls(core: FaultyCore) -> None:
    assert find_changed_steps(replace_part(TenMoreThanOdd)) == frozenset({ASSIGN_AFTER_ODD})
    replace_part(TenMoreThanOdd)(core)
    assert [core.core.message_numbering.assign_message_ordinal() for _ in range(3)] == [1, 12, 3]


def test_two_conditional_faults_of_one_step_compose(core: FaultyCore) -> None:
    replace_part(OneMore)(core)
    replace_part(TenMoreThanOdd)(core)
    assert [core.core.message_numbering.assign_message_ordinal() for _ in range(2)] == [2, 13]


def test_conditional_step_counts_as_executed_when_its_condition_holds(core: FaultyCore) -> None:
    recorder = StepRecorder([ASSIGN, ASSIGN_AFTER_ODD])
    recorder.install(core)
    core.core.message_numbering.assign_message_ordinal()
    assert recorder.take() == frozenset({ASSIGN})
    core.core.message_numbering.assign_message_ordinal()
    assert recorder.take() == frozenset({ASSIGN, ASSIGN_AFTER_ODD})


def test_most_faults_and_all_readings_declare_changed_steps() -> None:
    faults = load_faults().values()
    known = [fault for fault in faults if find_changed_steps(fault.install)]
    assert len(known) > len(faults) / 2
    assert {fault.name for fault in faults if fault.reading} <= {fault.name for fault in known}
