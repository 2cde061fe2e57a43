"""Faults of MS-MQQP 3.2.4.8 Closing a Cursor with several cursors and queues."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_steps import Sequence


@fault("client-second-close-cursor-of-queue-not-called", breaks="MQQP-3.2.4.8-02")
class ClientSecondCloseCursorOfQueueNotCalled(ClientCancelling):
    """The client does not call RemoteQMCloseCursor for the second cursor of a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        if queue.number not in self.seen:
            self.seen.add(queue.number)
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-close-cursor-with-pending-read-not-called", breaks="MQQP-3.2.4.8-02")
class ClientCloseCursorWithPendingReadNotCalled(ClientCancelling):
    """The client does not call RemoteQMCloseCursor while a read of the queue is pending."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        if all(one.queue is not queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from super().close_remote_cursor(queue, cursor)


class _Changing(ClientCancelling):
    """Change the parameters of RemoteQMCloseCursor."""

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        raise NotImplementedError

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return super().build_close_cursor(queue, cursor) | self.change(queue, cursor)


@fault("client-close-cursor-hqueue-of-newest-queue", breaks="MQQP-3.2.4.8-03")
class ClientCloseCursorHqueueOfNewestQueue(_Changing):
    """The client sets hQueue of RemoteQMCloseCursor to the phQueue of the queue that it opened last."""

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return {"hQueue": list(self.qm.remote_client.queues.values())[-1].QueueHandle}


@fault("client-second-close-cursor-hqueue-is-dwpqueue", breaks="MQQP-3.2.4.8-03")
class ClientSecondCloseCursorHqueueIsDwpqueue(_Changing):
    """The client sets hQueue of every second RemoteQMCloseCursor to dwpQueue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        self.count += 1
        return {} if self.count % 2 else {"hQueue": queue.QueueDescriptor}


@fault("client-close-cursor-hcursor-of-newest-open-cursor", breaks="MQQP-3.2.4.8-04")
class ClientCloseCursorHcursorOfNewestOpenCursor(_Changing):
    """The client sets hCursor of RemoteQMCloseCursor to the handle of its newest open cursor."""

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        others = list(self.qm.remote_client.cursors.values())
        return {"hCursor": others[-1][1]} if others else {}


@fault("client-second-close-cursor-hcursor-of-first", breaks="MQQP-3.2.4.8-04")
class ClientSecondCloseCursorHcursorOfFirst(_Changing):
    """The client sets hCursor of each RemoteQMCloseCursor to the handle of the first cursor that it closed."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first = 0

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        self.first = self.first or cursor
        return {"hCursor": self.first}
