"""Faults that break rules of MS-MQQP 3.2.4.1 Opening a Queue."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence


@fault("client-binding-not-closed-after-failed-close-queue", breaks="MQQP-3.2.4.1-07", blind=True)
class ClientBindingNotClosedAfterFailedCloseQueue(ClientOpening):
    """The client does not close the second binding handle of a queue if RemoteQMCloseQueue returns a failure."""

    def close_queue_at_server(self, queue: RemoteQueue) -> Sequence:
        assert queue.binding is not None
        yield from self._close_open_queue(queue.binding, self.find_remote_open_queue(queue))
        yield from self.qm.server_bindings.close_binding(queue.binding)
