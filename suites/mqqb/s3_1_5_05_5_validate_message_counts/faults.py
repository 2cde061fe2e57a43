"""Faults of MS-MQQB 3.1.5.5.5 Validate Message Counts."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

add(
    "sender-ack-wait-timer-not-restarted-by-acknowledgment",
    "MQQB-3.1.5.5.5-02",
    "The sender does not restart its Session Ack Wait Timer when an acknowledgment leaves messages unacknowledged.",
    skip_during(SessionAcks.validate_message_counts, SessionAcks.start_wait_timer),
)


@fault("sender-session-ack-counted-as-order-ack", breaks="MQQB-3.1.5.5.5-03")
class SenderSessionAckCountedAsOrderAck(TransactionalSending):
    """The sender treats a session acknowledgment also as an order acknowledgment."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = True
        super().retain(session, position)


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


@fault("receiver-session-header-recoverable-count-unchecked", breaks="MQQB-3.1.5.5.5-01", blind=True)
class ReceiverSessionHeaderRecoverableCountUnchecked(SessionAcks):
    """The receiver does not compare RecoverableMsgSeqNumber with the number of recoverable messages that it
    received.
    """

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(header, RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount)
        super().validate_message_counts(session, right, now)


@fault("sender-ack-wait-timer-not-restarted-without-news", breaks="MQQB-3.1.5.5.5-02", blind=True)
class SenderAckWaitTimerNotRestartedWithoutNews(SessionAcks):
    """The sender does not restart the Session Ack Wait Timer after a SessionHeader that acknowledges no new message."""

    def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        left_ms = self.qm.timers.remaining_ms(key, now.monotonic_ms)
        news = header.AckSequenceNumber != session.last_ack
        super().process_header(session, header, now)
        if left_ms is not None and not news and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, left_ms)
