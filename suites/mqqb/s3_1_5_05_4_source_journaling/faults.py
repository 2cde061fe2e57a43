"""Faults that break rules of MS-MQQB 3.1.5.5.4 Source Journaling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-message-with-jp-and-jn-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderMessageWithJpAndJnNotJournaled(MessageJournaling):
    """The sender does not journal a delivered message with JP and JN."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested:
            position.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().journal_delivered_message(position)


@fault("sender-express-message-journaled-when-sent", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderExpressMessageJournaledWhenSent(MessageSending):
    """The sender puts an express message into its journal when it sends the message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        message = position.MessagePosition.MessageReference
        if message.PositiveJournalingRequested and not position.recoverable:
            self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemJournalQueue, message)
            position.MessagePosition.MessageReference = replace(message, PositiveJournalingRequested=False)


def _journal_only_first_message(original: Any, *_: Any) -> Any:
    journaled: list[OutgoingMessagePosition] = []

    def delete_position(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        message = position.MessagePosition.MessageReference
        if message.PositiveJournalingRequested and journaled:
            position.MessagePosition.MessageReference = replace(message, PositiveJournalingRequested=False)
        journaled.append(position)
        original(qm, session, position)

    return delete_position


add(
    "sender-only-first-of-several-acknowledged-messages-journaled",
    "MQQB-3.1.5.5.4-01",
    "When one SessionHeader acknowledges several messages, the sender puts only the first into its journal.",
    replace_method_during(SessionAcks.process_session_header, SessionAcks.delete_position, _journal_only_first_message),
    blind=True,
)


@fault("sender-unacknowledged-message-of-lost-session-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderUnacknowledgedMessageOfLostSessionJournaled(SessionClosing):
    """The sender puts a sent message into its journal if the connection is lost before the acknowledgment arrives."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for one in list(session.OutgoingMessageTable.awaiting_ack):
            message = one.MessagePosition.MessageReference
            if message.PositiveJournalingRequested and not one.TxSequenceNumber:
                self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemJournalQueue, message)
                one.MessagePosition.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().on_transport_lost(session, reason, now)


@fault("sender-journaled-message-body-cut-to-4096-bytes", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderJournaledMessageBodyCutTo4096Bytes(MessageJournaling):
    """The sender keeps only the first 4,096 bytes of the body of a message that it puts into its journal."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested and len(message.Body) > 4096:
            position.MessageReference = replace(message, Body=message.Body[:4096])
        super().journal_delivered_message(position)


@fault("sender-message-to-private-name-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderMessageToPrivateNameNotJournaled(MessageJournaling):
    """The sender journals only messages that are addressed to direct format names."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if not message.DestinationQueueFormatName.upper().startswith("DIRECT="):
            position.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().journal_delivered_message(position)


_journaled_message_count_by_queue_manager: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


@fault("sender-journals-every-other-message-only", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderJournalsEveryOtherMessageOnly(MessageJournaling):
    """The sender puts only every other journaled message into the system journal."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        if position.MessageReference.PositiveJournalingRequested:
            _journaled_message_count_by_queue_manager[self.qm] = (
                _journaled_message_count_by_queue_manager.get(self.qm, 0) + 1
            )
            if _journaled_message_count_by_queue_manager[self.qm] % 2 == 0:
                message = replace(position.MessageReference, PositiveJournalingRequested=False)
                position.MessageReference = message
        super().journal_delivered_message(position)


@fault("sender-large-message-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderLargeMessageNotJournaled(MessageJournaling):
    """The sender does not put a message with a body of more than 4,096 bytes into the system journal."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        if len(position.MessageReference.Body) > 4_096:
            position.MessageReference = replace(position.MessageReference, PositiveJournalingRequested=False)
        super().journal_delivered_message(position)


@fault("sender-message-with-both-journal-flags-not-in-system-journal", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderMessageWithBothJournalFlagsNotInSystemJournal(MessageJournaling):
    """The sender does not put a message with JP and JN set into the system journal."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        if position.MessageReference.NegativeJournalingRequested:
            position.MessageReference = replace(position.MessageReference, PositiveJournalingRequested=False)
        super().journal_delivered_message(position)


@fault("sender-message-with-empty-body-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderMessageWithEmptyBodyNotJournaled(MessageJournaling):
    """The sender does not put a message without a body into the system journal."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        if not position.MessageReference.Body:
            position.MessageReference = replace(position.MessageReference, PositiveJournalingRequested=False)
        super().journal_delivered_message(position)


@fault("sender-message-of-queue-on-hold-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderMessageOfQueueOnHoldNotJournaled(SessionAcks):
    """The sender does not journal a message whose acknowledgment arrives while its queue is on hold."""

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        queue = session.OutgoingQueueReference
        place = position.MessagePosition
        if queue is not None and queue.State.value == "OnHold":
            place.MessageReference = replace(place.MessageReference, PositiveJournalingRequested=False)
        super().delete_position(session, position)


@fault("sender-journaled-message-truncated", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderJournaledMessageTruncated(MessageJournaling):
    """The sender stores at most the first 4,096 bytes of the body in the copy of a message in the system journal."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, Body=message.Body[:4_096])
        super().journal_delivered_message(position)
