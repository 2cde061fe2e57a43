"""Faults in the sizes, the items and the layout of a SecurityHeader: MQMQ-2.2.20.6-08 to MQMQ-2.2.20.6-21, and
MQMQ-2.2.20.6-D01 and MQMQ-2.2.20.6-D05.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import change_number_in_field
from harness.faults.parts import fault
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_constructed_packet, correct_packet_size, has_header
from reference_qm.codec import SecurityHeader, UserHeader, UserMessagePacket
from reference_qm.codec.cursor import ByteCursor
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, Session
from reference_qm.security.algorithms import PrivacyLevel
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_20_6_security_header.fault_steps import change_sent_security_header

_SID_SENDER_TYPE, _GUID_SENDER_TYPE = 1, 2
"""Values of SecurityHeader.Flags.ST."""
_SECURITY_DATA_PREFIX = "SecurityHeader.SecurityData."
_SECURITY_ITEM_FIELDS = ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")
_SECURITY_HEADER_SIZE_WITHOUT_ITEMS = len(SecurityHeader().build())
_EMPTY_VALUE_BY_ITEM = {f"{_SECURITY_DATA_PREFIX}{name}": b"" for name in _SECURITY_ITEM_FIELDS}


def _change_size_field_of_item(
    name: str, change: Callable[[int], int], when: Callable[[SecurityHeader], Any]
) -> Install:
    """Change a size field of the SecurityHeader, but not the item of this size."""
    return change_number_in_field(
        UserMessagePacket,
        f"SecurityHeader.{name}",
        change,
        lambda packet: packet.SecurityHeader is not None and bool(when(packet.SecurityHeader)),
    )


def _change_header_bytes(change: Callable[[bytes], bytes]) -> Install:
    """Change the bytes of the SecurityHeader in each message that contains one."""

    def change_packet(packet: UserMessagePacket) -> bytes:
        header = b"" if packet.SecurityHeader is None else packet.SecurityHeader.build()
        return correct_packet_size(packet.build().replace(header, change(header)))

    return change_packets_of_kind(UserMessagePacket, change_packet, has_header("SecurityHeader"))


def _join_security_items_with_padding(header: bytes, pad: Callable[[str, bytes], int]) -> bytes:
    """Return the SecurityHeader with as many zeros after each item as ``pad`` returns for its name and bytes."""
    data = SecurityHeader.read(ByteCursor(header)).SecurityData
    items = [(name, getattr(data, name)) for name in _SECURITY_ITEM_FIELDS]
    joined = header[:_SECURITY_HEADER_SIZE_WITHOUT_ITEMS] + b"".join(
        item + bytes(pad(name, item)) for name, item in items if item
    )
    return joined + bytes(-len(joined) % 4)


def _add_empty_security_header(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    if packet.SecurityHeader is not None or message.TransactionIdentifier is None:
        return packet
    flags = packet.UserHeader.Flags | UserHeader.flags(SH=1)
    header = SecurityHeader(SecurityHeader.flags(DE=1))
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), SecurityHeader=header)


def _exchange_bits_de_and_ai(flags: int) -> int:
    return flags & ~0xC0 | (flags & 0x40) << 1 | (flags & 0x80) >> 1


for _name, _broken_rules, _says, _install in (
    (
        "sender-unsigned-encrypted-message-without-security-data",
        ("MQMQ-2.2.20.6-08", "MQMQ-2.2.20.6-19"),
        "The sender's SecurityHeader of a message that is encrypted but not signed has AI set and no SecurityData.",
        change_sent_security_header(
            lambda packet, header: header.EncryptionKeySize and not header.SignatureSize, _EMPTY_VALUE_BY_ITEM
        ),
    ),
    (
        "sender-security-id-of-unsigned-message-omitted-with-ai-set",
        ("MQMQ-2.2.20.6-08", "MQMQ-2.2.20.6-19"),
        "The sender's SecurityHeader of a message whose only item is SecurityID has AI set and no SecurityData.",
        change_sent_security_header(
            lambda packet, header: header.SenderIdSize and not header.SenderCertSize and not header.EncryptionKeySize,
            _EMPTY_VALUE_BY_ITEM,
        ),
    ),
    (
        "sender-security-data-of-transactional-message-omitted",
        ("MQMQ-2.2.20.6-08",),
        "The sender's SecurityHeader of a transactional message has AI set and no SecurityData.",
        change_sent_security_header(lambda packet, header: packet.TransactionHeader is not None, _EMPTY_VALUE_BY_ITEM),
    ),
    (
        "sender-empty-security-header-in-unprotected-transactional-message",
        ("MQMQ-2.2.20.6-19",),
        "The sender adds a SecurityHeader with five sizes of 0 to a transactional message without protection.",
        change_constructed_packet(_add_empty_security_header),
    ),
    (
        "sender-sender-id-size-of-guid-12",
        ("MQMQ-2.2.20.6-14",),
        "The sender sets SenderIdSize of a GUID to 12 instead of 16.",
        change_sent_security_header(
            lambda packet, header: header.ST == _GUID_SENDER_TYPE,
            {f"{_SECURITY_DATA_PREFIX}SecurityID": lambda old: old[:12]},
        ),
    ),
    (
        "sender-sender-id-size-of-sid-1-too-small",
        ("MQMQ-2.2.20.6-14",),
        "The sender sets SenderIdSize of a SID to a value that is 1 too small.",
        _change_size_field_of_item("SenderIdSize", lambda old: old - 1, lambda header: header.ST == _SID_SENDER_TYPE),
    ),
    (
        "sender-sender-id-size-of-encrypted-message-4-too-large",
        ("MQMQ-2.2.20.6-14",),
        "The sender sets SenderIdSize of an encrypted message to a value that is 4 too large.",
        change_sent_security_header(
            lambda packet, header: header.SenderIdSize and header.EB,
            {f"{_SECURITY_DATA_PREFIX}SecurityID": lambda old: old + bytes(4)},
        ),
    ),
    (
        "sender-encryption-key-size-2-too-small",
        ("MQMQ-2.2.20.6-15",),
        "The sender sets EncryptionKeySize to a value that is 2 too small.",
        _change_size_field_of_item("EncryptionKeySize", lambda old: old - 2, lambda header: header.EncryptionKeySize),
    ),
    (
        "sender-encryption-key-size-of-signed-message-4-too-large",
        ("MQMQ-2.2.20.6-15",),
        "The sender sets EncryptionKeySize of a signed message to a value that is 4 too large.",
        change_sent_security_header(
            lambda packet, header: header.EncryptionKeySize and header.SignatureSize,
            {f"{_SECURITY_DATA_PREFIX}EncryptionKey": lambda old: old + bytes(4)},
        ),
    ),
    (
        "sender-encryption-key-size-of-transactional-message-1-too-large",
        ("MQMQ-2.2.20.6-15",),
        "The sender sets EncryptionKeySize of a transactional message to a value that is 1 too large.",
        change_sent_security_header(
            lambda packet, header: header.EncryptionKeySize and packet.TransactionHeader is not None,
            {f"{_SECURITY_DATA_PREFIX}EncryptionKey": lambda old: old + bytes(1)},
        ),
    ),
    (
        "sender-signature-size-1-too-small",
        ("MQMQ-2.2.20.6-16",),
        "The sender sets SignatureSize to a value that is 1 too small.",
        _change_size_field_of_item("SignatureSize", lambda old: old - 1, lambda header: header.SignatureSize),
    ),
    (
        "sender-signature-size-of-encrypted-message-4-too-large",
        ("MQMQ-2.2.20.6-16",),
        "The sender sets SignatureSize of an encrypted message to a value that is 4 too large.",
        change_sent_security_header(
            lambda packet, header: header.EncryptionKeySize and header.SignatureSize,
            {f"{_SECURITY_DATA_PREFIX}Signature": lambda old: old + bytes(4)},
        ),
    ),
    (
        "sender-signature-size-of-unencrypted-message-halved",
        ("MQMQ-2.2.20.6-16",),
        "The sender sends an unencrypted message with the first half of its Signature and the size of this half.",
        change_sent_security_header(
            lambda packet, header: header.SignatureSize and not header.EB,
            {f"{_SECURITY_DATA_PREFIX}Signature": lambda old: old[: len(old) // 2]},
        ),
    ),
    (
        "sender-sender-cert-size-rounded-up",
        ("MQMQ-2.2.20.6-17",),
        "The sender rounds SenderCertSize up to a multiple of 4.",
        _change_size_field_of_item(
            "SenderCertSize", lambda old: old + -old % 4, lambda header: header.SenderCertSize % 4
        ),
    ),
    (
        "sender-sender-cert-size-1-too-small",
        ("MQMQ-2.2.20.6-17",),
        "The sender sends a SenderCert without its last byte, and sets SenderCertSize to a value that is 1 too small.",
        change_sent_security_header(
            lambda packet, header: header.SenderCertSize, {f"{_SECURITY_DATA_PREFIX}SenderCert": lambda old: old[:-1]}
        ),
    ),
    (
        "sender-sender-cert-size-of-encrypted-message-1-too-large",
        ("MQMQ-2.2.20.6-17",),
        "The sender appends a zero to SenderCert of an encrypted message, and counts this byte in SenderCertSize.",
        change_sent_security_header(
            lambda packet, header: header.SenderCertSize and header.EB,
            {f"{_SECURITY_DATA_PREFIX}SenderCert": lambda old: old + b"\0"},
        ),
    ),
    (
        "sender-provider-info-size-without-terminator",
        ("MQMQ-2.2.20.6-18", "MQMQ-2.2.20.6-D05"),
        "The sender does not count the terminating null of ProviderName in ProviderInfoSize.",
        _change_size_field_of_item("ProviderInfoSize", lambda old: old - 2, lambda header: header.ProviderInfoSize),
    ),
    (
        "sender-provider-info-size-2-too-large",
        ("MQMQ-2.2.20.6-18",),
        "The sender appends two zeros to ProviderInfo, and counts these bytes in ProviderInfoSize.",
        change_sent_security_header(
            lambda packet, header: header.ProviderInfoSize,
            {f"{_SECURITY_DATA_PREFIX}ProviderInfo": lambda old: old + bytes(2)},
        ),
    ),
    (
        "sender-provider-info-size-of-transactional-message-4-too-large",
        ("MQMQ-2.2.20.6-18",),
        "The sender appends four zeros to ProviderInfo of a transactional message, and counts these bytes in "
        "ProviderInfoSize.",
        change_sent_security_header(
            lambda packet, header: header.ProviderInfoSize and packet.TransactionHeader is not None,
            {f"{_SECURITY_DATA_PREFIX}ProviderInfo": lambda old: old + bytes(4)},
        ),
    ),
    (
        "sender-security-items-aligned-to-8",
        ("MQMQ-2.2.20.6-21",),
        "The sender aligns each item of SecurityData to a multiple of 8 bytes.",
        _change_header_bytes(
            lambda header: _join_security_items_with_padding(header, lambda name, item: -len(item) % 8)
        ),
    ),
    (
        "sender-sender-cert-followed-by-provider-info-without-padding",
        ("MQMQ-2.2.20.6-21",),
        "The sender appends ProviderInfo to SenderCert without padding.",
        _change_header_bytes(
            lambda header: _join_security_items_with_padding(
                header, lambda name, item: 0 if name == "SenderCert" else -len(item) % 4
            )
        ),
    ),
    (
        "sender-aligned-security-item-padded-by-4-bytes",
        ("MQMQ-2.2.20.6-21",),
        "The sender adds four bytes of padding to an item of SecurityData whose size is a multiple of 4.",
        _change_header_bytes(
            lambda header: _join_security_items_with_padding(header, lambda name, item: 4 - len(item) % 4)
        ),
    ),
    (
        "sender-security-flags-big-endian",
        ("MQMQ-2.2.20.6-D01",),
        "The sender's SecurityHeader contains Flags in big-endian order.",
        _change_header_bytes(lambda header: header[1::-1] + header[2:]),
    ),
    (
        "sender-sender-cert-size-after-provider-info-size",
        ("MQMQ-2.2.20.6-D01",),
        "The sender's SecurityHeader has ProviderInfoSize before SenderCertSize.",
        _change_header_bytes(lambda header: header[:8] + header[12:16] + header[8:12] + header[16:]),
    ),
    (
        "sender-bits-de-and-ai-exchanged",
        ("MQMQ-2.2.20.6-D01",),
        "The sender's SecurityHeader has AI in the bit of DE, and DE in the bit of AI.",
        change_number_in_field(UserMessagePacket, "SecurityHeader.Flags", _exchange_bits_de_and_ai),
    ),
    (
        "sender-provider-type-of-2-bytes",
        ("MQMQ-2.2.20.6-D05",),
        "The sender's ProviderInfo has a ProviderType of 2 bytes.",
        change_sent_security_header(
            lambda packet, header: header.ProviderInfoSize,
            {f"{_SECURITY_DATA_PREFIX}ProviderInfo": lambda old: old[:2] + old[4:]},
        ),
    ),
    (
        "sender-provider-name-in-ascii",
        ("MQMQ-2.2.20.6-D05",),
        "The sender's ProviderInfo contains ProviderName in ASCII.",
        change_sent_security_header(
            lambda packet, header: header.ProviderInfoSize,
            {f"{_SECURITY_DATA_PREFIX}ProviderInfo": lambda old: old[:4] + old[4::2]},
        ),
    ),
    (
        "sender-provider-type-big-endian",
        ("MQMQ-2.2.20.6-D05",),
        "The sender's ProviderInfo contains ProviderType in big-endian order.",
        change_sent_security_header(
            lambda packet, header: header.ProviderInfoSize,
            {f"{_SECURITY_DATA_PREFIX}ProviderInfo": lambda old: old[3::-1] + old[4:]},
        ),
    ),
):
    add(_name, _broken_rules, _says, _install, blind=True)


SECURITY_HEADER_FIXED_SIZE = 16
"""The size of a SecurityHeader without SecurityData, in bytes."""


def _is_signed_and_encrypted(packet: UserMessagePacket) -> bool:
    security = packet.SecurityHeader
    return security is not None and bool(security.SignatureSize and security.EncryptionKeySize)


def _remove_padding_of_certificate(packet: UserMessagePacket) -> bytes:
    security = packet.SecurityHeader
    assert security is not None
    transaction = packet.TransactionHeader
    before = len(packet.BaseHeader.build()) + len(packet.UserHeader.build())
    before += 0 if transaction is None else len(transaction.build())
    sizes = (security.SenderIdSize, security.EncryptionKeySize, security.SignatureSize)
    end = before + SECURITY_HEADER_FIXED_SIZE + sum(size + -size % 4 for size in sizes) + security.SenderCertSize
    data = packet.build()
    return correct_packet_size(data[:end] + data[end + -security.SenderCertSize % 4 :])


add(
    "sender-certificate-of-encrypted-message-not-padded",
    "MQMQ-2.2.20.6-21",
    "In a message that is both signed and encrypted, the sender does not pad SenderCert, so ProviderInfo is unaligned.",
    change_packets_of_kind(UserMessagePacket, _remove_padding_of_certificate, _is_signed_and_encrypted),
    blind=True,
)


@fault("sender-name-of-aes-provider-not-terminated", breaks="MQMQ-2.2.20.6-D05", blind=True)
class SenderNameOfAesProviderNotTerminated(MessageSecuring):
    """In a message that the sender encrypted with AES, ProviderInfo ends without the null of ProviderName."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        if encrypted.MessagePropertiesHeader.PrivacyLevel != PrivacyLevel.ADVANCED:
            return encrypted
        return set_fields(encrypted, {"SecurityHeader.SecurityData.ProviderInfo": lambda item: item[:-2]})
