"""Faults of round five that break rules of MS-MQQP 3.1.4.6 RemoteQMCancelReceive."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.statuses import Status


@fault("server-cancel-receive-request-id-of-other-handle-cancelled", breaks="MQQP-3.1.4.6-11", blind=True)
class ServerCancelReceiveRequestIdOfOtherHandleCancelled(RemoteReadEnding):
    """If no read that waits through hQueue has the dwRequestID of a RemoteQMCancelReceive, the server cancels a read
    with this dwRequestID that waits through another queue handle, and returns MQ_OK.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        status, entry = super().find_read_to_cancel(h_queue, request_id)
        if status is Status.MQ_ERROR:
            entries = self.qm.remote.RemoteReadEntryCollection
            entry = next((one for one in entries if one.RequestId == request_id), None)
            status = status if entry is None else Status.MQ_OK
        return status, entry
