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
    "ack-wait-not-restarted-by-acknowledgment",
    "MQQB-3.1.5.5.5-02",
    "An acknowledgment that leaves messages unacknowledged does not restart the Session Ack Wait Timer.",
    skip_during(SessionAcks.validate_message_counts, SessionAcks.start_wait_timer),
)


@fault("ordering-session-ack-deletes", breaks="MQQB-3.1.5.5.5-03")
class SessionAckDeletes(TransactionalSending):
    """A session acknowledgment counts as an order acknowledgment too."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = True
        super().retain(session, position)


@fault("counts-of-messages-too-low-accepted", breaks="MQQB-3.1.5.5.5-01", blind=True)
class CountsOfMessagesTooLowAccepted(SessionAcks):
    """Only a count that is above what was received ends the session."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(
            header,
            UserMsgSequenceNumber=max(header.UserMsgSequenceNumber, session.MessageReceivedCount),
            RecoverableMsgSeqNumber=max(header.RecoverableMsgSeqNumber, session.RecoverableMessageReceivedCount),
        )
        super().validate_message_counts(session, right, now)


@fault("count-of-recoverable-messages-not-validated", breaks="MQQB-3.1.5.5.5-01", blind=True)
class CountOfRecoverableMessagesNotValidated(SessionAcks):
    """RecoverableMsgSeqNumber is not compared with what was received."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(header, RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount)
        super().validate_message_counts(session, right, now)


@fault("acknowledgment-of-nothing-new-does-not-restart-the-wait", breaks="MQQB-3.1.5.5.5-02", blind=True)
class AcknowledgmentOfNothingNewDoesNotRestartTheWait(SessionAcks):
    """A SessionHeader that acknowledges nothing new lets the Session Ack Wait Timer run on."""

    def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_ACK_WAIT, session.number)
        left_ms = self.qm.timers.remaining_ms(key, now.monotonic_ms)
        news = header.AckSequenceNumber != session.last_ack
        super().process_header(session, header, now)
        if left_ms is not None and not news and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, left_ms)
