"""Faults that break rules of MS-MQQB 3.1.5.5 Receiving a SessionAck Packet: where and when a SessionHeader arrives."""

from __future__ import annotations

from harness.faults.carried_acks import CarrierAwareSessionAcks
from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session


@fault("sender-window-opened-only-by-session-ack-packet", breaks="MQQB-3.1.5.5-03", blind=True)
class SenderWindowOpenedOnlyBySessionAckPacket(CarrierAwareSessionAcks):
    """The sender does not mark the messages that the SessionHeader of a UserMessage acknowledges."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        if self.is_carried_by_session_ack_packet:
            super().mark_acknowledged_messages(session, header)


@fault("sender-window-opened-only-by-first-session-header", breaks="MQQB-3.1.5.5-03", blind=True)
class SenderWindowOpenedOnlyByFirstSessionHeader(SessionAcks):
    """After one SessionHeader has made room in the window of a session, later SessionHeaders make no more room in the
    window.
    """

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        count = session.UnAckedMessageCount
        acknowledged: set[int] = self.__dict__.setdefault("acknowledged", set())
        super().mark_acknowledged_messages(session, header)
        if session.number in acknowledged:
            session.UnAckedMessageCount = count
        if session.UnAckedMessageCount < count:
            acknowledged.add(session.number)


@fault("sender-window-not-opened-by-ack-of-transactional-messages", breaks="MQQB-3.1.5.5-03", blind=True)
class SenderWindowNotOpenedByAckOfTransactionalMessages(SessionAcks):
    """A SessionHeader that acknowledges transactional messages does not make room for them in the window."""

    def mark_acknowledged_messages(self, session: Session, header: SessionHeader) -> None:
        waiting = [one for one in session.OutgoingMessageTable.awaiting_ack if one.TxSequenceNumber]
        super().mark_acknowledged_messages(session, header)
        session.UnAckedMessageCount += sum(one.ReceivedSessionAck for one in waiting)


@fault("sender-express-messages-deleted-only-by-session-ack-packet", breaks="MQQB-3.1.5.5-04", blind=True)
class SenderExpressMessagesDeletedOnlyBySessionAckPacket(CarrierAwareSessionAcks):
    """The sender keeps express messages that the SessionHeader of a UserMessage acknowledges."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        if self.is_carried_by_session_ack_packet:
            super().delete_acknowledged_express_messages(session, header)


@fault("sender-express-messages-before-recoverable-message-kept", breaks="MQQB-3.1.5.5-04", blind=True)
class SenderExpressMessagesBeforeRecoverableMessageKept(SessionAcks):
    """If a SessionHeader also acknowledges a recoverable message, the sender keeps the express messages."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        if not header.RecoverableMsgAckFlags:
            super().delete_acknowledged_express_messages(session, header)


@fault("sender-only-one-express-message-deleted", breaks="MQQB-3.1.5.5-04", blind=True)
class SenderOnlyOneExpressMessageDeleted(SessionAcks):
    """The sender deletes one express message for each SessionHeader, even if the header acknowledges several."""

    def delete_acknowledged_express_messages(self, session: Session, header: SessionHeader) -> None:
        self.__dict__["deleted"] = False
        super().delete_acknowledged_express_messages(session, header)

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable or not self.__dict__.get("deleted"):
            super().delete_position(session, position)
        self.__dict__["deleted"] = True


@fault("sender-acknowledged-express-message-with-journaling-kept", breaks="MQQB-3.1.5.5-04")
class SenderAcknowledgedExpressMessageWithJournalingKept(SessionAcks):
    """The sender keeps acknowledged express messages that request positive source journaling."""

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable or not position.UserMessage.UserHeader.JP:
            super().delete_position(session, position)
