from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reference_qm.codec import MessageClass, TxSequenceID, guid_text
from reference_qm.core.part import Part
from reference_qm.core.protocol.messages import receive_bit, serialize_message
from reference_qm.core.queueing.persistent import queue_values
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import (
    Acceptance,
    IncomingTransactionalTransferInfo,
    MessageIDHistoryEntry,
    MessagePosition,
    OutgoingQueue,
    Queue,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import Effect, Persist

Change: TypeAlias = dict[str, object]

ORDINAL_BLOCK = 0x4000
"""Ordinals reserved at once, while half of the last ones are left: that many are skipped at most at a restart."""
_HALF_OF_ALL = 1 << 31
"""Ordinals begin again after 32 bits: one that is further away than this is ahead."""
SEQUENCE = (
    "TxMessageRejectCount",
    "OutgoingTxSequenceNumber",
    "IncomingTxSequenceNumber",
    "OutgoingTxSequenceID",
    "IncomingTxSequenceID",
)
"""Elements of a session (3.1.1.3.1) that MUST survive, besides its messages; the last two are TxSequenceID."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The meaning of a change that is on its way to disk. ``token``: the command that waits for it, None for none.

    ``repeat`` is the part of the change that is as true when it could not be written, and is tried again. ``sessions``:
    whose messages may be sent then.
    """

    change: Change
    repeat: Change
    token: int | None
    done: Callable[[], Result]
    undo: Callable[[], None]
    sessions: Sequence[Session] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """A wait for all records that were on their way at a time: ``tokens`` are those that are yet to be written."""

    tokens: set[int]
    reached: Callable[[Now], None]
    missed: Callable[[str, Now], None]


class Disk:
    """The disk, if there is one, and the changes on their way there."""

    def __init__(self, emit: Callable[[Effect], None], next_token: Callable[[], int]) -> None:
        self.used = False
        """Whether a store outlives the process; without one nothing is written and nothing is waited for."""
        self.reserved = 0
        """The last ordinal that is not used again after a restart."""
        self.reserved_sequential = 0
        """The last SequentialID that is not used again after a restart."""
        self.error = ""
        """The reason for which the disk last refused a change."""
        self.pending: dict[int, Commit] = {}
        self._emit = emit
        self._next_token = next_token
        self._repeat: Change = {}
        self._barriers: list[Barrier] = []

    def commit(
        self,
        change: Change,
        token: int | None,
        done: Callable[[], Result],
        undo: Callable[[], None],
        sessions: Sequence[Session] = (),
    ) -> Result | None:
        """Let a command be ``done`` when its change is on disk, at once when there is none; ``undo`` if it fails."""
        if not (self.used and change):
            return done()
        self._write(change, {}, token, done, undo, sessions)
        return None

    def save(self, change: Change) -> None:
        """Write a change that nobody waits for; one that fails is written with the next."""
        if self.used and change:
            self._write({}, change, None, Result, lambda: None, ())

    def when_saved(self, reached: Callable[[Now], None], missed: Callable[[str, Now], None], now: Now) -> None:
        """Let something happen when all that was saved till now is on disk; ``missed`` when some of it could not be.

        What could not be written before is tried again.
        """
        if self.used and self._repeat:
            self._write({}, {}, None, Result, lambda: None, ())
        if self.pending:
            self._barriers.append(Barrier(set(self.pending), reached, missed))
        else:
            reached(now)

    def pass_barriers(self, token: int, error: str | None, now: Now) -> None:
        """Report to those that waited for a record that it is on disk, or why it is not."""
        waiting, self._barriers = self._barriers, []
        for barrier in waiting:
            if token in barrier.tokens and error is not None:
                barrier.missed(error, now)
                continue
            barrier.tokens.discard(token)
            if barrier.tokens:
                self._barriers.append(barrier)
            else:
                barrier.reached(now)

    def reserve(self, ordinal: int) -> Change:
        """Return the change that makes an ordinal and those after it safe to use; empty when they are. Spec: 3.1.1.3.

        An ordinal may be old, of a message of a transaction that ends much later: what is reserved never goes back.
        """
        if ORDINAL_BLOCK // 2 <= (self.reserved - ordinal & 0xFFFFFFFF) < _HALF_OF_ALL:
            return {}
        return {"ordinal": ordinal + ORDINAL_BLOCK & 0xFFFFFFFF}

    def reserve_sequential(self, sequential_id: int) -> Change:
        """Return the change that makes a SequentialID and those after it safe to use. Spec: MS-MQDMPR 3.1.1.1.

        Whatever is written later, a message that has it for instance, is on disk only when this is.
        """
        if sequential_id <= self.reserved_sequential - ORDINAL_BLOCK // 2:
            return {}
        self.reserved_sequential = sequential_id + ORDINAL_BLOCK
        return {"sequential_id": self.reserved_sequential}

    def persisted(self, token: int) -> Commit | None:
        """Take note that a change is on disk; return what it means, None when it is not ours."""
        commit = self.pending.pop(token, None)
        if commit is not None and isinstance(reserved := commit.change.get("ordinal"), int):
            self.reserved = reserved
        return commit

    def failed(self, token: int, error: str) -> Commit | None:
        """Take note that a change is not on disk; what is still true of it is written with the next."""
        self.error = error
        commit = self.pending.pop(token, None)
        for name, value in commit.repeat.items() if commit is not None else ():
            newer = name in self._repeat or any(name in other.change for other in self.pending.values())
            if not newer:
                self._repeat[name] = value
        return commit

    def _write(
        self,
        change: Change,
        repeat: Change,
        token: int | None,
        done: Callable[[], Result],
        undo: Callable[[], None],
        sessions: Sequence[Session],
    ) -> None:
        repeat = self._repeat | repeat
        self._repeat = {}
        number = self._next_token()
        self.pending[number] = Commit(repeat | change, repeat, token, done, undo, sessions)
        self._emit(Persist(number, dict(self.pending[number].change)))


class Durability(Part):
    """The changes put on disk to survive the process. Spec: MS-MQQB 3.1.1.3.2, MS-MQDMPR 3.1.1.

    A record is a change of entries: names with their new values, None for one that is gone. It is on disk as a whole or
    not at all. Entries: ``message:key``, ``history:guid:ordinal``, ``queue:number``, ``outgoing:format name``,
    ``transfer:queue number:sender:format name``, ``ordinal``, ``last_private_queue_number``, ``last_sequence_time``,
    ``last_transaction``, ``sequential_id``, ``identifier``, ``hardened_security``,
    ``initialization_retry_s``, ``last_domain``,
    ``last_known``, ``directory_identifier``, ``transaction:guid`` (transactions.records).

    How far the transactional messages of a sender got is on disk twice: each message says which one it follows, and the
    transfer says how far all were on disk when it was written. Records may fail one by one, so that what counts after a
    crash is the unbroken chain of messages from there.
    """

    __slots__ = ()

    def sent(self, position: MessagePosition) -> Change:
        """Return what must be on disk before a new message is taken over; empty when nothing must."""
        if not self.qm.disk.used:
            return {}
        message = position.MessageReference
        change = self.qm.disk.reserve(message.Identifier.Ordinal)
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            position.key = self.qm.next_persist_token()
            change |= message_entry(position, serialize_message(message).build())
        if message.TransactionIdentifier is not None:
            change["last_transaction"] = self.qm.adm.last_transaction
            if isinstance(position.QueueReference, OutgoingQueue):
                change |= self.sequence_entry(position.QueueReference)
        return change

    def removed(self, positions: Iterable[MessagePosition], reason: MessageClass) -> Change:
        """Return the change that takes messages out of local queues.

        One whose sender is to learn of it stays on disk, with the reason, until the acknowledgment is there
        (``position_deleted``).
        """
        change: Change = {}
        if not self.qm.disk.used:
            return change
        for position in positions:
            if not position.key:
                continue
            change |= gone([position])
            if is_awaited(position, reason):
                change |= _noted(position, "removed", int(reason))
            message = position.MessageReference
            key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
            transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
            if transfer is not None:
                change |= transfer_entry(transfer)
        return change

    def queue_entry(self, queue: Queue) -> Change:
        """Return the entries of a queue that was created."""
        return {place(queue): queue_values(queue), "last_private_queue_number": self.qm.adm.last_private_queue_number}

    def sequence_entry(self, queue: OutgoingQueue) -> Change:
        """Return the entry of an outgoing queue: what MUST survive of its session. Spec: MS-MQQB 3.1.1.3.1."""
        session = queue.session
        values: dict[str, object] = {name: getattr(session, name) for name in SEQUENCE[:3]}
        for name in SEQUENCE[3:]:
            identifier = getattr(session, name)
            values[name] = [identifier.Ordinal, identifier.TimeStamp]
        return {place(queue): values, "last_sequence_time": self.qm.adm.last_sequence_time}


def message_entry(position: MessagePosition, packet: bytes, acceptance: Acceptance | None = None) -> Change:
    """Return the entry of a message: where it is, when it arrived (s UTC), its packet, its place in a sequence.

    ``lookup`` is its LookupIdentifier, 0 in an outgoing queue.
    """
    values: dict[str, object] = {
        "in": place(position.QueueReference),
        "lookup": position.LookupIdentifier,
        "arrived": position.MessageReference.ArrivalTime,
        "packet": base64.b64encode(packet).decode(),
    }
    security = position.MessageReference.security
    if security is not None and security.AuthenticationLevel:
        values["AuthenticationLevel"] = security.AuthenticationLevel  # no packet says it before it is received
    if position.order_queue is not None:
        values["order_queue"] = position.order_queue
    if position.MessageReference.ApplicationDeadletterQueue:
        values["dead_letter_queue"] = position.MessageReference.ApplicationDeadletterQueue
    if acceptance is not None:
        values["sequence"] = {
            "transfer": transfer_name(acceptance.transfer),
            "at": _place_in_sequence(acceptance.SequenceIdentifier, acceptance.SequenceNumber),
            "follows": _place_in_sequence(*acceptance.follows),
        }
    return {f"message:{position.key}": values}


def awaiting_final_ack(position: MessagePosition) -> Change:
    """Return the change of a message that arrived and is kept until its FinalAck comes. Spec: MS-MQQB 3.1.5.6."""
    return _noted(position, "awaits", "final ack")


def is_awaited(position: MessagePosition, reason: MessageClass) -> bool:
    """Return whether anybody is to learn that a message left its queue. Spec: MS-MQQB 3.1.7.2."""
    wanted = position.MessageReference.AcknowledgementsRequested & receive_bit(reason)
    return position.order_queue is not None or bool(wanted)


def _noted(position: MessagePosition, name: str, value: object) -> Change:
    return {key: {**values, name: value} for key, values in moved(position).items() if isinstance(values, dict)}


def transfer_entry(transfer: IncomingTransactionalTransferInfo) -> Change:
    """Return the entry of a sender's sequence: the last message on disk with all before it, and RejectCount."""
    place_ = _place_in_sequence(transfer.saved_identifier, transfer.saved_number)
    return {transfer_name(transfer): [*place_, transfer.RejectCount]}


def transfer_name(transfer: IncomingTransactionalTransferInfo) -> str:
    """Name the entry of a sender's sequence."""
    number = place(transfer.QueueReference).partition(":")[2]
    return f"transfer:{number}:{transfer.SenderIdentifier}:{transfer.FormatName}"


def transfers(queue: Queue) -> Iterable[IncomingTransactionalTransferInfo]:
    """Return the sequences of a queue."""
    return queue.IncomingTransactionalTransferInfoCollection.values()


def _place_in_sequence(identifier: TxSequenceID, number: int) -> list[int]:
    return [identifier.Ordinal, identifier.TimeStamp, number]


def gone(positions: Iterable[MessagePosition]) -> Change:
    """Return the change that removes messages; express ones are not on disk."""
    return {f"message:{position.key}": None for position in positions if position.key}


def moved(position: MessagePosition) -> Change:
    """Return the change that puts a message where it is now."""
    return message_entry(position, serialize_message(position.MessageReference).build()) if position.key else {}


def history_entry(entry: MessageIDHistoryEntry) -> Change:
    """Return the entry of a message received (s UTC)."""
    return {history_name(entry): entry.TimeStamp}


def history_name(entry: MessageIDHistoryEntry) -> str:
    """Name the entry of a message received."""
    identifier = entry.MessageIdentifier
    return f"history:{guid_text(identifier.QueueManagerGuid)}:{identifier.Ordinal}"


def place(queue: Queue) -> str:
    """Name a queue: by its number, which is never used again, by its destination, or as a system queue.

    A public queue has its Identifier instead of a number. A subqueue or journal has the number of its queue and its own
    name.
    """
    if isinstance(queue, OutgoingQueue):
        return f"outgoing:{queue.DestinationFormatName}"
    if queue.parent is not None:
        return f"{place(queue.parent)};{queue.Pathname.partition(';')[2]}"
    if queue.QueueType is QueueType.SYSTEM:
        return queue.Pathname
    return f"queue:{queue.Identifier if queue.PrivateQueueNumber is None else queue.PrivateQueueNumber}"
