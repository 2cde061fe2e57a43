"""Faults that break rules of MS-MQQB 3.1.5.6."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session


@fault("sender-eod-no-read-count-counts-messages-of-last-order-ack", breaks="MQQB-3.1.5.6-24", blind=True)
class SenderEodNoReadCountCountsMessagesOfLastOrderAck(OrderAcks):
    """The sender sets EodNoReadCount to the number of messages that the last OrderAck moved to the
    AwaitingFinalACKTable, instead of the number of all messages in this table.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.moved: int | None = None

    def delete_order_acknowledged(self, session: Session, body: OrderAckBody) -> None:
        before = len(session.AwaitingFinalACKTable)
        super().delete_order_acknowledged(session, body)
        self.moved = len(session.AwaitingFinalACKTable) - before

    def note_transfer(self, session: Session) -> None:
        super().note_transfer(session)
        queue, moved = session.OutgoingQueueReference, self.moved
        if queue is not None and moved is not None:
            queue.OutgoingTransferInfoReference = replace(queue.OutgoingTransferInfoReference, EodNoReadCount=moved)
        self.moved = None
