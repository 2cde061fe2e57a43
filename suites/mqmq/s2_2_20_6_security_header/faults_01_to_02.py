"""Faults that break the rules MQMQ-2.2.20.6-01 to MQMQ-2.2.20.6-02."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from uuid import UUID

from harness.faults.fields import set_bits, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import change_core_after_every_input, change_packets_of_kind, send_wrong_field_values
from harness.faults.registry import Install, add
from harness.faults.sent_messages import correct_packet_size, has_header, has_security_item
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.codec.cursor import ByteCursor
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.security import SENDER_TYPE_SID, SignatureType
from suites.mqmq.s2_2_20_6_security_header.fault_steps import change_sent_security_header

SECURITY_DATA_FIELD = "SecurityHeader.SecurityData"


SECOND_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
"""The GUID of an unknown queue manager."""


NO_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE = 0, 2
"""The values of SecurityHeader.Flags.ST."""


SECURITY_ITEM_FIELDS = ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")


def _change_sent_security_item(name: str, change: Callable[[bytes], bytes]) -> Install:
    return send_wrong_field_values(
        UserMessagePacket,
        {f"{SECURITY_DATA_FIELD}.{name}": change, f"{SECURITY_DATA_FIELD}.Padding": None},
        has_security_item(name),
    )


def _lengthen_security_item(name: str, more: bytes = bytes(4)) -> Install:
    """Append bytes to an item of SecurityData, and add their number to its size."""
    return _change_sent_security_item(name, lambda item: item + more)


def _change_sender_identifier(kind: int) -> Install:
    """Replace SecurityID in signed messages that have the given ST."""

    def has_sender_identifier(packet: UserMessagePacket) -> bool:
        security = packet.SecurityHeader
        return security is not None and bool(security.SignatureSize) and kind == security.ST

    return send_wrong_field_values(
        UserMessagePacket,
        {
            f"{SECURITY_DATA_FIELD}.SecurityID": SECOND_QUEUE_MANAGER_GUID.bytes_le,
            f"{SECURITY_DATA_FIELD}.Padding": None,
        },
        has_sender_identifier,
    )


def _has_provider_name(packet: UserMessagePacket) -> bool:
    security = packet.SecurityHeader
    return security is not None and bool(security.ProviderInfoSize and security.SignatureSize)


def _remove_public_encryption_keys(qm: QueueManager) -> None:
    machine = qm.enterprise.state.LocalQueueManager
    qm.enterprise.state.LocalQueueManager = replace(machine, PublicEncryptionKeyList=b"")


_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "sender-security-header-st-3",
        ("MQMQ-2.2.20.6-01",),
        "The sender's SecurityHeader carries ST 3.",
        set_field_value(UserMessagePacket, "SecurityHeader.ST", 3),
    ),
    (
        "sender-st-0-with-security-id",
        (
            "MQMQ-2.2.20.6-02",
            "MQDMPR-3.1.1.12-D54",
        ),
        "The sender's SecurityHeader carries ST 0 and a SecurityID.",
        _change_sender_identifier(NO_SENDER_TYPE),
    ),
    (
        "sender-security-id-not-a-sid",
        ("MQMQ-2.2.20.6-03", "MQMQ-2.2.20.6-23", "MQDMPR-3.1.1.12-56", "MQDMPR-3.1.7.1.32-D17", "MQDMPR-3.1.1.12-D62"),
        "The sender's SecurityHeader carries ST 1 and a SecurityID that is not a SID.",
        _change_sent_security_item("SecurityID", lambda sid: b"\7" + sid[1:]),
    ),
    (
        "sender-security-id-of-other-queue-manager",
        (
            "MQMQ-2.2.20.6-04",
            "MQMQ-2.2.20.6-22",
            "MQMQ-2.2.20.6-24",
            "MQDMPR-3.1.1.12-56",
            "MQDMPR-3.1.7.1.32-D17",
            "MQDMPR-3.1.1.12-D63",
        ),
        "The sender's SecurityHeader carries ST 2 and the GUID of another queue manager.",
        _change_sender_identifier(QUEUE_MANAGER_SENDER_TYPE),
    ),
    (
        "sender-security-header-au-set",
        ("MQMQ-2.2.20.6-05",),
        "The sender sets AU in a SecurityHeader.",
        set_bits(UserMessagePacket, "SecurityHeader.AU"),
    ),
    (
        "sender-provider-info-without-name",
        ("MQMQ-2.2.20.6-07",),
        "The sender's SecurityHeader carries a ProviderInfo with an empty name.",
        send_wrong_field_values(
            UserMessagePacket,
            {
                f"{SECURITY_DATA_FIELD}.ProviderInfo": lambda info: info[:4] + bytes(2),
                f"{SECURITY_DATA_FIELD}.Padding": None,
            },
            _has_provider_name,
        ),
    ),
    (
        "sender-security-header-without-security-data",
        ("MQMQ-2.2.20.6-08", "MQMQ-2.2.20.6-19", "MQMQ-2.2.20.6-20"),
        "The sender's SecurityHeader carries no SecurityData.",
        send_wrong_field_values(
            UserMessagePacket,
            {
                **{f"{SECURITY_DATA_FIELD}.{item}": b"" for item in SECURITY_ITEM_FIELDS},
                f"{SECURITY_DATA_FIELD}.Padding": None,
            },
            has_header("SecurityHeader"),
        ),
    ),
    (
        "sender-security-header-as-3",
        ("MQMQ-2.2.20.6-09",),
        "The sender's SecurityHeader carries AS 3.",
        set_field_value(UserMessagePacket, "SecurityHeader.AS", 3),
    ),
    (
        "sender-sender-id-size-4-too-large",
        ("MQMQ-2.2.20.6-14",),
        "The sender's SecurityHeader carries a SenderIdSize that is 4 too large.",
        _lengthen_security_item("SecurityID"),
    ),
    (
        "sender-encryption-key-size-4-too-large",
        ("MQMQ-2.2.20.6-15",),
        "The sender's SecurityHeader carries an EncryptionKeySize that is 4 too large.",
        _lengthen_security_item("EncryptionKey"),
    ),
    (
        "sender-signature-size-4-too-large",
        ("MQMQ-2.2.20.6-16",),
        "The sender's SecurityHeader carries a SignatureSize that is 4 too large.",
        _lengthen_security_item("Signature"),
    ),
    (
        "sender-sender-cert-size-4-too-large",
        ("MQMQ-2.2.20.6-17",),
        "The sender's SecurityHeader carries a SenderCertSize that is 4 too large.",
        _lengthen_security_item("SenderCert"),
    ),
    (
        "sender-provider-info-size-4-too-large",
        ("MQMQ-2.2.20.6-18",),
        "The sender's SecurityHeader carries a ProviderInfoSize that is 4 too large.",
        _lengthen_security_item("ProviderInfo", b"\1" * 4),
    ),
    (
        "queue-manager-public-keys-not-published",
        ("MQMQ-2.2.20.6-36",),
        "The queue manager publishes no public keys in the directory.",
        change_core_after_every_input(_remove_public_encryption_keys),
    ),
    (
        "sender-provider-info-with-de-set",
        ("MQMQ-2.2.20.6-37",),
        "The sender's SecurityHeader has DE set, but contains a ProviderInfo.",
        set_bits(UserMessagePacket, "SecurityHeader.DE"),
    ),
):
    add(_name, _broken_rules, _says, _install)


@fault("sender-sets-st-4-in-message-with-certificate-but-no-security-id", breaks="MQMQ-2.2.20.6-01", blind=True)
class SenderSetsSt4InMessageWithCertificateButNoSecurityId(MessageSending):
    """The sender sets SecurityHeader.Flags.ST to 4 in messages with a SenderCert and without a SecurityID."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        header = packet.SecurityHeader
        if header is None or header.ST or not header.SecurityData.SenderCert:
            return packet
        return replace(packet, SecurityHeader=replace(header, Flags=header.Flags | SecurityHeader.flags(ST=4)))


