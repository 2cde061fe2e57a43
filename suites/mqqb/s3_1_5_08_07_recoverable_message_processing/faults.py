"""Faults that break rules of MS-MQQB 3.1.5.8.7 Recoverable Message Processing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import (
    change_core_at_restart,
    omit_step_during,
    replace_byte,
    replace_method_during,
    set_fields,
)
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.transfer.message_arrival import MessageArrival, UnsavedArrival
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import RECOVERABLE_ACK_FLAG_COUNT, SessionAcks
from reference_qm.model.adm import MessagePosition, RecoverableReceipt, Session
from reference_qm.model.message import INFINITE_TIMEOUT
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-timer-shortened-by-express-message", breaks="MQQB-3.1.5.8.7-01")
class ReceiverSessionAckTimerShortenedByExpressMessage(MessageReceiving):
    """The receiver shortens the Session Ack Send Timer for an express message."""

    def note_session_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_session_activity(session, packet, now)
        if not packet.UserHeader.DM:
            duration_ms = session.RecoverableAckSendTimeout // 2
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, duration_ms, now)


LONG_BODY = 4_096
"""The size of a long body, in bytes."""


@fault("receiver-recoverable-message-with-long-body-and-extension-not-flagged", breaks="MQQB-3.1.5.8.7-01")
class ReceiverRecoverableMessageWithLongBodyAndExtensionNotFlagged(MessageReceiving):
    """The receiver sets no acknowledgment flag for a recoverable message with ExtensionData and a body of more than
    4,096 bytes.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) > LONG_BODY and properties.ExtensionData:
            receipt.must_be_acknowledged = False
        super().put_received_message_into_queue(session, packet, receipt, now)


add(
    "receiver-session-ack-after-32-messages-not-sent",
    ("MQQB-3.1.5.8.7-02", "MQQB-3.1.5.8-09"),
    "The receiver does not send a SessionAck at once when more than 32 recoverable messages are unacknowledged.",
    omit_step_during(SessionAcks.set_acknowledgment_flag, SessionAcks.send),
)


