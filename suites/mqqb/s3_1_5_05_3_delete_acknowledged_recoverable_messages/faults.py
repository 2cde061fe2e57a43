"""Faults of MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.codec import SessionHeader
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.protocol.transactional_sending import TransactionalSending
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingMessagePosition, Session


def _keep_the_number(
    original: Callable[..., None], _: QueueManager, __: Session, header: SessionHeader
) -> Callable[..., None]:
    def delete(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        if position.RecoverableSequenceNumber != header.RecoverableMsgAckSeqNumber:
            original(qm, session, position)

    return delete


add(
    "recoverable-message-of-the-number-kept",
    "MQQB-3.1.5.5.3-01",
    "The recoverable message with the number RecoverableMsgAckSeqNumber is not deleted.",
    during(SessionAcks.delete_acknowledged_recoverable, SessionAcks.delete_position, _keep_the_number),
)


@fault("recoverable-ack-flags-ignored", breaks="MQQB-3.1.5.5.3-02")
class RecoverableAckFlagsIgnored(SessionAcks):
    """Of RecoverableMsgAckFlags only bit 0 is looked at."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        first = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)
        super().delete_acknowledged_recoverable(session, first)


@fault("ordering-order-ack-forgotten", breaks="MQQB-3.1.5.5.3-03")
class OrderAckForgotten(TransactionalSending):
    """An order acknowledgment before that of the session is forgotten."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = False
        super().retain(session, position)
