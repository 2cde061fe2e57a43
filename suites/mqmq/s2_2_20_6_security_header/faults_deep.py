"""Faults of MS-MQMQ 2.2.20.6 that only special cases reveal: bits that have an effect although they must be ignored,
later messages, and parts of bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now


@fault("receiver-security-header-x12-not-authenticated", breaks="MQMQ-2.2.20.6-10")
class ReceiverSecurityHeaderX12NotAuthenticated(SecurityOnReceipt):
    """The receiver does not verify the signature of a message when bit X12 of SecurityHeader.Flags is set."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        header = packet.SecurityHeader
        return packet if header is not None and header.X12 else super().authenticate_packet(packet)


@fault("receiver-security-header-x13-body-not-decrypted", breaks="MQMQ-2.2.20.6-11")
class ReceiverSecurityHeaderX13BodyNotDecrypted(SecurityOnReceipt):
    """The receiver does not decrypt the body of a message when bit X13 of SecurityHeader.Flags is set."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        header = packet.SecurityHeader
        return packet if header is not None and header.X13 else super().decrypt_body(packet, now)


def _has_bit(bit: int) -> Callable[[Any], Any]:
    return lambda packet: packet.SecurityHeader is not None and packet.SecurityHeader.Flags & bit


for _name, _rule, _says, _changes, _bit in (
    (
        "receiver-security-header-x14-suppresses-acknowledgments",
        "MQMQ-2.2.20.6-12",
        "The receiver sends no acknowledgments for a message when bit X14 of SecurityHeader.Flags is set.",
        {"MessagePropertiesHeader.Flags": 0},
        1 << 14,
    ),
    (
        "receiver-security-header-x15-makes-express",
        "MQMQ-2.2.20.6-13",
        "The receiver treats a recoverable message as express when bit X15 of SecurityHeader.Flags is set.",
        {"UserHeader.Flags": lambda flags: flags & ~(3 << 5)},
        1 << 15,
    ),
):
    add(
        _name,
        _rule,
        _says,
        change_received(
            _changes,
            _has_bit(_bit),
        ),
    )


@fault("sender-body-above-64-kib-not-encrypted", breaks="MQMQ-2.2.20.6-06")
class SenderBodyAbove64KibNotEncrypted(Securing):
    """The sender does not encrypt a body of more than 64 KiB."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if len(packet.MessagePropertiesHeader.MessageBody) > 0x10000:
            return packet
        return super().encrypt_body(session, message, packet, now)


def _own_identifier(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    header = packet.SecurityHeader
    if header is None or header.ST != 2 or not packet.MessagePropertiesHeader.Label:
        return packet
    data = replace(header.SecurityData, SecurityID=packet.UserHeader.QueueManagerAddress.bytes_le)
    return replace(packet, SecurityHeader=replace(header, SecurityData=data))


add(
    "sender-security-id-of-destination-in-labelled-message",
    "MQMQ-2.2.20.6-24",
    "The sender sets SecurityID of a message with a label and ST 2 to QueueManagerAddress instead of its own GUID.",
    change_construction(_own_identifier),
)
