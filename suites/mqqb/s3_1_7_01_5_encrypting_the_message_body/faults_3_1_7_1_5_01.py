"""Faults that break the rule MQQB-3.1.7.1.5-01."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from harness.faults.timed_caches import (
    CacheFullOneEntryEarly,
    CacheLosingHalfAndOneEntry,
    CacheLosingOnlyOldestEntry,
    replace_cache,
    scale_cleanup_timer,
    store_field_of_first_entry,
)
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, Session
from reference_qm.model.states import ConnectionStatus, DeliveryGuarantee
from reference_qm.surface.clock import Now


@fault(
    "sender-body-never-encrypted",
    breaks=(
        "MQQB-3.1.7.1.5-01",
        "MQQB-3.1.7.1.5-23",
        "MQQB-3.1.7.1.5-24",
        "MQQB-3.1.7.1.5-30",
        "MQDMPR-3.1.1.12-D55",
        "MQQB-3.1.7.1.5-35",
        "MQQB-3.1.7.1.5-36",
        "MQQB-3.1.7.1.5-42",
        "MQSO-7.4.1.4.3-D01",
        "MQQB-3.1.7.1-08",
    ),
)
class SenderBodyNeverEncrypted(MessageSecuring):
    """The sender never encrypts a body."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet


@fault("sender-resent-message-not-encrypted", breaks=("MQQB-3.1.7.1.5-01", "MQQB-3.1.7.1-08"), blind=True)
class SenderResentMessageNotEncrypted(MessageSecuring):
    """The sender does not encrypt a message that it resends."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._done: set[int] = set()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        ordinal = packet.UserHeader.MessageID
        again = ordinal in self._done
        self._done.add(ordinal)
        return packet if again else super().encrypt_body(session, message, packet, now)


@fault("sender-transactional-message-not-encrypted", breaks=("MQQB-3.1.7.1.5-01"), blind=True)
class SenderTransactionalMessageNotEncrypted(MessageSecuring):
    """The sender sends the body of a transactional message unencrypted."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if message.TransactionIdentifier is not None:
            return packet
        return super().encrypt_body(session, message, packet, now)


