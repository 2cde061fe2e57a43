"""Faults that break the rules MQDMPR-3.1.7.1.32-07 to MQDMPR-3.1.7.1.32-D15 only under certain conditions: in messages
of one kind, with one value, or in the second message.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_field_values, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    MessageClass,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    SecurityHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.security import EncryptionAlgorithm, HashAlgorithm, PrivacyLevel, SignatureType
from reference_qm.surface.clock import Now

_DEFAULT_PROVIDER_FLAG = SecurityHeader.flags(DE=1)
_ENCRYPTED_BODY_FLAG = SecurityHeader.flags(EB=1)


def _is_signed(packet: UserMessagePacket) -> bool:
    return packet.SecurityHeader is not None and bool(packet.SecurityHeader.SecurityData.Signature)


def _is_signed_but_unencrypted(packet: UserMessagePacket) -> bool:
    return _is_signed(packet) and packet.SecurityHeader is not None and not packet.SecurityHeader.EB


def _replace_property(name: str, value: int, wrong: int) -> Install:
    """Return an installer of a fault that sets a field of MessagePropertiesHeader to ``wrong`` instead of ``value``."""
    return send_wrong_field_values(
        UserMessagePacket,
        {f"MessagePropertiesHeader.{name}": wrong},
        lambda packet: getattr(packet.MessagePropertiesHeader, name) == value,
    )


@fault("sender-clears-de-flag-in-msmq-3-signed-message", breaks="MQDMPR-3.1.7.1.32-07", blind=True)
class SenderClearsDeFlagInMsmq3SignedMessage(MessageSecuring):
    """The sender clears SecurityHeader.Flags.DE in a message that it signs with an MSMQ 3.0 signature."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        level = 0 if message.security is None else message.security.AuthenticationLevel
        if level != SignatureType.SIG30:
            return signed
        return set_fields(signed, {"SecurityHeader.Flags": lambda flags: flags & ~_DEFAULT_PROVIDER_FLAG})


@fault("sender-sets-de-flag-only-in-first-signed-message", breaks="MQDMPR-3.1.7.1.32-07", blind=True)
class SenderSetsDeFlagOnlyInFirstSignedMessage(MessageSecuring):
    """The sender sets SecurityHeader.Flags.DE only in the first message that it signs."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.signed = 0

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        if not _is_signed(signed):
            return signed
        self.signed += 1
        return (
            signed
            if self.signed == 1
            else set_fields(signed, {"SecurityHeader.Flags": lambda flags: flags & ~_DEFAULT_PROVIDER_FLAG})
        )


add(
    "sender-de-clear-in-signed-message-of-queue-manager",
    "MQDMPR-3.1.7.1.32-07",
    "The sender clears SecurityHeader.Flags.DE in signed messages whose sender is the queue manager.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SecurityHeader.Flags": lambda flags: flags & ~_DEFAULT_PROVIDER_FLAG},
        lambda packet: _is_signed_but_unencrypted(packet) and packet.SecurityHeader.ST == 2,
    ),
    blind=True,
)


@fault("sender-writes-sent-time-of-first-message-into-later-messages", breaks="MQDMPR-3.1.7.1.32-08", blind=True)
class SenderWritesSentTimeOfFirstMessageIntoLaterMessages(MessageSending):
    """The sender writes the SentTime of the first message that it sent into every later message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: list[int] = []

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        self.first.append(packet.UserHeader.SentTime)
        return set_fields(packet, {"UserHeader.SentTime": self.first[0]})


