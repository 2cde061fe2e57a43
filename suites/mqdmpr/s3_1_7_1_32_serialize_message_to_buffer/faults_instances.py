"""Faults of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer in which only some packets are written wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    BaseHeader,
    MessagePropertiesHeader,
    SecurityHeader,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.security import PrivacyLevel
from reference_qm.surface.clock import Now

PacketCondition = Callable[[UserMessagePacket], bool]


def _change_sent_packets(when: PacketCondition, changes: dict[str, Any]) -> Install:
    """Build a fault that changes fields of some packets of applications when they are sent."""

    class SentPacketChanger(MessageSending):
        def update_user_message(self, session: Session, position: Any, now: Now) -> UserMessagePacket:
            packet: UserMessagePacket = super().update_user_message(session, position, now)
            if packet.MessagePropertiesHeader.MessageClass or not when(packet):
                return packet
            return set_fields(packet, {"BaseHeader.PacketSize": 0, **changes})

    return replace_part(SentPacketChanger)


def _change_constructed_packets(when: PacketCondition, changes: dict[str, Any]) -> Install:
    """Build a fault that changes fields of some packets when they are built, before they are signed or encrypted."""

    class SentPacketChanger(MessageSending):
        def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
            packet = super().construct_user_message(position)
            if packet.MessagePropertiesHeader.MessageClass or not when(packet):
                return packet
            return set_fields(packet, {"BaseHeader.PacketSize": 0, **changes})

    return replace_part(SentPacketChanger)


def _is_transactional(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None


def _is_express(packet: UserMessagePacket) -> bool:
    return not packet.UserHeader.DM


def _has_large_body(packet: UserMessagePacket) -> bool:
    return len(packet.MessagePropertiesHeader.MessageBody) > 4096


def _is_traced_packet(packet: UserMessagePacket) -> bool:
    return packet.DebugHeader is not None


def _has_several_destinations(packet: UserMessagePacket) -> bool:
    return packet.MultiQueueFormatHeader is not None


def _has_security_header(packet: UserMessagePacket) -> bool:
    return packet.SecurityHeader is not None


def _make_flag_bit_clearer(mask: int) -> Callable[[int], int]:
    return lambda flags: flags & ~mask


def _make_flag_bit_setter(mask: int) -> Callable[[int], int]:
    return lambda flags: flags | mask


_POSITIVE_JOURNALING_FLAG, _NEGATIVE_JOURNALING_FLAG = UserHeader.flags(JP=1), UserHeader.flags(JN=1)
_ALL_ACK_REQUEST_BITS = MessagePropertiesHeader.flags(PA=1, PR=1, NA=1, NR=1)

for _name, _rule, _says, _install in (
    (
        "sender-jp-of-transactional-message-clear",
        "MQDMPR-3.1.7.1.32-D10",
        "The sender clears JP in a transactional message.",
        _change_constructed_packets(
            _is_transactional, {"UserHeader.Flags": _make_flag_bit_clearer(_POSITIVE_JOURNALING_FLAG)}
        ),
    ),
    (
        "sender-jp-of-express-message-set-with-jn",
        "MQDMPR-3.1.7.1.32-D10",
        "The sender sets JP in a message with JN.",
        _change_constructed_packets(
            lambda one: bool(one.UserHeader.JN), {"UserHeader.Flags": _make_flag_bit_setter(_POSITIVE_JOURNALING_FLAG)}
        ),
    ),
    (
        "sender-jn-of-express-message-clear",
        "MQDMPR-3.1.7.1.32-D11",
        "The sender clears JN in an express message.",
        _change_constructed_packets(
            _is_express, {"UserHeader.Flags": _make_flag_bit_clearer(_NEGATIVE_JOURNALING_FLAG)}
        ),
    ),
    (
        "sender-jn-of-message-to-several-queues-clear",
        "MQDMPR-3.1.7.1.32-D11",
        "The sender clears JN in a message to several queues.",
        _change_constructed_packets(
            _has_several_destinations, {"UserHeader.Flags": _make_flag_bit_clearer(_NEGATIVE_JOURNALING_FLAG)}
        ),
    ),
    (
        "sender-priority-of-large-message-3",
        "MQDMPR-3.1.7.1.32-05",
        "The sender sends a message with a body of more than 4,096 bytes with priority 3.",
        _change_constructed_packets(
            lambda one: _has_large_body(one) and not _is_transactional(one),
            {"BaseHeader.Flags": lambda flags: flags & ~BaseHeader.flags(PR=7) | BaseHeader.flags(PR=3)},
        ),
    ),
    (
        "sender-highest-priority-sent-as-6",
        "MQDMPR-3.1.7.1.32-05",
        "The sender sends a message of priority 7 with priority 6.",
        _change_constructed_packets(
            lambda one: one.BaseHeader.PR == 7,
            {"BaseHeader.Flags": lambda flags: flags & ~BaseHeader.flags(PR=7) | BaseHeader.flags(PR=6)},
        ),
    ),
    (
        "sender-trace-flag-of-transactional-message-clear",
        "MQDMPR-3.1.7.1.32-05",
        "The sender clears TR in a transactional message.",
        _change_constructed_packets(
            _is_transactional, {"BaseHeader.Flags": _make_flag_bit_clearer(BaseHeader.flags(TR=1))}
        ),
    ),
    (
        "sender-time-to-reach-queue-of-express-message-infinite",
        "MQDMPR-3.1.7.1.32-D01",
        "The sender sends an express message with an infinite TimeToReachQueue.",
        _change_constructed_packets(_is_express, {"BaseHeader.TimeToReachQueue": 0xFFFFFFFF}),
    ),
    (
        "sender-time-to-reach-queue-above-16-bits-cut",
        "MQDMPR-3.1.7.1.32-D01",
        "The sender sends only 16 bits of TimeToReachQueue, unless it is infinite.",
        _change_constructed_packets(
            lambda one: one.BaseHeader.TimeToReachQueue != 0xFFFFFFFF,
            {"BaseHeader.TimeToReachQueue": lambda value: value & 0xFFFF},
        ),
    ),
    (
        "sender-acknowledgment-requests-of-transactional-message-clear",
        "MQDMPR-3.1.7.1.32-D02",
        "The sender sends a transactional message without the requested acknowledgments.",
        _change_constructed_packets(
            _is_transactional, {"MessagePropertiesHeader.Flags": _make_flag_bit_clearer(_ALL_ACK_REQUEST_BITS)}
        ),
    ),
    (
        "sender-label-of-traced-message-empty",
        "MQDMPR-3.1.7.1.32-D02",
        "The sender sends a traced message without its label.",
        _change_constructed_packets(
            _is_traced_packet, {"MessagePropertiesHeader.Label": None, "MessagePropertiesHeader.Padding": None}
        ),
    ),
    (
        "sender-time-to-be-received-of-transactional-message-infinite",
        "MQDMPR-3.1.7.1.32-D05",
        "The sender sends a transactional message with an infinite TimeToBeReceived.",
        _change_constructed_packets(_is_transactional, {"UserHeader.TimeToBeReceived": 0xFFFFFFFF}),
    ),
    (
        "sender-dm-of-large-message-set",
        "MQDMPR-3.1.7.1.32-D05",
        "The sender sets DM in an express message with a body of more than 4,096 bytes.",
        _change_constructed_packets(
            _has_large_body, {"UserHeader.Flags": _make_flag_bit_setter(UserHeader.flags(DM=1))}
        ),
    ),
    (
        "sender-trace-queue-of-transactional-message-zero",
        "MQDMPR-3.1.7.1.32-D07",
        "The sender sends a DebugHeader with QT 0 in a transactional message that names a tracing queue.",
        _change_constructed_packets(
            lambda one: _is_transactional(one) and _is_traced_packet(one),
            {"DebugHeader.Flags": 0, "DebugHeader.QueueIdentifier": None},
        ),
    ),
    (
        "sender-sender-type-of-encrypted-message-0",
        "MQDMPR-3.1.7.1.32-D17",
        "The sender sends ST 0 in a message with a PrivacyLevel.",
        _change_sent_packets(
            lambda one: one.SecurityHeader is not None and bool(one.SecurityHeader.EB),
            {"SecurityHeader.Flags": lambda flags: flags & ~0xF},
        ),
    ),
    (
        "sender-privacy-level-of-signed-message-0",
        "MQDMPR-3.1.7.1.32-D09",
        "The sender sends PrivacyLevel 0 in an encrypted message with a certificate.",
        _change_sent_packets(
            lambda one: _has_security_header(one) and bool(one.SecurityHeader.SecurityData.SenderCert),  # type: ignore[union-attr]
            {"MessagePropertiesHeader.PrivacyLevel": 0},
        ),
    ),
    (
        "sender-transactional-message-hashed-with-sha-1",
        "MQDMPR-3.1.7.1.32-D13",
        "The sender sends the HashAlgorithm SHA-1 in a signed transactional message.",
        _change_sent_packets(
            lambda one: _is_transactional(one) and _has_security_header(one),
            {"MessagePropertiesHeader.HashAlgorithm": 0x8004},
        ),
    ),
    (
        "sender-encryption-algorithm-of-transactional-message-rc2",
        "MQDMPR-3.1.7.1.32-D12",
        "The sender sends the EncryptionAlgorithm RC2 in an encrypted transactional message.",
        _change_sent_packets(
            lambda one: _is_transactional(one) and bool(one.SecurityHeader and one.SecurityHeader.EB),
            {"MessagePropertiesHeader.EncryptionAlgorithm": 0x6602},
        ),
    ),
    (
        "sender-eb-of-signed-encrypted-message-clear",
        "MQDMPR-3.1.7.1.32-D03",
        "The sender clears EB in a message that is signed and encrypted.",
        _change_sent_packets(
            lambda one: _has_security_header(one) and bool(one.SecurityHeader.SecurityData.SenderCert),  # type: ignore[union-attr]
            {"SecurityHeader.Flags": _make_flag_bit_clearer(SecurityHeader.flags(EB=1))},
        ),
    ),
    (
        "sender-second-message-of-transaction-with-other-transaction-identifier",
        "MQDMPR-3.1.7.1.32-D04",
        "The sender sends all messages of a transaction except the first with the next transaction identifier.",
        _change_sent_packets(
            lambda one: one.TransactionHeader is not None and not one.TransactionHeader.FM,
            {"TransactionHeader.Flags": lambda flags: flags ^ TransactionHeader.flags(ID=1)},
        ),
    ),
):
    add(_name, _rule, _says, _install, blind=True)


@fault("sender-lowers-privacy-level-if-destination-lacks-public-key", breaks="MQDMPR-3.1.7.1.32-D09", blind=True)
class SenderLowersPrivacyLevelIfDestinationLacksPublicKey(MessageSecuring):
    """The sender sets PrivacyLevel in a packet to a lower level than Message.PrivacyLevel, if the destination has no
    public key for the provider of Message.PrivacyLevel.
    """

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        secured = super().secure_user_message(session, message, packet, now)
        if secured is not None or message.security is None:
            return secured
        for level in (PrivacyLevel.ENHANCED, PrivacyLevel.BASE):
            if level < message.security.PrivacyLevel:
                lower = replace(message, security=replace(message.security, PrivacyLevel=level))
                lowered = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": int(level)})
                secured = super().secure_user_message(session, lower, lowered, now)
                if secured is not None:
                    return secured
        return None
