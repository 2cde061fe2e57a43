"""The state machine of a queue that a remote reader has opened; the reader may have a waiting read or an unfinished
receive.
"""

from __future__ import annotations

from pathlib import Path

from harness.errors import ConformanceFailure
from harness.peer.association import Call
from harness.peer.remote import RemoteReaderOfSut
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.outcomes import get_call_outcome, get_read_outcome
from harness.states.vocabulary import WAITS_OUTCOME
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qm2qm import Action

LONG_READ_TIMEOUT_MS = 600_000


class Handle(Machine, path=Path(__file__)):
    """A handle of a queue that contains the messages ``first`` and ``second``. A second reader has a handle of the same
    queue on a separate connection, and has a read that waits at another queue.
    """

    def __init__(self, remote: RemoteReaderOfSut) -> None:
        super().__init__()
        self._remote = remote
        self._queue = remote.open_with_messages("first", "second")
        association = remote.associate()
        self._other = remote.open(association=association)
        beside = remote.open("admin", association)
        self._beside = beside.begin(Action.RECEIVE, ulTimeout=LONG_READ_TIMEOUT_MS)
        self._request_id = remote.request_id()
        self._record_read: Call | None = None

    # -- states ---------------------------------------------------------------------------------------------------

    @state("open")
    def leave_handle_open(self) -> None:
        """Do nothing, because the queue is already open."""

    @state("unended")
    def begin_receive(self) -> None:
        """Receive the first message, and do not end the receive."""
        self._record_read = self._queue.start_receive(dwRequestID=self._request_id).expect_success()

    @state("waiting")
    def begin_waiting_receive(self) -> None:
        """Let a receive wait at the empty queue."""
        self._queue.purge().expect_success()
        self._record_read = self._queue.begin_receive(dwRequestID=self._request_id, ulTimeout=LONG_READ_TIMEOUT_MS)
        if self._record_read.state_after_silence() != Call.WAITING:
            raise ConformanceFailure("the receive is not pending")

    @state("closed")
    def close_first_handle(self) -> None:
        """Close the queue."""
        self._queue.close().expect_success()

    # -- events ---------------------------------------------------------------------------------------------------

    @event("receive")
    def receive(self) -> str:
        """Receive with timeout zero, and do not end the receive."""
        return self._get_read_label_or_outcome(self._queue.start_receive())

    @event("peek")
    def peek(self) -> str:
        """Peek with timeout zero."""
        return self._get_read_label_or_outcome(self._queue.peek())

    @event("end with RR_ACK")
    def acknowledge(self) -> str:
        """End the receive with RR_ACK, which removes the message from the queue."""
        assert self._record_read is not None
        return self._get_call_outcome(self._queue.acknowledge(self._record_read))

    @event("end with RR_NACK")
    def put_message_back(self) -> str:
        """End the receive with RR_NACK, which returns the message to the queue."""
        assert self._record_read is not None
        return self._get_call_outcome(self._queue.put_message_back(self._record_read))

    @event("cancel")
    def cancel(self) -> str:
        """Cancel the read by its identifier."""
        return self._get_call_outcome(self._queue.cancel(self._request_id))

    @event("message arrives")
    def deliver(self) -> str:
        """Deliver a third message; return the outcome of the waiting read, if any."""
        waiting = None if self._record_read is None or self._record_read.answered else self._record_read
        self._remote.deliver(["third"])
        return Outcome.DONE if waiting is None else self._get_read_label_or_outcome(waiting.wait())

    @event("purge")
    def purge(self) -> str:
        """Purge the queue through the handle."""
        return self._get_call_outcome(self._queue.purge())

    @event("close")
    def close(self) -> str:
        """Close the queue."""
        return self._get_call_outcome(self._queue.close())

    @event("lose the connection")
    def lose_connection(self) -> str:
        """Close the connection of the reader."""
        self._queue.association.close()
        self._remote.peer.settle()
        return Outcome.DONE

    # -- what is seen ---------------------------------------------------------------------------------------------

    @mark_as_probe("waiting read")
    def get_waiting_read_outcome(self) -> str:
        """Return the outcome of the read that waited. For a cancelled read, return only that it got no message; no
        check judges its status (erratum E51).
        """
        assert self._record_read is not None
        if self._record_read.state_after_silence() == Call.WAITING:
            return WAITS_OUTCOME
        self.evidence.append(self._record_read)
        return self._record_read.label or Outcome.REFUSED

    @mark_as_probe("peek by another reader")
    def peek_by_other_handle(self) -> str:
        """Return the first message that the second reader finds."""
        return self._get_read_label_or_outcome(self._other.peek())

    @mark_as_probe("peek by another reader after the arrival of a third message")
    def peek_by_other_handle_after_arrival(self) -> str:
        """Deliver a message, and return the first message that the second reader finds."""
        self._remote.deliver(["third"])
        return self.peek_by_other_handle()

    @mark_as_probe("waiting read from another queue")
    def get_outcome_of_other_waiting_read(self) -> str:
        """Return the outcome of the second reader's read that waits at the other queue."""
        return get_read_outcome(self._beside)

    # -- steps ----------------------------------------------------------------------------------------------------

    def _get_read_label_or_outcome(self, call: Call) -> str:
        self.evidence.append(call)
        return get_read_outcome(call)

    def _get_call_outcome(self, call: Call) -> str:
        self.evidence.append(call)
        return get_call_outcome(call)
