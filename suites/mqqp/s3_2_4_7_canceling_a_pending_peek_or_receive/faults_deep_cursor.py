"""Fault of MS-MQQP 3.2.4.7 that only an open cursor reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry
from reference_qm.core.remote.client_steps import Sequence


@fault("client-cancel-not-sent-while-cursor-is-open", breaks="MQQP-3.2.4.7-03")
class ClientCancelNotSentWhileCursorIsOpen(ClientCancelling):
    """The client does not call RemoteQMCancelReceive while a cursor of the queue is open."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> Sequence:
        if not any(queue is entry.queue for queue, _ in self.qm.remote_client.cursors.values()):
            yield from super().call_cancel_receive(entry)
