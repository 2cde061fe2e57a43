from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any
from uuid import UUID

from reference_qm.codec import (
    NULL_GUID,
    FormatError,
    MessageClass,
    MessageIdentifier,
    TxSequenceID,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.core.errors import CommandError
from reference_qm.core.events import MessageLeftQueue
from reference_qm.core.names.destination_resolving import PLACEHOLDER_TIME
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing.message_positions import LOOKUP_ID_WITHOUT_PRIORITY_MASK
from reference_qm.core.store.entries import (
    TRANSACTIONAL_SEQUENCE_ELEMENTS,
    build_removal_change,
    format_queue_name_of_entry,
)
from reference_qm.core.store.messages import deserialize_message
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    MessageIDHistoryEntry,
    MessagePosition,
    OutgoingMessagePosition,
    OutgoingQueue,
    Queue,
    TransactionSequencePosition,
)
from reference_qm.model.states import MessagePositionState


class RestoreError(Exception):
    """Raised when the content of the store cannot be used. The message has one line and names the entry."""


class StateRestoring(QueueManagerPart):
    """Rebuilds the abstract data model from the store. Spec: MS-MQQB 3.1.1.3.2."""

    __slots__ = ()

    def restore(self, entries: Mapping[str, object]) -> None:
        """Restore the state of the queue manager from the entries of the store. Then save the entries that the store
        does not contain yet.

        An entry of an unknown kind causes an error, because a message could be lost if the entry was ignored.
        """
        self.qm.adm.QueueCollection.clear()
        self.qm.adm.last_private_queue_number = 0
        by_kind: dict[str, dict[str, Any]] = {kind: {} for kind in _RESTORER_BY_ENTRY_KIND}
        for name, value in entries.items():
            kind, _, key_suffix = name.partition(":")
            if kind not in by_kind:
                raise RestoreError(
                    f"entry {name!a} is of an unknown kind: use the version of mqconform that wrote the store"
                )
            by_kind[kind][key_suffix] = value
        for kind, restore_one in _RESTORER_BY_ENTRY_KIND.items():
            placed: list[tuple[int, str, Any]] = []
            name = kind
            try:
                for key_suffix, value in by_kind[kind].items():
                    name = f"{kind}:{key_suffix}"
                    placed.append(
                        (_SORT_KEY_BY_ENTRY_KIND[kind](key_suffix, value), key_suffix, value)
                        if kind in _SORT_KEY_BY_ENTRY_KIND
                        else (0, key_suffix, value)
                    )
                for _, key_suffix, value in sorted(placed, key=itemgetter(0)):
                    name = f"{kind}:{key_suffix}"
                    restore_one(self)(key_suffix, value)
            except (LookupError, TypeError, ValueError, AttributeError, FormatError, CommandError) as error:
                raise RestoreError(f"entry {name} is unusable: {error!r}") from error
        self.qm.disk.used = True
        if "identifier" not in entries:
            self.qm.disk.save({"identifier": str(self.qm.adm.Identifier)})
        self.qm.disk.save(
            self.qm.disk.build_ordinal_reservation(self.qm.adm.MessageIdOrdinal + 1)
            | self.qm.disk.build_sequential_id_reservation(self.qm.adm.SequentialID + 1)
        )
        self.repair_queue_numbers()
        self._configure_queues()
        self._remove_orphaned_messages(by_kind["message"])
        self._advance_sequences(by_kind["message"])

    def repair_queue_numbers(self) -> None:
        """Repair the counter of private queue numbers: if it is below the highest number of an existing queue, set it
        to that number.

        Spec: MS-MQSO 5.5.5.
        """
        numbers = (one.PrivateQueueNumber or 0 for one in self.qm.adm.QueueCollection.values())
        highest = max(numbers, default=0)
        if self.qm.adm.last_private_queue_number < highest:
            self.qm.adm.last_private_queue_number = highest
            self.qm.disk.save({"last_private_queue_number": highest})

    def _configure_queues(self) -> None:
        """Create the configured private queues that are not in the store. Public queues are created later, when the
        directory can be read.
        """
        for configured in self.qm.config.queues:
            queue = self.qm.adm.QueueCollection.get(configured.name.lower())
            if queue is None and not configured.is_private:
                continue
            if queue is None:
                queue = self.qm.surviving_queues.create_configured_queue(configured)
                self.qm.disk.save(self.qm.durable_records.build_queue_entry(queue))
            elif queue.Transactional is not configured.transactional:
                here = f"queue {queue.Pathname} exists with transactional = {queue.Transactional}"
                raise RestoreError(
                    f"{here}, but the configuration sets {configured.transactional}: correct the setting"
                )
            else:
                for name, value in configured.attributes().items():
                    setattr(queue, name, value)

    def _remove_orphaned_messages(self, messages: dict[str, Any]) -> None:
        """Remove stored messages whose queue no longer exists. They arrived while their queue was being deleted."""
        places = {format_queue_name_of_entry(queue) for queue in self.qm.queue_names.list_every_queue()}
        lost = (
            key
            for key, value in messages.items()
            if value["in"].startswith("queue:") and value["in"] not in places and "removed" not in value
        )
        self.qm.disk.save({f"message:{key}": None for key in lost})

    def _advance_sequences(self, messages: dict[str, Any]) -> None:
        """Restore each sender's sequence of messages up to the first missing message, and remove the messages that
        follow this gap.

        Messages after a gap were never acknowledged, so the sender repeats them. If two messages have the same
        number, the older message was withdrawn.
        """
        newest: dict[str, dict[TransactionSequencePosition, str]] = defaultdict(dict)
        sequences = {key: messages[key]["sequence"] for key in sorted(messages, key=int) if "sequence" in messages[key]}
        for key, sequence in sequences.items():
            newest[sequence["transfer"]][_parse_sequence_position(sequence["at"])] = key
        kept: set[int] = set()
        for name, places in newest.items():
            transfer = self._find_incoming_transfer(name)
            if transfer is None:
                continue
            kept |= {int(key) for at, key in places.items() if _has_transfer_reached_sequence_position(transfer, at)}
            next_places = {_parse_sequence_position(sequences[key]["follows"]): (at, key) for at, key in places.items()}
            while (one := next_places.pop((transfer.SequenceIdentifier, transfer.SequenceNumber), None)) is not None:
                (transfer.SequenceIdentifier, transfer.SequenceNumber), key = one
                transfer.saved_sequence_identifier, transfer.saved_sequence_number = (
                    transfer.SequenceIdentifier,
                    transfer.SequenceNumber,
                )
                kept.add(int(key))
        lost = {int(key) for key in sequences} - kept
        for queue in self.qm.adm.QueueCollection.values():
            for position in queue.MessagePositionList:
                if position.key in lost:
                    queue.MessagePositionList.remove(position)
                    self.qm.disk.save(build_removal_change([position]))

    def _restore_identifier(self, key_suffix: str, value: Any) -> None:
        if UUID(value) != self.qm.adm.Identifier:
            raise RestoreError(f"the entries are messages of queue manager {value}, not of {self.qm.adm.Identifier}")

    def _restore_directory_identifier(self, key_suffix: str, value: Any) -> None:
        self.qm.domain_membership.adopt_directory_identifier(UUID(value))

    def _restore_known_attributes(self, key_suffix: str, value: Any) -> None:
        self.qm.domain_membership.restore_known_attributes(value)

    def _restore_last_domain(self, key_suffix: str, value: Any) -> None:
        self.qm.adm.LastDomain = UUID(value)

    def _restore_initialization_retry(self, key_suffix: str, value: Any) -> None:
        self.qm.adm.InitializationRetryTimerDuration = _require_u64(value)

    def _restore_hardened_security(self, key_suffix: str, value: Any) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"{value!a} is neither true nor false")
        self.qm.adm.HardenedSecurity = self.qm.hardened_after_restart = value

    def _restore_last_private_queue_number(self, key_suffix: str, value: Any) -> None:
        self.qm.adm.last_private_queue_number = _require_u64(value)

    def _restore_last_sequence_time(self, key_suffix: str, value: Any) -> None:
        self.qm.adm.last_sequence_time = _require_u64(value)

    def _restore_last_transaction(self, key_suffix: str, value: Any) -> None:
        self.qm.adm.last_transaction_number = _require_u64(value)

    def _restore_sequential_id(self, key_suffix: str, value: Any) -> None:
        self.qm.adm.SequentialID = self.qm.disk.reserved_sequential = _require_u64(value)

    def _restore_ordinal(self, key_suffix: str, value: Any) -> None:
        self.qm.adm.MessageIdOrdinal = self.qm.disk.reserved = _require_u64(value)

    def _restore_outgoing_queue(self, key_suffix: str, value: Any) -> None:
        session = self.qm.destination_resolving.open_outgoing_queue(key_suffix, PLACEHOLDER_TIME).session
        for name in TRANSACTIONAL_SEQUENCE_ELEMENTS[:3]:
            setattr(session, name, _require_u64(value[name]))
        for name in TRANSACTIONAL_SEQUENCE_ELEMENTS[3:]:
            ordinal, time_stamp = value[name]
            setattr(session, name, TxSequenceID(Ordinal=_require_u64(ordinal), TimeStamp=_require_u64(time_stamp)))

    def _restore_incoming_sequence(self, key_suffix: str, value: Any) -> None:
        transfer = self._find_incoming_transfer(f"transfer:{key_suffix}")
        if transfer is not None:
            *where, rejected = value
            identifier, number = _parse_sequence_position(where)
            transfer.RejectCount = _require_u64(rejected)
            transfer.SequenceIdentifier = transfer.saved_sequence_identifier = identifier
            transfer.SequenceNumber = transfer.saved_sequence_number = number

    def _find_incoming_transfer(self, name: str) -> IncomingTransactionalTransferInfo | None:
        """Find or create the sequence that an entry describes; return None if the queue of the sequence was
        deleted.
        """
        kind, number, sender, format_name = name.split(":", 3)
        queue = self.qm.destination_resolving.find_queue_of_saved_message(f"queue:{number}")
        if kind != "transfer" or queue is None:
            return None
        key = (UUID(sender), format_name.lower())
        new = IncomingTransactionalTransferInfo(queue, format_name, key[0])
        return queue.IncomingTransactionalTransferInfoCollection.setdefault(key, new)

    def _restore_message_id_history_entry(self, key_suffix: str, value: Any) -> None:
        guid, _, ordinal = key_suffix.partition(":")
        identifier = MessageIdentifier(UUID(guid), int(ordinal))
        self.qm.adm.MessageIDHistoryTable.insert(MessageIDHistoryEntry(identifier, _require_u64(value)))

    def _restore_message(self, key_suffix: str, value: Any) -> None:
        packet = parse_packet(base64.b64decode(value["packet"], validate=True))
        if not isinstance(packet, UserMessagePacket):
            raise TypeError("the packet is not a UserMessage Packet")
        key = int(key_suffix)
        self.qm.skip_persist_tokens(key)
        removed = value.get("removed")
        queue = (
            Queue(Pathname=value["in"])
            if removed is not None
            else self.qm.destination_resolving.find_queue_of_saved_message(value["in"])
        )
        if queue is None:
            return
        receiver = packet.UserHeader.QueueManagerAddress
        receiver = self.qm.adm.Identifier if receiver == NULL_GUID else receiver
        message = deserialize_message(packet, receiver, _require_u64(value["arrived"]))
        if message.security is not None:
            level = _require_u64(value.get("AuthenticationLevel", 0))
            message = replace(message, security=replace(message.security, AuthenticationLevel=level))
        if "dead_letter_queue" in value:
            message = replace(message, ApplicationDeadletterQueue=str(value["dead_letter_queue"]))
        order_queue = value.get("order_queue")
        state = MessagePositionState.PURGE_PENDING if value.get("purged") else MessagePositionState.AVAILABLE
        position = MessagePosition(message, queue, state, order_queue=order_queue, key=key)
        if removed is not None:
            position.State = MessagePositionState.DELETED
            self.qm.post_event(MessageLeftQueue(position, MessageClass(removed)))
        elif isinstance(queue, OutgoingQueue):
            number = (
                message.TransactionSequenceNumber if self.qm.message_sending.is_from_this_queue_manager(packet) else 0
            )
            outgoing = OutgoingMessagePosition(position, packet, TxSequenceNumber=number)
            if "awaits" in value:
                queue.session.AwaitingFinalACKTable[packet.UserHeader.MessageID] = outgoing
            else:
                queue.session.OutgoingMessageTable.add(outgoing)
        else:
            self._insert_message(position, _require_u64(value.get("lookup", 0)))

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        """Insert a restored message into its queue with its LookupIdentifier.

        A message without a LookupIdentifier gets the next LookupIdentifier.
        """
        if lookup_identifier:
            position.LookupIdentifier = lookup_identifier
            self.qm.adm.SequentialID = max(
                self.qm.adm.SequentialID, lookup_identifier & LOOKUP_ID_WITHOUT_PRIORITY_MASK
            )
        else:
            position.LookupIdentifier = self.qm.message_positions.assign_lookup_identifier(position.MessageReference)
        position.QueueReference.MessagePositionList.insert(position)


