"""Faults of MS-MQQP 3.2.4.8 Closing a Cursor that affect only one state, or a second cursor or queue."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_steps import Sequence


@fault("client-close-cursor-not-called-while-read-is-pending", breaks="MQQP-3.2.4.8-02", blind=True)
class ClientCloseCursorNotCalledWhileReadIsPending(ClientCancelling):
    """The client does not call RemoteQMCloseCursor while a read of the queue waits."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        if not any(one.queue is queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-close-cursor-not-called-for-second-cursor", breaks="MQQP-3.2.4.8-02", blind=True)
class ClientCloseCursorNotCalledForSecondCursor(ClientCancelling):
    """The client calls RemoteQMCloseCursor only when it closes a cursor of a queue for the first time."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        closed: set[RemoteQueue] = self.__dict__.setdefault("closed", set())
        if queue not in closed:
            closed.add(queue)
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-close-cursor-hqueue-of-first-opened-queue", breaks="MQQP-3.2.4.8-03", blind=True)
class ClientCloseCursorHqueueOfFirstOpenedQueue(ClientCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the phQueue of the queue that it opened first."""

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        first = next(iter(self.qm.remote_client.queues.values()))
        return {**super().build_close_cursor(queue, cursor), "hQueue": first.QueueHandle}


@fault("client-close-cursor-hqueue-of-last-opened-queue", breaks="MQQP-3.2.4.8-03", blind=True)
class ClientCloseCursorHqueueOfLastOpenedQueue(ClientCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the phQueue of the queue that it opened last."""

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        last = list(self.qm.remote_client.queues.values())[-1]
        return {**super().build_close_cursor(queue, cursor), "hQueue": last.QueueHandle}


@fault("client-close-cursor-hcursor-of-cursor-of-other-queue", breaks="MQQP-3.2.4.8-04", blind=True)
class ClientCloseCursorHcursorOfCursorOfOtherQueue(ClientCancelling):
    """If a cursor of another queue is open, the client sets hCursor of RemoteQMCloseCursor to that cursor."""

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        others = [handle for owner, handle in self.qm.remote_client.cursors.values() if owner is not queue]
        return {**super().build_close_cursor(queue, cursor), "hCursor": others[0] if others else cursor}
