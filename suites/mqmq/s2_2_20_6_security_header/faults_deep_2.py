"""Faults of MS-MQMQ 2.2.20.6 SecurityHeader that only some sizes, combinations and later messages reveal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import packets, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now

SecurityCheck = Callable[[UserMessagePacket, SecurityHeader], Any]
LARGE_BODY = 4096


def _on_receipt(when: SecurityCheck, change: Callable[[UserMessagePacket], UserMessagePacket]) -> Install:
    """Let the receiver change a message with a SecurityHeader before it checks and stores the message."""

    class Changing(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            header = packet.SecurityHeader
            if header is not None and when(packet, header):
                packet = change(packet)
            return super().decrypt_body(packet, now)

    return replace_part(Changing)


def _clear_flags(mask: int) -> Callable[[UserMessagePacket], UserMessagePacket]:
    return lambda packet: set_fields(packet, {"SecurityHeader.Flags": lambda old: old & ~mask})


def _set_item(item: str, change: Callable[[bytes], bytes]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    return lambda packet: set_fields(
        packet, {f"SecurityHeader.SecurityData.{item}": change, "SecurityHeader.SecurityData.Padding": None}
    )


EB = SecurityHeader.flags(EB=1)
X12, X13, X14, X15 = (SecurityHeader.flags(**{name: 1}) for name in ("X12", "X13", "X14", "X15"))
UNUSED = X12 | X13 | X14 | X15
_drop_signature = _set_item("Signature", lambda old: b"")
_drop_sender = _set_item("SecurityID", lambda old: b"")
_spoil_signature = _set_item("Signature", lambda old: old[::-1])

_rules: str | tuple[str, ...]
for _name, _rules, _says, _install in (
    (
        "x12-of-encrypted-message-not-decrypted",
        "MQMQ-2.2.20.6-10",
        "The receiver does not decrypt a message with X12 set.",
        _on_receipt(lambda packet, header: header.X12, _clear_flags(EB)),
    ),
    (
        "x14-sender-forgotten",
        "MQMQ-2.2.20.6-12",
        "The receiver ignores SecurityID of a message with X14 set.",
        _on_receipt(lambda packet, header: header.X14, _drop_sender),
    ),
    (
        "x15-of-encrypted-message-not-decrypted",
        "MQMQ-2.2.20.6-13",
        "The receiver does not decrypt a message with X15 set.",
        _on_receipt(lambda packet, header: header.X15, _clear_flags(EB)),
    ),
    (
        "all-unused-bits-signature-refused",
        "MQMQ-2.2.20.6-13",
        "The receiver refuses the signature of a message with all unused bits set.",
        _on_receipt(lambda packet, header: header.Flags & UNUSED == UNUSED and header.SignatureSize, _spoil_signature),
    ),
    (
        "x12-signature-refused",
        "MQMQ-2.2.20.6-10",
        "The receiver refuses the signature of a message with X12 set.",
        _on_receipt(lambda packet, header: header.X12 and header.SignatureSize, _spoil_signature),
    ),
    (
        "large-encrypted-body-cut",
        "MQMQ-2.2.20.6-06",
        "The receiver stores only the first 4,096 bytes of an encrypted body.",
        _on_receipt(
            lambda packet, header: header.EB and len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY,
            lambda packet: set_fields(
                packet,
                {
                    "MessagePropertiesHeader.MessageBody": lambda old: old[:LARGE_BODY],
                    "MessagePropertiesHeader.Padding": None,
                },
            ),
        ),
    ),
    (
        "signed-and-encrypted-message-not-decrypted",
        "MQMQ-2.2.20.6-06",
        "The receiver does not decrypt a message that is also signed.",
        _on_receipt(lambda packet, header: header.EB and header.SignatureSize, _clear_flags(EB)),
    ),
    (
        "provider-info-read-without-terminator",
        "MQMQ-2.2.20.6-D03",
        "The receiver removes the last 2 bytes of ProviderInfo.",
        _on_receipt(lambda packet, header: header.ProviderInfoSize, _set_item("ProviderInfo", lambda old: old[:-2])),
    ),
):
    add(f"receiver-security-header-{_name}", _rules, _says, _install)


def _on_construction(when: SecurityCheck, changes: dict[str, Any]) -> Install:
    """Let the sender change the SecurityHeader of messages before it signs and encrypts them."""

    def change_packet(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        header = packet.SecurityHeader
        if header is None or not when(packet, header):
            return packet
        changed: UserMessagePacket = set_fields(packet, {"SecurityHeader.SecurityData.Padding": None, **changes})
        return changed

    return change_construction(change_packet)


def _is_large(packet: UserMessagePacket) -> bool:
    return len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY


def _when_sent(when: SecurityCheck, changes: dict[str, Any]) -> Install:
    """Let the sender change the SecurityHeader of messages after it has signed and encrypted them."""

    def change_packet(packet: UserMessagePacket) -> bytes:
        every = {"SecurityHeader.SecurityData.Padding": None, "BaseHeader.PacketSize": 0, **changes}
        data: bytes = set_fields(packet, every).build()
        return data

    return packets(
        UserMessagePacket,
        change_packet,
        lambda packet: packet.SecurityHeader is not None and when(packet, packet.SecurityHeader),
    )


FLAGS = "SecurityHeader.Flags"
DATA = "SecurityHeader.SecurityData."
for _name, _rules, _says, _install in (
    (
        "au-set-in-signed-message",
        "MQMQ-2.2.20.6-05",
        "The sender sets AU in signed messages.",
        _when_sent(lambda packet, header: header.SignatureSize, {FLAGS: lambda old: old | SecurityHeader.flags(AU=1)}),
    ),
    (
        "au-set-in-encrypted-message",
        "MQMQ-2.2.20.6-05",
        "The sender sets AU in encrypted messages.",
        _when_sent(lambda packet, header: header.EB, {FLAGS: lambda old: old | SecurityHeader.flags(AU=1)}),
    ),
    (
        "as-of-signature-kind",
        "MQMQ-2.2.20.6-09",
        "The sender sends 3 as AS in messages with a signature.",
        _when_sent(lambda packet, header: header.SignatureSize, {FLAGS: lambda old: old | SecurityHeader.flags(AS=3)}),
    ),
    (
        "ai-clear-in-encrypted-message",
        "MQMQ-2.2.20.6-20",
        "The sender removes EncryptionKey of encrypted messages.",
        _when_sent(lambda packet, header: header.EB, {f"{DATA}EncryptionKey": b""}),
    ),
    (
        "st-0-in-signed-message-with-sender",
        "MQMQ-2.2.20.6-02",
        "The sender sends ST 0 in signed messages with a SecurityID.",
        _when_sent(
            lambda packet, header: header.SignatureSize and header.SenderIdSize,
            {FLAGS: lambda old: old & ~SecurityHeader.flags(ST=0xF)},
        ),
    ),
    (
        "sid-without-last-sub-authority",
        "MQMQ-2.2.20.6-03",
        "The sender sends the SID of the user without its last sub-authority.",
        _when_sent(lambda packet, header: header.ST == 1, {f"{DATA}SecurityID": lambda old: old[:-4]}),
    ),
    (
        "sid-of-encrypted-message-reversed",
        "MQMQ-2.2.20.6-03",
        "The sender sends the bytes of the SID in the reverse order in encrypted messages.",
        _when_sent(lambda packet, header: header.ST == 1 and header.EB, {f"{DATA}SecurityID": lambda old: old[::-1]}),
    ),
    (
        "queue-manager-guid-in-network-order",
        ("MQMQ-2.2.20.6-04", "MQMQ-2.2.20.6-22"),
        "The sender sends the GUID of the queue manager with its bytes in the reverse order.",
        _when_sent(lambda packet, header: header.ST == 2, {f"{DATA}SecurityID": lambda old: old[::-1]}),
    ),
    (
        "certificate-with-additional-bytes",
        "MQMQ-2.2.20.6-D04",
        "The sender sends 64 KiB of zeros after the certificate in SenderCert.",
        _when_sent(
            lambda packet, header: header.SenderCertSize, {f"{DATA}SenderCert": lambda old: old + bytes(0x10000)}
        ),
    ),
    (
        "de-clear-in-signed-message-without-provider",
        "MQMQ-2.2.20.6-07",
        "The sender clears DE in signed messages without ProviderInfo.",
        _when_sent(
            lambda packet, header: header.SignatureSize and not header.ProviderInfoSize,
            {FLAGS: lambda old: old & ~SecurityHeader.flags(DE=1)},
        ),
    ),
):
    add(f"sender-security-header-{_name}", _rules, _says, _install)


def _swap_items(first: str, second: str) -> Install:
    """Let the sender write two items of SecurityData in the wrong order; their sizes are right."""

    def change_packet(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        header = packet.SecurityHeader
        assert header is not None
        one, other = getattr(header.SecurityData, first), getattr(header.SecurityData, second)
        padded = [item + bytes(-len(item) % 4) for item in (one, other)]
        return data.replace(b"".join(padded), padded[1] + padded[0])

    return packets(
        UserMessagePacket,
        change_packet,
        lambda packet: (
            packet.SecurityHeader is not None
            and getattr(packet.SecurityHeader.SecurityData, first)
            and getattr(packet.SecurityHeader.SecurityData, second)
        ),
    )


for _first, _second in (("Signature", "SenderCert"), ("EncryptionKey", "Signature")):
    add(
        f"sender-security-data-{_second.lower()}-before-{_first.lower()}",
        "MQMQ-2.2.20.6-D02",
        f"The sender writes {_second} before {_first}.",
        _swap_items(_first, _second),
    )
