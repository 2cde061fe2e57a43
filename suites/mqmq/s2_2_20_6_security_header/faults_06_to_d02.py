"""Faults that break the rules MQMQ-2.2.20.6-06 to MQMQ-2.2.20.6-D02."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import register_refusal_faults, register_set_bit_faults
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.public_keys import change_published_blobs
from harness.faults.received_messages import change_received_message
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.codec.security import ProviderInfo
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_20_6_security_header.fault_steps import SecurityHeaderCondition

STREAM_CIPHER_ALGORITHM = 0x6801


CIPHER_BLOCK_BYTES = 8


@fault("receiver-encrypted-body-padding-removed-twice", breaks="MQMQ-2.2.20.6-06", blind=True)
class ReceiverEncryptedBodyPaddingRemovedTwice(SecurityOnReceipt):
    """After it has removed the padding of a block cipher, the receiver also removes trailing bytes of the body that
    look like padding.
    """

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        decrypted = super().decrypt_body(packet, now)
        properties = decrypted.MessagePropertiesHeader
        body = properties.MessageBody
        encrypted = packet.SecurityHeader is not None and packet.SecurityHeader.EB
        if (
            not encrypted
            or properties.EncryptionAlgorithm == STREAM_CIPHER_ALGORITHM
            or not body
            or not 1 <= body[-1] <= CIPHER_BLOCK_BYTES
        ):
            return decrypted
        if not body.endswith(bytes([body[-1]]) * body[-1]):
            return decrypted
        body = body[: -body[-1]]
        return replace(
            decrypted,
            MessagePropertiesHeader=replace(properties, MessageBody=body, AllocationBodySize=len(body), Padding=None),
        )


@fault("sender-body-above-64-kib-not-encrypted", breaks="MQMQ-2.2.20.6-06")
class SenderBodyAbove64KibNotEncrypted(MessageSecuring):
    """The sender does not encrypt a body of more than 64 KiB."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if len(packet.MessagePropertiesHeader.MessageBody) > 0x10000:
            return packet
        return super().encrypt_body(session, message, packet, now)


LARGE_BODY = 4096


