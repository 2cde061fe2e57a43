"""Faults that break the rules MQDMPR-3.1.7.1.13-16 to MQDMPR-3.1.7.1.13-39 for one kind of message or place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.calls import GivenStepArguments, change_step_arguments
from harness.faults.read_answers import is_transactional
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OnReadAnswered
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

LARGE_BODY_BYTES = 10_000


def _change_lookup_results(change: Callable[[GivenStepArguments, Status, MessagePosition | None], Any]) -> Any:
    """Return an installer of a fault that changes the result of a read by LookupIdentifier."""

    def make_completion(given: GivenStepArguments) -> OnReadAnswered:
        return lambda status, position: given.answered(*change(given, status, position))

    return change_step_arguments(MessageReading.read_by_lookup_identifier, answered=make_completion)


def _get_neighbouring_entry(position: MessagePosition | None) -> MessagePosition | None:
    following = None if position is None else position.Next
    return following if isinstance(following, MessagePosition) else position


def _unlock_received_message(
    given: GivenStepArguments, status: Status, position: MessagePosition | None, when: bool
) -> Any:
    if when and position is not None and not given.peek_operation:
        position.State = MessagePositionState.AVAILABLE
    return status, position


for _name, _rules, _says, _change in (
    (
        "queue-manager-lookup-in-subqueue-returns-following-message",
        ("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38"),
        "A read by LookupIdentifier in a subqueue returns the message that follows the found message.",
        lambda given, status, position: (
            status,
            _get_neighbouring_entry(position)
            if position is not None
            and position.QueueReference.parent is not None
            and position.QueueReference.parent.JournalQueueReference is not position.QueueReference
            else position,
        ),
    ),
    (
        "queue-manager-lookup-of-transactional-message-returns-following-message",
        ("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38"),
        "A peek by LookupIdentifier that finds a transactional message returns the following message.",
        lambda given, status, position: (
            status,
            _get_neighbouring_entry(position) if given.peek_operation and is_transactional(position) else position,
        ),
    ),
    (
        "queue-manager-failed-receive-by-lookup-id-returns-status-timeout",
        "MQDMPR-3.1.7.1.13-18",
        "A receive by LookupIdentifier that finds no message returns MQ_ERROR_IO_TIMEOUT.",
        lambda given, status, position: (
            Status.MQ_ERROR_IO_TIMEOUT
            if status is Status.MQ_ERROR_MESSAGE_NOT_FOUND and not given.peek_operation
            else status,
            position,
        ),
    ),
    (
        "queue-manager-lookup-behind-last-message-returns-status-timeout",
        "MQDMPR-3.1.7.1.13-18",
        "A read of the message after the last message returns MQ_ERROR_IO_TIMEOUT.",
        lambda given, status, position: (
            Status.MQ_ERROR_IO_TIMEOUT
            if status is Status.MQ_ERROR_MESSAGE_NOT_FOUND and given.lookup_operation is MessageSeekAction.NEXT
            else status,
            position,
        ),
    ),
    (
        "queue-manager-transactional-receive-of-last-message-by-lookup-id-does-not-lock",
        "MQDMPR-3.1.7.1.13-24",
        "A receive of the last message by LookupIdentifier in a transaction does not lock the message.",
        lambda given, status, position: _unlock_received_message(
            given,
            status,
            position,
            given.transaction is not None and given.lookup_operation is MessageSeekAction.LAST,
        ),
    ),
    (
        "queue-manager-transactional-receive-of-previous-message-by-lookup-id-does-not-lock",
        "MQDMPR-3.1.7.1.13-24",
        "A receive of the message before a LookupIdentifier in a transaction does not lock the message.",
        lambda given, status, position: _unlock_received_message(
            given,
            status,
            position,
            given.transaction is not None and given.lookup_operation is MessageSeekAction.PREVIOUS,
        ),
    ),
    (
        "queue-manager-two-phase-receive-of-next-message-by-lookup-id-does-not-lock",
        "MQDMPR-3.1.7.1.13-32",
        "A two-phase receive of the message after a LookupIdentifier does not lock the message.",
        lambda given, status, position: _unlock_received_message(
            given,
            status,
            position,
            given.two_phase_read and given.lookup_operation is MessageSeekAction.NEXT,
        ),
    ),
    (
        "queue-manager-two-phase-receive-of-transactional-message-by-lookup-id-does-not-lock",
        "MQDMPR-3.1.7.1.13-32",
        "A two-phase receive of a transactional message by LookupIdentifier does not lock the message.",
        lambda given, status, position: _unlock_received_message(
            given, status, position, given.two_phase_read and is_transactional(position)
        ),
    ),
    (
        "queue-manager-lookup-of-large-message-not-ok",
        "MQDMPR-3.1.7.1.13-39",
        "A read by LookupIdentifier that finds a message with a body of more than 10,000 bytes returns"
        " MQ_ERROR_MESSAGE_NOT_FOUND.",
        lambda given, status, position: (
            (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            if position is not None and len(position.MessageReference.Body) > LARGE_BODY_BYTES
            else (status, position)
        ),
    ),
    (
        "queue-manager-lookup-of-previous-transactional-message-not-ok",
        "MQDMPR-3.1.7.1.13-39",
        "A read of the message before a LookupIdentifier returns MQ_ERROR_MESSAGE_NOT_FOUND if that message is"
        " transactional.",
        lambda given, status, position: (
            (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)
            if is_transactional(position) and given.lookup_operation is MessageSeekAction.PREVIOUS
            else (status, position)
        ),
    ),
):
    add(_name, _rules, _says, _change_lookup_results(_change), blind=True)
