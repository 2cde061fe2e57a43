"""Keep the state of the queues, and handle the events that all transitions share: messages arrive and leave, and
reads wait for messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.model.agreement import ExpectedNumberBetweenBounds, ExpectedOrderedGroups, ExpectedRefusal
from harness.model.queues.state import (
    AVAILABLE_MESSAGE_STATE,
    DELETED_MESSAGE_STATE,
    LOCKED_MESSAGE_STATE,
    PURGE_PENDING_MESSAGE_STATE,
    READ_CURSOR_STATE,
    UNREAD_CURSOR_STATE,
    WAIT_PEEK_CURSOR_STATE,
    WAIT_RECEIVE_CURSOR_STATE,
    Cursor,
    Message,
    MessagePosition,
    OpenQueueHandle,
    Queue,
    Transaction,
    TransactionOperation,
    WaitingRead,
)
from harness.model.steps import ImpossibleStep, Model, Step

ADMIN_QUEUE_NAME = "admin"
"""The queue for administration acknowledgments, which exists from the start."""
SMALL_MESSAGE_BYTES = (120, 420)
"""int bytes: the least and the greatest size that a message without a body occupies in storage (headers, label,
names).
"""
_UPPER_BOUND_OF_HEADERS_BYTES = 1_000_000
"""int bytes: an upper bound for the storage that the headers of all messages in a queue occupy."""
TIMER_MARGIN_MS = 1_500
"""int ms: a message whose time limit is this close to the present may or may not have expired, because SentTime has
a resolution of one second.
"""

ACKNOWLEDGMENT_RULES = (
    *("MQQB-3.1.7.15-06", "MQQB-3.1.7.15-07", "MQQB-3.1.7.15-09", "MQQB-3.1.7.15-16", "MQQB-3.1.7.15-19"),
    *("MQQB-3.1.7.15-24", "MQQB-3.1.7.15-26", "MQQB-3.1.7.15-28", "MQQB-3.1.7.15-D01", "MQQB-3.1.7.15-D02"),
    *("MQQB-3.1.7.15-D03", "MQQB-3.1.7.15-D04", "MQQB-3.1.7.15-D05"),
)
RULE_BY_ACKNOWLEDGMENT_CLASS = {
    "ACK_RECEIVE": "MQQB-3.1.7.2.1-D01",
    "NACK_Q_DELETED": "MQQB-3.1.7.2.1-D02",
    "NACK_Q_PURGED": "MQQB-3.1.7.2.1-D03",
    "NACK_RECEIVE_TIMEOUT": "MQQB-3.1.7.2.1-D04",
    "NACK_RECEIVE_REJECTED": "MQQB-3.1.7.2.1-D05",
}


class QueuesBase(Model):
    """The state of a queue manager, which consists of queues, open handles, transactions, and the time."""

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        super().__init__(decisions)
        self.arrivals = 0
        self.admin = Queue(ADMIN_QUEUE_NAME)
        self.queues: dict[str, Queue] = {}
        self.handles: dict[str, OpenQueueHandle] = {}
        self.cursors: dict[str, Cursor] = {}
        self.transactions: dict[str, Transaction] = {}

    def take(self, step: Step) -> None:
        """Take a step; raise ImpossibleStep if the step names a transaction that does not exist."""
        transaction = step.arguments.get("transaction")
        if transaction is not None and step.name != "begin":
            self.find(self.transactions, transaction)
        super().take(step)

    # -- objects --------------------------------------------------------------------------------------------------

    def find(self, kind: Mapping[str, Any], name: str) -> Any:
        """Return the object with the given name; raise ImpossibleStep if no object has this name."""
        if name not in kind:
            raise ImpossibleStep(name)
        return kind[name]

    def iterate_queues(self) -> Iterator[Queue]:
        """Yield the queues, their subqueues and journals, and the administration queue."""
        yield self.admin
        for queue in self.queues.values():
            yield queue
            if queue.journal is not None:
                yield queue.journal

    def readers(self) -> list[WaitingRead]:
        return [reader for handle in self.iterate_handles() for reader in handle.readers]

    def iterate_handles(self) -> list[OpenQueueHandle]:
        gone = [handle for handle in self.handles.values() if handle.queue is None]
        return [*(handle for queue in self.iterate_queues() for handle in queue.handles), *gone]

    def find_position(self, queue: Queue, message: str) -> MessagePosition | None:
        return next((one for one in queue.positions if one.message.name == message), None)

    # -- answers --------------------------------------------------------------------------------------------------

    def answer_with_refusal(self, *statuses: str, name: str = "answer") -> None:
        self.answers[name] = ExpectedRefusal(statuses)

    def answer_read(self, position: MessagePosition | None, name: str = "answer") -> None:
        """Answer a read: return a message, or report that no message was read."""
        self.answers[name] = {"message": None if position is None else position.message.list_visible_properties()}

    def answer_with_success(self) -> None:
        self.answers["answer"] = "done"

    # -- positions ------------------------------------------------------------------------------------------------

    def insert_message(self, queue: Queue, message: Message, state: str, order: int | None = None) -> MessagePosition:
        """Put a message into a queue, after the messages that have the same priority (MS-MQDMPR 3.1.7.1.9, 3.1.1.2)."""
        self.arrivals += 1
        position = MessagePosition(message, queue, self.arrivals if order is None else order, self.steps, state)
        queue.insert(position)
        return position

    def make_available(self, position: MessagePosition) -> None:
        """Make a message available, and give it to the waiting readers (MS-MQDMPR 3.1.7.2.2)."""
        self.cite_rules("MQDMPR-3.1.7.2.2-04")
        position.state = AVAILABLE_MESSAGE_STATE
        lines = [list(handle.readers) for handle in position.queue.handles if handle.readers]
        while lines and position.state == AVAILABLE_MESSAGE_STATE:
            self.cite_rules("MQDMPR-3.1.7.2.2-07", "MQDMPR-3.1.7.2.2-11", "MQDMPR-3.1.7.2.2-14", "MQDMPR-3.1.7.3.1-21")
            line = lines[self.choose_first_item(f"next reader for {position.message.name}", len(lines))]
            self.end_read_with_message(
                line.pop(0), position
            )  # the reads of one handle are in the order of their beginning
            lines = [one for one in lines if one]
        position.was_ever_visible |= position.state == AVAILABLE_MESSAGE_STATE

    def choose_first_item(self, what: str, number: int) -> int:
        """Choose the first of ``number`` items (messages or reads) if the documents do not specify which of them comes
        first. Each call is a separate choice.
        """
        return 0 if number == 1 else self.choose_reading(f"{what}, step {self.steps}, of {number}", number)

    def end_read_with_message(self, reader: WaitingRead, position: MessagePosition) -> None:
        """End a waiting read with a message (MS-MQDMPR 3.1.7.3.6, 3.2.7.5)."""
        reader.handle.readers.remove(reader)
        cursor = reader.cursor
        if cursor is not None:
            self.cite_rules("MQDMPR-3.2.7.5-06", "MQDMPR-3.2.7.5-07")
            cursor.state = {
                WAIT_PEEK_CURSOR_STATE: READ_CURSOR_STATE,
                WAIT_RECEIVE_CURSOR_STATE: UNREAD_CURSOR_STATE,
            }.get(cursor.state, cursor.state)
            cursor.move(position)
        self.answer_read(position, reader.name)
        if reader.is_receive:
            self.take_out_message(position, reader.transaction)
        self.close_temporary_handle(reader.handle)

    def end_read_without_message(self, reader: WaitingRead, *statuses: str) -> None:
        """End a waiting read without a message (MS-MQDMPR 3.1.7.3.5, 3.2.7.6)."""
        reader.handle.readers.remove(reader)
        if reader.cursor is not None:
            self.end_wait_of_cursor(reader.cursor)
        if statuses == ("MQ_ERROR_IO_TIMEOUT",):
            self.answer_read(None, reader.name)
        else:
            self.answer_with_refusal(*statuses, name=reader.name)
        self.close_temporary_handle(reader.handle)

    def end_wait_of_cursor(self, cursor: Cursor) -> None:
        """Set the state of a cursor whose wait has ended without a message (errata E106 and E180)."""
        queue = cursor.handle.queue
        if cursor.state == WAIT_RECEIVE_CURSOR_STATE:
            if queue is not None:
                there = [one.sort_key for one in queue.positions if one.state != DELETED_MESSAGE_STATE]
                last = max(
                    [*there, *([cursor.sort_key_of_position] if cursor.sort_key_of_position is not None else [])],
                    default=None,
                )
                cursor.sort_key_of_position = (
                    (1, 0) if self.choose_reading("E106") else last
                )  # after every priority: End
                cursor.position = None
            cursor.state = UNREAD_CURSOR_STATE
        elif self.choose_reading("E180"):
            cursor.state = UNREAD_CURSOR_STATE

    def close_temporary_handle(self, handle: OpenQueueHandle) -> None:
        if handle.name is None and handle.queue is not None and handle in handle.queue.handles:
            handle.queue.handles.remove(handle)

    def take_out_message(self, position: MessagePosition, transaction: Transaction | None) -> None:
        """Remove a message for an application, either immediately or when the transaction commits (MS-MQDMPR
        3.1.7.1.10).
        """
        if transaction is None:
            self.cite_rules("MQDMPR-3.1.7.1.10-D06")
            self.delete_position(position, "ACK_RECEIVE")
        else:
            self.cite_rules("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.10-D04")
            position.state = LOCKED_MESSAGE_STATE
            transaction.operations.append(TransactionOperation("dequeue", position))

    def delete_position(self, position: MessagePosition, reason: str) -> None:
        """Remove a message from its queue, and acknowledge the removal (MS-MQDMPR 3.1.7.2.1, MS-MQQB 3.1.7.2.1)."""
        if position.state == DELETED_MESSAGE_STATE:
            return
        self.cite_rules("MQDMPR-3.1.7.2.1-04", "MQDMPR-3.1.7.2.1-05")
        queue, message = position.queue, position.message
        queue.positions.remove(position)
        position.state = DELETED_MESSAGE_STATE
        if reason == "ACK_RECEIVE":
            self.put_copy_into_journal(queue, message)
        wanted = "positive_receive" if reason == "ACK_RECEIVE" else "negative_receive"
        if wanted in message.requested_acknowledgments:
            self.cite_rules(RULE_BY_ACKNOWLEDGMENT_CLASS[reason])
            self.acknowledge(message, reason)

    def put_copy_into_journal(self, queue: Queue, message: Message) -> None:
        """Put a copy of a received message into the journal of its queue (MS-MQDMPR 3.1.1.2)."""
        whole = queue.parent or queue
        if queue.journal is None or not queue.journaling:
            return
        self.cite_rules("MQDMPR-3.1.1.2-D05", "MQDMPR-3.1.1.2-D04")
        if self.has_room(queue.journal.positions, message, whole.journal_quota_kb):
            self.insert_message(queue.journal, message, AVAILABLE_MESSAGE_STATE).was_ever_visible = True

    def acknowledge(self, message: Message, cls: str) -> None:
        """Send an administration acknowledgment (MS-MQQB 3.1.7.15)."""
        self.cite_rules(*ACKNOWLEDGMENT_RULES)
        delivery = "recoverable" if message.recoverable else "express"
        ack = Message(message.name, message.queue, delivery=delivery, size=message.size, class_name=cls)
        self.insert_message(self.admin, ack, AVAILABLE_MESSAGE_STATE)

    def has_room(self, positions: list[MessagePosition], message: Message, quota_kb: int | None) -> bool:
        """Return whether a message fits into the quota of a queue. Raise ImpossibleStep if this depends on how the
        system computes the storage that a message occupies.
        """
        if quota_kb is None:
            return True
        sizes = [one.message.size for one in positions] + [message.size]
        least, most = (sum(sizes) + each * len(sizes) for each in SMALL_MESSAGE_BYTES)
        limit = 1024 * quota_kb
        if least <= limit < most:
            raise ImpossibleStep("the quota is nearly reached")
        return most <= limit

    def release_position(self, position: MessagePosition, *, purged: str) -> None:
        """Make a locked message available again. If its queue was purged while the message was locked, delete the
        message instead.
        """
        if position.state == PURGE_PENDING_MESSAGE_STATE:
            self.delete_position(position, purged)
        elif position.state == LOCKED_MESSAGE_STATE:
            self.make_available(position)

    # -- visible state --------------------------------------------------------------------------------------------

    def describe_visible_state(self) -> dict[str, Any]:
        """Return the visible state: queues with their properties, available messages, and transactions."""
        seen: dict[str, Any] = {
            "queues": sorted(name for name, queue in self.queues.items() if queue.parent is None),
            "transactions": {name: self._describe_transaction(one) for name, one in self.transactions.items()},
        }
        for queue in self.iterate_queues():
            seen[queue.name] = self._describe_available_messages(queue)
        for name, queue in self.queues.items():
            if queue.parent is None:
                seen[f"{name} properties"] = {
                    "transactional": queue.transactional,
                    "journaling": queue.journaling,
                    "label": queue.label,
                    "type": queue.type,
                    "base_priority": queue.base_priority,
                    **({} if queue.quota_kb is None else {"quota_kb": queue.quota_kb}),
                    **({} if queue.journal_quota_kb is None else {"journal_quota_kb": queue.journal_quota_kb}),
                    **({} if queue.positions else {"count": 0, "bytes": 0}),
                }
            else:
                bodies = sum(one.message.size for one in queue.positions)
                self.cite_rules("MQDMPR-3.1.7.2.2-03")
                seen[f"{name} size"] = {
                    "bytes": ExpectedNumberBetweenBounds(bodies, bodies + _UPPER_BOUND_OF_HEADERS_BYTES)
                }
        return seen

    def _describe_transaction(self, transaction: Transaction) -> dict[str, Any]:
        """Describe a transaction. It is left open whether the transaction still contains an operation on a message that
        was deleted, because the documents do not define this.
        """
        described: dict[str, Any] = {"state": transaction.state}
        if all(one.position.state != DELETED_MESSAGE_STATE for one in transaction.operations):
            described["operations"] = len(transaction.operations)
        return described

    def _describe_available_messages(self, queue: Queue) -> list[dict[str, Any]] | ExpectedOrderedGroups:
        there = queue.list_available_positions()
        if queue.name != ADMIN_QUEUE_NAME and queue.parent is None and queue.journal is not None:
            return [one.message.list_visible_properties() for one in there]
        groups: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for one in there:
            groups.setdefault((one.message.priority, one.step), []).append(one.message.list_visible_properties())
        return ExpectedOrderedGroups(tuple(map(tuple, groups.values())))
