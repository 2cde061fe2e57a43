"""What is put on disk to survive the process. Spec: MS-MQQB 3.1.1.3.2, MS-MQDMPR 3.1.1.

A record is a change of entries: names with their new values, None for one that is gone. It is on disk as a whole or
not at all. Entries: ``message:key``, ``history:guid:ordinal``, ``queue:number``, ``outgoing:format name``,
``ordinal``, ``last_private_queue_number``, ``identifier``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from reference_qm.adm import OutgoingQueue
from reference_qm.commands import Result
from reference_qm.effects import Effect, Persist
from reference_qm.protocol.messages import serialize_message
from reference_qm.states import DeliveryGuarantee

if TYPE_CHECKING:
    from reference_qm.adm import MessageIDHistoryEntry, MessagePosition, Queue, Session
    from reference_qm.core import QueueManager

Change: TypeAlias = dict[str, object]

ORDINAL_BLOCK = 0x4000
"""Ordinals reserved at once: that many are skipped at most when the process ends."""
SEQUENCE = (
    "TxMessageRejectCount",
    "OutgoingTxSequenceNumber",
    "IncomingTxSequenceNumber",
    "OutgoingTxSequenceID",
    "IncomingTxSequenceID",
)
"""What MUST survive of a session (3.1.1.3.1) besides its messages; the last two are TxSequenceID."""


@dataclass(frozen=True, slots=True)
class Commit:
    """What a change that is on its way to disk means. ``token``: the command that waits for it, None for none.

    ``repeat`` is the part of the change that is as true when it could not be written, and is tried again. ``session``:
    whose messages may be sent then.
    """

    change: Change
    repeat: Change
    token: int | None
    done: Callable[[], Result]
    undo: Callable[[], None]
    session: Session | None = None


class Disk:
    """Sends changes to the disk, if there is one, and knows what is on its way there."""

    def __init__(self, emit: Callable[[Effect], None], next_token: Callable[[], int]) -> None:
        self.used = False
        """Is there a store that outlives the process? If not, nothing is written and nothing is waited for."""
        self.reserved = 0
        """The last ordinal that is not used again after a restart."""
        self.pending: dict[int, Commit] = {}
        self._emit = emit
        self._next_token = next_token
        self._repeat: Change = {}

    def commit(
        self,
        change: Change,
        token: int,
        done: Callable[[], Result],
        undo: Callable[[], None],
        session: Session | None = None,
    ) -> Result | None:
        """Let a command be ``done`` when its change is on disk, at once when there is none; ``undo`` if it fails."""
        if not (self.used and change):
            return done()
        self._write(change, {}, token, done, undo, session)
        return None

    def save(self, change: Change) -> None:
        """Write a change that nobody waits for; one that fails is written with the next."""
        if self.used and change:
            self._write({}, change, None, Result, lambda: None, None)

    def reserve(self, ordinal: int) -> Change:
        """Give the change that makes an ordinal safe to use; empty when it is. Spec: MS-MQQB 3.1.1.3."""
        if (self.reserved - ordinal & 0xFFFFFFFF) < 2 * ORDINAL_BLOCK:
            return {}
        return {"ordinal": ordinal + ORDINAL_BLOCK & 0xFFFFFFFF}

    def persisted(self, token: int) -> Commit | None:
        """Take note that a change is on disk; return what it means, None when it is not ours."""
        commit = self.pending.pop(token, None)
        if commit is not None and isinstance(reserved := commit.change.get("ordinal"), int):
            self.reserved = reserved
        return commit

    def failed(self, token: int) -> Commit | None:
        """Take note that a change is not on disk; what is still true of it is written with the next."""
        commit = self.pending.pop(token, None)
        for name, value in commit.repeat.items() if commit is not None else ():
            newer = name in self._repeat or any(name in other.change for other in self.pending.values())
            if not newer:
                self._repeat[name] = value
        return commit

    def settle(self) -> None:
        """Take all that is on its way as written, and nobody as waiting for it: the queue manager restarts."""
        pending, self.pending = self.pending, {}
        for commit in pending.values():
            commit.done()

    def _write(
        self,
        change: Change,
        repeat: Change,
        token: int | None,
        done: Callable[[], Result],
        undo: Callable[[], None],
        session: Session | None,
    ) -> None:
        repeat = self._repeat | repeat
        self._repeat = {}
        number = self._next_token()
        self.pending[number] = Commit(repeat | change, repeat, token, done, undo, session)
        self._emit(Persist(number, dict(self.pending[number].change)))


def sent(qm: QueueManager, position: MessagePosition) -> Change:
    """Give what must be on disk before a message of an application is taken over; empty when nothing must."""
    if not qm.disk.used:
        return {}
    message = position.MessageReference
    change = qm.disk.reserve(message.Identifier.Ordinal)
    if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
        position.key = qm.next_persist_token()
        change |= message_entry(position, serialize_message(message).build())
    return change


def message_entry(position: MessagePosition, packet: bytes) -> Change:
    """Give the entry of a message: where it is, when it arrived (s UTC), its packet."""
    return {
        f"message:{position.key}": {
            "in": place(position.QueueReference),
            "arrived": position.MessageReference.ArrivalTime,
            "packet": base64.b64encode(packet).decode(),
        }
    }


def gone(positions: Iterable[MessagePosition]) -> Change:
    """Give the change that removes messages; express ones are not on disk."""
    return {f"message:{position.key}": None for position in positions if position.key}


def moved(position: MessagePosition) -> Change:
    """Give the change that puts a message where it is now."""
    return message_entry(position, serialize_message(position.MessageReference).build()) if position.key else {}


def queue_entry(qm: QueueManager, queue: Queue) -> Change:
    """Give the entries of a queue that was created."""
    values = {"Pathname": queue.Pathname, "Transactional": queue.Transactional, "BasePriority": queue.BasePriority}
    return {place(queue): values, "last_private_queue_number": qm.adm.last_private_queue_number}


def sequence_entry(queue: OutgoingQueue) -> Change:
    """Give the entry of an outgoing queue: what MUST survive of its session. Spec: MS-MQQB 3.1.1.3.1."""
    session = queue.session
    values: dict[str, object] = {name: getattr(session, name) for name in SEQUENCE[:3]}
    for name in SEQUENCE[3:]:
        identifier = getattr(session, name)
        values[name] = [identifier.Ordinal, identifier.TimeStamp]
    return {place(queue): values}


def history_entry(entry: MessageIDHistoryEntry) -> Change:
    """Give the entry of a message received (s UTC)."""
    return {history_name(entry): entry.TimeStamp}


def history_name(entry: MessageIDHistoryEntry) -> str:
    """Name the entry of a message received."""
    return f"history:{entry.MessageIdentifier.QueueManagerGuid}:{entry.MessageIdentifier.Ordinal}"


def place(queue: Queue) -> str:
    """Name a queue: by its number, which is never used again, by its destination, or as a system queue."""
    if isinstance(queue, OutgoingQueue):
        return f"outgoing:{queue.DestinationFormatName}"
    return queue.Pathname if queue.PrivateQueueNumber is None else f"queue:{queue.PrivateQueueNumber}"