add(
    "sender-response-queue-replaced-by-administration-queue",
    "MQDMPR-3.1.7.1.32-08",
    "The sender sets UserHeader.ResponseQueue of a message with an administration queue to the administration queue.",
    send_wrong_field_values(
        UserMessagePacket,
        {
            "UserHeader": lambda header: replace(
                header, ResponseQueue=header.AdminQueue, Flags=header.Flags | UserHeader.flags(RQ=7)
            )
        },
        lambda packet: packet.UserHeader.AQ == 7 and packet.UserHeader.RQ == 7,
    ),
    blind=True,
)
add(
    "sender-journal-flags-both-set",
    "MQDMPR-3.1.7.1.32-08",
    "The sender sets UserHeader.Flags.JN in each message that requests only positive journaling.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.Flags": lambda flags: flags | UserHeader.flags(JN=1)},
        lambda packet: bool(packet.UserHeader.JP),
    ),
    blind=True,
)
add(
    "sender-eb-clear-in-advanced-encryption",
    "MQDMPR-3.1.7.1.32-D03",
    "The sender clears SecurityHeader.Flags.EB in messages that are encrypted with the privacy level Advanced.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SecurityHeader.Flags": lambda flags: flags & ~_ENCRYPTED_BODY_FLAG},
        lambda packet: packet.MessagePropertiesHeader.PrivacyLevel == PrivacyLevel.ADVANCED,
    ),
    blind=True,
)
add(
    "sender-eb-set-in-signed-message-with-clear-body",
    "MQDMPR-3.1.7.1.32-D03",
    "The sender sets SecurityHeader.Flags.EB in a signed message whose body is not encrypted.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SecurityHeader.Flags": lambda flags: flags | _ENCRYPTED_BODY_FLAG},
        _is_signed_but_unencrypted,
    ),
    blind=True,
)
add(
    "sender-as-set-in-encrypted-message-without-signature",
    "MQDMPR-3.1.7.1.32-D03",
    "The sender sets SecurityHeader.Flags.AS to 1 in an encrypted message that is not signed.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SecurityHeader.Flags": lambda flags: flags | SecurityHeader.flags(AS=1)},
        lambda packet: packet.SecurityHeader is not None and packet.SecurityHeader.EB and not packet.SecurityHeader.AS,
    ),
    blind=True,
)


@fault("sender-writes-first-tracing-queue-into-later-messages", breaks="MQDMPR-3.1.7.1.32-D07", blind=True)
class SenderWritesFirstTracingQueueIntoLaterMessages(MessageSending):
    """The sender names the tracing queue of the first traced message in every later message with a tracing queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.named: list[object] = []

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.DebugHeader is None:
            return packet
        self.named.append(packet.DebugHeader.QueueIdentifier)
        return set_fields(packet, {"DebugHeader.QueueIdentifier": self.named[0]})


@fault("sender-tracing-queue-missing-in-copy-for-several-queues", breaks="MQDMPR-3.1.7.1.32-D07", blind=True)
class SenderTracingQueueMissingInCopyForSeveralQueues(MessageSending):
    """The sender writes a DebugHeader with QT 0, and without a QueueIdentifier, into each copy of a message to several
    queues.
    """

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.DebugHeader is None or packet.MultiQueueFormatHeader is None:
            return packet
        return replace(packet, DebugHeader=replace(packet.DebugHeader, Flags=0, QueueIdentifier=None))


def _replace_message_class(sent: MessageClass, wrong: MessageClass) -> Install:
    return _replace_property("MessageClass", sent, wrong)


add(
    "queue-manager-receive-timeout-class-sent-as-reach-queue-timeout",
    "MQDMPR-3.1.7.1.32-D08",
    "The queue manager sends an acknowledgment of class NackReceiveTimeout with MessageClass 0x8002.",
    _replace_message_class(
        MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT
    ),
    blind=True,
)
add(
    "queue-manager-queue-purged-class-sent-as-deleted",
    "MQDMPR-3.1.7.1.32-D08",
    "The queue manager sends an acknowledgment of class NackQueuePurged with MessageClass 0x8001.",
    _replace_message_class(MessageClass.MQMSG_CLASS_NACK_Q_PURGED, MessageClass.MQMSG_CLASS_NACK_DELETED),
    blind=True,
)
add(
    "queue-manager-report-class-sent-as-normal",
    "MQDMPR-3.1.7.1.32-D08",
    "The queue manager sends a report with MessageClass 0x0000.",
    _replace_message_class(MessageClass.MQMSG_CLASS_REPORT, MessageClass.MQMSG_CLASS_NORMAL),
    blind=True,
)
add(
    "sender-privacy-level-of-signed-message-base",
    "MQDMPR-3.1.7.1.32-D09",
    "The sender sets PrivacyLevel to 1 in a message that is signed and not encrypted.",
    send_wrong_field_values(UserMessagePacket, {"MessagePropertiesHeader.PrivacyLevel": 1}, _is_signed_but_unencrypted),
    blind=True,
)
add(
    "sender-privacy-level-advanced-sent-as-4",
    "MQDMPR-3.1.7.1.32-D09",
    "The sender sets PrivacyLevel to 4 in a message of the privacy level Advanced.",
    _replace_property("PrivacyLevel", PrivacyLevel.ADVANCED, 4),
    blind=True,
)


@fault("sender-writes-first-privacy-level-into-later-messages", breaks="MQDMPR-3.1.7.1.32-D09", blind=True)
class SenderWritesFirstPrivacyLevelIntoLaterMessages(MessageSecuring):
    """The sender sets PrivacyLevel in every encrypted message to the level of the first encrypted message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.levels: list[int] = []

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        secured = super().secure_user_message(session, message, packet, now)
        if secured is None or not secured.MessagePropertiesHeader.PrivacyLevel:
            return secured
        self.levels.append(secured.MessagePropertiesHeader.PrivacyLevel)
        return set_fields(secured, {"MessagePropertiesHeader.PrivacyLevel": self.levels[0]})