@fault("receiver-ack-of-second-group-of-32-messages-not-sent", breaks="MQQB-3.1.5.8.7-02", blind=True)
class ReceiverAckOfSecondGroupOf32MessagesNotSent(SessionAcks):
    """The receiver sends the immediate SessionAck after 32 recoverable messages only once in a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.full: dict[int, int] = {}
        self.setting: Session | None = None

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        self.setting = session
        super().set_acknowledgment_flag(session, now)
        self.setting = None

    def send(self, session: Session, now: Now) -> None:
        if session is self.setting:
            self.full[session.number] = self.full.get(session.number, 0) + 1
            if self.full[session.number] > 1:
                self.reset_unacknowledged_counts(session, now)
                return
        super().send(session, now)


def _change_ack_of_32_messages(path: str, change: Callable[[int], int]) -> Install:
    """Make the receiver change a field of the SessionAck that acknowledges 32 messages."""
    return replace_method_during(
        SessionAcks.set_acknowledgment_flag,
        SessionAcks.build,
        lambda original, *_: lambda qm, session: set_fields(original(qm, session), {path: change}),
    )


def _clear_highest_flag(bits: int) -> Callable[[int], int]:
    return lambda flags: flags & ~bits


for _name, _rule, _says, _path, _change in (
    (
        "receiver-session-ack-after-32-messages-has-sh-clear",
        "MQQB-3.1.5.8.7-03",
        "The receiver's SessionAck after 32 recoverable messages has SH clear.",
        "BaseHeader.Flags",
        _clear_highest_flag(BaseHeader.flags(SH=1)),
    ),
    (
        "receiver-session-ack-after-32-messages-has-ack-sequence-number-too-low",
        "MQQB-3.1.5.8.7-05",
        "The receiver's SessionAck after 32 recoverable messages has an AckSequenceNumber that is one too low.",
        "SessionHeader.AckSequenceNumber",
        lambda old: old - 1,
    ),
    (
        "receiver-session-ack-after-32-messages-has-recoverable-number-too-high",
        "MQQB-3.1.5.8.7-06",
        "The receiver's SessionAck after 32 recoverable messages has RecoverableMsgAckSeqNumber one too high.",
        "SessionHeader.RecoverableMsgAckSeqNumber",
        lambda old: old + 1,
    ),
    (
        "receiver-session-ack-after-32-messages-has-sent-count-too-high",
        "MQQB-3.1.5.8.7-07",
        "The receiver's SessionAck after 32 recoverable messages has a UserMsgSequenceNumber that is one too high.",
        "SessionHeader.UserMsgSequenceNumber",
        lambda old: old + 1,
    ),
    (
        "receiver-session-ack-after-32-messages-has-recoverable-sent-count-too-high",
        "MQQB-3.1.5.8.7-08",
        "The receiver's SessionAck after 32 recoverable messages has a RecoverableMsgSeqNumber that is one too high.",
        "SessionHeader.RecoverableMsgSeqNumber",
        lambda old: old + 1,
    ),
    (
        "receiver-session-ack-after-32-messages-has-highest-flag-clear",
        "MQQB-3.1.5.8.7-09",
        "The receiver's SessionAck after 32 recoverable messages has the highest bit of RecoverableMsgAckFlags clear.",
        "SessionHeader.RecoverableMsgAckFlags",
        _clear_highest_flag(1 << 31),
    ),
    (
        "receiver-session-ack-after-32-messages-has-window-size-too-high",
        "MQQB-3.1.5.8.7-10",
        "The receiver's SessionAck after 32 recoverable messages has a WindowSize that is one too high.",
        "SessionHeader.WindowSize",
        lambda old: old + 1,
    ),
):
    add(_name, _rule, _says, _change_ack_of_32_messages(_path, _change))


OFFSET_OF_PACKET_TYPE_PT = 18
"""The offset of InternalHeader.Flags.PT in a packet."""


_clear_packet_type = replace_byte(OFFSET_OF_PACKET_TYPE_PT, lambda old: old & 0xF0)


add(
    "receiver-session-ack-after-32-messages-has-pt-0",
    "MQQB-3.1.5.8.7-04",
    "The receiver's SessionAck after 32 recoverable messages has PT 0.",
    replace_method_during(
        SessionAcks.set_acknowledgment_flag,
        SessionConnecting.send,
        lambda original, *_: lambda qm, session, data: original(qm, session, _clear_packet_type(data)),
    ),
)


@fault("receiver-ack-of-32-messages-counts-recoverable-messages-only", breaks="MQQB-3.1.5.8.7-05", blind=True)
class ReceiverAckOf32MessagesCountsRecoverableMessagesOnly(SessionAcks):
    """The receiver sends a SessionAck after 32 recoverable messages whose AckSequenceNumber does not count the express
    messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.flags_are_full = False

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        self.flags_are_full = True
        super().set_acknowledgment_flag(session, now)
        self.flags_are_full = False

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if not self.flags_are_full:
            return header
        return replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)


class _AckOf32MessagesFault(SessionAcks):
    """Change only the SessionAck that the receiver sends when all bits of RecoverableMsgAckFlags are used."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.full = False

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        self.full = True
        super().set_acknowledgment_flag(session, now)
        self.full = False

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        return self.change(session, header) if self.full else header

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return header


@fault("receiver-recoverable-ack-number-1-in-ack-of-32-messages", breaks="MQQB-3.1.5.8.7-06", blind=True)
class ReceiverRecoverableAckNumber1InAckOf32Messages(_AckOf32MessagesFault):
    """The receiver sends RecoverableMsgAckSeqNumber 1 in every SessionAck after 32 recoverable messages."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, RecoverableMsgAckSeqNumber=1)


