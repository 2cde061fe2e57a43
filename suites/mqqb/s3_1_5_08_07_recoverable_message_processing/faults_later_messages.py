"""Faults of MS-MQQB 3.1.5.8.7 Recoverable Message Processing: in later messages, and with two sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.codec import (
    PT_CONNECTION_PARAMETERS,
    PT_SESSION_ACK,
    BaseHeader,
    SessionAckPacket,
    SessionHeader,
    UserMessagePacket,
)
from reference_qm.core.part import QM
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.message_arrival import MessageArrival, UnsavedArrival
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import RECOVERABLE_ACK_FLAG_COUNT, SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x1000


def _has_highest_ack_flag(session: Session) -> bool:
    return bool(session.RecoverableMsgAckFlags >> RECOVERABLE_ACK_FLAG_COUNT - 1 & 1)


@fault("receiver-express-message-with-jn-flagged", breaks="MQQB-3.1.5.8.7-01")
class ReceiverExpressMessageWithJnFlagged(MessageReceiving):
    """The receiver counts an express message with JN as recoverable."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        if packet.UserHeader.JN and not packet.UserHeader.DM:
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount + 1 & 0xFFFF


@fault("receiver-ack-of-32-messages-only-without-express", breaks="MQQB-3.1.5.8.7-02")
class ReceiverAckOf32MessagesOnlyWithoutExpress(SessionAcks):
    """The receiver does not send the SessionAck after 32 recoverable messages if an express message arrived as well."""

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        mixed = session.MessageReceivedCount != session.RecoverableMessageReceivedCount
        number = session.RecoverableMessageReceivedCount - len(session.unacknowledged_receipts) + 1
        if mixed and (number - session.LastAckedRecoverableMsgSeqNumber - 1 & 0xFFFF) >= RECOVERABLE_ACK_FLAG_COUNT:
            return
        super().set_acknowledgment_flag(session, now)


@fault("receiver-ack-of-32-messages-omitted-while-other-session-is-open", breaks="MQQB-3.1.5.8.7-02")
class ReceiverAckOf32MessagesOmittedWhileOtherSessionIsOpen(SessionAcks):
    """The receiver omits the SessionAck after 32 recoverable messages while another session is open."""

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        number = session.RecoverableMessageReceivedCount - len(session.unacknowledged_receipts) + 1
        full = (number - session.LastAckedRecoverableMsgSeqNumber - 1 & 0xFFFF) >= RECOVERABLE_ACK_FLAG_COUNT
        if full and list_open_sessions(self.qm, session):
            return
        super().set_acknowledgment_flag(session, now)


class _AckOf32MessagesFault(SessionAcks):
    def change_ack(self, session: Session, packet: SessionAckPacket) -> SessionAckPacket:
        raise NotImplementedError

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        return self.change_ack(session, packet) if _has_highest_ack_flag(session) else packet

    def change_header(self, packet: SessionAckPacket, **fields: int) -> SessionAckPacket:
        header: SessionHeader = packet.SessionHeader
        return replace(packet, SessionHeader=replace(header, **fields))


@fault("receiver-ack-sequence-number-at-most-32-in-ack-of-32-messages", breaks="MQQB-3.1.5.8.7-05")
class ReceiverAckSequenceNumberAtMost32InAckOf32Messages(_AckOf32MessagesFault):
    """The receiver sets AckSequenceNumber in the SessionAck after 32 messages to at most 32."""

    def change_ack(self, session: Session, packet: SessionAckPacket) -> SessionAckPacket:
        return self.change_header(
            packet, AckSequenceNumber=min(packet.SessionHeader.AckSequenceNumber, RECOVERABLE_ACK_FLAG_COUNT)
        )


@fault("receiver-recoverable-ack-number-is-ack-number-minus-31", breaks="MQQB-3.1.5.8.7-06")
class ReceiverRecoverableAckNumberIsAckNumberMinus31(_AckOf32MessagesFault):
    """The receiver sets RecoverableMsgAckSeqNumber in the SessionAck after 32 messages to AckSequenceNumber - 31."""

    def change_ack(self, session: Session, packet: SessionAckPacket) -> SessionAckPacket:
        number = packet.SessionHeader.AckSequenceNumber - RECOVERABLE_ACK_FLAG_COUNT + 1 & 0xFFFF
        return self.change_header(packet, RecoverableMsgAckSeqNumber=number)


@fault("receiver-user-msg-sequence-number-at-most-1-in-ack-of-32", breaks="MQQB-3.1.5.8.7-07")
class ReceiverUserMsgSequenceNumberAtMost1InAckOf32(_AckOf32MessagesFault):
    """If the receiver has sent several messages, UserMsgSequenceNumber is only 1 in the SessionAck that acknowledges 32
    recoverable messages.
    """

    def change_ack(self, session: Session, packet: SessionAckPacket) -> SessionAckPacket:
        return self.change_header(packet, UserMsgSequenceNumber=min(packet.SessionHeader.UserMsgSequenceNumber, 1))


@fault("receiver-recoverable-msg-seq-number-0-in-ack-of-32-messages", breaks="MQQB-3.1.5.8.7-08")
class ReceiverRecoverableMsgSeqNumber0InAckOf32Messages(_AckOf32MessagesFault):
    """The receiver sets RecoverableMsgSeqNumber in the SessionAck after 32 messages to 0."""

    def change_ack(self, session: Session, packet: SessionAckPacket) -> SessionAckPacket:
        return self.change_header(packet, RecoverableMsgSeqNumber=0)


