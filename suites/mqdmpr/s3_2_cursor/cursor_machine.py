"""The state machine of a cursor: the CursorState and the current message of a cursor, while a second cursor and reads
without a cursor use the same queue.
"""

from __future__ import annotations

from pathlib import Path

from harness.errors import ConformanceFailure
from harness.peer.association import Call
from harness.peer.remote import RemoteReaderOfSut
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.outcomes import get_call_outcome, get_read_outcome
from harness.wire.rpc_qm2qm import Action

LONG_READ_TIMEOUT_MS = 60_000


class Cursor(Machine, path=Path(__file__)):
    """A cursor of a queue with the messages ``first`` and ``second``, and a second cursor at the first message."""

    def __init__(self, remote: RemoteReaderOfSut) -> None:
        super().__init__()
        self._remote = remote
        self._queue = remote.open_with_messages("first", "second")
        self._cursor, self._other = self._queue.open_cursor(), self._queue.open_cursor()
        self._queue.peek(hCursor=self._other).expect_success()
        self._waiting: Call | None = None
        self._locked: Call | None = None

    # -- states ---------------------------------------------------------------------------------------------------

    @state("unread")
    def leave_cursor_unread(self) -> None:
        """Do nothing, because a new cursor is unread."""

    @state("read")
    def peek_first(self) -> None:
        """Let the cursor peek at the first message."""
        self._queue.peek(hCursor=self._cursor).expect_success()

    @state("read, then taken")
    def peek_first_and_receive_it_without_cursor(self) -> None:
        """Let the cursor peek at the first message, and then receive this message without the cursor."""
        self.peek_first()
        self._queue.receive()

    @state("read, then locked")
    def peek_first_and_lock_it_without_cursor(self) -> None:
        """Let the cursor peek at the first message, and then lock this message with a receive that is not ended."""
        self.peek_first()
        self._locked = self._queue.start_receive().expect_success()

    @state("received")
    def receive_first(self) -> None:
        """Let the cursor receive the first message."""
        self._queue.receive(hCursor=self._cursor)

    @state("read the last")
    def peek_last(self) -> None:
        """Let the cursor peek at the last message."""
        self.peek_first()
        self._queue.peek_next(hCursor=self._cursor).expect_success()

    @state("received the last")
    def receive_last(self) -> None:
        """Let the cursor peek at the last message and receive it; the first message stays in the queue."""
        self.peek_last()
        self._queue.receive(hCursor=self._cursor)

    @state("waiting to peek")
    def begin_waiting_peek(self) -> None:
        """Let the cursor wait for a message after the last message."""
        self.peek_last()
        self._begin_waiting_read(Action.PEEK_NEXT)

    @state("waiting to receive")
    def begin_waiting_receive(self) -> None:
        """Let the cursor receive all messages, and then wait to receive a further message."""
        self._queue.receive(hCursor=self._cursor)
        self._queue.receive(hCursor=self._cursor)
        self._begin_waiting_read(Action.RECEIVE)

    # -- events ---------------------------------------------------------------------------------------------------

    @event("peek")
    @mark_as_probe("peek by the cursor")
    def peek(self) -> str:
        """Peek by the cursor at its current message."""
        return self._get_read_label_or_outcome(self._queue.peek(hCursor=self._cursor))

    @event("peek next")
    @mark_as_probe("peek at the next message by the cursor")
    def peek_next(self) -> str:
        """Peek by the cursor at the message after its current message."""
        return self._get_read_label_or_outcome(self._queue.peek_next(hCursor=self._cursor))

    @event("receive")
    def receive(self) -> str:
        """Receive by the cursor."""
        return self._receive_message(hCursor=self._cursor)

    @event("message arrives")
    def deliver(self) -> str:
        """Deliver a further message; if a read waits, return its outcome."""
        self._remote.deliver(["third"])
        return "done" if self._waiting is None else self._get_read_label_or_outcome(self._waiting.wait())

    @event("receive without the cursor")
    def receive_without_cursor(self) -> str:
        """Receive the first available message."""
        return self._receive_message()

    @event("purge")
    def purge(self) -> str:
        """Purge the queue."""
        return self._get_call_outcome(self._queue.purge())

    @event("close the cursor")
    def close(self) -> str:
        """Close the cursor."""
        return self._get_call_outcome(self._queue.close_cursor(self._cursor))

    @event("give the message back")
    def put_message_back(self) -> str:
        """End the receive that locks the first message with RR_NACK."""
        assert self._locked is not None
        return self._get_call_outcome(self._queue.put_message_back(self._locked))

    # -- what is seen ---------------------------------------------------------------------------------------------

    @mark_as_probe("waiting read")
    def get_waiting_read_outcome(self) -> str:
        """Return the outcome of the read that waits."""
        assert self._waiting is not None
        self._waiting.state_after_silence()
        return self._get_read_label_or_outcome(self._waiting)

    @mark_as_probe("peek by another cursor")
    def peek_by_other_cursor(self) -> str:
        """Return the outcome of a peek by the second cursor."""
        return self._get_read_label_or_outcome(self._queue.peek(hCursor=self._other))

    @mark_as_probe("peek by the cursor after the arrival of a third message")
    def peek_after_arrival(self) -> str:
        """Deliver a further message, and return the outcome of a peek by the cursor."""
        self._remote.deliver(["third"])
        return self.peek()

    @mark_as_probe("peek at the next message after the arrival of a third message")
    def peek_next_after_arrival(self) -> str:
        """Deliver a further message, and return the outcome of the cursor's peek at the next message."""
        self._remote.deliver(["third"])
        return self.peek_next()

    # -- steps ----------------------------------------------------------------------------------------------------

    def _begin_waiting_read(self, action: Action) -> None:
        self._waiting = self._queue.begin(action, hCursor=self._cursor, ulTimeout=LONG_READ_TIMEOUT_MS)
        if self._waiting.state_after_silence() != Call.WAITING:
            raise ConformanceFailure("the read by the cursor is not pending")

    def _receive_message(self, **how: int) -> str:
        read = self._queue.start_receive(**how)
        if read.outcome == "MQ_OK":
            self._queue.acknowledge(read).expect_success()
        return self._get_read_label_or_outcome(read)

    def _get_read_label_or_outcome(self, call: Call) -> str:
        self.evidence.append(call)
        return get_read_outcome(call)

    def _get_call_outcome(self, call: Call) -> str:
        self.evidence.append(call)
        return get_call_outcome(call)
