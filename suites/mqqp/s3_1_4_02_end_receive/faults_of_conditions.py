"""Faults that break the rule MQQP-3.1.4.2-D03 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-throws-status-of-second-end-receive-with-null-handle", breaks="MQQP-3.1.4.2-D03", blind=True)
class ServerThrowsStatusOfSecondEndReceiveWithNullHandle(RemoteReadEnding):
    """From the second RemoteQMEndReceive with a NULL handle on, the server raises an RPC exception instead of returning
    the error status.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused = 0

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        self.refused += call.handle is None
        if call.handle is None and self.refused > 1:
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_INVALID_HANDLE))
            return
        super().remote_qm_end_receive(call, now)


@fault("server-throws-status-of-refused-end-receive-with-rr-nack", breaks="MQQP-3.1.4.2-D03", blind=True)
class ServerThrowsStatusOfRefusedEndReceiveWithRrNack(RemoteReadEnding):
    """When the server refuses a RemoteQMEndReceive with RR_NACK, it raises an RPC exception instead of returning the
    error status.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        entry: RemoteReadEntry | None = None if call.handle is None else call.handle.state
        if call.arguments["dwAck"] == 2 and (entry is None or self.is_closed(entry)):
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_INVALID_HANDLE))
            return
        super().remote_qm_end_receive(call, now)

    def is_closed(self, entry: RemoteReadEntry) -> bool:
        """Return whether the queue of a read was closed."""
        return self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle) is None


@fault("server-throws-status-of-end-receive-for-deleted-queue", breaks="MQQP-3.1.4.2-D03", blind=True)
class ServerThrowsStatusOfEndReceiveForDeletedQueue(RemoteReadEnding):
    """If the queue of a receive was deleted, RemoteQMEndReceive raises an RPC exception instead of returning the error
    status.
    """

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        entry: RemoteReadEntry | None = None if call.handle is None else call.handle.state
        position = None if entry is None else entry.UserMessagePacket
        if position is not None and position.QueueReference not in list(self.qm.queue_names.list_every_queue()):
            self.qm.remote.carry_out_outputs(call.fault(Status.MQ_ERROR_QUEUE_NOT_AVAILABLE))
            return
        super().remote_qm_end_receive(call, now)
