"""Faults that break rules of MS-MQQB 3.1.5.5.2 Delete Acknowledged Express Messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during
from harness.faults.registry import add
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("sender-all-express-messages-deleted-by-acknowledgment", breaks="MQQB-3.1.5.5.2-01", blind=True)
class SenderAllExpressMessagesDeletedByAcknowledgment(SessionAcks):
    """The sender deletes all express messages when it receives an acknowledgment, even those with numbers above
    AckSequenceNumber.
    """

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        all_of_them = replace(header, AckSequenceNumber=session.MessageSentCount)
        super().delete_acknowledged_express_messages(session, all_of_them if header.AckSequenceNumber else header)


add(
    "sender-express-message-not-deleted-by-ack-in-user-message",
    "MQQB-3.1.5.5.2-01",
    "The sender does not delete express messages that are acknowledged by the SessionHeader of a UserMessage.",
    omit_step_during(MessageReceiving.receive_user_message, SessionAcks.delete_acknowledged_express_messages),
    blind=True,
)


add(
    "sender-express-messages-not-deleted-by-header-in-user-message",
    "MQQB-3.1.5.5.2-01",
    "The sender deletes no express message if the SessionHeader is in a UserMessage.",
    omit_step_during(MessageReceiving.receive_user_message, SessionAcks.delete_acknowledged_express_messages),
    blind=True,
)


@fault("sender-express-message-with-requested-acks-not-deleted", breaks="MQQB-3.1.5.5.2-01", blind=True)
class SenderExpressMessageWithRequestedAcksNotDeleted(SessionAcks):
    """The sender keeps an acknowledged express message that requests an acknowledgment, and sends the message again."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        kept = [
            one
            for one in session.OutgoingMessageTable.awaiting_ack
            if one.MessagePosition.MessageReference.AcknowledgementsRequested and not one.recoverable
        ]
        for one in kept:
            session.OutgoingMessageTable.keep_message_until_order_ack(one)
        super().delete_acknowledged_express_messages(session, header)


@fault("sender-acked-express-message-kept-while-recoverable-one-waits", breaks="MQQB-3.1.5.5.2-01", blind=True)
class SenderAckedExpressMessageKeptWhileRecoverableOneWaits(SessionAcks):
    """The sender deletes acknowledged express messages only if no recoverable message awaits its acknowledgment."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        if not any(one.recoverable for one in session.OutgoingMessageTable.awaiting_ack):
            super().delete_acknowledged_express_messages(session, header)


@fault("sender-express-messages-kept-until-all-are-acknowledged", breaks="MQQB-3.1.5.5.2-01", blind=True)
class SenderExpressMessagesKeptUntilAllAreAcknowledged(SessionAcks):
    """The sender deletes acknowledged express messages only when all messages of the session are acknowledged."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        if header.AckSequenceNumber == session.MessageSentCount:
            super().delete_acknowledged_express_messages(session, header)


@fault("sender-large-express-message-not-deleted", breaks="MQQB-3.1.5.5.2-01", blind=True)
class SenderLargeExpressMessageNotDeleted(SessionAcks):
    """The sender does not delete an acknowledged express message with more than 4,000 bytes of body."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        table = session.OutgoingMessageTable
        large = [
            one
            for one in table.awaiting_ack
            if not one.recoverable and len(one.UserMessage.MessagePropertiesHeader.MessageBody) > 4000
        ]
        for position in large:
            position.SequenceNumber += 0x7FFF
        super().delete_acknowledged_express_messages(session, header)
        for position in large:
            position.SequenceNumber -= 0x7FFF


@fault("sender-session-ack-deletes-express-messages-of-all-sessions", breaks="MQQB-3.1.5.5.2-01")
class SenderSessionAckDeletesExpressMessagesOfAllSessions(SessionAcks):
    """A SessionAck deletes the express messages with the acknowledged numbers on all sessions."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_express_messages(session, header)
        for other in list_open_sessions(self.qm, session):
            super().delete_acknowledged_express_messages(other, header)