@fault("receiver-user-msg-sequence-number-0-in-ack-of-32-messages", breaks="MQQB-3.1.5.8.7-07", blind=True)
class ReceiverUserMsgSequenceNumber0InAckOf32Messages(_AckOf32MessagesFault):
    """The receiver sends UserMsgSequenceNumber 0 in the SessionAck after 32 recoverable messages."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, UserMsgSequenceNumber=0)


@fault("receiver-recoverable-count-is-total-count-in-ack-of-32-messages", breaks="MQQB-3.1.5.8.7-08", blind=True)
class ReceiverRecoverableCountIsTotalCountInAckOf32Messages(_AckOf32MessagesFault):
    """The receiver sends the number of all sent messages as RecoverableMsgSeqNumber in the SessionAck after 32
    recoverable messages.
    """

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, RecoverableMsgSeqNumber=session.MessageSentCount)


@fault("receiver-session-ack-highest-flag-never-set", breaks="MQQB-3.1.5.8.7-09", blind=True)
class ReceiverSessionAckHighestFlagNeverSet(SessionAcks):
    """The receiver never sets the highest bit of RecoverableMsgAckFlags."""

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        super().set_acknowledgment_flag(session, now)
        session.RecoverableMsgAckFlags &= 0x7FFFFFFF


@fault("receiver-window-size-of-peer-in-ack-of-32-messages", breaks="MQQB-3.1.5.8.7-10", blind=True)
class ReceiverWindowSizeOfPeerInAckOf32Messages(_AckOf32MessagesFault):
    """The receiver sends the WindowSize of the other queue manager in the SessionAck after 32 recoverable messages."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        return replace(header, WindowSize=session.ReceivedWindowSize)


@fault("receiver-session-ack-after-next-32-messages-has-number-too-high", breaks="MQQB-3.1.5.8.7-11")
class ReceiverSessionAckAfterNext32MessagesHasNumberTooHigh(SessionAcks):
    """After the first 32 recoverable messages, the receiver acknowledges each recoverable message with a number that is
    one too high.
    """

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        super().set_acknowledgment_flag(session, now)
        session.LastAckedRecoverableMsgSeqNumber += session.RecoverableMessageReceivedCount > RECOVERABLE_ACK_FLAG_COUNT


@fault("receiver-recoverable-ack-number-counts-express-messages", breaks="MQQB-3.1.5.8.7-11", blind=True)
class ReceiverRecoverableAckNumberCountsExpressMessages(SessionAcks):
    """After a SessionAck, the receiver numbers recoverable messages by the count of all messages, including express
    messages.
    """

    def reset_unacknowledged_counts(self, session: Session, now: Now) -> None:
        super().reset_unacknowledged_counts(session, now)
        express = session.MessageReceivedCount - session.RecoverableMessageReceivedCount
        session.LastAckedRecoverableMsgSeqNumber = session.LastAckedRecoverableMsgSeqNumber + express & 0xFFFF


