"""Faults of MS-MQQB 3.1.7.16 Send User Message Wrapper that other messages or queues reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault(
    "sender-unacknowledged-messages-dispatched-again-after-partial-acknowledgment",
    breaks="MQQB-3.1.7.16-06",
    blind=True,
)
class DispatchedAfterPartialAck(SessionAcks):
    """The sender dispatches its unacknowledged messages again when a SessionAck acknowledges only some of them."""

    def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        waiting = len(session.OutgoingMessageTable.awaiting_ack)
        super().process_header(session, header, now)
        left = session.OutgoingMessageTable.awaiting_ack
        if left and len(left) < waiting:
            for position in left:
                if not position.TxSequenceNumber and not position.ReceivedSessionAck:
                    session.UnAckedMessageCount -= 1
                    session.OutgoingMessageTable.send_again(position)
                    self.qm.dispatch_collection.add(session, position)
