"""Faults of MS-MQQP 3.2.4.8, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteQueue


@fault("client-close-cursor-queue-last-opened", breaks="MQQP-3.2.4.8-03", blind=True)
class ClientCloseCursorQueueLastOpened(ClientCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the handle of the queue that it opened last."""

    def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        last = list(self.qm.remote_client.queues.values())[-1]
        return super().build_close_cursor(last, cursor)
