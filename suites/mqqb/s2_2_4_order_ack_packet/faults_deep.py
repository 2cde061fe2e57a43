"""Faults of MS-MQQB 2.2.4 OrderAck Packet, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import field_is
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Session
from reference_qm.surface.clock import Now


@fault("receiver-order-ack-of-later-sequence-with-first-identifier", breaks="MQQB-2.2.4.1-01", blind=True)
class ReceiverOrderAckOfLaterSequenceWithFirstIdentifier(OrderAcks):
    """The receiver sends the TxSequenceID of the sender's first sequence to a queue in every OrderAck
    for this queue.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        first = self.__dict__.setdefault("first", {})
        return replace(super().build(transfer), TxSequenceID=first.setdefault(id(transfer), transfer.saved_identifier))


@fault("receiver-order-ack-identifier-with-ordinal-of-16-bits", breaks="MQQB-2.2.4.1-01", blind=True)
class ReceiverOrderAckIdentifierWithOrdinalOf16Bits(OrderAcks):
    """The receiver sends an OrderAck whose TxSequenceID has only the lower 16 bits of the Ordinal."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        identifier = replace(body.TxSequenceID, Ordinal=body.TxSequenceID.Ordinal & 0xFFFF)
        return replace(body, TxSequenceID=identifier)


@fault("receiver-order-ack-number-at-most-65535", breaks="MQQB-2.2.4.1-02", blind=True)
class ReceiverOrderAckNumberAtMost65535(OrderAcks):
    """The receiver sends an OrderAck with TxSequenceNumber 0xFFFF instead of a greater number."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        number = min(body.TxSequenceNumber, 0xFFFF)
        return replace(body, TxSequenceNumber=number, TxPreviousSequenceNumber=number - 1)


@fault("receiver-order-ack-previous-number-of-order-ack-before", breaks="MQQB-2.2.4.1-03", blind=True)
class ReceiverOrderAckPreviousNumberOfOrderAckBefore(OrderAcks):
    """The receiver sends the TxSequenceNumber of its previous OrderAck as TxPreviousSequenceNumber of an OrderAck."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        last = self.__dict__.setdefault("last", {})
        body = super().build(transfer)
        body = replace(body, TxPreviousSequenceNumber=last.get(id(transfer), 0))
        last[id(transfer)] = body.TxSequenceNumber
        return body


@fault("sender-order-ack-with-reserved-bytes-ignored", breaks="MQQB-2.2.4.1-04", blind=True)
class SenderOrderAckWithReservedBytesIgnored(OrderAcks):
    """The sender ignores an OrderAck in which the last byte of Reserved is not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not packet.MessagePropertiesHeader.MessageBody[-1]:
            super().receive(session, packet, now)


@fault("sender-order-ack-with-any-reserved-byte-malformed", breaks="MQQB-2.2.4.1-04", blind=True)
class SenderOrderAckWithAnyReservedByteMalformed(OrderAcks):
    """The sender closes the session after an OrderAck in which the first byte of Reserved is not zero."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.MessagePropertiesHeader.MessageBody[16]:
            self.qm.closing.close(session, "a fault", now)
            return
        super().receive(session, packet, now)


def _is_order_ack_to_private_name(packet: UserMessagePacket) -> bool:
    """Return whether a packet is an OrderAck that is sent to a private format name."""
    return packet.MessagePropertiesHeader.MessageClass == 0xFF and packet.UserHeader.DQ == 3


def _is_of_later_message(packet: UserMessagePacket) -> bool:
    """Return whether a packet is an OrderAck for a message other than the first message."""
    properties = packet.MessagePropertiesHeader
    return properties.MessageClass == 0xFF and int.from_bytes(properties.MessageBody[8:12], "little") > 1


for _name, _rule, _path, _value, _when in (
    (
        "receiver-order-ack-to-private-name-with-pa",
        "MQQB-2.2.4-09",
        "MessagePropertiesHeader.PA",
        1,
        _is_order_ack_to_private_name,
    ),
    ("receiver-order-ack-of-later-message-with-jn", "MQQB-2.2.4-03", "UserHeader.JN", 1, _is_of_later_message),
    (
        "receiver-order-ack-to-private-name-of-priority-3",
        "MQQB-2.2.4-01",
        "BaseHeader.PR",
        3,
        _is_order_ack_to_private_name,
    ),
    (
        "receiver-later-order-ack-with-body-type",
        "MQQB-2.2.4-11",
        "MessagePropertiesHeader.BodyType",
        8,
        _is_of_later_message,
    ),
):
    add(
        _name,
        _rule,
        f"The receiver sends {_path} {_value} in an OrderAck "
        f"{'to a private name' if _when is _is_order_ack_to_private_name else 'of a later message'}.",
        field_is(UserMessagePacket, _path, _value, _when),
        blind=True,
    )
