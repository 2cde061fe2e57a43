"""Faults in acknowledgments of second messages, queues, sequences and senders. Spec: MS-MQQB 3.1.7.17."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import (
    FinalAckBody,
    MessageClass,
    OrderAckBody,
    PrivateName,
    UserMessagePacket,
)
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, MessagePosition, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

_LAST_ACK_MESSAGE_ID_BY_QUEUE_MANAGER: WeakKeyDictionary[QueueManager, int] = WeakKeyDictionary()


def _give_final_ack_message_id_of_last_ack(
    original: Callable[..., int], qm: QueueManager, name: str, message_class: MessageClass, *_: Any
) -> Callable[..., int]:
    def assign_message_ordinal(*arguments: Any) -> int:
        if message_class is MessageClass.MQMSG_CLASS_ORDER_ACK or qm not in _LAST_ACK_MESSAGE_ID_BY_QUEUE_MANAGER:
            _LAST_ACK_MESSAGE_ID_BY_QUEUE_MANAGER[qm] = original(*arguments)
        return _LAST_ACK_MESSAGE_ID_BY_QUEUE_MANAGER[qm]

    return assign_message_ordinal


add(
    "receiver-final-ack-identifier-of-order-ack",
    "MQQB-3.1.7.17-03",
    "The receiver gives a FinalAck the MessageID of its last OrderAck.",
    replace_method_during(
        OrderAcks.send_transactional_ack,
        MessageNumbering.assign_message_ordinal,
        _give_final_ack_message_id_of_last_ack,
    ),
    blind=True,
)


def _give_final_ack_message_id_of_refused_packet(
    original: Callable[..., int], qm: QueueManager, session: Session, packet: UserMessagePacket, *_: Any
) -> Callable[..., int]:
    return lambda *arguments: packet.UserHeader.MessageID


add(
    "receiver-final-ack-of-refused-packet-identifier-of-packet",
    "MQQB-3.1.7.17-03",
    "The receiver gives the FinalAck of a refused packet the MessageID of this packet.",
    replace_method_during(
        FinalAcks.send_negative_final_ack,
        MessageNumbering.assign_message_ordinal,
        _give_final_ack_message_id_of_refused_packet,
    ),
    blind=True,
)


def _address_refusal_final_ack_to_private_queue(
    original: Callable[..., str], qm: QueueManager, session: Session, packet: UserMessagePacket, *_: Any
) -> Callable[..., str]:
    return lambda *arguments: str(PrivateName(packet.UserHeader.SourceQueueManager, ORDER_QUEUE_NUMBER))


add(
    "receiver-final-ack-of-refused-packet-sent-to-private-name",
    "MQQB-3.1.7.17-07",
    "The receiver addresses the FinalAck of a refused packet on a session for a direct format name to a private format "
    "name.",
    replace_method_during(
        FinalAcks.send_negative_final_ack, OrderAcks.build_order_queue_name, _address_refusal_final_ack_to_private_queue
    ),
    blind=True,
)


@fault("receiver-acks-of-direct-session-addressed-to-private-name", breaks="MQQB-3.1.7.17-07", blind=True)
class ReceiverAcksOfDirectSessionAddressedToPrivateName(OrderAcks):
    """The receiver addresses the acknowledgments of a session for a direct format name to a private format name while a
    session for a private format name is open with the sender.
    """

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        for one in self.qm.sessions.values():
            if (
                not one.DirectFormatSession
                and not one.initiator
                and one.SessionState is SessionState.OPEN
                and one.RemoteQMGuid == session.RemoteQMGuid
                and one.MessageReceivedCount
            ):
                return super().build_order_queue_name(one, source)
        return super().build_order_queue_name(session, source)


class _ChangedOrderAckBuilding(OrderAcks):
    """Builds OrderAcks from wrong elements in the cases that a subclass selects."""

    def list_transfers_of_sender(
        self, transfer: IncomingTransactionalTransferInfo
    ) -> list[IncomingTransactionalTransferInfo]:
        """Return all incoming transfers of the sender to whom the given transfer belongs, in the order of
        their queues.
        """
        return [
            one
            for queue in self.qm.queue_names.list_every_queue()
            for one in queue.IncomingTransactionalTransferInfoCollection.values()
            if one.SenderIdentifier == transfer.SenderIdentifier and one.saved_sequence_number
        ]


@fault("receiver-order-ack-of-second-queue-names-sequence-of-first", breaks="MQQB-3.1.7.17-D03", blind=True)
class ReceiverOrderAckOfSecondQueueNamesSequenceOfFirst(_ChangedOrderAckBuilding):
    """The receiver sets TxSequenceID of an OrderAck to the TxSequenceID of the sender's sequence to the first queue."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        first = self.list_transfers_of_sender(transfer)[0]
        return replace(super().build(transfer), TxSequenceID=first.saved_sequence_identifier)


@fault("receiver-order-ack-of-later-sequence-names-first-sequence", breaks="MQQB-3.1.7.17-D03", blind=True)
class ReceiverOrderAckOfLaterSequenceNamesFirstSequence(OrderAcks):
    """The receiver sets TxSequenceID of an OrderAck to the TxSequenceID of the sender's first sequence to the queue."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        key = (transfer.SenderIdentifier, transfer.FormatName)
        first = self.__dict__.setdefault("first_sequences", {}).setdefault(key, transfer.saved_sequence_identifier)
        return replace(super().build(transfer), TxSequenceID=first)


@fault("receiver-order-ack-number-incremented-by-rejected-message", breaks="MQQB-3.1.7.17-D04", blind=True)
class ReceiverOrderAckNumberIncrementedByRejectedMessage(OrderAcks):
    """After a message out of sequence, the receiver sets TxSequenceNumber of an OrderAck as if it had accepted the
    message.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        return replace(body, TxSequenceNumber=body.TxSequenceNumber + min(transfer.RejectCount, 1))