SECURITY_HEADER_FIXED_SIZE = len(SecurityHeader().build())


def _change_security_header(change: Callable[[bytes], bytes]) -> Install:
    """Change the bytes of a SecurityHeader."""

    def change_header_bytes(packet: UserMessagePacket) -> bytes:
        header = b"" if packet.SecurityHeader is None else packet.SecurityHeader.build()
        return correct_packet_size(packet.build().replace(header, change(header)))

    return change_packets_of_kind(UserMessagePacket, change_header_bytes, has_header("SecurityHeader"))


def _join_security_items(
    header: bytes, order: Iterable[str] = SECURITY_ITEM_FIELDS, empty: bytes = b"", boundary: int = 4
) -> bytes:
    """Return a SecurityHeader whose items are in a different order, or have different padding."""
    security = SecurityHeader.read(ByteCursor(header))
    items = [getattr(security.SecurityData, name) or empty for name in order]
    data = b"".join(item + bytes(-len(item) % boundary) for item in items)
    return header[:SECURITY_HEADER_FIXED_SIZE] + data + bytes(-len(data) % 4)


for _name, _broken_rules, _says, _install in (
    (
        "sender-security-header-sizes-swapped",
        (
            "MQMQ-2.2.20.6-D01",
            "MQDMPR-3.1.7.1.32-D03",
        ),
        "The sender's SecurityHeader has SignatureSize before EncryptionKeySize.",
        _change_security_header(lambda header: header[:4] + header[6:8] + header[4:6] + header[8:]),
    ),
    (
        "sender-sender-cert-before-other-items",
        ("MQMQ-2.2.20.6-D02",),
        "The sender's SecurityData has SenderCert before all other items.",
        _change_security_header(
            partial(
                _join_security_items, order=("SenderCert", "SecurityID", "EncryptionKey", "Signature", "ProviderInfo")
            )
        ),
    ),
    (
        "sender-empty-security-items-take-4-bytes",
        ("MQMQ-2.2.20.6-D03", "MQMQ-2.2.20.6-02", "MQDMPR-3.1.1.12-D54"),
        "The sender's SecurityData contains 4 bytes for each item of size 0.",
        _change_security_header(partial(_join_security_items, empty=bytes(4))),
    ),
    (
        "sender-security-items-without-padding",
        ("MQMQ-2.2.20.6-21",),
        "The sender's SecurityData contains items without padding.",
        _change_security_header(partial(_join_security_items, boundary=1)),
    ),
    (
        "sender-sender-cert-size-above-0xffff",
        ("MQMQ-2.2.20.6-D04",),
        "The sender's SecurityHeader carries a SenderCertSize above 0xFFFF.",
        _change_sent_security_item("SenderCert", lambda certificate: certificate + bytes(0x1_0000)),
    ),
    (
        "sender-provider-name-before-type",
        ("MQMQ-2.2.20.6-D05",),
        "The sender's ProviderInfo has ProviderName before ProviderType.",
        _change_sent_security_item("ProviderInfo", lambda info: info[4:] + info[:4]),
    ),
):
    add(_name, _broken_rules, _says, _install)


