"""Faults of MS-MQQP 3.1.4.1, 3.1.4.10 and 3.1.4.6 that only special values of dwRequestID reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.statuses import Status

LARGEST_REQUEST_ID = 0xFFFFFFFF


@fault("server-cancel-receive-dwrequestid-0-cancels-first-read", breaks="MQQP-3.1.4.6-11")
class ServerCancelReceiveDwrequestid0CancelsFirstRead(RemoteEnding):
    """The server cancels the first waiting read if RemoteQMCancelReceive names dwRequestID 0 and no read has this
    dwRequestID.
    """

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        entries = self.qm.remote.RemoteReadEntryCollection.of(h_queue)
        return (
            (Status.MQ_OK, entries[0])
            if entries and not request_id
            else super().find_read_to_cancel(h_queue, request_id)
        )


@fault("server-cancel-receive-dwrequestid-0-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveDwrequestid0NotFound(RemoteEnding):
    """The server does not find a waiting read whose dwRequestID is 0."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        return super().find_read_to_cancel(h_queue, request_id) if request_id else (Status.MQ_ERROR, None)


@fault("server-cancel-receive-largest-dwrequestid-not-found", breaks="MQQP-3.1.4.6-10")
class ServerCancelReceiveLargestDwrequestidNotFound(RemoteEnding):
    """The server does not find a waiting read whose dwRequestID is 0xFFFFFFFF."""

    def find_read_to_cancel(self, h_queue: int, request_id: int) -> tuple[Status, RemoteReadEntry | None]:
        found = super().find_read_to_cancel(h_queue, request_id)
        return (Status.MQ_ERROR, None) if request_id == LARGEST_REQUEST_ID and found[1] is not None else found