def _change_received_message(
    when: SecurityHeaderCondition, change: Callable[[UserMessagePacket], UserMessagePacket]
) -> Install:
    """Let the receiver change a message with a SecurityHeader before it checks and stores the message."""

    class DecryptedMessageChanger(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            header = packet.SecurityHeader
            if header is not None and when(packet, header):
                packet = change(packet)
            return super().decrypt_body(packet, now)

    return replace_part(DecryptedMessageChanger)


def _make_security_flag_clearer(mask: int) -> Callable[[UserMessagePacket], UserMessagePacket]:
    return lambda packet: set_fields(packet, {"SecurityHeader.Flags": lambda old: old & ~mask})


def _make_security_item_changer(
    item: str, change: Callable[[bytes], bytes]
) -> Callable[[UserMessagePacket], UserMessagePacket]:
    return lambda packet: set_fields(
        packet, {f"SecurityHeader.SecurityData.{item}": change, "SecurityHeader.SecurityData.Padding": None}
    )


ENCRYPTED_BODY_FLAG = SecurityHeader.flags(EB=1)


X12_FLAG, X13_FLAG, X14_FLAG, X15_FLAG = (SecurityHeader.flags(**{name: 1}) for name in ("X12", "X13", "X14", "X15"))


UNUSED_SECURITY_FLAG_BITS_MASK = X12_FLAG | X13_FLAG | X14_FLAG | X15_FLAG


_remove_sender_identifier = _make_security_item_changer("SecurityID", lambda old: b"")


_reverse_signature_bytes = _make_security_item_changer("Signature", lambda old: old[::-1])


_broken_rules: str | tuple[str, ...]
for _name, _broken_rules, _says, _install in (
    (
        "x12-of-encrypted-message-not-decrypted",
        "MQMQ-2.2.20.6-10",
        "The receiver does not decrypt a message with X12 set.",
        _change_received_message(lambda packet, header: header.X12, _make_security_flag_clearer(ENCRYPTED_BODY_FLAG)),
    ),
    (
        "x14-sender-forgotten",
        "MQMQ-2.2.20.6-12",
        "The receiver ignores SecurityID of a message with X14 set.",
        _change_received_message(lambda packet, header: header.X14, _remove_sender_identifier),
    ),
    (
        "x15-of-encrypted-message-not-decrypted",
        "MQMQ-2.2.20.6-13",
        "The receiver does not decrypt a message with X15 set.",
        _change_received_message(lambda packet, header: header.X15, _make_security_flag_clearer(ENCRYPTED_BODY_FLAG)),
    ),
    (
        "all-unused-bits-signature-refused",
        "MQMQ-2.2.20.6-13",
        "The receiver refuses the signature of a message with all unused bits set.",
        _change_received_message(
            lambda packet, header: (
                header.Flags & UNUSED_SECURITY_FLAG_BITS_MASK == UNUSED_SECURITY_FLAG_BITS_MASK and header.SignatureSize
            ),
            _reverse_signature_bytes,
        ),
    ),
    (
        "x12-signature-refused",
        "MQMQ-2.2.20.6-10",
        "The receiver refuses the signature of a message with X12 set.",
        _change_received_message(lambda packet, header: header.X12 and header.SignatureSize, _reverse_signature_bytes),
    ),
    (
        "large-encrypted-body-cut",
        "MQMQ-2.2.20.6-06",
        "The receiver stores only the first 4,096 bytes of an encrypted body.",
        _change_received_message(
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
        _change_received_message(
            lambda packet, header: header.EB and header.SignatureSize, _make_security_flag_clearer(ENCRYPTED_BODY_FLAG)
        ),
    ),
    (
        "provider-info-read-without-terminator",
        "MQMQ-2.2.20.6-D03",
        "The receiver removes the last 2 bytes of ProviderInfo.",
        _change_received_message(
            lambda packet, header: header.ProviderInfoSize,
            _make_security_item_changer("ProviderInfo", lambda old: old[:-2]),
        ),
    ),
):
    add(f"receiver-security-header-{_name}", _broken_rules, _says, _install)


register_refusal_faults(
    UserMessagePacket,
    ("receiver-security-header-x12-refused", "MQMQ-2.2.20.6-10", "SecurityHeader.X12"),
    ("receiver-security-header-x13-refused", "MQMQ-2.2.20.6-11", "SecurityHeader.X13"),
    ("receiver-security-header-x14-refused", "MQMQ-2.2.20.6-12", "SecurityHeader.X14"),
    ("receiver-security-header-x15-refused", "MQMQ-2.2.20.6-13", "SecurityHeader.X15"),
)


register_set_bit_faults(
    UserMessagePacket,
    ("sender-security-header-x12-set", "MQMQ-2.2.20.6-10", "SecurityHeader.X12"),
    ("sender-security-header-x13-set", "MQMQ-2.2.20.6-11", "SecurityHeader.X13"),
    ("sender-security-header-x14-set", "MQMQ-2.2.20.6-12", "SecurityHeader.X14"),
    ("sender-security-header-x15-set", "MQMQ-2.2.20.6-13", "SecurityHeader.X15"),
)


@fault("receiver-does-not-verify-signature-if-x12-is-set", breaks="MQMQ-2.2.20.6-10")
class ReceiverDoesNotVerifySignatureIfX12IsSet(SecurityOnReceipt):
    """The receiver does not verify the signature of a message when bit X12 of SecurityHeader.Flags is set."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        header = packet.SecurityHeader
        return packet if header is not None and header.X12 else super().authenticate_packet(packet)


@fault("receiver-does-not-decrypt-body-if-x13-is-set", breaks="MQMQ-2.2.20.6-11")
class ReceiverDoesNotDecryptBodyIfX13IsSet(SecurityOnReceipt):
    """The receiver does not decrypt the body of a message when bit X13 of SecurityHeader.Flags is set."""

    def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
        header = packet.SecurityHeader
        return packet if header is not None and header.X13 else super().decrypt_body(packet, now)


@fault("receiver-skips-signature-check-if-security-flag-x14-is-set", breaks="MQMQ-2.2.20.6-12", blind=True)
class ReceiverSkipsSignatureCheckIfSecurityFlagX14IsSet(SecurityOnReceipt):
    """The receiver does not verify the signature of a message with bit X14 of SecurityHeader.Flags set."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        security = packet.SecurityHeader
        if security is not None and security.X14:
            return packet
        return super().authenticate_packet(packet)


def _make_security_header_bit_condition(bit: int) -> Callable[[Any], Any]:
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
        change_received_message(
            _changes,
            _make_security_header_bit_condition(_bit),
        ),
    )


_HIGHEST_UNUSED_BIT = 32768


_AUTHENTICATION_LEVEL_MASK = 3840


@fault("receiver-ignores-signature-if-last-unused-bit-is-set", breaks="MQMQ-2.2.20.6-13")
class ReceiverIgnoresSignatureIfLastUnusedBitIsSet(SecurityOnReceipt):
    """If the last unused bit of SecurityHeader.Flags is set in a signed message, the receiver stores the message as
    unauthenticated.
    """

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        authenticated: UserMessagePacket = super().authenticate_packet(packet)
        header = authenticated.SecurityHeader
        if packet.SecurityHeader is None or header is None or not packet.SecurityHeader.Flags & _HIGHEST_UNUSED_BIT:
            return authenticated
        return replace(authenticated, SecurityHeader=replace(header, Flags=header.Flags & ~_AUTHENTICATION_LEVEL_MASK))


def _send_queue_manager_address_as_sender(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    header = packet.SecurityHeader
    if header is None or header.ST != 2 or not packet.MessagePropertiesHeader.Label:
        return packet
    data = replace(header.SecurityData, SecurityID=packet.UserHeader.QueueManagerAddress.bytes_le)
    return replace(packet, SecurityHeader=replace(header, SecurityData=data))


add(
    "sender-security-id-of-destination-in-labelled-message",
    "MQMQ-2.2.20.6-24",
    "The sender sets SecurityID of a message with a label and ST 2 to QueueManagerAddress instead of its own GUID.",
    change_constructed_packet(_send_queue_manager_address_as_sender),
)


add(
    "queue-manager-published-modulus-padded-with-ones",
    ("MQQB-3.1.7.1.5-10", "MQMQ-2.2.20.6-34", "MQMQ-2.2.20.6-35", "MQDMPR-3.1.3-D07"),
    "The queue manager publishes a key with a byte 0xFF after its modulus.",
    change_published_blobs(lambda blob: blob + b"\xff"),
)


@fault("sender-adds-provider-info-although-security-header-de-is-set", breaks="MQMQ-2.2.20.6-37", blind=True)
class SenderAddsProviderInfoAlthoughSecurityHeaderDeIsSet(MessageSending):
    """The sender adds ProviderInfo to SecurityData although SecurityHeader.Flags.DE is set."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        header = packet.SecurityHeader
        if header is None or not header.DE or not header.SecurityData.SenderCert:
            return packet
        info = ProviderInfo(1, "Microsoft Base Cryptographic Provider v1.0").build()
        return replace(
            packet, SecurityHeader=replace(header, SecurityData=replace(header.SecurityData, ProviderInfo=info))
        )


@fault("receiver-sender-identifier-replaced-by-certificate", breaks=("MQMQ-2.2.20.6-D02", "MQMQ-2.2.20.6-D03"))
class ReceiverSenderIdentifierReplacedByCertificate(MessagePositions):
    """The receiver delivers a message with the sender's certificate in place of the sender's identifier."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        security = message.security
        if security is not None and security.SenderCertificate:
            message = replace(message, security=replace(security, SenderIdentifier=security.SenderCertificate))
        return super().insert_message(queue, message)


def _swap_security_items(first: str, second: str) -> Install:
    """Let the sender write two items of SecurityData in the wrong order; their sizes are right."""

    def change_packet(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        header = packet.SecurityHeader
        assert header is not None
        one, other = getattr(header.SecurityData, first), getattr(header.SecurityData, second)
        padded = [item + bytes(-len(item) % 4) for item in (one, other)]
        return data.replace(b"".join(padded), padded[1] + padded[0])

    return change_packets_of_kind(
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
        _swap_security_items(_first, _second),
    )