@fault("sender-large-body-not-encrypted", breaks="MQQB-3.1.7.1.5-01", blind=True)
class SenderLargeBodyNotEncrypted(MessageSecuring):
    """The sender does not encrypt a body that is larger than 64 KB."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet if len(message.Body) > 0x10000 else super().encrypt_body(session, message, packet, now)


EncryptionCondition = Callable[[Any, Any, Message], bool]


SENT_KEY_CACHE_NAME = "SendSymmetricKeyCache"


def _is_recoverable(self: Any, session: Any, message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE and message.TransactionIdentifier is None


def _is_express(self: Any, session: Any, message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


def _is_transactional(self: Any, session: Any, message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _has_used_privacy_level(self: Any, session: Any, message: Message) -> bool:
    level = 0 if message.security is None else message.security.PrivacyLevel
    seen = self.__dict__.setdefault("seen", set())
    known = level in seen
    seen.add(level)
    return bool(level) and known


def _is_signed(self: Any, session: Any, message: Message) -> bool:
    return message.security is not None and bool(message.security.AuthenticationLevel)


def _omit_encryption(when: EncryptionCondition) -> Install:
    def run(self: Any, original: Any, session: Any, message: Message, packet: Any, now: Any) -> Any:
        return packet if when(self, session, message) else original(session, message, packet, now)

    return change_step(MessageSecuring.encrypt_body, run)


def _send_unencryptable_message(when: EncryptionCondition) -> Install:
    def run(self: Any, original: Any, session: Any, message: Message, packet: Any, now: Any) -> Any:
        done = original(session, message, packet, now)
        return packet if done is None and when(self, session, message) else done

    return change_step(MessageSecuring.secure_user_message, run)


def _change_encrypted_packet(change: Callable[[Any, Any, Message, Any], Any]) -> Install:
    def run(self: Any, original: Any, session: Any, message: Message, packet: Any, now: Any) -> Any:
        done = original(session, message, packet, now)
        return done if done is packet else change(self, session, message, done)

    return change_step(MessageSecuring.encrypt_body, run)


def _replace_security_data(packet: Any, **changes: Any) -> Any:
    header = packet.SecurityHeader
    data = replace(header.SecurityData, Padding=None, **changes)
    return replace(packet, SecurityHeader=replace(header, SecurityData=data))


def _replace_message_properties(packet: Any, **changes: Any) -> Any:
    return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, **changes))


def _encrypt_every_message_after_first_encrypted(
    self: Any, original: Any, session: Any, message: Message, packet: Any, now: Any
) -> Any:
    security = message.security
    if security is not None and security.PrivacyLevel:
        self.__dict__["level"] = security.PrivacyLevel
    elif security is not None and self.__dict__.get("level"):
        message = replace(message, security=replace(security, PrivacyLevel=self.__dict__["level"]))
        packet = _replace_message_properties(packet, PrivacyLevel=self.__dict__["level"])
    return original(session, message, packet, now)


def _repeat_body_of_first_message(self: Any, session: Any, message: Message, packet: Any) -> Any:
    kept = self.__dict__.setdefault("body", packet.MessagePropertiesHeader.MessageBody)
    return _replace_message_properties(packet, MessageBody=kept, AllocationBodySize=len(kept))


def _repeat_encrypted_key_of_first_message(self: Any, session: Any, message: Message, packet: Any) -> Any:
    kept = self.__dict__.setdefault("key", packet.SecurityHeader.SecurityData.EncryptionKey)
    return _replace_security_data(packet, EncryptionKey=kept)


def _repeat_algorithm_of_first_message(self: Any, session: Any, message: Message, packet: Any) -> Any:
    kept = self.__dict__.setdefault("algorithm", packet.MessagePropertiesHeader.EncryptionAlgorithm)
    return _replace_message_properties(packet, EncryptionAlgorithm=kept)


def _repeat_provider_of_first_message(self: Any, session: Any, message: Message, packet: Any) -> Any:
    kept = self.__dict__.setdefault("provider", packet.SecurityHeader.SecurityData.ProviderInfo)
    return _replace_security_data(packet, ProviderInfo=kept)


def _omit_dead_letter_of_unencryptable_message(when: Callable[[Any], bool]) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> None:
        if when(position):
            self.remove_unsent_message(session, position)
            self.qm.session_connecting.add_connection_history(session, _ENCRYPTION_FAILURE_STATUS, now)
        else:
            original(session, position, now)

    return change_step(MessageSending.handle_encryption_error, run)


def _add_encryption_failure_status_once(self: Any, original: Any, session: Any, status: Any, now: Any) -> None:
    noted = self.__dict__.setdefault("noted", set())
    if status is _ENCRYPTION_FAILURE_STATUS and session.number in noted:
        return
    if status is _ENCRYPTION_FAILURE_STATUS:
        noted.add(session.number)
    original(session, status, now)


def _journal_message_without_request(self: Any, original: Any, session: Any, position: Any, now: Any) -> None:
    message = position.MessagePosition.MessageReference
    original(session, position, now)
    if not message.NegativeJournalingRequested:
        self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemDeadletterQueue, message)


_ENCRYPTION_FAILURE_STATUS = ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"sender-{label}-message-with-privacy-level-in-clear",
            "MQQB-3.1.7.1.5-01",
            f"The sender does not encrypt the body of {words}.",
            _omit_encryption(when),
        )
        for label, words, when in (
            ("recoverable", "a recoverable message", _is_recoverable),
            ("express", "an express message", _is_express),
            ("second", "the second message of each privacy level", _has_used_privacy_level),
            ("signed", "a signed message", _is_signed),
            ("empty", "a message with an empty body", lambda self, session, message: not message.Body),
            ("labelled", "a message with a label", lambda self, session, message: bool(message.Label)),
        )
    ),
    (
        "sender-message-without-privacy-level-encrypted-like-previous",
        "MQQB-3.1.7.1.5-01",
        "The sender encrypts a signed message without privacy level at the privacy level of the previous message.",
        change_step(MessageSecuring.encrypt_body, _encrypt_every_message_after_first_encrypted),
    ),
    *(
        (
            f"sender-{label}-message-that-cannot-be-encrypted-in-clear",
            (
                *(
                    one
                    for one in ("MQQB-3.1.7.1.5-03", "MQQB-3.1.7.1.5-09", "MQQB-3.1.7.1.5-39", "MQQB-3.1.7.1.5-20")
                    if (label, one) != ("base-level", "MQQB-3.1.7.1.5-20")
                ),
                "MQQB-3.1.7.1.5.1-01",
            ),
            f"The sender sends {words} in clear when the body cannot be encrypted.",
            _send_unencryptable_message(when),
        )
        for label, words, when in (
            ("express", "an express message", _is_express),
            ("recoverable", "a recoverable message", _is_recoverable),
            ("transactional", "a transactional message", _is_transactional),
            (
                "base-level",
                "a message of privacy level Base",
                lambda self, session, message: message.security.PrivacyLevel == 1,
            ),
            (
                "jn",
                "a message with JN",
                lambda self, session, message: message.NegativeJournalingRequested,
            ),
        )
    ),
    (
        "sender-body-of-first-encrypted-message-repeated",
        ("MQQB-3.1.7.1.5-35", "MQQB-3.1.7.1.5-36"),
        "The sender sends the encrypted body of the first message in each encrypted message.",
        _change_encrypted_packet(_repeat_body_of_first_message),
    ),
    (
        "sender-encryption-key-of-first-message-repeated",
        ("MQQB-3.1.7.1.5-30", "MQQB-3.1.7.1.5-42"),
        "The sender sends the EncryptionKey of the first encrypted message in each encrypted message.",
        _change_encrypted_packet(_repeat_encrypted_key_of_first_message),
    ),
    (
        "sender-encryption-algorithm-of-first-message-repeated",
        "MQQB-3.1.7.1.5-40",
        "The sender sends the EncryptionAlgorithm of the first encrypted message in each encrypted message.",
        _change_encrypted_packet(_repeat_algorithm_of_first_message),
    ),
    (
        "sender-provider-of-first-message-repeated",
        "MQQB-3.1.7.1.5-41",
        "The sender sends the ProviderInfo of the first encrypted message in each encrypted message.",
        _change_encrypted_packet(_repeat_provider_of_first_message),
    ),
    *(
        (
            f"sender-large-body-encrypted-{label}",
            "MQQB-3.1.7.1.5-36",
            f"The sender encrypts only the first 4096 bytes of a body of PrivacyLevel {level}.",
            _change_encrypted_packet(
                lambda self, session, message, packet: _replace_message_properties(
                    packet,
                    MessageBody=packet.MessagePropertiesHeader.MessageBody[:4096] + message.Body[4096:],
                    AllocationBodySize=None,
                )
            ),
        )
        for label, level in (("partly", 5),)
    ),
    (
        "sender-allocation-size-of-base-level-of-clear-body",
        "MQQB-3.1.7.1.5-38",
        "The sender sets AllocationBodySize to the size of the unencrypted body rounded up to 16 bytes.",
        _change_encrypted_packet(
            lambda self, session, message, packet: _replace_message_properties(
                packet, AllocationBodySize=len(message.Body) + 15 & ~15
            )
        ),
    ),
    (
        "sender-express-message-that-cannot-be-encrypted-not-journaled",
        ("MQQB-3.1.7.1.5.1-02", "MQQB-3.1.7.1.5.1-D01"),
        "The sender does not journal an express message with JN that cannot be encrypted.",
        _omit_dead_letter_of_unencryptable_message(lambda position: not position.recoverable),
    ),
    (
        "sender-transactional-message-that-cannot-be-encrypted-not-journaled",
        ("MQQB-3.1.7.1.5.1-02", "MQQB-3.1.7.1.5.1-D01"),
        "The sender does not journal a transactional message with JN that cannot be encrypted.",
        _omit_dead_letter_of_unencryptable_message(lambda position: bool(position.TxSequenceNumber)),
    ),
    (
        "sender-every-message-that-cannot-be-encrypted-journaled",
        "MQQB-3.1.7.1.5.1-02",
        "The sender journals a message without JN that cannot be encrypted.",
        change_step(MessageSending.handle_encryption_error, _journal_message_without_request),
    ),
    (
        "sender-second-encryption-failure-of-session-not-noted",
        "MQQB-3.1.7.1.5.1-03",
        "The sender notes only the first failed encryption of a session in ConnectionHistory.",
        change_step(SessionConnecting.add_connection_history, _add_encryption_failure_status_once),
    ),
    *(
        (
            f"sender-symmetric-key-cache-{field.lower()}-of-first",
            rule,
            f"The sender gives later entries of SendSymmetricKeyCache the {field} of the first entry.",
            store_field_of_first_entry(SENT_KEY_CACHE_NAME, field),
        )
        for field, rule in (
            ("CryptoServiceProvider", "MQQB-3.1.7.1.5-26"),
            ("CryptoAlgorithm", "MQQB-3.1.7.1.5-27"),
            ("CachedTime", "MQQB-3.1.7.1.5-31"),
        )
    ),
    *(
        (f"sender-symmetric-key-cache-{what}", rule, f"The sender's SendSymmetricKeyCache {words}.", install)
        for what, rule, words, install in (
            (
                "loses-oldest-only",
                "MQQB-3.1.7.1.5-33",
                "loses only its oldest entry when it is full",
                replace_cache(SENT_KEY_CACHE_NAME, CacheLosingOnlyOldestEntry),
            ),
            (
                "full-early",
                "MQQB-3.1.7.1.5-33",
                "is halved one entry early",
                replace_cache(SENT_KEY_CACHE_NAME, CacheFullOneEntryEarly),
            ),
            (
                "loses-half-and-one",
                "MQQB-3.1.7.1.5-33",
                "loses more than half when it is full",
                replace_cache(SENT_KEY_CACHE_NAME, CacheLosingHalfAndOneEntry),
            ),
            (
                "cleanup-timer-half",
                "MQQB-3.1.7.1.5-34",
                "is cleaned up after half the lifetime",
                scale_cleanup_timer(SENT_KEY_CACHE_NAME, 0.5),
            ),
        )
    ),
)


for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)


@fault("sender-repeats-encryption-algorithm-of-first-message-of-session", breaks="MQQB-3.1.7.1.5-40", blind=True)
class SenderRepeatsEncryptionAlgorithmOfFirstMessageOfSession(MessageSecuring):
    """The sender sets EncryptionAlgorithm of later messages of a session to the algorithm of the first message."""

    first: Any = None

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        done = super().encrypt_body(session, message, packet, now)
        if done is packet:
            return done
        self.first = self.first or {}
        first = self.first.setdefault(session.number, done.MessagePropertiesHeader.EncryptionAlgorithm)
        return replace(done, MessagePropertiesHeader=replace(done.MessagePropertiesHeader, EncryptionAlgorithm=first))
