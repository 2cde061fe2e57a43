"""Blind violations of round five: MS-MQQB 3.1.5.6 Receiving an OrderAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-eodresendcount-not-set-by-repeated-order-ack", breaks="MQQB-3.1.5.6-25", blind=True)
class SenderEodresendcountNotSetByRepeatedOrderAck(OrderAcks):
    """The sender keeps the earlier EodResendCount when it receives an OrderAck that acknowledges no further message."""

    def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
        earlier = get_outgoing_sequence(session).LastAck
        self.__dict__["is_repeated"] = (earlier.SeqID, earlier.SeqNo) == (int(body.TxSequenceID), body.TxSequenceNumber)
        super().note_last_message_in_order(session, body, now)

    def update_outgoing_transfer_info(self, session: Session) -> None:
        queue = session.OutgoingQueueReference
        earlier = None if queue is None else queue.OutgoingTransferInfoReference
        super().update_outgoing_transfer_info(session)
        if self.__dict__.pop("is_repeated", False) and queue is not None and earlier is not None:
            info = replace(queue.OutgoingTransferInfoReference, EodResendCount=earlier.EodResendCount)
            queue.OutgoingTransferInfoReference = info
