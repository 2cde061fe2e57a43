"""Let applications open queues, receive, peek, look up and wait.

Spec: MS-MQDMPR 3.1.7.1.1, 3.1.7.1.2, 3.1.7.1.5, 3.1.7.1.6, 3.1.7.1.10, 3.1.7.1.13 to 3.1.7.1.17, 3.2.
"""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.base import ADMIN_QUEUE_NAME, QueuesBase
from harness.model.queues.state import (
    AVAILABLE_MESSAGE_STATE,
    DELETED_MESSAGE_STATE,
    READ_CURSOR_STATE,
    UNREAD_CURSOR_STATE,
    WAIT_PEEK_CURSOR_STATE,
    WAIT_RECEIVE_CURSOR_STATE,
    Cursor,
    MessagePosition,
    OpenQueueHandle,
    Queue,
    Transaction,
    WaitingRead,
)
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

READ_TIMEOUTS_TO_DRAW_FROM_MS = (0, 0, 5_000, 40_000)
MAX_READERS = 3
MAX_HANDLES, MAX_CURSORS = 4, 4
RECEIVE_READ_KIND, PEEK_READ_KIND = "receive", "peek"
MESSAGE_NOT_FOUND_STATUS, READ_TIMEOUT_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND", "MQ_ERROR_IO_TIMEOUT"
ALREADY_RECEIVED_STATUS, ILLEGAL_CURSOR_STATUS = "MQ_ERROR_MESSAGE_ALREADY_RECEIVED", "MQ_ERROR_ILLEGAL_CURSOR_ACTION"
QUEUE_NOT_AVAILABLE_STATUS, SHARING_VIOLATION_STATUS = "MQ_ERROR_QUEUE_NOT_AVAILABLE", "MQ_ERROR_SHARING_VIOLATION"
TRANSACTION_USAGE_STATUS, TRANSACTION_SEQUENCE_STATUS = "MQ_ERROR_TRANSACTION_USAGE", "MQ_ERROR_TRANSACTION_SEQUENCE"
CANCELLED_STATUS = "MQ_ERROR_OPERATION_CANCELLED"