@fault("receiver-window-size-0-in-ack-of-next-32-messages", breaks="MQQB-3.1.5.8.7-10")
class ReceiverWindowSize0InAckOfNext32Messages(_AckOf32MessagesFault):
    """In the SessionAck that acknowledges the second group of 32 recoverable messages, the receiver sets WindowSize to
    0.
    """

    def change_ack(self, session: Session, packet: SessionAckPacket) -> SessionAckPacket:
        later = packet.SessionHeader.AckSequenceNumber > 2 * RECOVERABLE_ACK_FLAG_COUNT - 1
        return self.change_header(packet, WindowSize=0) if later else packet


class _SavedMessageFault(MessageArrival):
    def change_saved_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        raise NotImplementedError

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        super().save_message(saving, self.change_saved_packet(packet))


@fault("receiver-body-of-large-message-not-saved", breaks="MQQB-3.1.5.8.7-12")
class ReceiverBodyOfLargeMessageNotSaved(_SavedMessageFault):
    """The receiver saves only the first 4,096 bytes of the body of a message."""

    def change_saved_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        return replace(
            packet,
            BaseHeader=replace(packet.BaseHeader, PacketSize=0),
            MessagePropertiesHeader=replace(properties, MessageBody=properties.MessageBody[:LARGE_BODY_BYTES]),
        )


@fault("receiver-priority-of-message-not-saved", breaks="MQQB-3.1.5.8.7-12")
class ReceiverPriorityOfMessageNotSaved(_SavedMessageFault):
    """The receiver saves a nontransactional message on the disk with priority 3 instead of its own priority."""

    def change_saved_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if packet.TransactionHeader is not None:
            return packet
        flags = packet.BaseHeader.Flags & ~BaseHeader.flags(PR=7) | BaseHeader.flags(PR=3)
        return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags))


@fault("receiver-latest-message-of-queue-replaces-others-on-disk", breaks="MQQB-3.1.5.8.7-12")
class ReceiverLatestMessageOfQueueReplacesOthersOnDisk(MessageArrival):
    """The receiver keeps only the latest message of each queue on the disk."""

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        queue = saving.position.QueueReference
        earlier = [one for one in queue.MessagePositionList if one is not saving.position and one.key]
        super().save_message(saving, packet)
        if saving.routed_packet is None and saving.accepted_message is None:
            self.qm.disk.save(build_removal_change(earlier))


class _RecoverableCountOmissionFault(MessageReceiving):
    def is_message_left_uncounted(self, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        if packet.UserHeader.DM and self.is_message_left_uncounted(packet):
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount - 1 & 0xFFFF


@fault("receiver-recoverable-count-without-transactional-messages", breaks="MQQB-3.1.5.8.7-13")
class ReceiverRecoverableCountWithoutTransactionalMessages(_RecoverableCountOmissionFault):
    """The receiver does not count a transactional message as recoverable."""

    def is_message_left_uncounted(self, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None


@fault("receiver-session-ack-timer-not-shortened-while-session-is-open", breaks="MQQB-3.1.5.8.7-14")
class ReceiverSessionAckTimerNotShortenedWhileSessionIsOpen(SessionAcks):
    """The receiver starts the Session Ack Send Timer with half of AckWaitTimeout for a recoverable message while
    another session is open.
    """

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        first = not session.RecoverableMsgAckFlags
        super().set_acknowledgment_flag(session, now)
        others = list_open_sessions(self.qm, session)
        if first and others:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


@fault("receiver-session-ack-timer-restarted-by-each-recoverable-message", breaks="MQQB-3.1.5.8.7-14")
class ReceiverSessionAckTimerRestartedByEachRecoverableMessage(SessionAcks):
    """The receiver restarts the Session Ack Send Timer for each recoverable message."""

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        super().set_acknowledgment_flag(session, now)
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)


@fault("receiver-ack-flags-not-set-while-older-session-is-open", breaks="MQQB-3.1.5.8.7-15")
class ReceiverAckFlagsNotSetWhileOlderSessionIsOpen(SessionAcks):
    """The receiver sets no acknowledgment flag in a session while an older session is open."""

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        if all(one.number > session.number for one in list_open_sessions(self.qm, session)):
            super().set_acknowledgment_flag(session, now)


@fault("receiver-ack-flag-of-next-message-set-after-first-session-ack", breaks="MQQB-3.1.5.8.7-15")
class ReceiverAckFlagOfNextMessageSetAfterFirstSessionAck(SessionAcks):
    """After the first SessionAck, the receiver sets the acknowledgment flag that belongs to the message after the
    arrived one.
    """

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        super().set_acknowledgment_flag(session, now)
        if session.LastAckedRecoverableMsgSeqNumber:
            session.RecoverableMsgAckFlags = session.RecoverableMsgAckFlags << 1 & 0xFFFFFFFF


FLAGS_OFFSET = 18


"""The offset of InternalHeader.Flags in a SessionAck Packet."""


@fault("initiator-session-ack-of-32-recoverable-messages-has-pt-3", breaks="MQQB-3.1.5.8.7-04", blind=True)
class InitiatorSessionAckOf32RecoverableMessagesHasPt3(SessionAcks):
    """The receiver that initiated the session sends PT 3 in the SessionAck after 32 unacknowledged recoverable
    messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.flagging = False

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        self.flagging = session.initiator
        super().set_acknowledgment_flag(session, now)
        self.flagging = False

    def send(self, session: Session, now: Now) -> None:
        if not self.flagging:
            super().send(session, now)
            return
        data = bytearray(self.build(session).build())
        data[FLAGS_OFFSET] ^= PT_SESSION_ACK ^ PT_CONNECTION_PARAMETERS
        self.qm.session_connecting.send(session, bytes(data))
        self.reset_unacknowledged_counts(session, now)
