"""Faults of MS-MQQB 3.1.5.5.4 Source Journaling, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-express-message-journaled-when-sent", breaks="MQQB-3.1.5.5.4-01", blind=True)
class ExpressJournaledWhenSent(Sending):
    """The sender puts an express message into its journal when it sends the message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        message = position.MessagePosition.MessageReference
        if message.PositiveJournalingRequested and not position.recoverable:
            self.qm.journaling.keep_message(self.qm.adm.SystemJournalQueue, message)
            position.MessagePosition.MessageReference = replace(message, PositiveJournalingRequested=False)


def _journal_first(original: Any, *_: Any) -> Any:
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
    "Of several messages that one SessionHeader acknowledges, the sender puts only the first into its journal.",
    during(SessionAcks.process_header, SessionAcks.delete_position, _journal_first),
    blind=True,
)


@fault("sender-message-of-lost-session-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class JournaledWhenLost(Closing):
    """The sender puts a sent message into its journal if the connection is lost before the acknowledgment arrives."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for one in list(session.OutgoingMessageTable.awaiting_ack):
            message = one.MessagePosition.MessageReference
            if message.PositiveJournalingRequested and not one.TxSequenceNumber:
                self.qm.journaling.keep_message(self.qm.adm.SystemJournalQueue, message)
                one.MessagePosition.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().on_transport_lost(session, reason, now)


@fault("sender-journaled-message-with-4096-bytes-of-body", breaks="MQQB-3.1.5.5.4-01", blind=True)
class JournalTruncates(Journaling):
    """The sender keeps only the first 4,096 bytes of the body of a message that it puts into its journal."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested and len(message.Body) > 4096:
            position.MessageReference = replace(message, Body=message.Body[:4096])
        super().journal_delivered(position)


@fault("sender-message-to-private-name-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class OnlyDirectNames(Journaling):
    """The sender journals only messages that are addressed to direct format names."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if not message.DestinationQueueFormatName.upper().startswith("DIRECT="):
            position.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().journal_delivered(position)
