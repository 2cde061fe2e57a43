"""Faults that break rules of MS-MQQB 3.1.5.8.6."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Session


@fault("receiver-no-order-ack-for-message-repeated-on-new-session", breaks="MQQB-3.1.5.8.6-01", blind=True)
class ReceiverNoOrderAckForMessageRepeatedOnNewSession(InSequence):
    """The receiver schedules no OrderAck for a message that was accepted on an earlier session and is repeated on a
    session on which no message was accepted yet.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.accepting: set[int] = set()

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        accepted = super().is_in_sequence(session, packet)
        if accepted:
            self.accepting.add(session.number)
        elif session.number not in self.accepting:
            session.order_acks_due.clear()
        return accepted