def _remove_messages_at_restart(is_lost: Callable[[MessagePosition], bool]) -> Install:
    """Make the receiver lose messages when it restarts."""

    def lose_messages(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            for position in filter(is_lost, list(queue.MessagePositionList)):
                queue.MessagePositionList.remove(position)

    return change_core_at_restart(lose_messages)


add(
    "receiver-messages-lost-at-restart",
    "MQQB-3.1.5.8.7-12",
    "The receiver loses every message of its queues at a restart.",
    _remove_messages_at_restart(lambda position: True),
)


add(
    "receiver-transactional-messages-lost-at-restart",
    "MQQB-3.1.5.8.7-12",
    "The receiver loses every message of its transactional queues at a restart.",
    _remove_messages_at_restart(lambda position: position.QueueReference.Transactional),
)


@fault("receiver-extension-not-saved", breaks="MQQB-3.1.5.8.7-12", blind=True)
class ReceiverExtensionNotSaved(MessageArrival):
    """The receiver saves a recoverable message to the disk without its extension."""

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        properties = replace(packet.MessagePropertiesHeader, ExtensionData=b"")
        size = replace(packet.BaseHeader, PacketSize=0)
        super().save_message(saving, replace(packet, BaseHeader=size, MessagePropertiesHeader=properties))


@fault("receiver-correlation-id-of-recoverable-message-not-saved", breaks="MQQB-3.1.5.8.7-12", blind=True)
class ReceiverCorrelationIdOfRecoverableMessageNotSaved(MessageArrival):
    """The receiver saves a recoverable message to the disk without its CorrelationID."""

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        properties = replace(packet.MessagePropertiesHeader, CorrelationID=bytes(20))
        super().save_message(saving, replace(packet, MessagePropertiesHeader=properties))


@fault("receiver-recoverable-received-count-includes-express-messages", breaks="MQQB-3.1.5.8.7-13")
class ReceiverRecoverableReceivedCountIncludesExpressMessages(MessageReceiving):
    """The receiver also increments RecoverableMessageReceivedCount for express messages."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        session.RecoverableMessageReceivedCount += 1 - packet.UserHeader.DM


@fault("receiver-recoverable-message-received-count-incremented-by-two", breaks="MQQB-3.1.5.8.7-13")
class ReceiverRecoverableMessageReceivedCountIncrementedByTwo(MessageReceiving):
    """The receiver increments RecoverableMessageReceivedCount by two for each recoverable message."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        session.RecoverableMessageReceivedCount += packet.UserHeader.DM


@fault("receiver-recoverable-duplicate-not-counted", breaks="MQQB-3.1.5.8.7-13", blind=True)
class ReceiverRecoverableDuplicateNotCounted(MessageReceiving):
    """The receiver does not count a repeated recoverable message in RecoverableMessageReceivedCount."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        known = packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None
        if packet.UserHeader.DM and known:
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount - 1 & 0xFFFF


@fault("receiver-recoverable-message-for-other-manager-not-counted", breaks="MQQB-3.1.5.8.7-13", blind=True)
class ReceiverRecoverableMessageForOtherManagerNotCounted(MessageReceiving):
    """The receiver does not count a message for another queue manager in RecoverableMessageReceivedCount."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_message_received_on_session(session, packet)
        if packet.UserHeader.DM and not self.is_for_this_queue_manager(packet):
            session.RecoverableMessageReceivedCount = session.RecoverableMessageReceivedCount - 1 & 0xFFFF


@fault("receiver-session-ack-timer-not-shortened-by-recoverable-message", breaks="MQQB-3.1.5.8.7-14", blind=True)
class ReceiverSessionAckTimerNotShortenedByRecoverableMessage(SessionAcks):
    """The receiver does not shorten a running Session Ack Send Timer when the first recoverable message arrives."""

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_ACK_SEND, session.number)
        left_ms = self.qm.timers.get_remaining_ms(key, now.monotonic_ms)
        only = session.UnackedReceivedMsgCount - session.already_acknowledged_count == 1
        super().set_acknowledgment_flag(session, now)
        if left_ms is not None and not only and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, left_ms)


@fault("receiver-session-ack-timer-shortened-once-per-session", breaks="MQQB-3.1.5.8.7-14", blind=True)
class ReceiverSessionAckTimerShortenedOncePerSession(SessionAcks):
    """The receiver restarts the Session Ack Send Timer only for the first recoverable message of a session, not for the
    first recoverable message after a SessionAck.
    """

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        super().set_acknowledgment_flag(session, now)
        if session.RecoverableMessageReceivedCount > 1:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


