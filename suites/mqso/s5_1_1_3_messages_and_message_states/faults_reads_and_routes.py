"""Faults that concern only express messages, only some kinds of peeks, or only some next hops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.store.disk import Change
from reference_qm.core.store.durable_records import DurableRecords
from reference_qm.model.adm import MessagePosition, OutgoingQueue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now


def _save_express_message(durability: DurableRecords, position: MessagePosition, build: Any) -> Change:
    """Return the record of an express message, built as that of a recoverable message."""
    message = position.MessageReference
    position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)
    change: Change = build(position)
    position.MessageReference = message
    return change


@fault("sender-outgoing-express-message-survives-stop", breaks="MQSO-5.1.1.3-D01")
class SenderOutgoingExpressMessageSurvivesStop(DurableRecords):
    """An express message that waits in an outgoing queue survives a restart of the queue manager."""

    def build_send_record(self, position: MessagePosition) -> Change:
        if isinstance(position.QueueReference, OutgoingQueue):
            return _save_express_message(self, position, super().build_send_record)
        return super().build_send_record(position)


@fault("sender-express-message-for-local-queue-survives-stop", breaks="MQSO-5.1.1.3-D01")
class SenderExpressMessageForLocalQueueSurvivesStop(DurableRecords):
    """An express message that an application sends to a local queue survives a restart of the queue manager."""

    def build_send_record(self, position: MessagePosition) -> Change:
        if isinstance(position.QueueReference, OutgoingQueue):
            return super().build_send_record(position)
        return _save_express_message(self, position, super().build_send_record)


@fault("sender-later-message-not-sent-to-next-hop", breaks="MQSO-5.1.1.3-D03")
class SenderLaterMessageNotSentToNextHop(NextHops):
    """After the first message to a destination, the queue manager connects to the destination itself instead of the
    next hop.
    """

    def get_next_hops(self, guid: Any) -> Any:
        found = super().get_next_hops(guid)
        count = self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        machine = self.qm.enterprise.find_queue_manager("Identifier", guid)
        return found if count == 1 or machine is None else (machine,)


@fault("sender-next-hops-other-than-destination-not-used", breaks="MQSO-5.1.1.3-D03")
class SenderNextHopsOtherThanDestinationNotUsed(NextHops):
    """The queue manager sends a message only if the destination itself is the next hop."""

    def get_next_hops(self, guid: Any) -> Any:
        found = super().get_next_hops(guid)
        return tuple(one for one in found if one.Identifier == guid)


@fault("reader-second-peek-removes-message", breaks="MQSO-5.1.1.3-D05")
class ReaderSecondPeekRemovesMessage(MessageReading):
    """The second peek at a message removes the message from its queue."""

    def peek_message(self, queue_desc: Any, answered: Any, now: Now, *arguments: Any, **named: Any) -> None:
        def remove_message_at_second_peek(status: Any, position: MessagePosition | None) -> None:
            answered(status, position)
            peeked = self.__dict__.setdefault("peeked", set())
            if position is not None:
                if id(position) in peeked:
                    position.QueueReference.MessagePositionList.remove(position)
                peeked.add(id(position))

        super().peek_message(queue_desc, remove_message_at_second_peek, now, *arguments, **named)


@fault("reader-peek-by-lookup-identifier-removes-message", breaks="MQSO-5.1.1.3-D05")
class ReaderPeekByLookupIdentifierRemovesMessage(MessageReading):
    """A peek by LookupIdentifier receives the message."""

    def read_by_lookup_identifier(
        self,
        queue_desc: Any,
        lookup_id: int,
        lookup_operation: Any,
        answered: Any,
        peek_operation: bool = False,
        two_phase_read: bool = False,
        transaction: Any = None,
    ) -> None:
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, False, two_phase_read, transaction
        )


@fault("reader-peek-with-cursor-clears-extension", breaks="MQSO-5.1.1.3-D05")
class ReaderPeekWithCursorClearsExtension(MessageReading):
    """A peek with a cursor removes the extension of the message."""

    def peek_message(
        self, queue_desc: Any, answered: Any, now: Now, timeout_ms: Any = None, cursor: Any = None, tag: Any = None
    ) -> None:
        def clear_extension_after_peek(status: Any, position: MessagePosition | None) -> None:
            answered(status, position)
            if position is not None and cursor is not None:
                position.MessageReference = replace(position.MessageReference, Extension=b"")

        super().peek_message(queue_desc, clear_extension_after_peek, now, timeout_ms, cursor, tag)