SECURITY_FLAGS_FIELD = "SecurityHeader.Flags"


SECURITY_DATA_PREFIX = "SecurityHeader.SecurityData."


for _name, _broken_rules, _says, _install in (
    (
        "au-set-in-signed-message",
        "MQMQ-2.2.20.6-05",
        "The sender sets AU in signed messages.",
        change_sent_security_header(
            lambda packet, header: header.SignatureSize,
            {SECURITY_FLAGS_FIELD: lambda old: old | SecurityHeader.flags(AU=1)},
        ),
    ),
    (
        "au-set-in-encrypted-message",
        "MQMQ-2.2.20.6-05",
        "The sender sets AU in encrypted messages.",
        change_sent_security_header(
            lambda packet, header: header.EB, {SECURITY_FLAGS_FIELD: lambda old: old | SecurityHeader.flags(AU=1)}
        ),
    ),
    (
        "as-of-signature-kind",
        "MQMQ-2.2.20.6-09",
        "The sender sets AS to 3 in messages with a signature.",
        change_sent_security_header(
            lambda packet, header: header.SignatureSize,
            {SECURITY_FLAGS_FIELD: lambda old: old | SecurityHeader.flags(AS=3)},
        ),
    ),
    (
        "ai-clear-in-encrypted-message",
        "MQMQ-2.2.20.6-20",
        "The sender removes EncryptionKey of encrypted messages.",
        change_sent_security_header(lambda packet, header: header.EB, {f"{SECURITY_DATA_PREFIX}EncryptionKey": b""}),
    ),
    (
        "st-0-in-signed-message-with-sender",
        "MQMQ-2.2.20.6-02",
        "The sender sets ST to 0 in signed messages with a SecurityID.",
        change_sent_security_header(
            lambda packet, header: header.SignatureSize and header.SenderIdSize,
            {SECURITY_FLAGS_FIELD: lambda old: old & ~SecurityHeader.flags(ST=0xF)},
        ),
    ),
    (
        "sid-without-last-sub-authority",
        "MQMQ-2.2.20.6-03",
        "The sender sends the SID of the user without its last sub-authority.",
        change_sent_security_header(
            lambda packet, header: header.ST == 1, {f"{SECURITY_DATA_PREFIX}SecurityID": lambda old: old[:-4]}
        ),
    ),
    (
        "sid-of-encrypted-message-reversed",
        "MQMQ-2.2.20.6-03",
        "The sender sends the bytes of the SID in the reverse order in encrypted messages.",
        change_sent_security_header(
            lambda packet, header: header.ST == 1 and header.EB,
            {f"{SECURITY_DATA_PREFIX}SecurityID": lambda old: old[::-1]},
        ),
    ),
    (
        "queue-manager-guid-in-network-order",
        ("MQMQ-2.2.20.6-04", "MQMQ-2.2.20.6-22"),
        "The sender sends the GUID of the queue manager with its bytes in the reverse order.",
        change_sent_security_header(
            lambda packet, header: header.ST == 2, {f"{SECURITY_DATA_PREFIX}SecurityID": lambda old: old[::-1]}
        ),
    ),
    (
        "certificate-with-additional-bytes",
        "MQMQ-2.2.20.6-D04",
        "The sender sends 64 KiB of zeros after the certificate in SenderCert.",
        change_sent_security_header(
            lambda packet, header: header.SenderCertSize,
            {f"{SECURITY_DATA_PREFIX}SenderCert": lambda old: old + bytes(0x10000)},
        ),
    ),
    (
        "de-clear-in-signed-message-without-provider",
        "MQMQ-2.2.20.6-07",
        "The sender clears DE in signed messages without ProviderInfo.",
        change_sent_security_header(
            lambda packet, header: header.SignatureSize and not header.ProviderInfoSize,
            {SECURITY_FLAGS_FIELD: lambda old: old & ~SecurityHeader.flags(DE=1)},
        ),
    ),
):
    add(f"sender-security-header-{_name}", _broken_rules, _says, _install)


@fault("sender-msmq-1-signature-with-sid-of-first-user", breaks="MQMQ-2.2.20.6-23", blind=True)
class SenderMsmq1SignatureWithSidOfFirstUser(MessageSecuring):
    """In messages with an MSMQ 1.0 signature, the sender uses the SID of the first user who signed a message, even if a
    different user signs a later message.
    """

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        header, wanted = signed.SecurityHeader, message.security
        if header is None or wanted is None or header.ST != SENDER_TYPE_SID:
            return signed
        if wanted.AuthenticationLevel != SignatureType.SIG10:
            return signed
        first = self.__dict__.setdefault("first", header.SecurityData.SecurityID)
        data = replace(header.SecurityData, SecurityID=first, Padding=None)
        return replace(
            signed,
            BaseHeader=replace(signed.BaseHeader, PacketSize=0),
            SecurityHeader=replace(header, SecurityData=data),
        )