@fault("receiver-session-ack-lacks-flags-after-a-refused-message", breaks="MQQB-3.1.5.8.7-15")
class ReceiverSessionAckLacksFlagsAfterARefusedMessage(MessageReceiving):
    """The receiver does not set the acknowledgment flags of the recoverable messages that follow a refused message."""

    def acknowledge_after_following_changes(self, session: Session, receipt: RecoverableReceipt, now: Now) -> None:
        receipt.is_on_disk = False


@fault("receiver-ack-flag-of-next-message-also-set", breaks="MQQB-3.1.5.8.7-15")
class ReceiverAckFlagOfNextMessageAlsoSet(SessionAcks):
    """When a recoverable message arrives, the receiver sets the acknowledgment flag of this message, and also the
    acknowledgment flag of the next message.
    """

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        super().set_acknowledgment_flag(session, now)
        session.RecoverableMsgAckFlags |= session.RecoverableMsgAckFlags << 1 & (1 << RECOVERABLE_ACK_FLAG_COUNT) - 1


@fault("receiver-ack-flag-of-recoverable-duplicate-not-set", breaks="MQQB-3.1.5.8.7-15", blind=True)
class ReceiverAckFlagOfRecoverableDuplicateNotSet(MessageReceiving):
    """The receiver does not set the acknowledgment flag of a repeated recoverable message."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None:
            receipt.must_be_acknowledged = False
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-ack-flag-of-rejected-transactional-message-not-set", breaks="MQQB-3.1.5.8.7-15", blind=True)
class ReceiverAckFlagOfRejectedTransactionalMessageNotSet(MessageReceiving):
    """The receiver does not set the acknowledgment flag of a transactional message that it rejects."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        rejected = session.TxMessageRejectCount
        super().put_received_message_into_queue(session, packet, receipt, now)
        if session.TxMessageRejectCount > rejected:
            receipt.must_be_acknowledged = False


@fault("receiver-recoverable-message-with-time-to-reach-queue-not-flagged", breaks="MQQB-3.1.5.8.7-15")
class ReceiverRecoverableMessageWithTimeToReachQueueNotFlagged(MessageReceiving):
    """The receiver sets no acknowledgment flag for a recoverable message with a TimeToReachQueue."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        receipt.must_be_acknowledged = packet.BaseHeader.TimeToReachQueue == INFINITE_TIMEOUT
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-sends-session-ack-at-once-only-for-first-32-messages", breaks="MQQB-3.1.5.8.7-02", blind=True)
class ReceiverSendsSessionAckAtOnceOnlyForFirst32Messages(SessionAcks):
    """The receiver sends an immediate SessionAck only for the first 32 unacknowledged recoverable messages of a
    session, and not for later groups of 32 messages.
    """

    numbers_of_sessions_with_full_flags: Any = frozenset()

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        number = session.RecoverableMessageReceivedCount - len(session.unacknowledged_receipts) + 1
        full = (number - session.LastAckedRecoverableMsgSeqNumber - 1 & 0xFFFF) >= RECOVERABLE_ACK_FLAG_COUNT
        if not full or session.number not in self.numbers_of_sessions_with_full_flags:
            if full:
                self.numbers_of_sessions_with_full_flags |= {session.number}
            super().set_acknowledgment_flag(session, now)
            return
        if not session.RecoverableMsgAckFlags:
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)
        session.RecoverableMsgAckFlags |= 1 << (
            number - session.LastAckedRecoverableMsgSeqNumber - 1 & RECOVERABLE_ACK_FLAG_COUNT - 1
        )


@fault("receiver-ack-sequence-number-counts-recoverable-in-ack-of-32", breaks="MQQB-3.1.5.8.7-05", blind=True)
class ReceiverAckSequenceNumberCountsRecoverableInAckOf32(SessionAcks):
    """The receiver sets AckSequenceNumber in the SessionAck that it sends when all flags are in use to the number of
    received recoverable messages, without the express messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.flagging = False

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        self.flagging = True
        super().set_acknowledgment_flag(session, now)
        self.flagging = False

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if self.flagging:
            return replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)
        return header
