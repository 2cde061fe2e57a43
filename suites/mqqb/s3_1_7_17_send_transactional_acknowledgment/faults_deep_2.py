"""Faults of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment that occur only in a second sequence, message or queue,
or with another cause.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, OutgoingQueue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

ACK_RECEIVE = MessageClass.MQMSG_CLASS_ACK_RECEIVE


class _ChangingAcknowledgments(OrderAcks):
    """Change each OrderAck and FinalAck that the receiver sends."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        name, message_class, body = self.change(name, message_class, body)
        super().send_transactional_ack(name, message_class, body, now)

    def change(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody
    ) -> tuple[str, MessageClass, OrderAckBody | FinalAckBody]:
        raise NotImplementedError


@fault("receiver-final-acks-share-identifier-of-first", breaks="MQQB-3.1.7.17-03", blind=True)
class ReceiverFinalAcksShareIdentifierOfFirst(Sending):
    """The receiver gives all FinalAcks to a sender the MessageID of the first FinalAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[str, object] = {}

    def message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.Label == "QM Ordering Ack" and message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            first = self.first.setdefault(message.DestinationQueueFormatName, message.Identifier)
            position.MessageReference = replace(message, Identifier=first)  # type: ignore[arg-type]
        super().message_position_available(queue, position, now)


@fault("receiver-final-ack-class-of-preceding-final-ack", breaks="MQQB-3.1.7.17-04", blind=True)
class ReceiverFinalAckClassOfPrecedingFinalAck(_ChangingAcknowledgments):
    """The receiver gives a FinalAck the class of the preceding FinalAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: MessageClass | None = None

    def change(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody
    ) -> tuple[str, MessageClass, OrderAckBody | FinalAckBody]:
        if isinstance(body, FinalAckBody):
            self.last = self.last or message_class
            return name, self.last, body
        return name, message_class, body


@fault("receiver-order-ack-of-queue-with-number-of-other-queue", breaks="MQQB-3.1.7.17-D04", blind=True)
class ReceiverOrderAckOfQueueWithNumberOfOtherQueue(OrderAcks):
    """The receiver sends an OrderAck with the highest number that it accepted from the sender in any queue."""

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.due = list(session.order_acks_due)
        super().on_send_timer(session, now)

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        number = max(one.saved_number for one in (*self.due, transfer))
        return OrderAckBody(transfer.saved_identifier, number, number - 1)


@fault("receiver-order-ack-with-sequence-of-other-queue", breaks="MQQB-3.1.7.17-D03", blind=True)
class ReceiverOrderAckWithSequenceOfOtherQueue(OrderAcks):
    """When several OrderAcks are sent at one expiry of the timer, the receiver puts the TxSequenceID of the first
    sequence into every OrderAck.
    """

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.due = list(session.order_acks_due)
        super().on_send_timer(session, now)

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        return OrderAckBody(self.due[0].saved_identifier, body.TxSequenceNumber, body.TxPreviousSequenceNumber)


@fault("receiver-order-ack-previous-number-of-preceding-order-ack", breaks="MQQB-3.1.7.17-06", blind=True)
class ReceiverOrderAckPreviousNumberOfPrecedingOrderAck(OrderAcks):
    """The receiver sets TxPreviousSequenceNumber of an OrderAck to the number of the preceding OrderAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: dict[object, int] = {}

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        previous = self.last.get(transfer.saved_identifier, 0)
        self.last[transfer.saved_identifier] = body.TxSequenceNumber
        return OrderAckBody(body.TxSequenceID, body.TxSequenceNumber, previous)


@fault("receiver-order-acks-of-second-address-to-first", breaks="MQQB-3.1.7.17-07", blind=True)
class ReceiverOrderAcksOfSecondAddressToFirst(_ChangingAcknowledgments):
    """The receiver addresses all OrderAcks and FinalAcks to the order queue of the first sender."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: str | None = None

    def change(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody
    ) -> tuple[str, MessageClass, OrderAckBody | FinalAckBody]:
        self.first = self.first or name
        return self.first, message_class, body


@fault("receiver-negative-final-ack-express", breaks="MQQB-3.1.7.17-D01", blind=True)
class ReceiverNegativeFinalAckExpress(Sending):
    """The receiver sends a negative FinalAck as an express message."""

    def message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        message = position.MessageReference
        if message.Label == "QM Ordering Ack" and message.Class & 0x8000:
            position.MessageReference = replace(message, DeliveryGuarantee=DeliveryGuarantee.EXPRESS)
        super().message_position_available(queue, position, now)


@fault("receiver-final-ack-previous-number-one-less", breaks="MQQB-3.1.7.17-D05", blind=True)
class ReceiverFinalAckPreviousNumberOneLess(FinalAcks):
    """The receiver sets TxPreviousSequenceNumber in a FinalAck to the number of the message minus one."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        previous = message.TransactionSequenceNumber - 1
        position.MessageReference = replace(message, TransactionPreviousSequenceNumber=previous)
        super().acknowledge_final(position, reason, now)


@fault("receiver-final-ack-message-id-of-first-message", breaks="MQQB-3.1.7.17-D07", blind=True)
class ReceiverFinalAckMessageIdOfFirstMessage(FinalAcks):
    """The receiver sets MessageID in the FinalAcks of a sequence to the number of the first removed
    message of the sequence.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[object, int] = {}

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        sequence = message.TransactionalMessageSequenceIdentifier
        ordinal = self.first.setdefault(sequence, message.Identifier.Ordinal)
        position.MessageReference = replace(message, Identifier=replace(message.Identifier, Ordinal=ordinal))
        super().acknowledge_final(position, reason, now)


@fault("receiver-final-ack-of-refused-packet-message-id-16-bits", breaks="MQQB-3.1.7.17-D10", blind=True)
class ReceiverFinalAckOfRefusedPacketMessageId16Bits(FinalAcks):
    """The receiver puts only the low 16 bits of the MessageID into the FinalAck of a refused packet."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        user = replace(packet.UserHeader, MessageID=packet.UserHeader.MessageID & 0xFFFF)
        super().refuse_transactional(session, replace(packet, UserHeader=user), message_class, now)


@fault("receiver-final-ack-of-purged-message-without-session-not-sent", breaks="MQQB-3.1.7.17-11", blind=True)
class ReceiverFinalAckOfPurgedMessageWithoutSessionNotSent(FinalAcks):
    """The receiver sends no FinalAck for a message that is removed without receipt if the session of the
    message is closed.
    """

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if reason is ACK_RECEIVE or any(not one.initiator for one in self.qm.sessions.values()):
            super().acknowledge_final(position, reason, now)
