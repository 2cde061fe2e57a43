"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: the response queue, and a forwarded message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.store.messages import RESPONSE_SAME_AS_ADMIN_QUEUE_TYPE
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue, Session
from reference_qm.surface.clock import Now


def _drop_response_queue(
    original: Callable[..., Any], qm: QM, session: Session, packet: UserMessagePacket, *_: Any
) -> Callable[..., Any]:
    def insert_without_response_queue(qm: QM, queue: Queue, message: Message) -> Any:
        if packet.UserHeader.RQ == RESPONSE_SAME_AS_ADMIN_QUEUE_TYPE:
            message = replace(message, ResponseQueueFormatName=None)
        return original(qm, queue, message)

    return insert_without_response_queue


add(
    "receiver-message-response-queue-equal-to-admin-queue-lost",
    "MQQB-3.1.5.8.8-05",
    "The receiver puts a message into its queue without a response queue if RQ of the packet is 1.",
    replace_method_during(
        MessageReceiving.put_received_message_into_queue, MessagePositions.insert_message, _drop_response_queue
    ),
    blind=True,
)


@fault("router-sets-seq-id-of-eod-next-seq-to-that-of-forwarded-message", breaks="MQQB-3.1.5.8.8-37", blind=True)
class RouterSetsSeqIdOfEodNextSeqToThatOfForwardedMessage(MessageRouting):
    """A queue manager that forwards a transactional message sets SeqID of EodNextSeq to TxSequenceID of the message."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        super().forward_message(position, packet, now)
        queue = position.QueueReference
        assert isinstance(queue, OutgoingQueue)
        info = queue.OutgoingTransferInfoReference
        if packet.TransactionHeader is not None and info is not None:
            following = replace(info.EodNextSeq, SeqID=int(packet.TransactionHeader.TxSequenceID))
            queue.OutgoingTransferInfoReference = replace(info, EodNextSeq=following)
