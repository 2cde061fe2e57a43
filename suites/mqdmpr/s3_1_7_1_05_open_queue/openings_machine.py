"""The state machine of the open modes of a queue: the current readers determine in which modes a further reader can
open the queue.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from harness.peer.association import Call
from harness.peer.remote import RemoteReaderOfSut
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.outcomes import get_answer_outcome, get_call_outcome
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import DENY_NONE, DENY_RECEIVE, PEEK_ACCESS, RECEIVE_ACCESS
from suites.applications import PendingRequest
from suites.mqdmpr.steps import openings

ACCESS_AND_SHARE_BY_OPEN_MODE = MappingProxyType(
    {
        "ReceiveAccess with DenyNone": (RECEIVE_ACCESS, DENY_NONE),
        "ReceiveAccess with DenyReceive": (RECEIVE_ACCESS, DENY_RECEIVE),
        "PeekAccess with DenyNone": (PEEK_ACCESS, DENY_NONE),
        "PeekAccess with DenyReceive": (PEEK_ACCESS, DENY_RECEIVE),
    }
)


class OpenModes(Machine, path=Path(__file__)):
    """A queue with up to three readers, and a second queue that a reader has open exclusively."""

    def __init__(self, remote: RemoteReaderOfSut) -> None:
        super().__init__()
        remote.empty_queue()
        self._remote = remote
        self._association = remote.associate()
        self._opened: Call | None = None
        self._open_in_mode("ReceiveAccess with DenyReceive", "admin").expect_success()

    @state("closed")
    def leave_queue_closed(self) -> None:
        """Do nothing: the queue is new."""

    @state("receive")
    def open_to_receive(self) -> None:
        """Let the first reader open the queue with ReceiveAccess."""
        self._open_first_handle("ReceiveAccess with DenyNone")

    @state("receive twice")
    def open_to_receive_twice(self) -> None:
        """Let both readers open the queue with ReceiveAccess."""
        self._open_first_handle("ReceiveAccess with DenyNone", "ReceiveAccess with DenyNone")

    @state("receive alone")
    def open_to_receive_exclusively(self) -> None:
        """Let the first reader open the queue with ReceiveAccess and DenyReceive."""
        self._open_first_handle("ReceiveAccess with DenyReceive")

    @state("receive alone beside peek")
    def open_to_receive_exclusively_after_peek(self) -> None:
        """Let the first reader open the queue with ReceiveAccess and DenyReceive, and the second reader with
        PeekAccess.
        """
        self._open_first_handle("ReceiveAccess with DenyReceive", "PeekAccess with DenyNone")

    @state("peek")
    def open_to_peek(self) -> None:
        """Let the first reader open the queue with PeekAccess."""
        self._open_first_handle("PeekAccess with DenyNone")

    @state("peek alone")
    def open_to_peek_exclusively(self) -> None:
        """Let the first reader open the queue with PeekAccess and DenyReceive."""
        self._open_first_handle("PeekAccess with DenyReceive")

    @state("peek alone twice")
    def open_to_peek_exclusively_twice(self) -> None:
        """Let both readers open the queue with PeekAccess and DenyReceive."""
        self._open_first_handle("PeekAccess with DenyReceive", "PeekAccess with DenyReceive")

    @event("open to receive")
    def try_open_to_receive(self) -> str:
        """Let a further reader open the queue with ReceiveAccess."""
        return get_call_outcome(self._open_in_mode("ReceiveAccess with DenyNone"))

    @event("open to receive alone")
    def try_open_to_receive_exclusively(self) -> str:
        """Let a further reader open the queue with ReceiveAccess and DenyReceive."""
        return get_call_outcome(self._open_in_mode("ReceiveAccess with DenyReceive"))

    @event("open to peek")
    def try_open_to_peek(self) -> str:
        """Let a further reader open the queue with PeekAccess."""
        return get_call_outcome(self._open_in_mode("PeekAccess with DenyNone"))

    @event("open to peek alone")
    def try_open_to_peek_exclusively(self) -> str:
        """Let a further reader open the queue with PeekAccess and DenyReceive."""
        return get_call_outcome(self._open_in_mode("PeekAccess with DenyReceive"))

    @event("close")
    def close_first_handle(self) -> str:
        """Let the first reader close the queue."""
        assert self._opened is not None
        return get_call_outcome(
            self._association.call("R_QMCloseRemoteQueueContext", pphContext=self._opened.out.pphContext)
        )

    @event("receive of an application")
    def receive(self) -> str:
        """Let an application of the system receive from the empty queue."""
        request = PendingRequest(self._remote.peer, "receive", queue=self._remote.sut.queue(), timeout_ms=0)
        request.await_outcome()
        return get_answer_outcome(request.answer)

    @event("delete the queue")
    def delete(self) -> str:
        """Let an administrator delete the queue."""
        return self._remote.sut.attempt(self._remote.sut.delete_queue, self._remote.sut.queue())

    @mark_as_probe("modes in which another reader can open the queue")
    def list_admitted_modes(self) -> list[str]:
        """Return the modes in which a further reader can open the queue."""
        admitted = []
        for mode in ACCESS_AND_SHARE_BY_OPEN_MODE:
            call = self._open_in_mode(mode)
            openings.close_opened_queue(call)
            if get_call_outcome(call) == Outcome.DONE:
                admitted.append(mode)
        return admitted

    @mark_as_probe("open of another queue, which has an exclusive reader")
    def open_other_queue(self) -> str:
        """Try to open the second queue, which another reader has open exclusively; return the outcome."""
        return get_call_outcome(self._open_in_mode("ReceiveAccess with DenyNone", "admin"))

    def _open_first_handle(self, mode: str, beside: str | None = None) -> None:
        self._opened = self._open_in_mode(mode).expect_success()
        if beside is not None:
            self._open_in_mode(beside).expect_success()

    def _open_in_mode(self, mode: str, queue: str = "plain") -> Call:
        access, share = ACCESS_AND_SHARE_BY_OPEN_MODE[mode]
        call = self._remote.open_remote(self._association, queue, access=access, share=share)
        self.evidence.append(call)
        return call
