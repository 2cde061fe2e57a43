"""Faults of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-number-of-message-of-16-bits", breaks=("MQQB-3.1.7.17-D07", "MQQB-3.1.7.17-D10"), blind=True)
class ReceiverFinalAckNumberOfMessageOf16Bits(FinalAcks):
    """The receiver sends a FinalAck whose MessageID has only the lower 16 bits of the number of the message."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        identifier = replace(message.Identifier, Ordinal=message.Identifier.Ordinal & 0xFFFF)
        position.MessageReference = replace(message, Identifier=identifier)
        super().acknowledge_final(position, reason, now)
        position.MessageReference = message

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        user = replace(packet.UserHeader, MessageID=packet.UserHeader.MessageID & 0xFFFF)
        super().refuse_transactional(session, replace(packet, UserHeader=user), message_class, now)


@fault("receiver-final-ack-of-refused-packet-previous-number-one-less", breaks="MQQB-3.1.7.17-D08", blind=True)
class ReceiverFinalAckOfRefusedPacketPreviousNumberOneLess(FinalAcks):
    """The receiver always sends TxSequenceNumber minus one as TxPreviousSequenceNumber in the FinalAck
    of a refused packet.
    """

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None:
            packet = replace(
                packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1)
            )
        super().refuse_transactional(session, packet, message_class, now)


@fault("receiver-order-ack-number-of-31-bits", breaks="MQQB-3.1.7.17-D04", blind=True)
class ReceiverOrderAckNumberOf31Bits(OrderAcks):
    """The receiver sends an OrderAck whose TxSequenceNumber has only the lower 31 bits of the number of the last
    accepted message.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        return replace(body, TxSequenceNumber=body.TxSequenceNumber & 0x7FFFFFFF)


@fault("receiver-order-ack-sequence-ordinal-of-31-bits", breaks="MQQB-3.1.7.17-D03", blind=True)
class ReceiverOrderAckSequenceOrdinalOf31Bits(OrderAcks):
    """The receiver sends an OrderAck whose TxSequenceID has only the lower 31 bits of Ordinal."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        identifier = body.TxSequenceID
        return replace(body, TxSequenceID=replace(identifier, Ordinal=identifier.Ordinal & 0x7FFFFFFF))
