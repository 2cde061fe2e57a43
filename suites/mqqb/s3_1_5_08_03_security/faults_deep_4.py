"""Faults of MS-MQQB 3.1.5.8.3 Security with a condition: decryption, access, caches and refused messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message
from reference_qm.security import (
    Refused,
)
from suites.mqqb.s3_1_5_08_03_security.faults_deep_3 import (
    ACCESS_DENIED,
    BAD_ENCRYPTION,
    BAD_SIGNATURE,
    accept_despite,
    add_blind_faults,
    has_list,
    is_encrypted,
    is_express,
    refuse,
    skip_step,
)

SECURITY_CLASSES = frozenset({BAD_SIGNATURE, BAD_ENCRYPTION, ACCESS_DENIED})
NACKS = (
    "MQQB-3.1.5.8.3-15",
    "MQQB-3.1.5.8.3-38",
    "MQQB-3.1.5.8.3-48",
    "MQQB-3.1.5.8.3-72",
    "MQQB-3.1.5.8.3-82",
    "MQQB-3.1.5.8.3-121",
)
FINAL_ACKS = (
    "MQQB-3.1.5.8.3-18",
    "MQQB-3.1.5.8.3-41",
    "MQQB-3.1.5.8.3-51",
    "MQQB-3.1.5.8.3-75",
    "MQQB-3.1.5.8.3-85",
    "MQQB-3.1.5.8.3-124",
)
INSERTED = (
    "MQQB-3.1.5.8.3-21",
    "MQQB-3.1.5.8.3-44",
    "MQQB-3.1.5.8.3-54",
    "MQQB-3.1.5.8.3-78",
    "MQQB-3.1.5.8.3-88",
    "MQQB-3.1.5.8.3-127",
)


# -- refused messages ----------------------------------------------------------------------------------------------


def _omit_nack_when(when: Callable[[Any, Message], bool]) -> Install:
    def run(self: Any, original: Any, message: Message, message_class: Any, now: Any) -> None:
        if message_class not in SECURITY_CLASSES or not when(self, message):
            original(message, message_class, now)

    return change_step(AdminAcks.acknowledge_failure, run)


def _add_nack_when(when: Callable[[Message], bool]) -> Install:
    def run(self: Any, original: Any, message: Message, message_class: Any, now: Any) -> None:
        original(message, message_class, now)
        asked = message.AcknowledgementsRequested & MessagePropertiesHeader.flags(NA=1)
        if message_class in SECURITY_CLASSES and not asked and when(message):
            self.send(message, message_class, now)

    return change_step(AdminAcks.acknowledge_failure, run)


def _omit_final_ack_when(when: Callable[[Any, Any, UserMessagePacket], bool]) -> Install:
    def run(self: Any, original: Any, session: Any, packet: Any, message_class: Any, now: Any) -> None:
        if message_class not in SECURITY_CLASSES or not when(self, session, packet):
            original(session, packet, message_class, now)

    return change_step(FinalAcks.refuse_transactional, run)


def _change_final_ack(changes: dict[str, Any]) -> Install:
    def run(self: Any, original: Any, session: Any, packet: Any, message_class: Any, now: Any) -> None:
        if message_class in SECURITY_CLASSES:
            packet = set_fields(packet, changes)
        original(session, packet, message_class, now)

    return change_step(FinalAcks.refuse_transactional, run)


def _was_seen(part: Any, key: Any) -> bool:
    seen = part.__dict__.setdefault("seen", set())
    known = key in seen
    seen.add(key)
    return known


def _keep_refused(choose: Callable[[Any, Any, UserMessagePacket], Any]) -> Install:
    """Make the receiver put a refused message into the queue that ``choose`` returns, if any."""

    def run(self: Any, original: Any, session: Any, packet: Any, message_class: Any, now: Any) -> None:
        original(session, packet, message_class, now)
        queue = choose(self.qm, session, packet) if message_class in SECURITY_CLASSES else None
        if queue is not None:
            message = replace(self.build_message(packet, now), security=None)
            self.qm.journaling.keep_message(queue, message)

    return change_step(Admission.refuse_message, run)


_SOMETIMES = (
    ("with-pa", "requests PA as well", lambda part, message: message.AcknowledgementsRequested & 1),
    ("with-jn", "requests negative journaling", lambda part, message: message.NegativeJournalingRequested),
    (
        "second-for-queue",
        "is not the first refused message for its queue",
        lambda part, message: _was_seen(part, message.DestinationQueueFormatName),
    ),
    ("without-body", "has no body", lambda part, message: not message.Body),
)
add_blind_faults(
    *(
        (
            f"receiver-security-nack-{label}-omitted",
            NACKS,
            f"The receiver omits the requested acknowledgment of a message that fails a security check and {words}.",
            _omit_nack_when(when),
        )
        for label, words, when in _SOMETIMES
    ),
    (
        "receiver-security-nack-with-only-pa-sent",
        NACKS,
        "The receiver acknowledges a message that fails a security check when only PA is set.",
        _add_nack_when(lambda message: bool(message.AcknowledgementsRequested & 1)),
    ),
    (
        "receiver-security-nack-with-only-nr-sent",
        NACKS,
        "The receiver acknowledges a message that fails a security check when only NR is set.",
        _add_nack_when(lambda message: bool(message.AcknowledgementsRequested & 8)),
    ),
    (
        "receiver-security-nack-of-transactional-without-na-sent",
        NACKS,
        "The receiver acknowledges a transactional message that fails a security check although NA is not set.",
        _add_nack_when(lambda message: message.TransactionIdentifier is not None),
    ),
    (
        "receiver-security-final-ack-with-jn-omitted",
        FINAL_ACKS,
        "The receiver sends no FinalAck for a message with JN that fails a security check.",
        _omit_final_ack_when(lambda part, session, packet: bool(packet.UserHeader.JN)),
    ),
    (
        "receiver-security-final-ack-of-second-session-omitted",
        FINAL_ACKS,
        "The receiver sends a FinalAck for a message that fails a security check only to the first session.",
        _omit_final_ack_when(
            lambda part, session, packet: part.__dict__.setdefault("first", session.number) != session.number
        ),
    ),
    (
        "receiver-security-final-ack-without-na-omitted-for-second",
        FINAL_ACKS,
        "The receiver sends a FinalAck only for the first message of each sequence that fails a security check.",
        _omit_final_ack_when(
            lambda part, session, packet: _was_seen(part, getattr(packet.TransactionHeader, "TxSequenceID", None))
        ),
    ),
    (
        "receiver-security-final-ack-of-wrong-message-id",
        FINAL_ACKS,
        "The receiver names MessageID 1 in the FinalAck of each message that fails a security check.",
        _change_final_ack({"UserHeader.MessageID": 1}),
    ),
    (
        "receiver-security-refused-message-with-jp-in-journal",
        INSERTED,
        "The receiver puts a message with JP that fails a security check into the receiver's own journal.",
        _keep_refused(lambda qm, session, packet: qm.adm.SystemJournalQueue if packet.UserHeader.JP else None),
    ),
    (
        "receiver-security-refused-express-message-in-dead-letter-queue",
        INSERTED,
        "The receiver puts an express message that fails a security check into its own dead-letter queue.",
        _keep_refused(lambda qm, session, packet: None if packet.UserHeader.DM else qm.adm.SystemDeadletterQueue),
    ),
    (
        "receiver-security-refused-message-in-dead-letter-queue-always",
        INSERTED,
        "The receiver puts each message that fails a security check into its own dead-letter queue.",
        _keep_refused(lambda qm, session, packet: qm.adm.SystemDeadletterQueue),
    ),
)


# -- decryption ----------------------------------------------------------------------------------------------------


def _at_level(old: Callable[[int], bool], new: int) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
        level = packet.MessagePropertiesHeader.PrivacyLevel
        if not old(level):
            return original(packet, now)
        changed = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": new})
        return set_fields(original(changed, now), {"MessagePropertiesHeader.PrivacyLevel": level})

    return change_step(SecurityOnReceipt.decrypt_body, run)


def _with_blob(change: Callable[[bytes], bytes]) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
        header = packet.SecurityHeader
        if header is None or not header.EB:
            return original(packet, now)
        data = replace(header.SecurityData, EncryptionKey=change(header.SecurityData.EncryptionKey), Padding=None)
        done = original(replace(packet, SecurityHeader=replace(header, SecurityData=data)), now)
        return replace(done, SecurityHeader=header)

    return change_step(SecurityOnReceipt.decrypt_body, run)


def _is_privacy_named(packet: UserMessagePacket) -> bool:
    return not is_encrypted(packet) and packet.MessagePropertiesHeader.PrivacyLevel != 0


def _refuse_key_with_zeros(is_refused: Callable[[UserMessagePacket, bytes], bool]) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
        done = original(packet, now)
        header = packet.SecurityHeader
        if header is not None and header.EB and self.qm.caches.settings.RejectEnhancedRC2Using40BitKeys:
            for key in self.qm.caches.ReceiveSymmetricKeyCache.entries:
                if key.EncryptedSymmetricKey == header.SecurityData.EncryptionKey and is_refused(
                    packet, key.SymmetricKey
                ):
                    raise Refused(BAD_ENCRYPTION, "a fault")
        return done

    return change_step(SecurityOnReceipt.decrypt_body, run)


def _refuse_algorithm(value: int) -> Install:
    def is_refused(packet: UserMessagePacket) -> bool:
        return is_encrypted(packet) and packet.MessagePropertiesHeader.EncryptionAlgorithm == value

    return refuse("decrypt_body", is_refused, BAD_ENCRYPTION)


def _level_of_first(self: Any, original: Any, packet: UserMessagePacket, now: Any) -> Any:
    if not is_encrypted(packet):
        return original(packet, now)
    level = packet.MessagePropertiesHeader.PrivacyLevel
    kept = self.__dict__.setdefault("level", level)
    changed = set_fields(packet, {"MessagePropertiesHeader.PrivacyLevel": kept})
    return set_fields(original(changed, now), {"MessagePropertiesHeader.PrivacyLevel": level})


_CIPHERTEXT_ERRORS = {
    "body-of-partial-block": lambda packet: len(packet.MessagePropertiesHeader.MessageBody) % 8 != 0,
    "empty-body": lambda packet: not packet.MessagePropertiesHeader.MessageBody,
    "unknown-algorithm": lambda packet: (
        packet.MessagePropertiesHeader.EncryptionAlgorithm not in {0x6602, 0x6801, 0x660E, 0x660F, 0x6610}
    ),
    "express-delivery": is_express,
    "short-key": lambda packet: len(packet.SecurityHeader.SecurityData.EncryptionKey) < 200,
}
add_blind_faults(
    *(
        (
            f"receiver-encrypted-message-with-{label}-accepted",
            ("MQQB-3.1.5.8.3-81", "MQQB-3.1.5.8.3-88"),
            f"The receiver accepts an encrypted message that it cannot decrypt and that has {label.replace('-', ' ')}.",
            accept_despite("decrypt_body", when),
        )
        for label, when in _CIPHERTEXT_ERRORS.items()
    ),
    *(
        (
            f"receiver-encrypted-body-{label}-left",
            "MQQB-3.1.5.8.3-45",
            f"The receiver does not decrypt the body of {words} message.",
            skip_step("decrypt_body", when),
        )
        for label, words, when in (
            ("of-express-message", "an express", is_express),
            ("of-message-to-list", "a multi-destination", has_list),
            (
                "of-anonymous-sender",
                "an anonymous",
                lambda packet: packet.SecurityHeader and packet.SecurityHeader.ST == 0,
            ),
            ("of-acknowledgment", "an acknowledgment", lambda packet: packet.MessagePropertiesHeader.MessageClass),
        )
    ),
    (
        "receiver-plain-message-with-privacy-level-refused",
        "MQQB-3.1.5.8.3-45",
        "The receiver refuses a message with EB clear and a PrivacyLevel other than 0.",
        refuse("decrypt_body", _is_privacy_named, BAD_ENCRYPTION),
    ),
    (
        "receiver-plain-message-with-encryption-key-refused",
        "MQQB-3.1.5.8.3-45",
        "The receiver refuses a message with EB clear and an EncryptionKey.",
        refuse(
            "decrypt_body",
            lambda packet: (
                not is_encrypted(packet)
                and packet.SecurityHeader is not None
                and bool(packet.SecurityHeader.SecurityData.EncryptionKey)
            ),
            BAD_ENCRYPTION,
        ),
    ),
    (
        "receiver-privacy-level-of-first-message-for-all",
        ("MQQB-3.1.5.8.3-46", "MQQB-3.1.5.8.3-65"),
        "The receiver uses the PrivacyLevel of the first encrypted message for all messages.",
        change_step(SecurityOnReceipt.decrypt_body, _level_of_first),
    ),
    *(
        (
            f"receiver-privacy-level-{label}-taken-as-{new}",
            "MQQB-3.1.5.8.3-47",
            f"The receiver treats PrivacyLevel {words} of an encrypted message as {new}.",
            _at_level(old, new),
        )
        for label, words, old, new in (
            ("0", "0", lambda level: level == 0, 1),
            ("2", "2", lambda level: level == 2, 3),
            ("4", "4", lambda level: level == 4, 5),
            ("above-5", "above 5", lambda level: level > 5, 5),
            ("above-5", "above 5", lambda level: level > 5, 3),
            ("above-5", "above 5", lambda level: level > 5, 1),
        )
    ),
    *(
        (
            f"receiver-simple-blob-{label}-ignored",
            "MQQB-3.1.5.8.3-63",
            f"The receiver accepts a SIMPLEBLOB with a wrong {words}.",
            _with_blob(change),
        )
        for label, words, change in (
            ("first-byte", "first byte", lambda blob: b"\1" + blob[1:]),
            ("version", "version", lambda blob: blob[:1] + b"\2" + blob[2:]),
            ("key-algorithm", "algorithm of the exchange key", lambda blob: blob[:8] + b"\0\xa4\0\0" + blob[12:]),
        )
    ),
    *(
        (
            f"receiver-key-refused-{label}",
            "MQQB-3.1.5.8.3-71",
            f"With RejectEnhancedRC2Using40BitKeys, the receiver refuses {words}.",
            _refuse_key_with_zeros(is_refused),
        )
        for label, words, is_refused in (
            ("with-80-zero-bits", "a key whose last 80 bits are zeros", lambda packet, key: not any(key[-10:])),
            ("with-zero-bits-first", "a key that begins with 88 zero bits", lambda packet, key: not any(key[:11])),
            ("of-base-provider", "each key of 40 bits", lambda packet, key: len(key) == 5),
            (
                "of-rc4",
                "an RC4 key that ends with 88 zero bits",
                lambda packet, key: packet.MessagePropertiesHeader.EncryptionAlgorithm == 0x6801 and not any(key[-11:]),
            ),
        )
    ),
    (
        "receiver-rc2-key-of-40-bits-of-express-message-accepted",
        "MQQB-3.1.5.8.3-71",
        "The receiver accepts a rejected RC2 key in an express message.",
        accept_despite("decrypt_body", lambda packet: is_express(packet) and is_encrypted(packet)),
    ),
    *(
        (
            f"receiver-algorithm-{value:04x}-refused",
            ("MQQB-3.1.5.8.3-79", "MQQB-3.1.5.8.3-81"),
            f"The receiver refuses messages that are encrypted with EncryptionAlgorithm 0x{value:04X}.",
            _refuse_algorithm(value),
        )
        for value in (0x6602, 0x6801, 0x660E, 0x660F, 0x6610)
    ),
)
