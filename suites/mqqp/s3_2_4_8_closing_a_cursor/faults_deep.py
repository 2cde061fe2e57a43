"""Faults of MS-MQQP 3.2.4.8 Closing a Cursor that only special cases reveal: several cursors, and special values."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_steps import Sequence


@fault("client-close-cursor-not-called-while-other-cursor-is-open", breaks="MQQP-3.2.4.8-02")
class ClientCloseCursorNotCalledWhileOtherCursorIsOpen(ClientCancelling):
    """The client does not call RemoteQMCloseCursor while another cursor of the queue is open."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        if all(other is not queue for other, _ in self.qm.remote_client.cursors.values()):
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-close-cursor-closes-other-cursors-of-queue", breaks="MQQP-3.2.4.8-02")
class ClientCloseCursorClosesOtherCursorsOfQueue(ClientCancelling):
    """When the client closes a cursor, it also closes the other cursors of the queue."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> Sequence:
        yield from super().close_remote_cursor(queue, cursor)
        for other, handle in list(self.qm.remote_client.cursors.values()):
            if other is queue:
                yield from super().close_remote_cursor(queue, handle)


@fault("client-close-cursor-hqueue-in-16-bits", breaks="MQQP-3.2.4.8-03")
class ClientCloseCursorHqueueIn16Bits(ClientCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the low 16 bits of phQueue."""

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return {**super().build_close_cursor(queue, cursor), "hQueue": queue.QueueHandle & 0xFFFF}


@fault("client-close-cursor-hcursor-of-first-cursor", breaks="MQQP-3.2.4.8-04")
class ClientCloseCursorHcursorOfFirstCursor(ClientCancelling):
    """The client sets hCursor of RemoteQMCloseCursor to another open cursor of the queue, if such a cursor exists."""

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        others = [handle for other, handle in self.qm.remote_client.cursors.values() if other is queue]
        return {**super().build_close_cursor(queue, cursor), "hCursor": [*others, cursor][0]}


@fault("client-close-cursor-hcursor-in-31-bits", breaks="MQQP-3.2.4.8-04")
class ClientCloseCursorHcursorIn31Bits(ClientCancelling):
    """The client sets hCursor of RemoteQMCloseCursor to the low 31 bits of phCursor."""

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return {**super().build_close_cursor(queue, cursor), "hCursor": cursor & 0x7FFFFFFF}
