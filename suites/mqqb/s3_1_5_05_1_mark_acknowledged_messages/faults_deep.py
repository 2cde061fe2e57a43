"""Faults of MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-ack-number-in-user-message-one-too-low", breaks="MQQB-3.1.5.5.1-01", blind=True)
class SenderAckNumberInUserMessageOneTooLow(Receiving):
    """When the acknowledgment is in the SessionHeader of a UserMessage, the sender does not mark the message whose
    number is AckSequenceNumber.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SessionHeader
        if header is not None and header.AckSequenceNumber:
            lower = replace(header, AckSequenceNumber=header.AckSequenceNumber - 1)
            packet = replace(packet, SessionHeader=lower)
        super().receive_user_message(session, packet, now)


@fault("sender-ack-marks-only-the-message-of-its-number", breaks="MQQB-3.1.5.5.1-01", blind=True)
class SenderAckMarksOnlyTheMessageOfItsNumber(SessionAcks):
    """The sender marks only the message whose number is AckSequenceNumber, and no earlier message."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        others = [
            one for one in session.OutgoingMessageTable.awaiting_ack if one.SequenceNumber != header.AckSequenceNumber
        ]
        for one in others:
            one.ReceivedSessionAck = True
        super().mark_acknowledged(session, header)
        for one in others:
            one.ReceivedSessionAck = False


@fault("sender-transactional-message-gives-no-room-until-order-ack", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderTransactionalMessageGivesNoRoomUntilOrderAck(SessionAcks):
    """The sender gains no room in its window when a session acknowledgment covers a transactional message."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = [one for one in session.OutgoingMessageTable.awaiting_ack if one.TxSequenceNumber]
        super().mark_acknowledged(session, header)
        session.UnAckedMessageCount += sum(one.ReceivedSessionAck for one in before)


@fault("sender-express-message-gives-room-for-two", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderExpressMessageGivesRoomForTwo(SessionAcks):
    """The sender gains room for two messages for each newly acknowledged express message."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = [one for one in session.OutgoingMessageTable.awaiting_ack if not one.recoverable]
        super().mark_acknowledged(session, header)
        session.UnAckedMessageCount -= sum(one.ReceivedSessionAck for one in before)


@fault("sender-recoverable-message-gives-no-room-until-stored", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderRecoverableMessageGivesNoRoomUntilStored(SessionAcks):
    """The sender removes a recoverable message from its window only when the message's bit in RecoverableMsgAckFlags is
    set.
    """

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = {
            one.order: one
            for one in session.OutgoingMessageTable.awaiting_ack
            if one.recoverable and not one.TxSequenceNumber and not one.ReceivedSessionAck
        }
        super().mark_acknowledged(session, header)
        session.UnAckedMessageCount += sum(one.ReceivedSessionAck for one in before.values())

    def delete_position(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().delete_position(session, position)
        if position.recoverable and not position.TxSequenceNumber:
            session.UnAckedMessageCount -= 1


@fault("sender-held-back-recoverable-messages-before-express-ones", breaks="MQQB-3.1.5.5.1-04", blind=True)
class SenderHeldBackRecoverableMessagesBeforeExpressOnes(Sending):
    """After its window was full, the sender sends the recoverable messages that it held back before the express
    messages.
    """

    def dispatch_messages(self, session: Session, now: Now) -> None:
        table = session.OutgoingMessageTable
        waiting = [one for one in table if not one.AwaitingAck and not one.ReceivedSessionAck]
        if self.may_send(session) and len({one.recoverable for one in waiting}) == 2 and len(table.awaiting_ack):
            table.withhold_all()
            for position in sorted(waiting, key=lambda one: not one.recoverable):
                table.remove(position)
                table.add(position)
                self.qm.dispatch_collection.add(session, position)
        super().dispatch_messages(session, now)


@fault("sender-room-of-second-ack-lost", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderRoomOfSecondAckLost(SessionAcks):
    """After the first acknowledgment on a session, the sender gains no room in its window until all its messages are
    acknowledged.
    """

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        before = session.UnAckedMessageCount
        super().mark_acknowledged(session, header)
        known: set[int] = self.__dict__.setdefault("known", set())
        waits = any(not one.ReceivedSessionAck for one in session.OutgoingMessageTable.awaiting_ack)
        if session.number in known and waits:
            session.UnAckedMessageCount = before
        elif before != session.UnAckedMessageCount:
            known.add(session.number)


@fault("sender-at-most-32-messages-marked-by-one-ack", breaks=("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.1-02"), blind=True)
class SenderAtMost32MessagesMarkedByOneAck(SessionAcks):
    """The sender marks at most 32 messages as acknowledged for one acknowledgment."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        waiting = [one.SequenceNumber for one in session.OutgoingMessageTable.awaiting_ack]
        if waiting:
            limit = min(waiting) + 31
            header = set_fields(header, {"AckSequenceNumber": lambda old: min(old, limit)})
        super().mark_acknowledged(session, header)


@fault("sender-acknowledged-express-message-gains-room-for-two", breaks="MQQB-3.1.5.5.1-02", blind=True)
class SenderAcknowledgedExpressMessageGainsRoomForTwo(SessionAcks):
    """The sender gains room for two messages for each acknowledged express message."""

    def mark_acknowledged(self, session: Session, header: SessionHeader) -> None:
        waiting = [
            one
            for one in session.OutgoingMessageTable.awaiting_ack
            if not one.recoverable and not one.ReceivedSessionAck
        ]
        super().mark_acknowledged(session, header)
        session.UnAckedMessageCount -= sum(one.ReceivedSessionAck for one in waiting)
