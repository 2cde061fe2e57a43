"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import change_step
from harness.faults.registry import Install
from reference_qm.core.queueing.message_positions import LOOKUP_ID_WITHOUT_PRIORITY_MASK, MessagePositions
from reference_qm.model.adm import Message

BIT_OFFSET_OF_LOOKUP_IDENTIFIER_HIGH_BYTE = 56
"""The number of bits below the high byte of a LookupIdentifier."""
LARGE_BODY_BYTES = 3000
"""The number of bytes from which faults treat a body as large."""


def has_large_body(message: Message) -> bool:
    """Return whether a message has a large body."""
    return len(message.Body) >= LARGE_BODY_BYTES


def is_transactional(message: Message) -> bool:
    """Return whether a message was sent in a transaction."""
    return message.TransactionIdentifier is not None


def is_sent_by_local_application(part: MessagePositions, message: Message) -> bool:
    """Return whether an application of this computer sent a message."""
    return message.Identifier.QueueManagerGuid == part.qm.adm.Identifier


def change_lookup_identifiers(
    when: Callable[[MessagePositions, Message], bool], change: Callable[[Message, int], int]
) -> Install:
    """Return an installer of a fault that changes the LookupIdentifiers of some messages."""

    def assign_changed_identifier(part: MessagePositions, original: Callable[[Message], int], message: Message) -> int:
        assigned = original(message)
        return change(message, assigned) if when(part, message) else assigned

    return change_step(MessagePositions.assign_lookup_identifier, assign_changed_identifier)


def set_high_byte_of_lookup_identifier(identifier: int, high: int) -> int:
    """Return a LookupIdentifier with a changed high byte."""
    return high << BIT_OFFSET_OF_LOOKUP_IDENTIFIER_HIGH_BYTE | identifier & LOOKUP_ID_WITHOUT_PRIORITY_MASK
