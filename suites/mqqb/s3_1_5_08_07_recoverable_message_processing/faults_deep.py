"""Faults of MS-MQQB 3.1.5.8.7 Recoverable Message Processing that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.arrival import Arrival, Saving
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


class _ChangingAckOfFullFlags(SessionAcks):
    """Change only the SessionAck that the receiver sends when all bits of RecoverableMsgAckFlags are used."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.full = False

    def set_flag(self, session: Session, now: Now) -> None:
        self.full = True
        super().set_flag(session, now)
        self.full = False

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return self.change(session, header) if self.full else header

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return header


@fault("receiver-ack-of-32-messages-number-1", breaks="MQQB-3.1.5.8.7-06", blind=True)
class ReceiverAckOf32MessagesNumber1(_ChangingAckOfFullFlags):
    """The receiver sends RecoverableMsgAckSeqNumber 1 in every SessionAck after 32 recoverable messages."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, RecoverableMsgAckSeqNumber=1)


@fault("receiver-ack-of-32-messages-without-sent-messages", breaks="MQQB-3.1.5.8.7-07", blind=True)
class ReceiverAckOf32MessagesWithoutSentMessages(_ChangingAckOfFullFlags):
    """The receiver sends UserMsgSequenceNumber 0 in the SessionAck after 32 recoverable messages."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, UserMsgSequenceNumber=0)


@fault("receiver-ack-of-32-messages-recoverable-count-of-all-sent", breaks="MQQB-3.1.5.8.7-08", blind=True)
class ReceiverAckOf32MessagesRecoverableCountOfAllSent(_ChangingAckOfFullFlags):
    """The receiver sends the number of all sent messages as RecoverableMsgSeqNumber in the SessionAck after 32
    recoverable messages.
    """

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, RecoverableMsgSeqNumber=session.MessageSentCount)


@fault("receiver-ack-of-32-messages-window-of-peer", breaks="MQQB-3.1.5.8.7-10", blind=True)
class ReceiverAckOf32MessagesWindowOfPeer(_ChangingAckOfFullFlags):
    """The receiver sends the WindowSize of the other queue manager in the SessionAck after 32 recoverable messages."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, WindowSize=session.ReceivedWindowSize)


@fault("receiver-ack-of-second-32-messages-not-sent", breaks="MQQB-3.1.5.8.7-02", blind=True)
class ReceiverAckOfSecond32MessagesNotSent(SessionAcks):
    """The receiver sends the immediate SessionAck after 32 recoverable messages only once in a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.full: dict[int, int] = {}
        self.setting: Session | None = None

    def set_flag(self, session: Session, now: Now) -> None:
        self.setting = session
        super().set_flag(session, now)
        self.setting = None

    def send(self, session: Session, now: Now) -> None:
        if session is self.setting:
            self.full[session.number] = self.full.get(session.number, 0) + 1
            if self.full[session.number] > 1:
                self.note_acknowledged(session, now)
                return
        super().send(session, now)


@fault("receiver-extension-not-saved", breaks="MQQB-3.1.5.8.7-12", blind=True)
class ReceiverExtensionNotSaved(Arrival):
    """The receiver saves a recoverable message to the disk without its extension."""

    def save_message(self, saving: Saving, packet: UserMessagePacket) -> None:
        properties = replace(packet.MessagePropertiesHeader, ExtensionData=b"")
        size = replace(packet.BaseHeader, PacketSize=0)
        super().save_message(saving, replace(packet, BaseHeader=size, MessagePropertiesHeader=properties))


@fault("receiver-correlation-of-recoverable-message-not-saved", breaks="MQQB-3.1.5.8.7-12", blind=True)
class ReceiverCorrelationOfRecoverableMessageNotSaved(Arrival):
    """The receiver saves a recoverable message to the disk without its CorrelationID."""

    def save_message(self, saving: Saving, packet: UserMessagePacket) -> None:
        properties = replace(packet.MessagePropertiesHeader, CorrelationID=bytes(20))
        super().save_message(saving, replace(packet, MessagePropertiesHeader=properties))


@fault("receiver-recoverable-duplicate-not-counted", breaks="MQQB-3.1.5.8.7-13", blind=True)
class ReceiverRecoverableDuplicateNotCounted(Receiving):
    """The receiver does not count a repeated recoverable message in RecoverableMessageReceivedCount."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        known = packet.TransactionHeader is None and self.qm.history.find_duplicate(packet) is not None
        if packet.UserHeader.DM and known:
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount - 1 & 0xFFFF


@fault("receiver-recoverable-message-for-others-not-counted", breaks="MQQB-3.1.5.8.7-13", blind=True)
class ReceiverRecoverableMessageForOthersNotCounted(Receiving):
    """The receiver does not count a message for another queue manager in RecoverableMessageReceivedCount."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        if packet.UserHeader.DM and not self.is_addressed_here(packet):
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount - 1 & 0xFFFF


@fault("receiver-session-ack-timer-shortened-once-per-session", breaks="MQQB-3.1.5.8.7-14", blind=True)
class ReceiverSessionAckTimerShortenedOncePerSession(SessionAcks):
    """The receiver restarts the Session Ack Send Timer only for the first recoverable message of a session, not for the
    first recoverable message after a SessionAck.
    """

    def set_flag(self, session: Session, now: Now) -> None:
        super().set_flag(session, now)
        if session.RecoverableMessageReceivedCount > 1:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


@fault("receiver-flag-of-recoverable-duplicate-not-set", breaks="MQQB-3.1.5.8.7-15", blind=True)
class ReceiverFlagOfRecoverableDuplicateNotSet(Receiving):
    """The receiver does not set the flag of a repeated recoverable message."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if packet.TransactionHeader is None and self.qm.history.find_duplicate(packet) is not None:
            receipt.acknowledge = False
        super().take_message(session, packet, receipt, now)


@fault("receiver-flag-of-transactional-message-after-gap-not-set", breaks="MQQB-3.1.5.8.7-15", blind=True)
class ReceiverFlagOfTransactionalMessageAfterGapNotSet(Receiving):
    """The receiver does not set the flag of a transactional message that it rejects."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        rejected = session.TxMessageRejectCount
        super().take_message(session, packet, receipt, now)
        if session.TxMessageRejectCount > rejected:
            receipt.acknowledge = False
