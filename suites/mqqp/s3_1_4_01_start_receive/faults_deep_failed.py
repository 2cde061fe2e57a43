"""Fault of MS-MQQP 3.1.4.1: a client ends a failed receive."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import CallMethod, RemoteError, Sequence


@fault("client-end-receive-called-after-failed-receive", breaks=("MQQP-3.1.4.10-04", "MQQP-3.1.4.1-07"))
class ClientEndReceiveCalledAfterFailedReceive(ClientReading):
    """The client calls RemoteQMEndReceive with the handle NULL after a failed receive."""

    def _call_start(self, read: RemoteRead, method: str, arguments: dict[str, Any]) -> Sequence:
        try:
            return (yield from super()._call_start(read, method, arguments))
        except RemoteError:
            if (
                read.receives
                and read.entry is not None
                and read.entry in self.qm.remote_client.PendingRemoteReadEntryCollection
            ):
                binding = read.queue.binding
                assert binding is not None
                yield CallMethod(binding, "RemoteQMEndReceive", {"pphContext": None, "dwAck": 1}, 1000)
            raise
