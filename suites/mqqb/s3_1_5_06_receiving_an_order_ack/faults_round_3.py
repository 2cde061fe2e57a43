"""Faults that break rules of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, SequenceInfo
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-eod-last-ack-from-late-order-ack", breaks="MQQB-3.1.5.6-23", blind=True)
class SenderEodLastAckFromLateOrderAck(OrderAcks):
    """The sender sets EodLastAck to the numbers of an OrderAck that arrives after the OrderAck of a later message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.late: SequenceInfo | None = None

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note(session, body, now)
        last = get_outgoing_sequence(session).LastAck
        if last.SeqID == int(body.TxSequenceID) and body.TxSequenceNumber < last.SeqNo:
            self.late = SequenceInfo(last.SeqID, body.TxSequenceNumber, body.TxPreviousSequenceNumber)

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        queue, late, self.late = session.OutgoingQueueReference, self.late, None
        if late is not None and queue is not None:
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodLastAck=late)