def _has_transfer_reached_sequence_position(
    transfer: IncomingTransactionalTransferInfo, at: TransactionSequencePosition
) -> bool:
    identifier, number = at
    return (int(identifier), number) <= (int(transfer.SequenceIdentifier), transfer.SequenceNumber)


def _parse_sequence_position(value: Any) -> TransactionSequencePosition:
    ordinal, time_stamp, number = map(_require_u64, value)
    return TxSequenceID(Ordinal=ordinal, TimeStamp=time_stamp), number


def _require_u64(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 0xFFFFFFFFFFFFFFFF:
        raise ValueError(f"{value!a} is not a number")
    return value


def _get_message_sort_key(key_suffix: str, value: Any) -> int:
    return int(key_suffix)


def _get_queue_sort_key(key_suffix: str, value: Any) -> int:
    """Return the sort key of a queue. The key contains the number or the Identifier of the queue, and sorts a queue
    before its subqueues.
    """
    number, subqueue, _ = key_suffix.partition(";")
    return 2 * (int(number) if number.isdigit() else UUID(number).int) + bool(subqueue)


def _get_message_id_history_sort_key(key_suffix: str, value: Any) -> int:
    return _require_u64(value)


_RESTORER_BY_ENTRY_KIND: Mapping[str, Callable[[StateRestoring], Callable[[str, Any], None]]] = {
    "identifier": lambda part: part._restore_identifier,
    "directory_identifier": lambda part: part._restore_directory_identifier,
    "last_known": lambda part: part._restore_known_attributes,
    "last_domain": lambda part: part._restore_last_domain,
    "initialization_retry_s": lambda part: part._restore_initialization_retry,
    "hardened_security": lambda part: part._restore_hardened_security,
    "last_private_queue_number": lambda part: part._restore_last_private_queue_number,
    "last_sequence_time": lambda part: part._restore_last_sequence_time,
    "last_transaction": lambda part: part._restore_last_transaction,
    "ordinal": lambda part: part._restore_ordinal,
    "sequential_id": lambda part: part._restore_sequential_id,
    "queue": lambda part: part.qm.surviving_queues.restore,
    "outgoing": lambda part: part._restore_outgoing_queue,
    "transfer": lambda part: part._restore_incoming_sequence,
    "history": lambda part: part._restore_message_id_history_entry,
    "message": lambda part: part._restore_message,
    "transaction": lambda part: part.qm.transaction_records.restore_transaction,
}
"""The method that restores each kind of entry, in the order in which the kinds are restored."""


_SORT_KEY_BY_ENTRY_KIND: dict[str, Callable[[str, Any], int]] = {
    "queue": _get_queue_sort_key,
    "message": _get_message_sort_key,
    "history": _get_message_id_history_sort_key,
}
"""The functions that return the sort keys of entries. Messages are sorted by their arrival, and the history is
sorted by time.
"""
