"""Faults that change a call of a step: its arguments, its result, or its effect."""

from __future__ import annotations

import pytest
from core_network import Network

from harness.faults.calls import change_step_arguments, change_step_result, replace_step_if, replace_step_status
from harness.faults.registry import FaultyCore
from harness.proof.steps import ReferenceStep, find_changed_steps
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction, QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status

LOOKUP = MessageReading.read_by_lookup_identifier


@pytest.fixture
def faulty() -> FaultyCore:
    return FaultyCore(Network().host(1).core)


def descriptor(queue) -> OpenQueueDescriptor:
    return OpenQueueDescriptor(
        Handle=1,
        AccessType=QueueAccessType.RECEIVE,
        ShareMode=QueueShareMode.DENY_NONE,
        QueueReference=queue,
        FormatName="",
    )


def read(faulty: FaultyCore, queue=None) -> list[tuple[object, ...]]:
    """Return the answers to a read of message 7 by LookupIdentifier; by default, the read names no queue."""
    answers: list[tuple[object, ...]] = []
    faulty.core.message_reading.read_by_lookup_identifier(
        descriptor(queue), 7, MessageSeekAction.CURRENT, lambda *result: answers.append(result)
    )
    return answers


def first_queue(given):
    return descriptor(next(iter(given.qm.adm.QueueCollection.values())))


def test_fault_changes_given_arguments(faulty):
    change_step_arguments(LOOKUP, queue_desc=first_queue)(faulty)
    assert read(faulty) == [(Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)]


def test_fault_can_change_default_arguments(faulty):
    seen: list[bool] = []
    change_step_arguments(LOOKUP, two_phase_read=lambda given: seen.append(given.two_phase_read))(faulty)
    read(faulty)
    assert seen == [False]


def test_fault_with_argument_that_its_step_lacks_is_refused():
    with pytest.raises(TypeError, match="read_by_lookup_identifier has no parameter colour, shape"):
        change_step_arguments(LOOKUP, shape=lambda given: 1, colour=lambda given: 2)


def test_fault_that_changes_a_missing_parameter_raises_attribute_error(faulty):
    change_step_arguments(LOOKUP, lookup_id=lambda given: given.colour)(faulty)
    with pytest.raises(AttributeError, match="the step has no parameter colour"):
        read(faulty)


def test_fault_changes_result_of_a_step(faulty):
    change_step_result(LOOKUP, lambda status, found: (status, "instead"))(faulty)
    assert read(faulty) == [(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, "instead")]


@pytest.mark.parametrize(
    ("of", "answered"),
    [
        (Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, Status.MQ_ERROR_IO_TIMEOUT),
        (Status.MQ_OK, Status.MQ_ERROR_QUEUE_NOT_AVAILABLE),
    ],
)
def test_fault_replaces_status_of_a_step(faulty, of, answered):
    replace_step_status(LOOKUP, Status.MQ_ERROR_IO_TIMEOUT, of=of)(faulty)
    assert read(faulty) == [(answered, None)]


@pytest.mark.parametrize(("number", "answered"), [(7, Status.MQ_OK), (8, Status.MQ_ERROR_QUEUE_NOT_AVAILABLE)])
def test_fault_replaces_call_only_under_its_condition(faulty, number, answered):
    do = replace_step_if(
        LOOKUP, lambda given: given.lookup_id == number, lambda given: given.answered(Status.MQ_OK, None)
    )
    do(faulty)
    assert read(faulty) == [(answered, None)]


def test_two_faults_of_one_step_compose(faulty):
    replace_step_status(LOOKUP, Status.MQ_ERROR_IO_TIMEOUT, of=Status.MQ_ERROR_MESSAGE_NOT_FOUND)(faulty)
    change_step_arguments(LOOKUP, queue_desc=first_queue)(faulty)
    assert read(faulty) == [(Status.MQ_ERROR_IO_TIMEOUT, None)]


def test_proof_finds_step_changed_by_fault():
    step = frozenset({ReferenceStep(MessageReading, "read_by_lookup_identifier")})
    assert find_changed_steps(change_step_arguments(LOOKUP, lookup_id=lambda given: 1)) == step
    assert find_changed_steps(replace_step_if(LOOKUP, lambda given: True, lambda given: None)) == step
