"""The area `remote`, in which clients open queues remotely, read in two phases, wait, cancel and disappear.

Spec: MS-MQQP 3.1.4, 3.1.6, MS-MQDMPR 3.1.7.1.11, 3.1.7.1.12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Any

from harness.model.agreement import ExpectedRefusal
from harness.model.queues.area import QueuesModel
from harness.model.queues.reading import (
    ALREADY_RECEIVED_STATUS,
    ILLEGAL_CURSOR_STATUS,
    MESSAGE_NOT_FOUND_STATUS,
    PEEK_READ_KIND,
    READ_TIMEOUTS_TO_DRAW_FROM_MS,
    RECEIVE_READ_KIND,
    TRANSACTION_USAGE_STATUS,
)
from harness.model.queues.state import (
    AVAILABLE_MESSAGE_STATE,
    LOCKED_MESSAGE_STATE,
    READ_CURSOR_STATE,
    UNREAD_CURSOR_STATE,
    WAIT_RECEIVE_CURSOR_STATE,
    Cursor,
    MessagePosition,
    OpenQueueHandle,
    Queue,
    Transaction,
    TransactionOperation,
    WaitingRead,
)
from harness.model.remote.misuse import NEED_FOR_METHODS_OF_LATER_RELEASES, MisuseTransitions
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

QUEUE_NAMES = ("one", "two", "three")
TRANSACTIONAL_QUEUE_NAME, JOURNALED_QUEUE_NAME = "three", "two"
MAX_CLIENTS = 3
MAX_CURSORS = 2
"""The maximum number of cursors of a handle."""
CANCELED_STATUS = "MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT"
START_RECEIVE_METHOD, START_RECEIVE2_METHOD = "RemoteQMStartReceive", "RemoteQMStartReceive2"
_NEEDED_CAPABILITIES = ("qm2qm", "receive", "queue_control", "send")
_OMITTED_TRANSITIONS_OF_LOCAL_APPLICATIONS = {*QueuesModel.transitions} - {
    "send",
    "receive",
    "peek",
    "purge",
    "pause",
    "open",
    "close",
}


@dataclass(eq=False, slots=True)
class Client:
    """A remote reader with its open handles."""

    name: str
    handles: list[OpenQueueHandle] = field(default_factory=list)


class RemoteReadingModel(MisuseTransitions):
    """The model of clients that read two queues remotely while applications also use the queues."""

    omitted_inherited_transitions = frozenset(_OMITTED_TRANSITIONS_OF_LOCAL_APPLICATIONS)
    weights_of_inherited_transitions = MappingProxyType(
        {"send": 12, "receive": 2, "peek": 1, "purge": 1, "open": 1, "close": 1}
    )

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        super().__init__(decisions)
        for name in QUEUE_NAMES:
            self.queues[name] = Queue(name, name == TRANSACTIONAL_QUEUE_NAME, journaling=name == JOURNALED_QUEUE_NAME)
            self.queues[name].journal = Queue(f"{name};journal")
        self.clients: dict[str, Client] = {}
        self.remote: dict[str, OpenQueueHandle] = {}
        self.remote_cursors: dict[str, Cursor] = {}
        self.closed_cursors: dict[str, str] = {}
        self.units: dict[str, tuple[OpenQueueHandle, Transaction]] = {}
        """The receives that clients have begun, by the names of the reads."""
        self.remote_reads: set[str] = set()

    # -- clients ----------------------------------------------------------------------------------------------------

    @transition("MQQP-3.1.4.8-D02", needs=_NEEDED_CAPABILITIES, weight=3)
    def associate(self, client: str) -> None:
        """Let a client connect."""
        self.clients[client] = Client(client)
        self.answer_with_success()

    def draw_associate(self, chance: Random) -> dict[str, Any]:
        if len(self.clients) >= MAX_CLIENTS:
            raise ImpossibleStep
        return {"client": f"k{self.steps}"}

    @transition("MQQP-3.1.6.1-01", "MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02", needs=_NEEDED_CAPABILITIES, weight=1)
    def vanish(self, client: str) -> None:
        """Break the connection of a client. The client's handles are closed, and the messages that it locked become
        available again.
        """
        gone = self.find(self.clients, client)
        for handle in gone.handles:
            handle.readers.clear()
        for read, unit in self.list_answered_receives(gone).items():
            del self.units[read]
            self._release_message(unit)
        for handle in list(gone.handles):
            self._close_handle(gone, handle)
        del self.clients[client]
        self.answer_with_success()

    def draw_vanish(self, chance: Random) -> dict[str, Any]:
        return {"client": draw_one_value_or_refuse_step(chance, self.clients)}

    @transition(
        "MQQP-3.1.4.3-16",
        "MQQP-3.1.4.3-17",
        "MQQP-3.1.4.3-19",
        "MQDMPR-3.1.7.1.5-123",
        "MQQP-3.1.4.3-11",
        "MQMQ-2.2.7-14",
        needs=_NEEDED_CAPABILITIES,
        weight=5,
        ignored="own",
        reserved=0,
    )
    def open_remote(
        self, handle: str, client: str, queue: str, access: str, deny_receive: bool, ignored: str, reserved: int
    ) -> None:
        """Let a client open a queue remotely. ``ignored`` (the kind of hQueue) and ``reserved`` (m_reserved) have
        no effect.
        """
        who, opened = self.find(self.clients, client), self.find(self.queues, queue)
        if not self.is_shared(opened, access, deny_receive):
            self.answer_with_refusal()
            return
        made = OpenQueueHandle(handle, opened, access, deny_receive)
        opened.handles.append(made)
        who.handles.append(made)
        self.remote[handle] = made
        self.answer_with_success()

    def draw_open_remote(self, chance: Random) -> dict[str, Any]:
        return {
            "handle": f"h{self.steps}",
            "client": draw_one_value_or_refuse_step(
                chance, (one.name for one in self.clients.values() if len(one.handles) < 3)
            ),
            "queue": chance.choice(QUEUE_NAMES),
            "access": chance.choice((RECEIVE_READ_KIND, RECEIVE_READ_KIND, RECEIVE_READ_KIND, PEEK_READ_KIND)),
            "deny_receive": chance.random() < 0.1,
            "ignored": chance.choice(("own", "own", "zero", "other")),
            "reserved": chance.choice((0, 0, 1, 0xFFFF)),
        }

    @transition(
        "MQQP-3.1.4.4-06", "MQQP-3.1.4.4-09", "MQQP-3.1.4.4-12", "MQQP-3.1.4.4-17", needs=_NEEDED_CAPABILITIES, weight=1
    )
    def close_remote(self, handle: str) -> None:
        """Let a client close a queue remotely. The waiting reads of the queue are canceled."""
        closed = self.find(self.remote, handle)
        client = self.find_client(closed)
        if any(self.units[read][0] is closed for read in self.list_answered_receives(client)):
            raise ImpossibleStep  # the documents leave open what happens to a receive that is not ended
        for reader in list(closed.readers):
            self._cancel_reader(reader, is_failure=not reader.is_receive and self.choose_reading("E52") == 1)
        self._close_handle(client, closed)
        self.answer_with_success()

    def draw_close_remote(self, chance: Random) -> dict[str, Any]:
        return {"handle": draw_one_value_or_refuse_step(chance, self.remote)}

    def find_client(self, handle: OpenQueueHandle) -> Client:
        return next(one for one in self.clients.values() if handle in one.handles)

    def _close_handle(self, client: Client, handle: OpenQueueHandle) -> None:
        assert handle.queue is not None and handle.name is not None
        client.handles.remove(handle)
        handle.queue.handles.remove(handle)
        for cursor in handle.cursors:
            del self.remote_cursors[cursor.name]
        self.closed_cursors = {name: of for name, of in self.closed_cursors.items() if of != handle.name}
        del self.remote[handle.name]

    @transition("MQDMPR-3.1.7.1.1-07", "MQDMPR-3.1.7.1.1-10", needs=_NEEDED_CAPABILITIES, weight=3)
    def create_cursor(self, cursor: str, handle: str) -> None:
        """Let a client create a cursor remotely."""
        opened = self.find(self.remote, handle)
        made = Cursor(cursor, opened)
        opened.cursors.append(made)
        self.remote_cursors[cursor] = made
        self.answer_with_success()

    def draw_create_cursor(self, chance: Random) -> dict[str, Any]:
        return {
            "cursor": f"c{self.steps}",
            "handle": draw_one_value_or_refuse_step(
                chance, (n for n, h in self.remote.items() if len(h.cursors) < MAX_CURSORS)
            ),
        }

    @transition("MQQP-3.1.4.5-09", "MQQP-3.1.4.5-11", "MQQP-3.1.4.5-13", needs=_NEEDED_CAPABILITIES, weight=1)
    def drop_cursor(self, cursor: str) -> None:
        """Let a client close a cursor. The documents leave open how a read that waits with this cursor ends."""
        closed = self.find(self.remote_cursors, cursor)
        handle = closed.handle
        handle.readers[:] = [one for one in handle.readers if one.cursor is not closed]
        handle.cursors.remove(closed)
        self.closed_cursors[cursor] = str(handle.name)
        del self.remote_cursors[cursor]
        self.answer_with_success()

    def draw_drop_cursor(self, chance: Random) -> dict[str, Any]:
        return {"cursor": draw_one_value_or_refuse_step(chance, self.remote_cursors)}

    # -- reads --------------------------------------------------------------------------------------------------------

    @transition(
        "MQQP-3.1.4.1-D13",
        "MQQP-3.1.4.1-13",
        "MQQP-3.1.4.10-23",
        needs=_NEEDED_CAPABILITIES,
        weight=8,
        wait_ms=0,
        method=START_RECEIVE2_METHOD,
    )
    def read_remote(self, read: str, handle: str, receives: bool, method: str, wait_ms: int) -> None:
        """Let a client read the first message remotely. A receive stays open until the client ends it."""
        opened = self.find(self.remote, handle)
        if receives and opened.access_mode != RECEIVE_READ_KIND:
            raise ImpossibleStep
        self.remote_reads.add(read)
        self.answer_read_or_let_wait(
            WaitingRead(read, opened, receives, 0, None, self.get_transaction_of_read(read, opened, receives)), wait_ms
        )

    def draw_read_remote(self, chance: Random) -> dict[str, Any]:
        handle = draw_one_value_or_refuse_step(chance, self.remote.values())
        return {
            "read": f"r{self.steps}",
            "handle": handle.name,
            "receives": handle.access_mode == RECEIVE_READ_KIND and chance.random() < 0.7,
            "method": chance.choice((START_RECEIVE_METHOD, START_RECEIVE2_METHOD)),
            "wait_ms": self.draw_remote_wait(chance, handle),
        }

    def draw_remote_wait(self, chance: Random, handle: OpenQueueHandle) -> int:
        queue = handle.queue
        assert queue is not None
        waiting = sum(len(one.readers) for one in queue.handles)
        return 0 if waiting >= 3 else int(chance.choice(READ_TIMEOUTS_TO_DRAW_FROM_MS))

    @transition(
        "MQQP-3.1.4.1-D12",
        "MQQP-3.1.4.1-D15",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.1-D17",
        needs=_NEEDED_CAPABILITIES,
        weight=8,
        wait_ms=0,
    )
    def read_remote_at(self, read: str, cursor: str, action: str, wait_ms: int) -> None:
        """Let a client use a cursor to receive, to peek, or to peek at the next message remotely."""
        there = self.find_idle_cursor(cursor)
        handle, queue = there.handle, there.handle.queue
        assert queue is not None
        receives = action == RECEIVE_READ_KIND
        if receives and handle.access_mode != RECEIVE_READ_KIND:
            raise ImpossibleStep
        unit = self.get_transaction_of_read(read, handle, receives)
        self.remote_reads.add(read)
        if action == "next" and there.state == UNREAD_CURSOR_STATE:
            self.answer_with_refusal(ILLEGAL_CURSOR_STATUS, name=read)
        elif action != "next" and there.state == READ_CURSOR_STATE:
            if not self.points_at_available_message(there):
                self.answer_with_refusal(ALREADY_RECEIVED_STATUS, name=read)
            elif receives:
                there.state = UNREAD_CURSOR_STATE
                self.answer_receive_with_message(read, there.position, unit)
            else:
                self.answer_read(there.position, read)
        elif not receives:
            self.peek_after_current(read, there, wait_ms)
        elif (found := next(iter(queue.list_available_positions(there.sort_key_of_position)), None)) is not None:
            there.move(found)
            self.answer_receive_with_message(read, found, unit)
        elif wait_ms == 0:
            self.answer_with_refusal(MESSAGE_NOT_FOUND_STATUS, name=read)
        else:
            there.state = WAIT_RECEIVE_CURSOR_STATE
            self.let_read_wait(WaitingRead(read, handle, True, 0, there, unit), wait_ms)

    def draw_read_remote_at(self, chance: Random) -> dict[str, Any]:
        cursor = self.draw_remote_cursor_without_read(chance)
        handle = self.remote_cursors[cursor].handle
        actions = (
            (RECEIVE_READ_KIND, PEEK_READ_KIND, "next")
            if handle.access_mode == RECEIVE_READ_KIND
            else (PEEK_READ_KIND, "next")
        )
        wait_ms = self.draw_remote_wait(chance, handle)
        return {"read": f"r{self.steps}", "cursor": cursor, "action": chance.choice(actions), "wait_ms": wait_ms}

    @transition(
        "MQQP-3.1.4.11-37",
        "MQQP-3.1.4.11-39",
        "MQQP-3.1.4.11-41",
        "MQQP-3.1.4.11-47",
        needs=(*_NEEDED_CAPABILITIES, NEED_FOR_METHODS_OF_LATER_RELEASES),
        weight=4,
    )
    def look_up_remote(self, read: str, handle: str, message: str, seek: str, receives: bool) -> None:
        """Let a client read a message remotely by its LookupId."""
        opened = self.find(self.remote, handle)
        queue = opened.queue
        position = self.find_position(queue, message)
        if position is None or not position.was_ever_visible or (receives and opened.access_mode != RECEIVE_READ_KIND):
            raise ImpossibleStep
        found = self.seek(queue, position, seek)
        self.remote_reads.add(read)
        if found is None:
            self.answer_with_refusal(
                *(
                    (TRANSACTION_USAGE_STATUS, MESSAGE_NOT_FOUND_STATUS)
                    if seek == "current"
                    else (MESSAGE_NOT_FOUND_STATUS,)
                ),
                name=read,
            )
        elif receives:
            unit = self.get_transaction_of_read(read, opened, True)
            if unit is not None and self.choose_reading("E57"):
                self.answer_receive_with_message(read, found, None)
                unit.operations.append(TransactionOperation("dequeue", found))
            else:
                self.answer_receive_with_message(read, found, unit)
        else:
            self.answer_read(found, read)

    def draw_look_up_remote(self, chance: Random) -> dict[str, Any]:
        opened = [(handle, one) for handle in self.remote.values() for one in self._list_seen_positions(handle)]
        held = [
            (handle, one)
            for handle, one in opened
            if one.state != AVAILABLE_MESSAGE_STATE and handle.access_mode == RECEIVE_READ_KIND
        ]
        after_held = bool(held) and chance.random() < 0.5
        handle, position = draw_one_value_or_refuse_step(chance, held if after_held else opened)
        seeks = ("current", "next", "previous", *(() if after_held else ("first", "last")))
        return {
            "read": f"r{self.steps}",
            "handle": handle.name,
            "message": position.message.name,
            "seek": chance.choice(seeks),
            "receives": handle.access_mode == RECEIVE_READ_KIND and chance.random() < 0.5,
        }

    def _list_seen_positions(self, handle: OpenQueueHandle) -> list[MessagePosition]:
        assert handle.queue is not None
        return [one for one in handle.queue.positions if one.was_ever_visible]

    def find_idle_cursor(self, name: str) -> Cursor:
        cursor: Cursor = self.find(self.remote_cursors, name)
        if any(reader.cursor is cursor for reader in cursor.handle.readers):
            raise ImpossibleStep
        return cursor

    def draw_remote_cursor_without_read(self, chance: Random) -> str:
        waiting = {reader.cursor for reader in self.readers()}
        return str(
            draw_one_value_or_refuse_step(
                chance, (name for name, one in self.remote_cursors.items() if one not in waiting)
            )
        )

    # -- open receives ------------------------------------------------------------------------------------------------

    def get_transaction_of_read(self, read: str, handle: OpenQueueHandle, receives: bool) -> Transaction | None:
        """Return the transaction of a receive in two phases, or None for a peek. The receive is the only operation of
        this transaction, and ends with it.
        """
        if not receives:
            return None
        unit = Transaction(read, is_external=False)
        self.units[read] = (handle, unit)
        return unit

    def answer_read(self, position: MessagePosition | None, name: str = "answer") -> None:
        """Answer a read. The client gets a handle for the read only if the read is a receive that returns a message
        (MS-MQQP 3.1.4.1).
        """
        super().answer_read(position, name)
        if name in self.remote_reads:
            self.cite_rules("MQQP-3.1.4.1-05", "MQQP-3.1.4.1-06", "MQQP-3.1.4.10-02", "MQQP-3.1.4.10-03")
            self.answers[name]["handle"] = position is not None and name in self.units

    def list_answered_receives(self, client: Client) -> dict[str, Transaction]:
        """Return the receives of a client that returned a message and have not been ended by the client yet."""
        mine = {read: unit for read, (handle, unit) in self.units.items() if handle in client.handles}
        return {read: unit for read, unit in mine.items() if unit.operations}

    @transition(
        "MQQP-3.1.4.2-06",
        "MQQP-3.1.4.2-07",
        "MQQP-3.1.4.2-11",
        "MQQP-3.1.4.2-12",
        "MQQP-3.1.4.2-16",
        needs=_NEEDED_CAPABILITIES,
        weight=8,
    )
    def end_read(self, read: str, acknowledge: bool) -> None:
        """Let a client end a receive. The message is removed, or becomes available in its queue again."""
        _, unit = self.find(self.units, read)
        if not unit.operations:
            raise ImpossibleStep
        del self.units[read]
        if acknowledge and unit.operations[0].position.state == LOCKED_MESSAGE_STATE:
            self.delete_position(unit.operations[0].position, "ACK_RECEIVE")
        elif acknowledge:
            self.delete_position(unit.operations[0].position, self.get_removal_reason_of_purged_message())
        else:
            self._release_message(unit)
        self.answer_with_success()

    def get_removal_reason_of_purged_message(self) -> str:
        """Return the reason for the removal of a message that was purged while a client was receiving it, and that the
        client then accepts (MS-MQDMPR 3.1.7.1.12).
        """
        self.cite_rules("MQDMPR-3.1.7.1.12-13")
        return "NACK_Q_PURGED"

    def draw_end_read(self, chance: Random) -> dict[str, Any]:
        reads = [read for client in self.clients.values() for read in self.list_answered_receives(client)]
        return {"read": draw_one_value_or_refuse_step(chance, reads), "acknowledge": chance.random() < 0.6}

    def _release_message(self, unit: Transaction) -> None:
        self.cite_rules("MQQP-3.1.4.2-06", "MQDMPR-3.1.7.1.12-18")
        self.release_position(unit.operations[0].position, purged="NACK_Q_PURGED")

    @transition("MQQP-3.1.4.6-10", "MQQP-3.1.4.6-15", "MQQP-3.1.4.6-19", needs=_NEEDED_CAPABILITIES, weight=3)
    def cancel_remote(self, read: str) -> None:
        """Let a client cancel a read remotely."""
        reader = next((one for one in self.readers() if one.name == read and one.handle.name in self.remote), None)
        if reader is None:
            raise ImpossibleStep
        if not reader.is_receive and self.choose_reading("E52"):
            self.answer_with_refusal()
            return
        self._cancel_reader(reader)
        self.answer_with_success()

    def _cancel_reader(self, reader: WaitingRead, *, is_failure: bool = False) -> None:
        """End a waiting read that is canceled. ``is_failure``: whether the read must end with a failure status.
        Otherwise, the documents leave open which status the read gets (erratum E51).
        """
        self.end_read_without_message(reader, CANCELED_STATUS)
        if is_failure or self.choose_reading("E51"):
            self.answers[reader.name] = ExpectedRefusal(excluded_statuses=(CANCELED_STATUS,))

    def draw_cancel_remote(self, chance: Random) -> dict[str, Any]:
        return {
            "read": draw_one_value_or_refuse_step(
                chance, (one.name for one in self.readers() if one.handle.name in self.remote)
            )
        }

    @transition("MQQP-3.1.4.7-09", "MQQP-3.1.4.7-10", "MQQP-3.1.4.7-D01", needs=_NEEDED_CAPABILITIES, weight=1)
    def purge_remote(self, handle: str) -> None:
        """Let a client purge a queue remotely."""
        opened = self.find(self.remote, handle)
        if opened.access_mode != RECEIVE_READ_KIND:
            raise ImpossibleStep
        assert opened.queue is not None
        self.purge(opened.queue.name)
        self.answer_with_success()

    def draw_purge_remote(self, chance: Random) -> dict[str, Any]:
        return {
            "handle": draw_one_value_or_refuse_step(
                chance, (name for name, one in self.remote.items() if one.access_mode == RECEIVE_READ_KIND)
            )
        }
