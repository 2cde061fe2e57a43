"""Faults in the SecurityHeader of one kind of sent messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.fields import change_number_in_field
from harness.faults.registry import add
from reference_qm.codec import ProviderInfo, SecurityHeader, UserMessagePacket
from reference_qm.security import SignatureType
from suites.mqmq.s2_2_20_6_security_header.fault_steps import change_sent_security_header
from suites.mqmq.steps.kinds_of_messages import has_destination_lists, has_large_body, is_transactional

_SECURITY_FLAGS_FIELD = "SecurityHeader.Flags"
_SECURITY_DATA_FIELD = "SecurityHeader.SecurityData"
_SENDER_TYPE_MASK = SecurityHeader.flags(ST=0xF)
_SIGNATURE_TYPE_MASK = SecurityHeader.flags(AS=0xF)
_SID_SENDER_TYPE, _GUID_SENDER_TYPE = 1, 2


def _make_sender_type_setter(value: int) -> Callable[[int], int]:
    return lambda flags: flags & ~_SENDER_TYPE_MASK | SecurityHeader.flags(ST=value)


def _make_signature_type_setter(value: int) -> Callable[[int], int]:
    return lambda flags: flags & ~_SIGNATURE_TYPE_MASK | SecurityHeader.flags(AS=value)


def _is_encrypted_but_not_signed(packet: Any, header: SecurityHeader) -> bool:
    return bool(header.EB) and not header.SignatureSize and not has_destination_lists(packet)


def _is_signed_but_not_encrypted(packet: Any, header: SecurityHeader) -> bool:
    return bool(header.SignatureSize) and not header.EB


for _name, _rule, _says, _when, _changes in (
    (
        "sender-encrypted-unsigned-message-sender-type-3",
        "MQMQ-2.2.20.6-01",
        "The sender sets SecurityHeader.Flags.ST to 3 in a message that is encrypted and not signed.",
        _is_encrypted_but_not_signed,
        {_SECURITY_FLAGS_FIELD: _make_sender_type_setter(3)},
    ),
    (
        "sender-transactional-message-sender-type-4",
        "MQMQ-2.2.20.6-01",
        "The sender sets SecurityHeader.Flags.ST to 4 in a transactional message.",
        lambda packet, header: is_transactional(packet),
        {_SECURITY_FLAGS_FIELD: _make_sender_type_setter(4)},
    ),
    (
        "sender-large-message-sender-type-9",
        "MQMQ-2.2.20.6-01",
        "The sender sets SecurityHeader.Flags.ST to 9 in a message with a large body.",
        lambda packet, header: has_large_body(packet),
        {_SECURITY_FLAGS_FIELD: _make_sender_type_setter(9)},
    ),
    (
        "sender-encrypted-message-queue-manager-guid-zero",
        "MQMQ-2.2.20.6-04",
        "The sender sets SecurityData.SecurityID to zeros if ST is 2 and the message is encrypted.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and header.EB,
        {f"{_SECURITY_DATA_FIELD}.SecurityID": bytes(16)},
    ),
    (
        "sender-transactional-message-queue-manager-guid-reversed",
        "MQMQ-2.2.20.6-04",
        "The sender reverses the bytes of SecurityData.SecurityID if ST is 2 and the message is transactional.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and is_transactional(packet),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: old[::-1]},
    ),
    (
        "sender-listed-message-queue-manager-guid-too-long",
        "MQMQ-2.2.20.6-04",
        "The sender appends four zeros to SecurityData.SecurityID if ST is 2 and the message has several destinations.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and has_destination_lists(packet),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: old + bytes(4)},
    ),
    (
        "sender-signed-encrypted-message-provider-name-empty",
        "MQMQ-2.2.20.6-07",
        "The sender writes an empty ProviderName into a message that is signed and encrypted.",
        lambda packet, header: header.SignatureSize and header.EB and header.ProviderInfoSize,
        {f"{_SECURITY_DATA_FIELD}.ProviderInfo": lambda old: old[:4] + bytes(2)},
    ),
    (
        "sender-signed-large-message-provider-info-missing",
        "MQMQ-2.2.20.6-07",
        "The sender omits ProviderInfo of a signed message with a large body, although DE is clear.",
        lambda packet, header: header.SignatureSize and has_large_body(packet) and not header.DE,
        {f"{_SECURITY_DATA_FIELD}.ProviderInfo": b""},
    ),
    (
        "sender-encrypted-unsigned-message-signature-type-1",
        "MQMQ-2.2.20.6-09",
        "The sender sets SecurityHeader.Flags.AS to 1 in a message that is encrypted and not signed.",
        _is_encrypted_but_not_signed,
        {_SECURITY_FLAGS_FIELD: _make_signature_type_setter(1)},
    ),
    (
        "sender-listed-message-signature-type-5",
        "MQMQ-2.2.20.6-09",
        "The sender sets SecurityHeader.Flags.AS to 5 in a message with several destinations.",
        lambda packet, header: has_destination_lists(packet),
        {_SECURITY_FLAGS_FIELD: _make_signature_type_setter(SignatureType.SIG30)},
    ),
    (
        "sender-transactional-message-signature-type-8",
        "MQMQ-2.2.20.6-09",
        "The sender sets the highest bit of SecurityHeader.Flags.AS in a transactional message.",
        lambda packet, header: is_transactional(packet),
        {_SECURITY_FLAGS_FIELD: _make_signature_type_setter(8)},
    ),
    (
        "sender-encrypted-message-sid-missing",
        "MQMQ-2.2.20.6-20",
        "The sender omits SecurityData.SecurityID of an encrypted message whose ST is 1.",
        lambda packet, header: header.ST == _SID_SENDER_TYPE and header.EB,
        {f"{_SECURITY_DATA_FIELD}.SecurityID": b""},
    ),
    (
        "sender-transactional-message-queue-manager-guid-missing",
        "MQMQ-2.2.20.6-20",
        "The sender omits SecurityData.SecurityID of a transactional message whose ST is 2.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and is_transactional(packet),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": b""},
    ),
    (
        "sender-signed-encrypted-message-encryption-key-missing",
        "MQMQ-2.2.20.6-20",
        "The sender omits SecurityData.EncryptionKey of a message that is signed and encrypted.",
        lambda packet, header: header.EB and header.SignatureSize,
        {f"{_SECURITY_DATA_FIELD}.EncryptionKey": b""},
    ),
    (
        "sender-listed-message-signed-by-queue-manager-identifier-zero",
        "MQMQ-2.2.20.6-22",
        "The sender sets SecurityID to zeros if ST is 2 and the signature is in the MultiQueueFormatHeader.",
        lambda packet, header: (
            header.ST == _GUID_SENDER_TYPE and has_destination_lists(packet) and not header.SignatureSize
        ),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": bytes(16)},
    ),
    (
        "sender-signed-encrypted-message-of-queue-manager-identifier-zero",
        "MQMQ-2.2.20.6-22",
        "The sender sets SecurityData.SecurityID to zeros if ST is 2 and the message is signed and encrypted.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and header.SignatureSize and header.EB,
        {f"{_SECURITY_DATA_FIELD}.SecurityID": bytes(16)},
    ),
    (
        "sender-signed-message-of-queue-manager-identifier-short",
        "MQMQ-2.2.20.6-22",
        "The sender omits the last four bytes of SecurityData.SecurityID if ST is 2 and the message is signed.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and header.SignatureSize,
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: old[:-4]},
    ),
    (
        "sender-signed-encrypted-message-sid-last-part-changed",
        "MQMQ-2.2.20.6-23",
        "The sender changes the last SubAuthority of the SID in a message that is signed and encrypted.",
        lambda packet, header: header.ST == _SID_SENDER_TYPE and header.SignatureSize and header.EB,
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: old[:-1] + bytes([old[-1] ^ 1])},
    ),
    (
        "sender-signed-transactional-message-sid-last-part-changed",
        "MQMQ-2.2.20.6-23",
        "The sender changes the last SubAuthority of the SID in a signed transactional message.",
        lambda packet, header: header.ST == _SID_SENDER_TYPE and header.SignatureSize and is_transactional(packet),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: old[:-1] + bytes([old[-1] ^ 1])},
    ),
    (
        "sender-signed-large-message-sid-of-administrators",
        "MQMQ-2.2.20.6-23",
        "The sender writes the SID of the administrators into a signed message with a large body.",
        lambda packet, header: header.ST == _SID_SENDER_TYPE and header.SignatureSize and has_large_body(packet),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": bytes.fromhex("01020000000000052000000020020000")},
    ),
    (
        "sender-signed-encrypted-message-guid-of-no-queue-manager",
        "MQMQ-2.2.20.6-24",
        "The sender changes the first byte of the GUID if ST is 2 and the message is signed and encrypted.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and header.SignatureSize and header.EB,
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: bytes([old[0] ^ 1]) + old[1:]},
    ),
    (
        "sender-signed-transactional-message-guid-of-no-queue-manager",
        "MQMQ-2.2.20.6-24",
        "The sender changes the first byte of the GUID if ST is 2 and the message is signed and transactional.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and header.SignatureSize and is_transactional(packet),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: bytes([old[0] ^ 1]) + old[1:]},
    ),
    (
        "sender-signed-large-message-guid-of-no-queue-manager",
        "MQMQ-2.2.20.6-24",
        "The sender changes the last byte of the GUID if ST is 2 and the body of the signed message is large.",
        lambda packet, header: header.ST == _GUID_SENDER_TYPE and header.SignatureSize and has_large_body(packet),
        {f"{_SECURITY_DATA_FIELD}.SecurityID": lambda old: old[:-1] + bytes([old[-1] ^ 1])},
    ),
    (
        "sender-encrypted-message-provider-type-missing",
        "MQMQ-2.2.20.6-37",
        "The sender omits ProviderType from the ProviderInfo of an encrypted message.",
        lambda packet, header: header.EB and header.ProviderInfoSize,
        {f"{_SECURITY_DATA_FIELD}.ProviderInfo": lambda old: old[4:]},
    ),
    (
        "sender-signed-message-default-provider-described",
        "MQMQ-2.2.20.6-37",
        "The sender adds ProviderInfo to a signed message that is not encrypted, although DE is set.",
        lambda packet, header: _is_signed_but_not_encrypted(packet, header) and header.DE,
        {f"{_SECURITY_DATA_FIELD}.ProviderInfo": ProviderInfo(1, "Microsoft Base Cryptographic Provider v1.0").build()},
    ),
    (
        "sender-transactional-message-default-provider-named-in-header",
        "MQMQ-2.2.20.6-37",
        "The sender sets DE in a transactional message with ProviderInfo.",
        lambda packet, header: is_transactional(packet) and header.ProviderInfoSize,
        {_SECURITY_FLAGS_FIELD: lambda flags: flags | SecurityHeader.flags(DE=1)},
    ),
):
    add(_name, _rule, _says, change_sent_security_header(_when, _changes))


for _name, _says, _cert_condition in (
    (
        "sender-message-without-certificate-sender-cert-size-above-limit",
        "The sender sets SenderCertSize to 0x10000 in a message without a certificate.",
        lambda packet: packet.SecurityHeader is not None and not packet.SecurityHeader.SenderCertSize,
    ),
    (
        "sender-transactional-message-sender-cert-size-above-limit",
        "The sender adds 0x10000 to SenderCertSize of a transactional message.",
        lambda packet: packet.SecurityHeader is not None and is_transactional(packet),
    ),
    (
        "sender-encrypted-message-sender-cert-size-above-limit",
        "The sender adds 0x10000 to SenderCertSize of an encrypted message.",
        lambda packet: packet.SecurityHeader is not None and bool(packet.SecurityHeader.EB),
    ),
):
    add(
        _name,
        "MQMQ-2.2.20.6-D04",
        _says,
        change_number_in_field(
            UserMessagePacket, "SecurityHeader.SenderCertSize", lambda old: old + 0x10000, _cert_condition
        ),
    )
