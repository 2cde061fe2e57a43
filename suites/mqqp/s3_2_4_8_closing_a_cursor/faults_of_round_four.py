"""Faults that break rules of MS-MQQP 3.2.4.8 for a queue with two cursors."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence


@fault("client-h-cursor-of-close-cursor-is-newest-cursor-of-queue", breaks="MQQP-3.2.4.8-04", blind=True)
class ClientHCursorOfCloseCursorIsNewestCursorOfQueue(ClientReadCancelling):
    """The client sets hCursor in RemoteQMCloseCursor to the handle of the cursor that it opened last in the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.newest_cursors: dict[RemoteQueue, int] = {}

    def create_remote_cursor(self, queue: RemoteQueue) -> RemoteCallSequence:
        handle = yield from super().create_remote_cursor(queue)
        self.newest_cursors[queue] = handle
        return handle

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return super().build_close_cursor_arguments(queue, self.newest_cursors.get(queue, cursor))
