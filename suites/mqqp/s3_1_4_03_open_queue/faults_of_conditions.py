"""Faults that break the rules MQQP-3.1.4.3-10 and MQQP-3.1.4.3-16 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.enums import QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-close-refuses-handle-of-queue-opened-to-peek", breaks="MQQP-3.1.4.3-10", blind=True)
class ServerCloseRefusesHandleOfQueueOpenedToPeek(RemoteQueueOpening):
    """RemoteQMCloseQueue refuses the context handle of a queue that was opened to peek."""

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        if call.handle is not None and self.was_opened_to_peek(call.handle.state):
            self.qm.remote.carry_out_outputs(
                call.respond(Return=Status.MQ_ERROR_INVALID_HANDLE, pphContext=call.handle)
            )
            return
        super().remote_qm_close_queue(call, now)

    def was_opened_to_peek(self, entry: OpenQueueEntry) -> bool:
        """Return whether the descriptor of an entry permits only peeks."""
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        return descriptor is not None and descriptor.AccessType is not QueueAccessType.RECEIVE


@fault("server-close-queue-closes-first-opened-queue-for-any-handle", breaks="MQQP-3.1.4.3-10", blind=True)
class ServerCloseQueueClosesFirstOpenedQueueForAnyHandle(RemoteQueueOpening):
    """RemoteQMCloseQueue closes the queue that was opened first, even if the call has the context handle of another
    queue.
    """

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        super().close_open_queue_entry(next(iter(self.qm.remote.OpenQueueEntryCollection), entry))
