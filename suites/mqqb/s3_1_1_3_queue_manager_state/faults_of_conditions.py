"""Faults of MS-MQQB 3.1.1.3 Queue Manager State that depend on the queue, the kind or the order of messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import Install, add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.surface.clock import Now

_TIMEOUT_INCREASE_S = 7


class _CacheRefusingThirdEntry(AnyTimedCache):
    """A cache that stores no further entries when it contains two entries."""

    def add(self, entry: Any) -> None:
        if len(self.entries) < 2:
            super().add(entry)


class _CacheWithDuplicateEntries(AnyTimedCache):
    """A cache that stores every entry after the first one twice."""

    def add(self, entry: Any) -> None:
        if self.entries:
            super().add(entry)
        super().add(entry)


class _CacheKeepingKeysOfOneAlgorithm(AnyTimedCache):
    """A cache that loses its other entries when an entry with a different algorithm is added."""

    def add(self, entry: Any) -> None:
        self.entries = [one for one in self.entries if one.CryptoAlgorithm == entry.CryptoAlgorithm]
        super().add(entry)


def _remove_new_cache_entries(cache: str, when: Callable[[Any], bool]) -> Callable[..., Any]:
    """Return a step that removes the entries that a selected message has added to a cache."""

    def run(self: Any, original: Any, *arguments: Any) -> Any:
        entries = getattr(self.qm.caches, cache).entries
        before = list(entries)
        result = original(*arguments)
        packet = next(one for one in arguments if hasattr(one, "UserHeader"))
        if when(packet):
            entries[:] = before
        return result

    return run


def _encrypt_with_first_value_of_setting(name: str) -> Callable[..., Any]:
    """Return a step that uses the value that a setting had when the first message was encrypted."""

    def run(self: Any, original: Any, *arguments: Any) -> Any:
        caches = self.qm.caches
        now = caches.settings
        first = self.__dict__.setdefault("first", getattr(now, name))
        caches.settings = replace(now, **{name: first})
        try:
            return original(*arguments)
        finally:
            caches.settings = now

    return run


def _replace_setting_for_messages(name: str, value: Any, when: Callable[[Any], bool]) -> Callable[..., Any]:
    def run(self: Any, original: Any, *arguments: Any) -> Any:
        caches = self.qm.caches
        now = caches.settings
        packet = next(one for one in arguments if hasattr(one, "UserHeader"))
        if when(packet):
            caches.settings = replace(now, **{name: value})
        try:
            return original(*arguments)
        finally:
            caches.settings = now

    return run


def _is_recoverable(packet: Any) -> bool:
    return bool(packet.UserHeader.DM)


def _is_express(packet: Any) -> bool:
    return not packet.UserHeader.DM


def _skip_message_id_ordinal_after_own_message(self: Any, original: Any, message: Any, now: Any) -> None:
    original(message, now)
    self.qm.adm.MessageIdOrdinal += 1


def _skip_every_third_message_id_ordinal(self: Any, original: Any) -> int:
    assigned: int = original()
    if assigned % 3 == 0:
        self.qm.adm.MessageIdOrdinal += 1
        return assigned + 1
    return assigned


def _reset_message_id_ordinal_without_messages(qm: QueueManager) -> None:
    if not any(len(queue.session.OutgoingMessageTable) for queue in qm.adm.OutgoingQueues.values()):
        qm.adm.MessageIdOrdinal = 0


def _make_step_increasing_timeout(name: str) -> Callable[[QueueManager], None]:
    return lambda qm: setattr(qm.adm, name, _TIMEOUT_INCREASE_S + getattr(qm.adm, name))


def _keep_only_last_history_entry(qm: QueueManager) -> None:
    table = qm.adm.MessageIDHistoryTable
    for entry in list(table)[:-1]:
        table.remove(entry)


def _remove_last_history_entry(qm: QueueManager) -> None:
    table = qm.adm.MessageIDHistoryTable
    for entry in list(table)[-1:]:
        table.remove(entry)


def _keep_only_history_of_first_sender(qm: QueueManager) -> None:
    table = qm.adm.MessageIDHistoryTable
    entries = list(table)
    for entry in entries:
        if entry.MessageIdentifier.QueueManagerGuid != entries[0].MessageIdentifier.QueueManagerGuid:
            table.remove(entry)


def _list_queues_with_messages(qm: QueueManager) -> list[Any]:
    return [queue for queue in qm.adm.OutgoingQueues.values() if len(queue.session.OutgoingMessageTable)]


def _remove_outgoing_messages(choose: Callable[[list[Any]], list[Any]]) -> Callable[[QueueManager], None]:
    """Return a change that deletes messages of outgoing queues; ``choose`` gets the positions of a queue."""

    def change(qm: QueueManager) -> None:
        for queue in _list_queues_with_messages(qm):
            table = queue.session.OutgoingMessageTable
            for position in choose(list(table)):
                table.remove(position)

    return change


def _remove_messages_of_later_queues(qm: QueueManager) -> None:
    for queue in _list_queues_with_messages(qm)[1:]:
        table = queue.session.OutgoingMessageTable
        for position in list(table):
            table.remove(position)


def _reverse_outgoing_messages(qm: QueueManager) -> None:
    for queue in _list_queues_with_messages(qm):
        table = queue.session.OutgoingMessageTable
        positions = list(table)
        for position in positions:
            table.remove(position)
        for position in reversed(positions):
            table.add(position)


def _reset_sequence_numbers_of_queues(when: Callable[[int], bool]) -> Callable[[QueueManager], None]:
    def change(qm: QueueManager) -> None:
        for place, queue in enumerate(qm.adm.OutgoingQueues.values()):
            if when(place):
                queue.session.OutgoingTxSequenceNumber = 1

    return change


def _clear_outgoing_labels(qm: QueueManager) -> None:
    for queue in _list_queues_with_messages(qm):
        for position in queue.session.OutgoingMessageTable:
            place = position.MessagePosition
            place.MessageReference = replace(place.MessageReference, Label="")
            properties = replace(position.UserMessage.MessagePropertiesHeader, Label="")
            base = replace(position.UserMessage.BaseHeader, PacketSize=0)
            position.UserMessage = replace(position.UserMessage, BaseHeader=base, MessagePropertiesHeader=properties)


_CACHES_WITH_RULES: tuple[tuple[str, str, str], ...] = (
    ("ReceiveSymmetricKeyCache", "MQQB-3.1.1.3-06", "MQQB-3.1.1.3-07"),
    ("SendSymmetricKeyCache", "MQQB-3.1.1.3-10", "MQQB-3.1.1.3-11"),
)
_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"queue-manager-{cache.lower()}-{label}",
            rules[place],
            f"{cache} {words}.",
            replace_cache(cache, cls),
        )
        for cache, *rules in _CACHES_WITH_RULES
        for label, words, place, cls in (
            ("stores-two-keys", "stores no further entry when it has two entries", 1, _CacheRefusingThirdEntry),
            ("stores-later-keys-twice", "stores the second and each later entry twice", 0, _CacheWithDuplicateEntries),
            (
                "of-one-algorithm",
                "loses its other entries when an entry with a different algorithm is added",
                1,
                _CacheKeepingKeysOfOneAlgorithm,
            ),
        )
    ),
    (
        "queue-manager-usercertcache-stores-later-certificates-twice",
        "MQQB-3.1.1.3-02",
        "UserCertCache stores the second and each later certificate twice.",
        replace_cache("UserCertCache", _CacheWithDuplicateEntries),
    ),
    *(
        (
            f"acceptor-key-of-{label}-message-not-cached",
            "MQQB-3.1.1.3-07",
            f"The acceptor does not keep the symmetric key of {words} message.",
            change_step(SecurityOnReceipt.decrypt_body, _remove_new_cache_entries("ReceiveSymmetricKeyCache", when)),
        )
        for label, words, when in (("recoverable", "a recoverable", _is_recoverable),)
    ),
    *(
        (
            f"initiator-key-of-{label}-message-not-cached",
            "MQQB-3.1.1.3-11",
            f"The initiator does not keep the symmetric key of {words} message.",
            change_step(MessageSecuring.encrypt_body, _remove_new_cache_entries("SendSymmetricKeyCache", when)),
        )
        for label, words, when in (("recoverable", "a recoverable", _is_recoverable),)
    ),
    *(
        (
            f"sender-{label}-of-first-message-kept",
            rule,
            f"The sender uses the value of {name} at its first message for all later messages.",
            change_step(MessageSecuring.encrypt_body, _encrypt_with_first_value_of_setting(name)),
        )
        for label, name, rule in (
            ("advanced-algorithm", "PreferredAdvancedAlgorithm", "MQQB-3.1.1.3-16"),
            ("rc2-key-length", "SendEnhancedRC2Using40BitKeys", "MQQB-3.1.1.3-18"),
        )
    ),
    *(
        (
            f"sender-{label}-of-recoverable-message-ignored",
            rule,
            f"The sender does not use {name} for a recoverable message.",
            change_step(MessageSecuring.encrypt_body, _replace_setting_for_messages(name, value, _is_recoverable)),
        )
        for label, name, value, rule in (
            ("advanced-algorithm", "PreferredAdvancedAlgorithm", 0x6610, "MQQB-3.1.1.3-16"),
            ("rc2-key-length", "SendEnhancedRC2Using40BitKeys", False, "MQQB-3.1.1.3-18"),
        )
    ),
    (
        "receiver-40-bit-key-of-recoverable-message-accepted",
        "MQQB-3.1.1.3-19",
        "The receiver ignores RejectEnhancedRC2Using40BitKeys for a recoverable message.",
        change_step(
            SecurityOnReceipt.decrypt_body,
            _replace_setting_for_messages("RejectEnhancedRC2Using40BitKeys", False, _is_recoverable),
        ),
    ),
    (
        "receiver-40-bit-key-of-express-message-accepted",
        "MQQB-3.1.1.3-19",
        "The receiver ignores RejectEnhancedRC2Using40BitKeys for an express message.",
        change_step(
            SecurityOnReceipt.decrypt_body,
            _replace_setting_for_messages("RejectEnhancedRC2Using40BitKeys", False, _is_express),
        ),
    ),
    *(
        (
            f"receiver-history-{label}-after-restart",
            "MQQB-3.1.1.3-22",
            f"After a restart, {words}.",
            change_core_at_restart(change),
        )
        for label, words, change in (
            ("of-one-message", "MessageIDHistoryTable contains only the last message", _keep_only_last_history_entry),
            (
                "without-last-message",
                "MessageIDHistoryTable does not contain the last message",
                _remove_last_history_entry,
            ),
            (
                "of-one-sender",
                "MessageIDHistoryTable contains only the messages of one sender",
                _keep_only_history_of_first_sender,
            ),
        )
    ),
    (
        "sender-message-id-skipped-after-own-message",
        "MQQB-3.1.1.3-24",
        "The sender skips a MessageID after each message that it created itself.",
        change_step(OwnMessageSending.send, _skip_message_id_ordinal_after_own_message),
    ),
    (
        "sender-every-third-message-id-skipped",
        "MQQB-3.1.1.3-24",
        "The sender skips each MessageID that is a multiple of 3.",
        change_step(MessageNumbering.assign_message_ordinal, _skip_every_third_message_id_ordinal),
    ),
    (
        "sender-message-ids-begin-again-without-waiting-messages",
        "MQQB-3.1.1.3-25",
        "The sender begins with MessageID 1 after a restart if no message waits in an outgoing queue.",
        change_core_at_restart(_reset_message_id_ordinal_without_messages),
    ),
    *(
        (
            f"sender-{name.lower()}-longer-after-restart",
            rule,
            f"The sender adds seven seconds to {name} at a restart.",
            change_core_at_restart(_make_step_increasing_timeout(name)),
        )
        for name, rule in (
            ("ResendTimeoutsShort", "MQQB-3.1.1.3-28"),
            ("ResendTimeoutsMedium", "MQQB-3.1.1.3-29"),
            ("ResendTimeoutsLong", "MQQB-3.1.1.3-30"),
            ("ResendTimeoutsFinal", "MQQB-3.1.1.3-31"),
        )
    ),
    *(
        (
            f"sender-{label}-lost-at-restart",
            "MQQB-3.1.1.3.2-01",
            f"The sender loses {words} at a restart.",
            change_core_at_restart(change),
        )
        for label, words, change in (
            (
                "messages-of-second-queue",
                "the messages of all outgoing queues except one",
                _remove_messages_of_later_queues,
            ),
            (
                "last-waiting-message",
                "the last of several messages in an outgoing queue",
                _remove_outgoing_messages(lambda positions: positions[1:][-1:]),
            ),
            (
                "recoverable-messages-without-transaction",
                "the recoverable messages that are not transactional",
                _remove_outgoing_messages(lambda positions: [one for one in positions if not one.TxSequenceNumber]),
            ),
            (
                "transactional-messages",
                "the transactional messages",
                _remove_outgoing_messages(lambda positions: [one for one in positions if one.TxSequenceNumber]),
            ),
            (
                "large-waiting-messages",
                "the messages with a body of more than 4 KB",
                _remove_outgoing_messages(
                    lambda positions: [
                        one for one in positions if len(one.UserMessage.MessagePropertiesHeader.MessageBody) > 4096
                    ]
                ),
            ),
        )
    ),
    *(
        (
            f"sender-{label}-after-restart",
            "MQQB-3.1.1.3.2-02",
            f"After a restart, the sender {words}.",
            change_core_at_restart(change),
        )
        for label, words, change in (
            (
                "waiting-messages-reversed",
                "sends the messages of an outgoing queue in reverse order",
                _reverse_outgoing_messages,
            ),
            (
                "waiting-messages-without-label",
                "sends the messages of its outgoing queues without labels",
                _clear_outgoing_labels,
            ),
            (
                "numbers-of-second-queue-from-1",
                "numbers new transactional messages from 1 in each queue except the first",
                _reset_sequence_numbers_of_queues(lambda place: place > 0),
            ),
            (
                "numbers-of-first-queue-from-1",
                "numbers new transactional messages from 1 in the first queue",
                _reset_sequence_numbers_of_queues(lambda place: place == 0),
            ),
        )
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)


@fault("receiver-cached-user-cert-lifetime-extended-by-use", breaks="MQQB-3.1.1.3-05", blind=True)
class ReceiverCachedUserCertLifetimeExtendedByUse(SecurityOnReceipt):
    """Whenever a signed message uses a CachedUserCert, the receiver restarts the UserCertLifetime of this entry."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        super().verify_sender(packet, now)
        if packet.SecurityHeader is not None and packet.SecurityHeader.AS:
            data = packet.SecurityHeader.SecurityData
            entries = self.qm.caches.UserCertCache.entries
            for place, entry in enumerate(entries):
                if (entry.UserCert.Certificate, entry.SecurityID) == (data.SenderCert, data.SecurityID):
                    entries[place] = replace(entry, CachedTime=now.utc_s)