add(
    "sender-encryption-algorithm-of-signed-message-zero",
    "MQDMPR-3.1.7.1.32-D12",
    "The sender sets EncryptionAlgorithm to 0 in a message that is signed and not encrypted.",
    send_wrong_field_values(
        UserMessagePacket, {"MessagePropertiesHeader.EncryptionAlgorithm": 0}, _is_signed_but_unencrypted
    ),
    blind=True,
)
add(
    "sender-aes-192-sent-as-aes-128",
    "MQDMPR-3.1.7.1.32-D12",
    "The sender sets EncryptionAlgorithm to 0x660E in a message that is encrypted with AES192.",
    _replace_property("EncryptionAlgorithm", EncryptionAlgorithm.AES192, EncryptionAlgorithm.AES128),
    blind=True,
)
add(
    "sender-rc2-of-enhanced-level-sent-as-rc4",
    "MQDMPR-3.1.7.1.32-D12",
    "The sender sets EncryptionAlgorithm to 0x6801 in a message of the privacy level Enhanced.",
    send_wrong_field_values(
        UserMessagePacket,
        {"MessagePropertiesHeader.EncryptionAlgorithm": EncryptionAlgorithm.RC4},
        lambda packet: packet.MessagePropertiesHeader.PrivacyLevel == PrivacyLevel.ENHANCED,
    ),
    blind=True,
)
add(
    "sender-sha-256-sent-as-sha-1",
    "MQDMPR-3.1.7.1.32-D13",
    "The sender sets HashAlgorithm to 0x8004 in a message that is signed with SHA_256.",
    _replace_property("HashAlgorithm", HashAlgorithm.SHA256, HashAlgorithm.SHA1),
    blind=True,
)
add(
    "sender-md2-sent-as-md4",
    "MQDMPR-3.1.7.1.32-D13",
    "The sender sets HashAlgorithm to 0x8002 in a message that is signed with MD2.",
    _replace_property("HashAlgorithm", HashAlgorithm.MD2, HashAlgorithm.MD4),
    blind=True,
)


@fault("sender-writes-first-hash-algorithm-into-later-messages", breaks="MQDMPR-3.1.7.1.32-D13", blind=True)
class SenderWritesFirstHashAlgorithmIntoLaterMessages(MessageSecuring):
    """The sender writes the HashAlgorithm of the first signed message into every later signed message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.algorithms: list[int] = []

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        signed = super().sign_packet(message, packet)
        if not _is_signed(signed):
            return signed
        self.algorithms.append(signed.MessagePropertiesHeader.HashAlgorithm)
        return set_fields(signed, {"MessagePropertiesHeader.HashAlgorithm": self.algorithms[0]})


@fault("sender-sets-aq-6-for-private-admin-queue-on-source", breaks="MQDMPR-3.1.7.1.32-D15", blind=True)
class SenderSetsAq6ForPrivateAdminQueueOnSource(MessageSending):
    """The sender sets UserHeader.Flags.AQ to 6 for a private administration queue on the source."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        queue = packet.UserHeader.AdminQueue
        if packet.UserHeader.AQ != 2 or not isinstance(queue, PrivateQueueFormatNameId):
            return packet
        named = PrivateQueueFormatName(packet.UserHeader.SourceQueueManager, queue.PrivateQueueIdentifier)
        return set_fields(
            packet,
            {
                "UserHeader.AdminQueue": named,
                "UserHeader.Flags": lambda flags: flags & ~UserHeader.flags(AQ=7) | UserHeader.flags(AQ=6),
            },
        )


add(
    "sender-aq-of-transactional-message-zero",
    "MQDMPR-3.1.7.1.32-D15",
    "The sender sets UserHeader.Flags.AQ to 0, and omits AdminQueue, in transactional messages.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda flags: flags & ~UserHeader.flags(AQ=7)},
        lambda packet: packet.TransactionHeader is not None and bool(packet.UserHeader.AQ),
    ),
    blind=True,
)
add(
    "sender-aq-missing-if-response-queue-is-named",
    "MQDMPR-3.1.7.1.32-D15",
    "The sender sets UserHeader.Flags.AQ to 0, and omits AdminQueue, in a message with a response queue.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda flags: flags & ~UserHeader.flags(AQ=7)},
        lambda packet: bool(packet.UserHeader.RQ) and bool(packet.UserHeader.AQ),
    ),
    blind=True,
)
