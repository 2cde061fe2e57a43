"""Faults of the fifth round that break rules of MS-MQQB 2.2.4 OrderAck Packet."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition


@fault("receiver-order-ack-positive-journaling-of-acknowledged-message-copied", breaks="MQQB-2.2.4-03", blind=True)
class ReceiverOrderAckPositiveJournalingOfAcknowledgedMessageCopied(MessageSending):
    """The receiver sets UserHeader.Flags.JP of an OrderAck if the acknowledged message requests positive journaling."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.Class == MessageClass.MQMSG_CLASS_ORDER_ACK and self._is_journaling_wanted(message.Body):
            position = replace(position, MessageReference=replace(message, PositiveJournalingRequested=True))
        return super().construct_user_message(position)

    def _is_journaling_wanted(self, body: bytes) -> bool:
        acknowledged = OrderAckBody.parse(body)
        wanted = (acknowledged.TxSequenceID, acknowledged.TxSequenceNumber)
        return any(
            _get_place(position.MessageReference) == wanted and position.MessageReference.PositiveJournalingRequested
            for queue in self.qm.queue_names.list_every_queue()
            for position in queue.MessagePositionList
        )


def _get_place(message: Message) -> tuple[object, int]:
    return message.TransactionalMessageSequenceIdentifier, message.TransactionSequenceNumber