@fault("receiver-order-ack-number-is-highest-of-all-queues", breaks="MQQB-3.1.7.17-D04", blind=True)
class ReceiverOrderAckNumberIsHighestOfAllQueues(_ChangedOrderAckBuilding):
    """The receiver sets TxSequenceNumber of an OrderAck to the highest number that it accepted from the sender for any
    queue.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        highest = max(one.saved_sequence_number for one in self.list_transfers_of_sender(transfer))
        return replace(super().build(transfer), TxSequenceNumber=highest)


class _FinalAcksWithChangedPreviousNumber(FinalAcks):
    """Changes TransactionPreviousSequenceNumber of messages that leave their queue."""

    def compute_previous_number(self, number: int, previous: int, reason: MessageClass) -> int:
        raise NotImplementedError

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        previous = self.compute_previous_number(
            message.TransactionSequenceNumber, message.TransactionPreviousSequenceNumber, reason
        )
        position.MessageReference = replace(message, TransactionPreviousSequenceNumber=previous)
        super().send_final_ack_of_message(position, reason, now)
        position.MessageReference = message


@fault("receiver-final-ack-previous-number-ignores-gap-in-numbers", breaks="MQQB-3.1.7.17-D05", blind=True)
class ReceiverFinalAckPreviousNumberIgnoresGapInNumbers(_FinalAcksWithChangedPreviousNumber):
    """The receiver sets TxPreviousSequenceNumber in the FinalAck of a message to the number before that of the message,
    even if the number of the previous message is lower.
    """

    def compute_previous_number(self, number: int, previous: int, reason: MessageClass) -> int:
        return number - 1


@fault("receiver-final-ack-previous-number-is-0-for-unreceived-message", breaks="MQQB-3.1.7.17-D05", blind=True)
class ReceiverFinalAckPreviousNumberIs0ForUnreceivedMessage(_FinalAcksWithChangedPreviousNumber):
    """The receiver sets TxPreviousSequenceNumber in the FinalAck of a message that left its queue unreceived to 0."""

    def compute_previous_number(self, number: int, previous: int, reason: MessageClass) -> int:
        return previous if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE else 0


class _FinalAcksWithChangedRefusalBodies(OrderAcks):
    """Changes the bodies of FinalAcks of refused packets."""

    def change_refusal_body(self, body: FinalAckBody) -> FinalAckBody:
        raise NotImplementedError

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody) and message_class is not MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            body = self.change_refusal_body(body)
        super().send_transactional_ack(name, message_class, body, now)


@fault("receiver-final-acks-of-refused-packets-repeat-first-source-guid", breaks="MQQB-3.1.7.17-D09", blind=True)
class ReceiverFinalAcksOfRefusedPacketsRepeatFirstSourceGuid(_FinalAcksWithChangedRefusalBodies):
    """The receiver sets SourceGUID in the FinalAck of each refused packet to the source of the first refused packet."""

    def change_refusal_body(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, SourceGUID=self.__dict__.setdefault("first_source", body.SourceGUID))


def _set_source_guid_to_guid_of_session(
    original: Callable[..., None], qm: QueueManager, session: Session, *_: Any
) -> Callable[..., None]:
    def send_changed(name: str, message_class: MessageClass, body: Any, now: Now) -> None:
        original(qm, name, message_class, replace(body, SourceGUID=session.RemoteQMGuid), now)

    return lambda _, *arguments: send_changed(*arguments)


add(
    "receiver-final-ack-of-refused-packet-source-of-session",
    "MQQB-3.1.7.17-D09",
    "The receiver sets SourceGUID in the FinalAck of a refused packet to the queue manager of the session.",
    replace_method_during(
        FinalAcks.send_negative_final_ack, OrderAcks.send_transactional_ack, _set_source_guid_to_guid_of_session
    ),
    blind=True,
)


@fault("receiver-final-ack-of-refused-packet-message-id-cut-to-31-bits", breaks="MQQB-3.1.7.17-D10", blind=True)
class ReceiverFinalAckOfRefusedPacketMessageIdCutTo31Bits(_FinalAcksWithChangedRefusalBodies):
    """The receiver sets MessageID in the FinalAck of a refused packet to the lower 31 bits of its MessageID."""

    def change_refusal_body(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, MessageID=body.MessageID & 0x7FFFFFFF)


@fault("receiver-final-acks-of-refused-packets-repeat-first-message-id", breaks="MQQB-3.1.7.17-D10", blind=True)
class ReceiverFinalAcksOfRefusedPacketsRepeatFirstMessageId(_FinalAcksWithChangedRefusalBodies):
    """The receiver sets MessageID in the FinalAcks of all refused packets of a sequence to the MessageID of the first
    refused packet.
    """

    def change_refusal_body(self, body: FinalAckBody) -> FinalAckBody:
        known = self.__dict__.setdefault("identifiers", {}).setdefault(body.TxSequenceID, body.MessageID)
        return replace(body, MessageID=known)
