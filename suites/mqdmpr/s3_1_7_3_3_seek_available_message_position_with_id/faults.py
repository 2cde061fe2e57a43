"""Faults of MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id, and an alternative reading of an erratum."""

from __future__ import annotations

from harness.faults.calls import with_arguments
from harness.faults.parts import fault, follows
from harness.faults.registry import add
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction, SeekDirection
from reference_qm.model.position_list import Entry
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

Found = tuple[Status, MessagePosition | None]
EDGE_BY_ACTION = {MessageSeekAction.NEXT: MessageSeekAction.FIRST, MessageSeekAction.PREVIOUS: MessageSeekAction.LAST}


@fault(
    "lookup-of-unknown-identifier-finds-first-or-last",
    breaks=("MQDMPR-3.1.7.3.3-04", "MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.3.3-26"),
)
class LookupOfUnknownIdentifierFindsFirstOrLast(Seeking):
    """A lookup by an unknown LookupIdentifier returns the first or the last message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        edge = EDGE_BY_ACTION.get(lookup_action, MessageSeekAction.FIRST)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, edge)


@fault(
    "lookup-of-neighbor-finds-current",
    breaks=(
        "MQDMPR-3.1.7.1.13-11",
        "MQDMPR-3.1.7.3.3-08",
        "MQDMPR-3.1.7.3.3-17",
        "MQDMPR-3.1.7.3.3-22",
        "MQDMPR-3.1.7.3.3-41",
        "MQDMPR-3.1.7.3.3-46",
    ),
)
class LookupOfNeighborFindsCurrent(Seeking):
    """A lookup of the next or the previous message returns the message with the given LookupIdentifier itself."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        action = MessageSeekAction.CURRENT if lookup_action in EDGE_BY_ACTION else lookup_action
        return super().seek_with_identifier(queue, lookup_id, peek_operation, action)


@fault("lookup-of-current-finds-next", breaks=("MQDMPR-3.1.7.3.3-24", "MQDMPR-3.1.7.3.3-29"))
class LookupOfCurrentFindsNext(Seeking):
    """A lookup of the current message returns the next message, if a next message exists."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        behind = None if found is None or lookup_action is not MessageSeekAction.CURRENT else found.Next
        return status, behind if isinstance(behind, MessagePosition) else found


class _OtherStatus(Seeking):
    """Replace one error status of a search by identifier with a different error status."""

    told: Status
    instead: Status

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        return (self.instead if status is self.told else status), found


@fault(
    "lookup-of-unknown-identifier-returns-already-received",
    breaks=("MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.3.3-26", "MQDMPR-3.1.7.3.3-39"),
)
class LookupOfUnknownIdentifierReturnsAlreadyReceived(_OtherStatus):
    """A lookup by an unknown LookupIdentifier returns MQ_ERROR_MESSAGE_ALREADY_RECEIVED."""

    told, instead = Status.MQ_ERROR_MESSAGE_NOT_FOUND, Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED


@fault("lookup-of-locked-message-returns-not-found", breaks="MQDMPR-3.1.7.3.3-35")
class LookupOfLockedMessageReturnsNotFound(_OtherStatus):
    """A lookup of a locked message returns MQ_ERROR_MESSAGE_NOT_FOUND."""

    told, instead = Status.MQ_ERROR_TRANSACTION_USAGE, Status.MQ_ERROR_MESSAGE_NOT_FOUND


@fault("lookup-of-received-message-returns-locked", breaks="MQDMPR-3.1.7.3.3-37")
class LookupOfReceivedMessageReturnsLocked(_OtherStatus):
    """A lookup of a received message returns MQ_ERROR_TRANSACTION_USAGE."""

    told, instead = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, Status.MQ_ERROR_TRANSACTION_USAGE


@follows("E171.2")
class ReceivedIsNotFound(_OtherStatus):
    """The lookup of a received message returns MQ_ERROR_MESSAGE_NOT_FOUND, even while a cursor is at the message."""

    told, instead = Status.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, Status.MQ_ERROR_MESSAGE_NOT_FOUND


EDGE_ACTIONS = (MessageSeekAction.FIRST, MessageSeekAction.LAST)


add(
    "lookup-of-first-or-last-uses-identifier",
    ("MQDMPR-3.1.7.1.13-11", "MQDMPR-3.1.7.3.3-48", "MQDMPR-3.1.7.3.3-53"),
    "A lookup of the first or the last message returns the message with the given LookupIdentifier.",
    with_arguments(
        Reading.read_by_lookup_identifier,
        lookup_operation=lambda given: (
            MessageSeekAction.CURRENT if given.lookup_operation in EDGE_ACTIONS else given.lookup_operation
        ),
    ),
)


@fault(
    "search-ends-at-second-locked-message",
    breaks=("MQDMPR-3.1.7.3.3-22", "MQDMPR-3.1.7.3.3-46", "MQDMPR-3.1.7.3.2-16"),
)
class SearchEndsAtSecondLockedMessage(Seeking):
    """A search that passes two locked messages ends without a message; a search that passes only one locked message
    continues.
    """

    def seek_available(
        self,
        initial_position: Entry,
        peek_operation: bool,
        seek_direction: SeekDirection = SeekDirection.FORWARD,
    ) -> MessagePosition | None:
        found: MessagePosition | None = super().seek_available(initial_position, peek_operation, seek_direction)
        skipped = 0
        entry: Entry | None = found
        while isinstance(entry, MessagePosition) and entry is not initial_position:
            skipped += entry.State is MessagePositionState.LOCKED
            entry = entry.Next if seek_direction is SeekDirection.BACKWARD else entry.Previous
        return found if skipped < 2 else None