class ReadTransitions(QueuesBase):
    """The transitions in which applications read."""

    # -- open and close -------------------------------------------------------------------------------------------

    @transition(
        "MQDMPR-3.1.7.1.5-123",
        "MQDMPR-3.1.7.1.5-124",
        "MQDMPR-3.1.1.2-D06",
        needs=("receive",),
        access=RECEIVE_READ_KIND,
        deny_receive=False,
    )
    def open(self, handle: str, queue: str, access: str, deny_receive: bool) -> None:
        opened = self.find(self.queues, queue)
        if not self.is_shared(opened, access, deny_receive):
            self.answer_with_refusal(SHARING_VIOLATION_STATUS)
            return
        made = OpenQueueHandle(handle, opened, access, deny_receive)
        opened.handles.append(made)
        self.handles[handle] = made
        self.answer_with_success()

    def is_shared(self, queue: Queue, access: str, deny_receive: bool) -> bool:
        """Return whether the open handles of a queue permit a new handle (MS-MQDMPR 3.1.7.1.5)."""
        opened = {(one.deny_receive, one.access_mode) for one in queue.handles}
        if (True, RECEIVE_READ_KIND) in opened:
            self.cite_rules("MQDMPR-3.1.7.1.5-103", "MQDMPR-3.1.7.1.5-106")
            return not deny_receive and access != RECEIVE_READ_KIND
        if (True, PEEK_READ_KIND) in opened:
            self.cite_rules("MQDMPR-3.1.7.1.5-110")
            return access != RECEIVE_READ_KIND
        if (False, RECEIVE_READ_KIND) in opened:
            self.cite_rules("MQDMPR-3.1.7.1.5-114")
            return not deny_receive
        return True

    def draw_open(self, chance: Random) -> dict[str, Any]:
        if len(self.handles) >= MAX_HANDLES:
            raise ImpossibleStep
        return {
            "handle": f"h{self.steps}",
            "queue": draw_one_value_or_refuse_step(chance, self.queues),
            "access": chance.choice((RECEIVE_READ_KIND, RECEIVE_READ_KIND, PEEK_READ_KIND)),
            "deny_receive": chance.random() < 0.15,
        }

    @transition("MQDMPR-3.1.7.1.6-10", "MQDMPR-3.1.7.1.6-15", "MQDMPR-3.1.7.1.6-17", needs=("receive",), weight=1)
    def close(self, handle: str) -> None:
        closed = self.find(self.handles, handle)
        for reader in list(closed.readers):
            self.cite_rules("MQDMPR-3.1.7.1.6-10")
            self.end_read_without_message(reader, CANCELLED_STATUS)
        for cursor in closed.cursors:
            del self.cursors[cursor.name]
        if closed.queue is not None:
            closed.queue.handles.remove(closed)
        del self.handles[handle]
        self.answer_with_success()

    def draw_close(self, chance: Random) -> dict[str, Any]:
        return {"handle": draw_one_value_or_refuse_step(chance, self.handles)}

    @transition("MQDMPR-3.1.7.1.1-07", "MQDMPR-3.1.7.1.1-10", "MQDMPR-3.2.7.1-07", needs=("receive",), weight=4)
    def open_cursor(self, cursor: str, handle: str) -> None:
        opened = self.find(self.handles, handle)
        if opened.queue is None:
            self.cite_rules("MQDMPR-3.1.7.1.1-04")
            self.answer_with_refusal()
            return
        made = Cursor(cursor, opened)
        opened.cursors.append(made)
        self.cursors[cursor] = made
        self.answer_with_success()

    def draw_open_cursor(self, chance: Random) -> dict[str, Any]:
        if len(self.cursors) >= MAX_CURSORS:
            raise ImpossibleStep
        return {"cursor": f"c{self.steps}", "handle": draw_one_value_or_refuse_step(chance, self.handles)}

    @transition("MQDMPR-3.1.7.1.2-05", "MQDMPR-3.1.7.1.2-06", needs=("receive",), weight=1)
    def close_cursor(self, cursor: str) -> None:
        closed = self.find(self.cursors, cursor)
        for reader in list(closed.handle.readers):
            if reader.cursor is closed:
                self.end_read_without_message(reader, CANCELLED_STATUS)
        closed.handle.cursors.remove(closed)
        del self.cursors[cursor]
        self.answer_with_success()

    def draw_close_cursor(self, chance: Random) -> dict[str, Any]:
        return {"cursor": draw_one_value_or_refuse_step(chance, self.cursors)}

    # -- receive and peek -----------------------------------------------------------------------------------------

    @transition(
        "MQDMPR-3.1.7.1.10-38",
        "MQDMPR-3.1.7.1.10-D07",
        needs=("receive",),
        weight=5,
        wait_ms=0,
        transaction=None,
    )
    def receive(self, read: str, queue: str, wait_ms: int, transaction: str | None) -> None:
        """Let an application receive the first message of a queue."""
        if not self.may_read_in_transaction(read, self.find_queue_to_read(queue), transaction):
            return
        self.read_first_message(read, queue, wait_ms, True, transaction)

    def draw_receive(self, chance: Random) -> dict[str, Any]:
        queue = draw_one_value_or_refuse_step(chance, self.queues)
        transaction = self.draw_transaction(chance, self.queues[queue].transactional)
        return {"read": f"r{self.steps}", "queue": queue, **self.draw_wait(chance, queue), "transaction": transaction}

    @transition("MQDMPR-3.1.7.1.15-38", "MQDMPR-3.1.7.1.15-58", needs=("receive",), weight=3, wait_ms=0)
    def peek(self, read: str, queue: str, wait_ms: int) -> None:
        """Let an application peek at the first message of a queue."""
        self.find_queue_to_read(queue)
        self.read_first_message(read, queue, wait_ms, False, None)

    def draw_peek(self, chance: Random) -> dict[str, Any]:
        queue = draw_one_value_or_refuse_step(chance, self.queues)
        return {"read": f"r{self.steps}", "queue": queue, **self.draw_wait(chance, queue)}

    def read_first_message(self, read: str, queue: str, wait_ms: int, receives: bool, transaction: str | None) -> None:
        there = self.find_queue_to_read(queue)
        access = RECEIVE_READ_KIND if receives else PEEK_READ_KIND
        if not self.is_shared(there, access, False):
            self.answer_with_refusal(SHARING_VIOLATION_STATUS, name=read)
            return
        handle = OpenQueueHandle(None, there, access)
        self.answer_read_or_let_wait(
            WaitingRead(read, handle, receives, 0, None, self.get_open_transaction(transaction)), wait_ms
        )

    def find_queue_to_read(self, queue: str) -> Queue:
        found: Queue = self.find(self.queues, queue)
        return found

    @transition(
        "MQDMPR-3.1.7.1.10-38",
        "MQDMPR-3.1.7.1.10-D07",
        needs=("receive",),
        weight=4,
        wait_ms=0,
        transaction=None,
    )
    def receive_through(self, read: str, handle: str, wait_ms: int, transaction: str | None) -> None:
        """Let an application receive the first message through an open handle."""
        opened = self.find(self.handles, handle)
        if opened.access_mode != RECEIVE_READ_KIND:
            self.answer_with_refusal(name=read)
        elif self.may_read_in_transaction(read, opened.queue, transaction):
            self.answer_read_or_let_wait(
                WaitingRead(read, opened, True, 0, None, self.get_open_transaction(transaction)), wait_ms
            )

    def draw_receive_through(self, chance: Random) -> dict[str, Any]:
        handle = draw_one_value_or_refuse_step(chance, self.handles.values())
        transaction = self.draw_transaction(chance, handle.queue is not None and handle.queue.transactional)
        wait = self.draw_wait(chance, None if handle.queue is None else handle.queue.name)
        return {"read": f"r{self.steps}", "handle": handle.name, **wait, "transaction": transaction}

    @transition("MQDMPR-3.1.7.1.15-38", "MQDMPR-3.1.7.1.15-58", needs=("receive",), weight=3, wait_ms=0)
    def peek_through(self, read: str, handle: str, wait_ms: int) -> None:
        """Let an application peek at the first message through an open handle."""
        opened = self.find(self.handles, handle)
        if opened.queue is None:
            self.cite_rules("MQDMPR-3.1.7.1.15-04")
            self.answer_with_refusal(QUEUE_NOT_AVAILABLE_STATUS, name=read)
        else:
            self.answer_read_or_let_wait(WaitingRead(read, opened, False, 0), wait_ms)

    def draw_peek_through(self, chance: Random) -> dict[str, Any]:
        handle = draw_one_value_or_refuse_step(chance, self.handles.values())
        wait = self.draw_wait(chance, None if handle.queue is None else handle.queue.name)
        return {"read": f"r{self.steps}", "handle": handle.name, **wait}

    # -- cursors --------------------------------------------------------------------------------------------------

    @transition(
        "MQDMPR-3.1.7.1.10-12",
        "MQDMPR-3.2.7.4-20",
        "MQDMPR-3.2.7.4-27",
        needs=("receive",),
        weight=6,
        wait_ms=0,
        transaction=None,
    )
    def receive_at(self, read: str, cursor: str, wait_ms: int, transaction: str | None) -> None:
        """Let an application receive the message at the position of a cursor (MS-MQDMPR 3.2.7.4)."""
        there = self.find_cursor_without_read(cursor)
        handle = there.handle
        if handle.access_mode != RECEIVE_READ_KIND:
            self.answer_with_refusal(name=read)
            return
        if not self.may_read_in_transaction(read, handle.queue, transaction):
            return
        assert handle.queue is not None
        within = self.get_open_transaction(transaction)
        if there.state == READ_CURSOR_STATE:
            if not self.points_at_available_message(there):
                self.cite_rules("MQDMPR-3.2.7.4-30", "MQDMPR-3.1.7.1.10-17")
                self.answer_with_refusal(ALREADY_RECEIVED_STATUS, name=read)
                return
            self.cite_rules("MQDMPR-3.2.7.4-26")
            there.state = UNREAD_CURSOR_STATE
            self.answer_receive_with_message(read, there.position, within)
            return
        found = next(iter(handle.queue.list_available_positions(there.sort_key_of_position)), None)
        if found is not None:
            self.cite_rules("MQDMPR-3.2.7.4-20", "MQDMPR-3.2.7.4-21")
            there.move(found)
            self.answer_receive_with_message(read, found, within)
        elif wait_ms == 0:
            self.cite_rules("MQDMPR-3.2.7.4-14", "MQDMPR-3.1.7.1.10-20")
            self.answer_with_refusal(MESSAGE_NOT_FOUND_STATUS, name=read)
        else:
            self.cite_rules("MQDMPR-3.2.7.4-16")
            there.state = WAIT_RECEIVE_CURSOR_STATE
            self.let_read_wait(WaitingRead(read, handle, True, 0, there, within), wait_ms)

    def draw_receive_at(self, chance: Random) -> dict[str, Any]:
        cursor = self.draw_cursor(chance)
        queue = self.cursors[cursor].handle.queue
        transaction = self.draw_transaction(chance, queue is not None and queue.transactional)
        wait = self.draw_wait(chance, None if queue is None else queue.name)
        return {"read": f"r{self.steps}", "cursor": cursor, **wait, "transaction": transaction}

    @transition(
        "MQDMPR-3.1.7.1.15-10", "MQDMPR-3.2.7.2-16", "MQDMPR-3.2.7.2-17", needs=("receive",), weight=5, wait_ms=0
    )
    def peek_at(self, read: str, cursor: str, wait_ms: int) -> None:
        """Let an application peek at the message at the position of a cursor (MS-MQDMPR 3.2.7.2)."""
        there = self.find_cursor_without_read(cursor)
        if there.handle.queue is None:
            self.answer_with_refusal(QUEUE_NOT_AVAILABLE_STATUS, name=read)
        elif there.state == READ_CURSOR_STATE:
            if self.points_at_available_message(there):
                self.cite_rules("MQDMPR-3.2.7.2-23")
                self.answer_read(there.position, read)
            else:
                self.cite_rules("MQDMPR-3.2.7.2-27", "MQDMPR-3.1.7.1.15-16")
                self.answer_with_refusal(ALREADY_RECEIVED_STATUS, name=read)
        else:
            self.peek_after_current(read, there, wait_ms)

    def draw_peek_at(self, chance: Random) -> dict[str, Any]:
        cursor = self.draw_cursor(chance)
        queue = self.cursors[cursor].handle.queue
        return {
            "read": f"r{self.steps}",
            "cursor": cursor,
            **self.draw_wait(chance, None if queue is None else queue.name),
        }

    @transition(
        "MQDMPR-3.1.7.1.14-08", "MQDMPR-3.2.7.3-19", "MQDMPR-3.2.7.3-20", needs=("receive",), weight=6, wait_ms=0
    )
    def peek_next(self, read: str, cursor: str, wait_ms: int) -> None:
        """Let an application peek at the next message after the position of a cursor (MS-MQDMPR 3.2.7.3)."""
        there = self.find_cursor_without_read(cursor)
        if there.handle.queue is None:
            self.cite_rules("MQDMPR-3.1.7.1.14-04")
            self.answer_with_refusal(QUEUE_NOT_AVAILABLE_STATUS, name=read)
        elif there.state == UNREAD_CURSOR_STATE:
            self.cite_rules("MQDMPR-3.2.7.3-06", "MQDMPR-3.1.7.1.14-14")
            self.answer_with_refusal(ILLEGAL_CURSOR_STATUS, name=read)
        else:
            self.peek_after_current(read, there, wait_ms)

    def draw_peek_next(self, chance: Random) -> dict[str, Any]:
        drawn = self.draw_peek_at(chance)
        ends = [name for name, one in self.cursors.items() if self._is_idle_at_end(one)]
        if ends and chance.random() < 0.5:
            drawn |= {"cursor": chance.choice(ends), "wait_ms": READ_TIMEOUTS_TO_DRAW_FROM_MS[-1]}
        return drawn

    def _is_idle_at_end(self, cursor: Cursor) -> bool:
        """Return whether the last message that was read with a cursor is the last message of the queue, and whether a
        further read may wait at this queue.
        """
        queue = cursor.handle.queue
        if (
            queue is None
            or cursor.state != READ_CURSOR_STATE
            or queue.list_available_positions(cursor.sort_key_of_position)
        ):
            return False
        return sum(len(handle.readers) for handle in queue.handles) < MAX_READERS

    def peek_after_current(self, read: str, cursor: Cursor, wait_ms: int) -> None:
        """Move a cursor to the next available message; if there is no such message, wait until a message arrives."""
        assert cursor.handle.queue is not None
        found = next(iter(cursor.handle.queue.list_available_positions(cursor.sort_key_of_position)), None)
        if found is not None:
            cursor.state = READ_CURSOR_STATE
            cursor.move(found)
            self.answer_read(found, read)
        else:
            self.cite_rules("MQDMPR-3.2.7.2-12", "MQDMPR-3.2.7.3-15")
            cursor.state = WAIT_PEEK_CURSOR_STATE
            self.let_read_wait(WaitingRead(read, cursor.handle, False, 0, cursor), wait_ms)

    def find_cursor_without_read(self, name: str) -> Cursor:
        """Return a cursor that no waiting read uses."""
        cursor: Cursor = self.find(self.cursors, name)
        if any(reader.cursor is cursor for reader in cursor.handle.readers):
            raise ImpossibleStep
        return cursor

    def points_at_available_message(self, cursor: Cursor) -> bool:
        return cursor.position is not None and cursor.position.state == AVAILABLE_MESSAGE_STATE

    def draw_cursor(self, chance: Random) -> str:
        waiting = {reader.cursor for reader in self.readers()}
        idle = {name: one for name, one in self.cursors.items() if one not in waiting}
        taken = [
            name
            for name, one in idle.items()
            if one.state == READ_CURSOR_STATE and not self.points_at_available_message(one)
        ]
        return str(draw_one_value_or_refuse_step(chance, taken if taken and chance.random() < 0.4 else idle))

    # -- waiting --------------------------------------------------------------------------------------------------

    @transition("MQDMPR-3.1.7.1.17-06", "MQDMPR-3.1.7.1.17-07", "MQDMPR-3.1.7.3.5-03", needs=("receive",), weight=2)
    def cancel(self, read: str) -> None:
        """Cancel a waiting read (MS-MQDMPR 3.1.7.1.17)."""
        reader = next((one for one in self.readers() if one.name == read), None)
        if reader is None:
            raise ImpossibleStep
        self.end_read_without_message(reader, CANCELLED_STATUS)
        self.answer_with_success()

    def draw_cancel(self, chance: Random) -> dict[str, Any]:
        return {"read": draw_one_value_or_refuse_step(chance, (reader.name for reader in self.readers()))}

    def answer_read_or_let_wait(self, reader: WaitingRead, wait_ms: int) -> None:
        """Answer a read with the first message of its queue, or let the read wait."""
        assert reader.handle.queue is not None
        found = next(iter(reader.handle.queue.list_available_positions()), None)
        if found is None:
            self.let_read_wait(reader, wait_ms)
        elif reader.is_receive:
            self.answer_receive_with_message(reader.name, found, reader.transaction)
        else:
            self.answer_read(found, reader.name)

    def let_read_wait(self, reader: WaitingRead, wait_ms: int) -> None:
        """Let a read wait for a message (MS-MQDMPR 3.1.7.3.1)."""
        assert reader.handle.queue is not None
        if wait_ms == 0:
            self.cite_rules("MQDMPR-3.1.7.3.1-07")
            if reader.cursor is not None:
                self.end_wait_of_cursor(reader.cursor)
            self.answer_read(None, reader.name)
            return
        self.cite_rules("MQDMPR-3.1.7.3.1-10", "MQDMPR-3.1.7.3.1-14", "MQDMPR-3.1.7.3.1-15")
        reader.due_ms = self.now_ms + wait_ms
        if reader.handle.name is None:
            reader.handle.queue.handles.append(reader.handle)
        reader.handle.readers.append(reader)

    def answer_receive_with_message(
        self, read: str, position: MessagePosition | None, transaction: Transaction | None
    ) -> None:
        """Answer a receive with a message, and take the message out of its queue."""
        assert position is not None and position.state != DELETED_MESSAGE_STATE
        self.answer_read(position, read)
        self.take_out_message(position, transaction)

    def get_open_transaction(self, transaction: str | None) -> Transaction | None:
        return None if transaction is None else self.transactions[transaction]

    def may_read_in_transaction(self, read: str, queue: Queue | None, transaction: str | None) -> bool:
        """Return whether a queue may be read in a transaction. If not, refuse the read; any of the applicable
        statuses is permitted.
        """
        statuses: list[str] = []
        if queue is None:
            self.cite_rules("MQDMPR-3.1.7.1.10-06")
            statuses.append(QUEUE_NOT_AVAILABLE_STATUS)
        if transaction is not None:
            if self.find(self.transactions, transaction).state != "active":
                statuses.append(TRANSACTION_SEQUENCE_STATUS)
            if queue is not None and not queue.transactional:
                statuses.append(TRANSACTION_USAGE_STATUS)
        if statuses:
            self.answer_with_refusal(*statuses, name=read)
        return not statuses

    def draw_transaction(self, chance: Random, transactional: bool) -> str | None:
        if not self.transactions or chance.random() > (0.6 if transactional else 0.04):
            return None
        return chance.choice(sorted(self.transactions))

    def draw_wait(self, chance: Random, queue: str | None) -> dict[str, Any]:
        waiting = [] if queue is None else [one for handle in self.queues[queue].handles for one in handle.readers]
        return {
            "wait_ms": 0
            if len(waiting) >= MAX_READERS or queue == ADMIN_QUEUE_NAME
            else chance.choice(READ_TIMEOUTS_TO_DRAW_FROM_MS)
        }
