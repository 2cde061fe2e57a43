"""Faults that break rules of MS-MQQB 2.2.4 OrderAck Packet in some states only: later OrderAcks, one kind of format
name, several senders, numbers at the edge.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from harness.faults.fields import clear_bits, set_bits, set_field_value
from harness.faults.ordering_acks import DIRECT_NAME_QUEUE_TYPE, MESSAGE_BODY_FIELD_PATH, PRIVATE_NAME_QUEUE_TYPE
from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import OrderAckBody, PrivateName, UserMessagePacket
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.model.adm import Session

_RULE_OF_ORDER_ACK_BODY = "MQQB-2.2.4.1-D01"


def _get_tx_sequence_number(packet: UserMessagePacket) -> int:
    return OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody).TxSequenceNumber


def _is_later_order_ack(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) and _get_tx_sequence_number(packet) > 1


def _is_order_ack_to_private_name(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) and packet.UserHeader.DQ == PRIVATE_NAME_QUEUE_TYPE


def _is_order_ack_to_direct_name(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) and packet.UserHeader.DQ == DIRECT_NAME_QUEUE_TYPE


def _is_later_order_ack_to_direct_name(packet: UserMessagePacket) -> bool:
    return _is_order_ack_to_direct_name(packet) and _get_tx_sequence_number(packet) > 1


for _words, _condition, _says in (
    ("later", _is_later_order_ack, "with a TxSequenceNumber greater than 1"),
    ("private", _is_order_ack_to_private_name, "to a private format name"),
    ("direct", _is_order_ack_to_direct_name, "to a direct format name"),
):
    add(
        f"receiver-{_words}-order-ack-mp-clear",
        "MQQB-2.2.4-02",
        f"The receiver clears MP in an OrderAck {_says}.",
        clear_bits(UserMessagePacket, "UserHeader.MP", _condition),
        blind=True,
    )

add(
    "receiver-later-direct-order-ack-jp-set",
    "MQQB-2.2.4-03",
    "The receiver sets JP in the OrderAcks to a direct format name after the first message of a sequence.",
    set_bits(UserMessagePacket, "UserHeader.JP", _is_later_order_ack_to_direct_name),
    blind=True,
)
add(
    "receiver-private-order-ack-hop-count-1",
    "MQQB-2.2.4-03",
    "The receiver sends an OrderAck to a private format name with RC 1.",
    set_field_value(UserMessagePacket, "UserHeader.RC", 1, _is_order_ack_to_private_name),
    blind=True,
)
add(
    "receiver-later-order-ack-unused-bit-31-set",
    "MQQB-2.2.4-03",
    "The receiver sets the highest bit of UserHeader.Flags in the OrderAcks after the first message of a sequence.",
    set_field_value(UserMessagePacket, "UserHeader.X4", 4, _is_later_order_ack),
    blind=True,
)


@fault("receiver-order-ack-sent-to-private-queue-of-receiver-itself", breaks="MQQB-2.2.4-04", blind=True)
class ReceiverOrderAckSentToPrivateQueueOfReceiverItself(OrderAcks):
    """The receiver sends an OrderAck to private queue 4 of its own queue manager instead of the sender."""

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        if session.DirectFormatSession:
            return super().build_order_queue_name(session, source)
        return str(PrivateName(self.qm.adm.Identifier, ORDER_QUEUE_NUMBER))


@fault("receiver-order-acks-all-sent-to-private-queue-of-first-sender", breaks="MQQB-2.2.4-04", blind=True)
class ReceiverOrderAcksAllSentToPrivateQueueOfFirstSender(OrderAcks):
    """The receiver sends every OrderAck to private queue 4 of the first sender."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: UUID | None = None

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        self.first = self.first or source
        return super().build_order_queue_name(session, self.first)


@fault("receiver-order-ack-of-later-session-sent-to-private-queue-5", breaks="MQQB-2.2.4-04", blind=True)
class ReceiverOrderAckOfLaterSessionSentToPrivateQueue5(OrderAcks):
    """The receiver sends the OrderAcks of every session except its first to private queue 5 of the sender."""

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        if session.DirectFormatSession or session.number == min(self.qm.sessions, default=session.number):
            return super().build_order_queue_name(session, source)
        return str(PrivateName(source, ORDER_QUEUE_NUMBER + 1))


def _swap_halves_of_tx_sequence_id(body: bytes) -> bytes:
    return body[4:8] + body[:4] + body[8:]


def _reverse_bytes_of_sequence_numbers(body: bytes) -> bytes:
    return body[:8] + body[8:12][::-1] + body[12:16][::-1] + body[16:]


def _lengthen_reserved_field(body: bytes) -> bytes:
    return body + bytes(4)


for _name, _says, _change, _condition in (
    (
        "receiver-order-ack-time-stamp-before-ordinal",
        "The receiver sends TimeStamp before Ordinal in TxSequenceID of an OrderAck.",
        _swap_halves_of_tx_sequence_id,
        is_order_ack,
    ),
    (
        "receiver-order-ack-sequence-numbers-big-endian",
        "The receiver sends the sequence numbers of an OrderAck with the highest byte first.",
        _reverse_bytes_of_sequence_numbers,
        is_order_ack,
    ),
    (
        "receiver-later-order-ack-24-reserved-bytes",
        "The receiver sends 24 bytes of Reserved in the OrderAcks after the first message of a sequence.",
        _lengthen_reserved_field,
        _is_later_order_ack,
    ),
):
    add(
        _name,
        _RULE_OF_ORDER_ACK_BODY,
        _says,
        send_wrong_field_values(UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: _change}, _condition),
        blind=True,
    )


def _make_tx_sequence_number_change(change: Callable[[int], int]) -> Callable[[bytes], bytes]:
    """Return a function that changes TxSequenceNumber in the body of an OrderAck."""

    def change_body(body: bytes) -> bytes:
        number = change(int.from_bytes(body[8:12], "little"))
        return body[:8] + number.to_bytes(4, "little") + body[12:]

    return change_body


for _name, _says, _number_change in (
    (
        "receiver-order-ack-tx-sequence-number-of-16-bits",
        "The receiver sends only the low 16 bits of TxSequenceNumber in an OrderAck.",
        lambda number: number & 0xFFFF,
    ),
    (
        "receiver-order-ack-highest-tx-sequence-number-1",
        "The receiver sends TxSequenceNumber 1 instead of 0xFFFFFFFF in an OrderAck.",
        lambda number: 1 if number == 0xFFFFFFFF else number,
    ),
):
    add(
        _name,
        "MQQB-2.2.4.1-D02",
        _says,
        send_wrong_field_values(
            UserMessagePacket, {MESSAGE_BODY_FIELD_PATH: _make_tx_sequence_number_change(_number_change)}, is_order_ack
        ),
        blind=True,
    )
