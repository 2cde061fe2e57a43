"""Faults of MS-MQQB 3.1.5.5.5 Validate Message Counts."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip_during
from harness.faults.registry import add
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session

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
