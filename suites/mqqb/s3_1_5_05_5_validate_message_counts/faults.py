"""Faults that break rules of MS-MQQB 3.1.5.5.5 Validate Message Counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during, replace_method_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-session-header-count-too-low-accepted", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverSessionHeaderCountTooLowAccepted(SessionAcks):
    """The receiver closes the session only if message counts are too high."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(
            header,
            UserMsgSequenceNumber=max(header.UserMsgSequenceNumber, session.MessageReceivedCount),
            RecoverableMsgSeqNumber=max(header.RecoverableMsgSeqNumber, session.RecoverableMessageReceivedCount),
        )
        super().validate_message_counts(session, right, now)


@fault("receiver-counts-in-user-message-not-compared", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverCountsInUserMessageNotCompared(MessageReceiving):
    """The receiver compares the message counts of a SessionAck, but not those of a SessionHeader in a UserMessage."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SessionHeader
        if header is not None:
            right = replace(
                header,
                UserMsgSequenceNumber=session.MessageReceivedCount + 1 & 0xFFFF,
                RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount + packet.UserHeader.DM & 0xFFFF,
            )
            packet = replace(packet, SessionHeader=right)
        super().receive_user_message(session, packet, now)


def _replace_message_counts(
    session: Session, header: SessionHeader, user: int | None, recoverable: int | None
) -> SessionHeader:
    return replace(
        header,
        UserMsgSequenceNumber=session.MessageReceivedCount if user is None else user,
        RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount if recoverable is None else recoverable,
    )


@fault("receiver-recoverable-count-below-received-accepted", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverRecoverableCountBelowReceivedAccepted(SessionAcks):
    """The receiver accepts a RecoverableMsgSeqNumber that is lower than the number of recoverable messages that it
    received.
    """

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if header.RecoverableMsgSeqNumber < session.RecoverableMessageReceivedCount:
            header = _replace_message_counts(session, header, header.UserMsgSequenceNumber, None)
        super().validate_message_counts(session, header, now)


@fault("receiver-message-count-below-received-accepted", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverMessageCountBelowReceivedAccepted(SessionAcks):
    """The receiver accepts a UserMsgSequenceNumber that is lower than the number of messages that it received."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if header.UserMsgSequenceNumber < session.MessageReceivedCount:
            header = _replace_message_counts(session, header, None, header.RecoverableMsgSeqNumber)
        super().validate_message_counts(session, header, now)


@fault("receiver-message-counts-compared-in-8-bits", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverMessageCountsComparedIn8Bits(SessionAcks):
    """The receiver compares only the low byte of the message counts."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        same = header.UserMsgSequenceNumber & 0xFF == session.MessageReceivedCount & 0xFF
        same_recoverable = header.RecoverableMsgSeqNumber & 0xFF == session.RecoverableMessageReceivedCount & 0xFF
        header = _replace_message_counts(
            session,
            header,
            None if same else header.UserMsgSequenceNumber,
            None if same_recoverable else header.RecoverableMsgSeqNumber,
        )
        super().validate_message_counts(session, header, now)


@fault("initiator-message-counts-not-compared", breaks="MQQB-3.1.5.5.5-01", blind=True)
class InitiatorMessageCountsNotCompared(SessionAcks):
    """A queue manager that opened the session does not compare the message counts."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if session.initiator:
            header = _replace_message_counts(session, header, None, None)
        super().validate_message_counts(session, header, now)


@fault("receiver-wrong-count-closes-every-session", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverWrongCountClosesEverySession(SessionAcks):
    """After a wrong message count, the receiver closes all accepted sessions of the sender."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        super().validate_message_counts(session, header, now)
        if session.SessionState is not SessionState.OPEN:
            for other in list(self.qm.sessions.values()):
                if not other.initiator and other.SessionState is SessionState.OPEN:
                    self.qm.session_closing.close(other, "a fault", now)


@fault("receiver-counts-compared-only-in-first-header", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverCountsComparedOnlyInFirstHeader(SessionAcks):
    """The receiver compares the message counts only in the first SessionHeader of a session."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        known: set[int] = self.__dict__.setdefault("known", set())
        if session.number in known:
            header = _replace_message_counts(session, header, None, None)
        known.add(session.number)
        super().validate_message_counts(session, header, now)


class _WrongMessageCountAcceptance(SessionAcks):
    def is_wrong_count_accepted(self, session: Session, header: SessionHeader) -> bool:
        raise NotImplementedError

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if self.is_wrong_count_accepted(session, header):
            right = {
                "UserMsgSequenceNumber": session.MessageReceivedCount,
                "RecoverableMsgSeqNumber": session.RecoverableMessageReceivedCount,
            }
            header = set_fields(header, right)
        super().validate_message_counts(session, header, now)


@fault("queue-manager-counts-not-validated-while-queue-on-hold", breaks="MQQB-3.1.5.5.5-01", blind=True)
class QueueManagerCountsNotValidatedWhileQueueOnHold(_WrongMessageCountAcceptance):
    """The queue manager does not validate the message counts of a SessionHeader while its outgoing queue is on hold."""

    def is_wrong_count_accepted(self, session: Session, header: SessionHeader) -> bool:
        queue = session.OutgoingQueueReference
        return queue is not None and queue.State.value == "OnHold"


@fault("receiver-both-message-counts-compared-by-low-byte", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverBothMessageCountsComparedByLowByte(_WrongMessageCountAcceptance):
    """The receiver compares only the low bytes of the message counts."""

    def is_wrong_count_accepted(self, session: Session, header: SessionHeader) -> bool:
        return (header.UserMsgSequenceNumber - session.MessageReceivedCount) & 0xFF == 0 and (
            header.RecoverableMsgSeqNumber - session.RecoverableMessageReceivedCount
        ) & 0xFF == 0


@fault("receiver-wrong-counts-accepted-while-acknowledgments-missing", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverWrongCountsAcceptedWhileAcknowledgmentsMissing(_WrongMessageCountAcceptance):
    """The receiver accepts wrong message counts while the other queue manager has not acknowledged all messages of the
    receiver.
    """

    def is_wrong_count_accepted(self, session: Session, header: SessionHeader) -> bool:
        return bool(session.OutgoingMessageTable.awaiting_ack)


@fault("initiator-lower-counts-of-session-ack-accepted", breaks="MQQB-3.1.5.5.5-01", blind=True)
class InitiatorLowerCountsOfSessionAckAccepted(_WrongMessageCountAcceptance):
    """The initiator accepts message counts that are lower than the numbers of messages it has received."""

    def is_wrong_count_accepted(self, session: Session, header: SessionHeader) -> bool:
        return session.initiator and (
            header.UserMsgSequenceNumber <= session.MessageReceivedCount
            and header.RecoverableMsgSeqNumber <= session.RecoverableMessageReceivedCount
        )


@fault("receiver-counts-in-express-message-not-validated", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverCountsInExpressMessageNotValidated(MessageReceiving):
    """The receiver does not validate the counts in the SessionHeader of an express message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None and not packet.UserHeader.DM:
            right = {
                "SessionHeader.UserMsgSequenceNumber": session.MessageReceivedCount + 1 & 0xFFFF,
                "SessionHeader.RecoverableMsgSeqNumber": session.RecoverableMessageReceivedCount,
            }
            packet = set_fields(packet, right)
        super().receive_user_message(session, packet, now)


add(
    "sender-ack-wait-timer-not-restarted-by-acknowledgment",
    "MQQB-3.1.5.5.5-02",
    "The sender does not restart its Session Ack Wait Timer when an acknowledgment leaves messages unacknowledged.",
    omit_step_during(SessionAcks.validate_message_counts, SessionAcks.start_session_ack_wait_timer),
)


@fault("sender-ack-wait-timer-not-restarted-by-header-without-new-ack", breaks="MQQB-3.1.5.5.5-02", blind=True)
class SenderAckWaitTimerNotRestartedByHeaderWithoutNewAck(SessionAcks):
    """The sender does not restart the Session Ack Wait Timer after a SessionHeader that acknowledges no new message."""

    def process_session_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        left_ms = self.qm.timers.get_remaining_ms(key, now.monotonic_ms)
        news = header.AckSequenceNumber != session.last_ack_number
        super().process_session_header(session, header, now)
        if left_ms is not None and not news and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, left_ms)


def _start_timer_only_after_new_acknowledgment(
    original: Any, qm: QueueManager, session: Session, header: SessionHeader, now: Now
) -> Any:
    stale = header.AckSequenceNumber == session.last_ack_number
    return (lambda *arguments, **named: None) if stale else original


add(
    "sender-ack-wait-timer-not-restarted-by-header-that-marks-nothing",
    "MQQB-3.1.5.5.5-02",
    "The sender does not restart the Session Ack Wait Timer if a SessionHeader acknowledges no new message.",
    replace_method_during(
        SessionAcks.process_session_header,
        SessionAcks.start_session_ack_wait_timer,
        _start_timer_only_after_new_acknowledgment,
    ),
    blind=True,
)


add(
    "sender-ack-wait-timer-not-restarted-by-header-in-user-message",
    "MQQB-3.1.5.5.5-02",
    "The sender does not restart the Session Ack Wait Timer for a SessionHeader in a UserMessage.",
    omit_step_during(MessageReceiving.receive_user_message, SessionAcks.start_session_ack_wait_timer),
    blind=True,
)


_new_acknowledgment_flag_by_queue_manager: WeakKeyDictionary[QueueManager, bool] = WeakKeyDictionary()


@fault("sender-ack-wait-timer-restarted-only-by-header-with-new-ack", breaks="MQQB-3.1.5.5.5-02", blind=True)
class SenderAckWaitTimerRestartedOnlyByHeaderWithNewAck(SessionAcks):
    """The sender restarts the Session Ack Wait Timer only for a SessionHeader that acknowledges a message."""

    def process_session_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        _new_acknowledgment_flag_by_queue_manager[self.qm] = header.AckSequenceNumber != session.last_ack_number
        super().process_session_header(session, header, now)

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = header.UserMsgSequenceNumber == session.MessageReceivedCount
        if not right or _new_acknowledgment_flag_by_queue_manager.get(self.qm):
            super().validate_message_counts(session, header, now)


@fault("sender-treats-session-ack-as-order-ack", breaks=("MQQB-3.1.5.5.5-03", "MQSO-5.1.1.3-D04"))
class SenderTreatsSessionAckAsOrderAck(TransactionalSending):
    """The sender treats a session acknowledgment also as an order acknowledgment."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = True
        super().keep_message_until_order_ack(session, position)


@fault("sender-large-transactional-message-deleted-by-session-ack", breaks="MQQB-3.1.5.5.5-03", blind=True)
class SenderLargeTransactionalMessageDeletedBySessionAck(TransactionalSending):
    """The sender deletes a transactional message with a body of more than 4,096 bytes when a session acknowledgment
    covers the message.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        if len(position.UserMessage.MessagePropertiesHeader.MessageBody) > 4_096:
            position.ReceivedOrderAck = True
        super().keep_message_until_order_ack(session, position)


@fault("sender-session-ack-removes-transactional-message-from-disk", breaks="MQQB-3.1.5.5.5-03")
class SenderSessionAckRemovesTransactionalMessageFromDisk(TransactionalSending):
    """When a session acknowledgment covers a transactional message, the sender removes the message from its disk, so
    that a restart before the OrderAck loses the message.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        super().keep_message_until_order_ack(session, position)
        self.qm.disk.save(build_removal_change([position.MessagePosition]))
